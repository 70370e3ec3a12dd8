/** What the chart of one actor shows at a moment. */
import type { StateValue } from 'xstate'
import { activeNodes, type Chart, type ChartNode, type ChartTransition, nodesOf } from '../../../../src/actors/charts/chart.ts'
import type { ActorAt, Candidate, Step, TransitionRef } from '../../../../src/contracts/inspection.ts'
import type { InspectorView } from '../model.ts'
import type { Box } from './actors.rules.ts'
import type { Mood } from './moods.rules.ts'

export type Microstep = Extract<Step, { type: 'microstep' }>

export type Staged = {
  chart: Chart
  signature: string
  seq: number
  mood: Mood
  /** Ids of active states. */
  active: readonly string[]
  /** Taken with this commit, in order. */
  taken: readonly TransitionRef[]
  /** Declared by the active states. */
  possible: readonly TransitionRef[]
  /** Asked with this commit. */
  candidates: readonly Candidate[]
  /** The last transition as people read it. */
  lastWords: string
}

export const transitionOf = ({ root }: Chart, { source, eventType, index }: TransitionRef): ChartTransition | undefined => {
  for (const node of nodesOf(root)) if (node.id === source) return node.transitions.filter((one) => one.eventType === eventType)[index]
  return undefined
}

export const nodeOf = ({ root }: Chart, id: string): ChartNode | undefined => {
  for (const node of nodesOf(root)) if (node.id === id) return node
  return undefined
}

/** `error(execute) [lostOnce], then always` */
const wordsOf = (chart: Chart, taken: readonly TransitionRef[]): string =>
  taken
    .flatMap((ref) => transitionOf(chart, ref) ?? [])
    .map(({ event, guard }) => (guard === undefined ? event : `${event} [${guard}]`))
    .join(', then ')

/** The actor of a box, if it has been folded. */
export const actorIn = ({ looked, place }: Pick<InspectorView, 'looked' | 'place'>, box: Box | undefined): ActorAt | undefined =>
  looked?.seq === place.seq ? looked.moment.actors.find(({ path }) => path === box?.path) : undefined

export const microstepsOf = ({ looked, place }: Pick<InspectorView, 'looked' | 'place'>, path: string | undefined): Microstep[] =>
  looked?.seq === place.seq ? looked.steps.steps.filter((step): step is Microstep => step.type === 'microstep' && step.path === path) : []

/** Where one stood that came to its end with this commit. */
const endedIn = (chart: Chart, steps: readonly Step[], path: string): string[] => {
  const last = steps.findLast((step): step is Microstep => step.type === 'microstep' && step.path === path)
  return last ? [...activeNodes(chart.root, last.value as StateValue)].map(({ id }) => id) : []
}

/** While a moment is folded, the one before is shown: a chart that comes and goes would tire the eye. */
export const stagedOf = (view: InspectorView, box: Box | undefined): Staged | undefined => {
  const { looked, charts } = view
  if (!looked || !box) return undefined
  const actor = looked.moment.actors.find(({ path }) => path === box.path)
  // One that ended with this commit is not in the tree any more, and its last transitions are of interest.
  const begun = looked.steps.steps.find((step): step is Extract<Step, { type: 'actor' }> => step.type === 'actor' && step.path === box.path)
  const before = looked.before?.actors.find(({ path }) => path === box.path)
  const signature = (actor ?? begun ?? before)?.machine?.signature
  const chart = signature === undefined ? undefined : charts[signature]
  if (signature === undefined || !chart) return undefined
  const taken = looked.steps.steps.flatMap((step) => (step.type === 'microstep' && step.path === box.path ? step.taken : []))
  return {
    chart,
    signature,
    seq: looked.seq,
    mood: box.mood,
    active: actor?.active ?? endedIn(chart, looked.steps.steps, box.path),
    taken,
    possible: looked.moment.possible[box.path] ?? [],
    candidates: looked.steps.steps.flatMap((step) => (step.type === 'microstep' && step.path === box.path ? step.candidates : [])),
    lastWords: wordsOf(chart, taken),
  }
}
