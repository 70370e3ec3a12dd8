/**
 * Which test file runs when, and with whom.
 *
 * - `*.long.test.ts` takes minutes and belongs to `npm run test:long`; every other file to `npm test`.
 * - Files share a process, which spares loading everything again. So what a file changes outside of its tests it restores: environment, listeners,
 *   spies. A file that cannot, or that measures its process, gets a process of its own; its header says so: `Isolated: <reason>`.
 */
import { isLong } from './support/tier.ts'
import { filesUnder, textOf } from './tidy/sources.ts'

/** @returns why a file needs a process of its own, as its first comment says; undefined when it shares one */
export const isolationReason = (text: string): string | undefined => {
  const [header = ''] = /^\s*(?:\/\*[\s\S]*?\*\/|(?:\/\/.*\n)+)/.exec(text) ?? []
  return /\bIsolated: *([^\s*][^\n*]*)/.exec(header)?.[1]?.trim()
}

const files = filesUnder('test').filter((path) => path.endsWith('.test.ts'))

export const long = files.filter(isLong)
const short = files.filter((file) => !isLong(file))
/** Each in a process of its own. */
export const apart = short.filter((file) => isolationReason(textOf(file)) !== undefined)
export const together = short.filter((file) => !apart.includes(file))
