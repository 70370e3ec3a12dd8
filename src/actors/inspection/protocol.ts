/** Moments and commits in the words of XState's inspection protocol. Pure. */
import type { AnyStateMachine } from 'xstate'
import type { ActorAt, Moment, Rest, Step, ToldCommit } from '../../contracts/inspection.ts'
import type { InspectionMessage } from '../../contracts/inspection-protocol.ts'
import type { ActorPath } from '../../contracts/journal.ts'
import { toConfig } from '../charts/config.ts'
import { machineSignature } from '../charts/signature.ts'
import { isMachine } from '../state-nodes.ts'

/** Of the package whose receivers read this. */
const protocolVersion = '0.7.2'

/** Which tree a journal is told as part of. */
export type ToldAs = {
  /** The address of its root, as text. */
  address: string
  /** Of the whole tree. */
  rootId: string
  /** Who stands for the root of this journal, where that is not the root of the tree. */
  parentId: string | undefined
  machine: AnyStateMachine
}

const idOf = (address: string, path: ActorPath): string => (path === '/' ? address : `${address}${path}`)

/** The id that its parent gave an actor, without its incarnation. */
const nameOf = (path: ActorPath): string => path.slice(path.lastIndexOf('/') + 1).replace(/#\d+$/, '')

const common = ({ address, rootId }: ToldAs, path: ActorPath, { seq, at }: { seq: number; at: number }) => ({
  sessionId: idOf(address, path),
  rootId,
  id: null,
  createdAt: String(at),
  _version: protocolVersion,
  seq,
})

type Began = Pick<ActorAt, 'path' | 'parent' | 'machine'>
type Held = { status: ActorAt['status']; value: unknown; rest: Omit<Rest, 'next'> | undefined }

const began = (as: ToldAs, { path, parent, machine }: Began, commit: { seq: number; at: number }, held: Held | undefined): InspectionMessage => {
  const above = parent === undefined ? as.parentId : idOf(as.address, parent)
  const name = path === '/' ? as.machine.id : nameOf(path)
  const definition = (machine && definitionsOf(as.machine).get(machine.signature)) ?? JSON.stringify({ id: name })
  return {
    type: '@xstate.actor',
    name,
    ...common(as, path, commit),
    ...(above === undefined ? {} : { parentId: above }),
    definition,
    snapshot: held ? snapshotOf(held) : { status: 'active' },
    ...(machine && { signature: machine.signature }),
  }
}

const snapshotOf = ({ status, value, rest }: Held) => {
  const { context, input, output, error, tags = [] } = rest ?? {}
  return { status, value, context, input, output, error, ...(tags.length > 0 && { tags }) }
}

/** A tree as it stands, for those who begin to listen: the root first, each actor before those below it. */
export const treeMessages = (as: ToldAs, { seq, at, actors }: Moment): InspectionMessage[] =>
  actors.map(({ status, value, ...actor }) => began(as, actor, { seq, at }, { status, value, rest: actor }))

/** What a commit did, in order. */
export const commitMessages = (as: ToldAs, commit: ToldCommit): InspectionMessage[] => {
  const { epoch, writer, remotes, steps } = commit
  return [
    { type: '@statecast.commit', ...common(as, '/', commit), epoch, writer, remotes },
    ...steps.flatMap((step) => stepMessages(as, commit, step)),
  ]
}

const stepMessages = (as: ToldAs, commit: ToldCommit, step: Step): InspectionMessage[] => {
  const one = common(as, step.path, commit)
  if (step.type === 'actor') {
    // As it was when it had begun, and not as it is now: what came then follows.
    const first = commit.steps.find((other) => other.type === 'snapshot' && other.path === step.path) as
      | Extract<Step, { type: 'snapshot' }>
      | undefined
    return [began(as, step, commit, first && { ...first, rest: first.rest })]
  }
  if (step.type === 'event')
    return [{ type: '@xstate.event', ...one, event: step.event, ...(step.from !== undefined && { sourceId: idOf(as.address, step.from) }) }]
  if (step.type === 'microstep') {
    const { event, taken, candidates, value } = step
    return [{ type: '@xstate.microstep', ...one, event, _transitions: taken, candidates, snapshot: { value } }]
  }
  const { event = { type: 'xstate.init' }, rest } = step
  return [{ type: '@xstate.snapshot', ...one, event, snapshot: snapshotOf({ ...step, rest }), next: rest?.next ?? [] }]
}

const known = new WeakMap<AnyStateMachine, Map<string, string>>()

/** The configs of a machine and all machines below it as JSON, by their signatures. */
const definitionsOf = (machine: AnyStateMachine): Map<string, string> => {
  const found = known.get(machine) ?? new Map<string, string>()
  if (found.size === 0) addDefinitions(machine, found, new Set())
  known.set(machine, found)
  return found
}

const addDefinitions = (machine: AnyStateMachine, found: Map<string, string>, seen: Set<AnyStateMachine>): void => {
  if (seen.has(machine)) return
  seen.add(machine)
  found.set(machineSignature(machine), JSON.stringify(toConfig(machine).config))
  for (const logic of Object.values(machine.implementations.actors as Record<string, unknown>))
    if (isMachine(logic)) addDefinitions(logic, found, seen)
}
