/** The actors of a tree as a row of boxes, from the root to its leaves: each role has one, whether it is there at this moment or not. */
import type { ActorAt, Moment } from '../../../../src/contracts/inspection.ts'
import type { ActorPath } from '../../../../src/contracts/journal.ts'
import type { Recorded } from '../model.ts'
import { type Lane, lastOf, parentPath, plainId } from './lanes.rules.ts'
import { type Mood, moodOf, stateText } from './moods.rules.ts'

export type Box = {
  lane: Lane
  /** Which one: the one that is there, else the one that was there last, or will be first. */
  path: ActorPath
  name: string
  mood: Mood
  state: string
  isThere: boolean
}

/** @param moment when it has been folded; until then, and for what it does not know, what the journal says */
export const boxesOf = ({ lanes, spans }: Recorded, seq: number, moment: Moment | undefined): Box[] => {
  const there = new Map<string, ActorAt>()
  if (moment?.seq === seq)
    for (const actor of moment.actors) {
      const key = lanes.keyOf(actor.path)
      const parent = parentPath(actor.path)
      if (parent !== undefined && lanes.keyOf(parent) === key) continue
      const known = there.get(key)
      if (known?.status !== 'active' || actor.status === 'active') there.set(key, actor)
    }
  return lanes.all().map((lane) => {
    const actor = there.get(lane.key)
    const span = spans.at(lane.key, seq)
    const path = actor?.path ?? span?.path ?? spans.nearest(lane.key, seq)?.path ?? '/'
    const [, number] = /#(\d+)$/.exec(path) ?? []
    // Its name in the code says more than the state that began it.
    const called = actor?.src && plainId(actor.id) !== actor.id ? actor.src : lane.name
    const name = lane.depth === 1 && number !== undefined && number !== '1' ? `${called}#${number}` : called
    if (actor) {
      const state = actor.kind === 'effect' ? (actor.status === 'active' ? 'at work' : actor.status) : stateText(actor.value)
      const mood =
        actor.status === 'error' ? 'fail' : actor.kind === 'effect' ? (actor.status === 'active' ? 'run' : 'rest') : moodOf(actor.value, path)
      return { lane, path, name, mood, state, isThere: true }
    }
    if (moment?.seq !== seq && span) return { lane, path, name, mood: span.mood, state: span.text || 'at work', isThere: true }
    const isToCome = (spans.nearest(lane.key, seq)?.from ?? 0) > seq
    return { lane, path, name, mood: 'gone', state: isToCome ? 'not yet' : 'ended', isThere: false }
  })
}

/** The box in which an actor is shown. */
export const boxFor = (boxes: readonly Box[], actor: ActorPath, { lanes }: Recorded): Box | undefined =>
  boxes.find(({ path }) => path === actor) ?? boxes.find(({ lane }) => lane.key === lanes.keyOf(actor))

export const shortName = (path: ActorPath, { lanes }: Recorded): string =>
  lanes.names.get(path) ?? (path === '/' ? (lanes.all()[0]?.name ?? '/') : lastOf(path))
