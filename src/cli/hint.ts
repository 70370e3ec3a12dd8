/** Commands that a person may copy into a shell. */
import { shellWord } from './output.ts'

/** On the same data as before: `url`, or the folder `data`, as it was given on the command line. */
export type Place = { url?: string | undefined; data?: string | undefined }

/** @param words what the command is about; options they are not, whatever they begin with */
export const hintCommand = ({ data, url = data === undefined ? undefined : `embedded:${data}` }: Place, name: string, ...words: string[]): string =>
  [
    `statecast ${name}`,
    ...(url === undefined ? [] : [`--url ${shellWord(url)}`]),
    ...(words.some((word) => word.startsWith('-')) ? ['--'] : []),
    ...words.map(shellWord),
  ].join(' ')
