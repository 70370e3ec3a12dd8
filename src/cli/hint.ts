/** Commands that a person may copy into a shell. */
import { shellWord } from './output.ts'

/** On the same data as before: `url` as it was given on the command line. */
export type Place = { url?: string | undefined }

/** @param words what the command is about; options they are not, whatever they begin with */
export const hintCommand = ({ url }: Place, name: string, ...words: string[]): string =>
  [
    `statecast ${name}`,
    ...(url === undefined ? [] : [`--url ${shellWord(url)}`]),
    ...(words.some((word) => word.startsWith('-')) ? ['--'] : []),
    ...words.map(shellWord),
  ].join(' ')
