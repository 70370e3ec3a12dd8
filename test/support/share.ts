/**
 * The part of a sweep that one run covers, where the whole sweep takes too long for every run.
 *
 * `npm test` covers a fixed part, so its result depends on the code alone. The long tier draws its part from the commit: a commit that fails today fails
 * tomorrow, and the next commit covers another part. `STATECAST_SWEEP=all` covers every part, and `STATECAST_SWEEP=3/12` the third of twelve.
 */
import { inject } from 'vitest'
import { fileAt, isLong, repeatCommand } from './tier.ts'

export type Part = {
  /** The first is 1. */
  part: number
  of: number
  /** @param place of an item in the sweep, or a number that never changes for it */
  includes(place: number): boolean
}

type Draw = {
  /** The test file that sweeps, from the root of the repository. */
  file: string
  /** How many runs cover the sweep. */
  parts: number
  /** `STATECAST_SWEEP`; empty: not set. */
  sweep: string
  /** The id of the commit; empty outside of a Git checkout. */
  commit: string
}

/** A part of more would hold nothing. */
const partsMax = 100

/** @returns the part and why this one @throws Error for a `STATECAST_SWEEP` that is not a part */
export const drawPart = ({ file, parts, sweep, commit }: Draw): { part: Part; why: string } => {
  if (sweep === 'all') return { part: aPart(1, 1), why: 'STATECAST_SWEEP' }
  if (sweep !== '') {
    const [, part = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(sweep) ?? []).map(Number)
    if (part < 1 || part > of || of > partsMax)
      throw new Error(`invalid STATECAST_SWEEP '${sweep}': use 'all' or a part such as '3/12', of at most ${partsMax}`)
    return { part: aPart(part, of), why: 'STATECAST_SWEEP' }
  }
  if (!isLong(file)) return { part: aPart(1, parts), why: 'the sample of npm test' }
  if (commit === '') return { part: aPart(1, parts), why: 'no Git commit to draw it from' }
  return { part: aPart(1 + (Number.parseInt(commit.slice(0, 8), 16) % parts), parts), why: `drawn from commit ${commit.slice(0, 8)}` }
}

const aPart = (part: number, of: number): Part => ({ part, of, includes: (place) => place % of === part - 1 })

/**
 * Chooses the part that this run covers, and prints the command that repeats it.
 * @param url `import.meta.url` of the test file @param parts how many runs cover the sweep
 */
export const choosePart = (url: string, parts: number): Part => {
  const file = fileAt(url)
  const { part, why } = drawPart({ file, parts, sweep: inject('sweep'), commit: inject('commit') })
  const named = `${part.part}/${part.of}`
  console.log(`part ${named} of the sweep (${why}); repeat: ${repeatCommand(file, { STATECAST_SWEEP: named === '1/1' ? 'all' : named })}`)
  return part
}
