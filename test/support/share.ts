/** Sweeps that would take too long as a whole: each day another part of them is run, and in as many days all. With `STATECAST_SWEEP=all` it is all at once. */

const dayMs = 24 * 60 * 60 * 1000

/** As the file begins: a story that is told at midnight belongs to one day. */
const day = Math.floor(Date.now() / dayMs)

/** @returns which of how many parts it is today, the first being 0 */
export const partToday = (parts: number): { part: number; of: number } =>
  process.env.STATECAST_SWEEP === 'all' ? { part: 0, of: 1 } : { part: day % parts, of: parts }

/** @param place of one among the others, or any number that is always the same for it @returns whether it is among those of today */
export const isToday = (place: number, parts: number): boolean => {
  const { part, of } = partToday(parts)
  return place % of === part
}
