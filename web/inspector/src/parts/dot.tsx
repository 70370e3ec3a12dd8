import type { Mood } from '../rules/moods.rules.ts'

/** The shape of a mood, so that its colour is not all that tells it. */
export const Dot = ({ mood }: { mood: Mood }) => <i class={`dot ${mood}`} aria-hidden="true" />
