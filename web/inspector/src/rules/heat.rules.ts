/** How often each part of a chart was gone through by what is recorded, as a heat. */
import type { MachineCoverage, TransitionRef } from '../../../../src/contracts/inspection.ts'
import { refName } from '../chart/refs.rules.ts'

/** 0: never. 1 to 4: by orders of magnitude, so that what is rare stands out from what is not. */
export type Heat = 0 | 1 | 2 | 3 | 4
export type Warmth = { count: number; heat: Heat; sessions: readonly string[] }

export type HeatMap = {
  /** Actors in which the machine has lived. */
  sessions: number
  state(id: string): Warmth
  /** Of several together. */
  transitions(refs: readonly TransitionRef[]): Warmth
}

const shownMax = 5

export const heatOf = (count: number): Heat => {
  if (count === 0) return 0
  if (count < 3) return 1
  if (count < 30) return 2
  return count < 300 ? 3 : 4
}

export const heatMap = ({ sessions, states, transitions }: MachineCoverage): HeatMap => {
  const byState = new Map(states.map((one) => [one.id, one]))
  const byRef = new Map(transitions.map((one) => [refName(one.ref), one]))
  const warmth = (count: number, names: readonly string[]): Warmth => ({
    count,
    heat: heatOf(count),
    sessions: [...new Set(names)].slice(0, shownMax),
  })
  return {
    sessions,
    state: (id) => {
      const found = byState.get(id)
      return warmth(found?.visits ?? 0, found?.sessions ?? [])
    },
    transitions: (refs) => {
      const found = refs.flatMap((ref) => byRef.get(refName(ref)) ?? [])
      return warmth(
        found.reduce((sum, { taken }) => sum + taken, 0),
        found.flatMap(({ sessions: names }) => names),
      )
    },
  }
}
