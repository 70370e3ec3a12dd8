/** What comes from a session: text only, by itself, with what cannot be seen made visible. */
import { oneLine, visible } from '../rules/plain.rules.ts'

/** In one line. */
export const Said = ({ text }: { text: string }) => <bdi>{oneLine(text)}</bdi>

/** Its lines kept. */
export const SaidLines = ({ text }: { text: string }) => <bdi>{visible(text)}</bdi>
