/** The work that is timed. */

/**
 * A slice takes about 1 ms where that is enough for its turns: the scheduler of a busy machine gives a process some 3 ms at a time, so many slices are
 * neither interrupted nor begun with cold caches. Each does the same as every other one: its turns belong to a session of its own, or are one turn each
 * of new sessions that share the slices of a question. No collection falls into it: a question allocates less than the young generation holds.
 */
export const works = {
  'memory, a plain turn': { where: 'memory', message: 'plain', slices: 6, turns: 4 },
  'memory, a tool turn': { where: 'memory', message: 'tool', slices: 6, turns: 2 },
  'memory, 20 sessions at once': { where: 'memory', message: 'plain', slices: 4, sessions: 20 },
  'disk, a plain turn': { where: 'disk', message: 'plain', slices: 6, turns: 2 },
  'disk, a tool turn': { where: 'disk', message: 'tool', slices: 6, turns: 1 },
  'disk, 20 sessions at once': { where: 'disk', message: 'plain', slices: 4, sessions: 20 },
} as const
export type Work = keyof typeof works
export const everyWork: readonly Work[] = Object.keys(works) as Work[]

/** A turn of one slice: CPU time of all threads in µs, and bytes allocated on the main thread. */
export type Timed = { cpu: number; allocated: number }
