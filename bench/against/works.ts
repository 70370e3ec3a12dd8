/** The work that is timed. */

/** A question runs so many slices of a work before the other side has its turn. */
export const slicesAtOnce = 4

/**
 * A slice takes some 3 ms, so that many fall between two interruptions. It does the same as every other one: its turns belong to a session of its own,
 * or are one turn each of new sessions that share the slices of a question. They allocate less than the young generation holds, so that no collection
 * falls into them.
 */
export const works = {
  'memory, a plain turn': { where: 'memory', message: 'plain', turns: 10 },
  'memory, a tool turn': { where: 'memory', message: 'tool', turns: 5 },
  'memory, 20 sessions at once': { where: 'memory', message: 'plain', sessions: 20 },
  'disk, a plain turn': { where: 'disk', message: 'plain', turns: 5 },
  'disk, a tool turn': { where: 'disk', message: 'tool', turns: 3 },
  'disk, 20 sessions at once': { where: 'disk', message: 'plain', sessions: 20 },
} as const
export type Work = keyof typeof works
export const everyWork: readonly Work[] = Object.keys(works) as Work[]

/** A turn of one slice: CPU time of all threads in µs, and bytes allocated on the main thread. */
export type Timed = { cpu: number; allocated: number }
