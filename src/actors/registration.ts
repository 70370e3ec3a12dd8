/** Says whether a machine can be made durable before anything runs, and with the cure when it cannot. */
import type { AnyActorLogic, AnyStateMachine, AnyStateNode } from 'xstate'
import type { z } from 'zod'
import { RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent, Commit } from '../contracts/journal.ts'
import { checkKind } from '../contracts/subjects.ts'
import { machineSignature, plainDataHint, unsignedParts } from './charts/signature.ts'
import { descriptorsOf } from './event-validation.ts'
import { gateMachine } from './replica/gate.ts'
import { isMachine, nodesIn } from './state-nodes.ts'

export type MachineOptions = {
  /** The schema of events from outside: what does not fit is refused. Without one, any event is taken. */
  events?: z.ZodType | undefined
  /** Refuses events that no state of the machine names. Default false: as in XState they are taken, and change nothing unless an `always` does. */
  strict?: boolean | undefined
  /** What to do with a root whose journal was written by a machine of another structure. Default `refuse`. */
  onDrift?: 'refuse' | 'force' | undefined
  /** Which emitted events are written down beside the inputs, for readers that do not run the machine. */
  noted?: ((event: AnyEvent) => boolean) | undefined
  /** The input of a root that is created by its first message. */
  defaultInput?: ((id: string) => unknown) | undefined
}

/** Which inputs are looked at again, how that is watched, and what becomes of what it finds. The runtime knows, and has the real clock. */
export type DeterminismCheck = {
  /** Whether what is found is refused, or only told. */
  refuses: boolean
  /** @param what the state and the event, of which a sample is enough */
  wants(what: string): boolean
  /** Does it as if on another day. @returns what it asked of the real world inside of transitions */
  watch(work: () => void): string[]
  tell(error: RuntimeError): void
}

type JournalReads = {
  /** What an effect with this input is asked for besides what it reads; undefined for one that reads nothing. */
  besides(input: unknown): unknown
  /** What a commit brings in to be read, or takes away. */
  contents(commit: Commit): readonly unknown[]
}

export type Registration = Readonly<
  MachineOptions & {
    kind: string
    machine: AnyStateMachine
    /** The machine with its effects and actions held back, see {@link gateMachine}. */
    gated: AnyStateMachine
    signature: string
    /** The events that its states name, in alphabetical order; a strict one takes no others. */
    descriptors: readonly string[]
    /** What else than a change of the machine itself makes its signature another one, and what to do about that. */
    driftHint?: string | undefined
    /** The persisted tree of a root as that of a fork with another id; for machines that keep their id in it. Pure. */
    renamed?: ((tree: unknown, from: string, to: string) => unknown) | undefined
    /** What is wrong with what an effect is to have answered instead of what was recorded. `field` is a path in the event. Pure. */
    checkResult?: ((recorded: AnyEvent, event: AnyEvent) => { field: string; message: string } | undefined) | undefined
    /** False for what a node keeps for itself: another one of it would mean nothing, or something else than its own. */
    forks?: boolean | undefined
    /** Whether a root that ended with this output is to be removed with its journal. Pure. */
    isDeleted?: ((output: unknown) => boolean) | undefined
    /** Which of its effects read back what stands in the journal of their root. Pure. */
    reads?: JournalReads | undefined
    /** Applies some of its inputs twice, to find out in time whether it is the same every time. */
    determinismCheck?: DeterminismCheck | undefined
  }
>

/** @throws RuntimeError not_durable with every place that has to change; bad_request for a bad kind */
export const registerMachine = (kind: string, machine: AnyStateMachine, options: MachineOptions = {}): Registration => {
  checkKind(kind)
  if (!isMachine(machine))
    throw new RuntimeError('bad_request', `what was registered as '${kind}' is not a state machine`, {
      field: 'machines',
      hint: 'pass the result of createMachine()',
    })
  const inline = [...inlineParts(machine, machine.id)]
  const problems = [...inline, ...unsignedParts(machine)]
  if (problems.length > 0)
    throw new RuntimeError('not_durable', `machine '${kind}' cannot be made durable: ${problems.join('; ')}`, {
      hint: [...(inline.length > 0 ? [nameItHint] : []), ...(problems.length > inline.length ? [plainDataHint] : [])].join('; '),
      data: { problems },
    })
  return { ...options, kind, machine, gated: gateMachine(machine), signature: machineSignature(machine), descriptors: descriptorsOf(machine) }
}

const nameItHint = "name it: put actions under setup({ actions }) and actors under setup({ actors }), and use the names in the machine's config"

type ActionLike = string | { type: string } | (((...args: never[]) => unknown) & { resolve?: unknown; src?: unknown; type?: string })

/** Every function that XState would run inside a transition, where nothing can hold it back, and every actor that could not be found again. */
function* inlineParts(machine: AnyStateMachine, name: string, seen = new Set<AnyStateMachine>()): Generator<string> {
  if (seen.has(machine)) return
  seen.add(machine)
  yield* inStates(machine, name)
  for (const [action, implementation] of Object.entries(machine.implementations.actions as Record<string, ActionLike>))
    yield* spawnsOf(implementation, machine, `${name} action '${action}'`)
  for (const [actor, logic] of Object.entries(machine.implementations.actors as Record<string, AnyActorLogic>))
    if (isMachine(logic)) yield* inlineParts(logic, `${name} > ${actor}`, seen)
}

/** By config, which machines share that differ in their implementations alone: the names of the actors with which nothing in its states is inline. */
const named = new WeakMap<object, string>()

function* inStates(machine: AnyStateMachine, name: string): Generator<string> {
  const actors = JSON.stringify(Object.keys(machine.implementations.actors).sort())
  if (named.get(machine.config) === actors) return
  let found = false
  for (const node of nodesIn(machine.root))
    for (const part of inNode(node, name)) {
      found = true
      yield part
    }
  if (!found) named.set(machine.config, actors)
}

function* inNode(node: AnyStateNode, name: string): Generator<string> {
  const { machine } = node
  const place = `${name} state '${node.path.join('.') || '(root)'}'`
  const inActions = function* (actions: readonly ActionLike[], where: string): Generator<string> {
    for (const action of actions)
      if (typeof action === 'function' && action.resolve === undefined) yield `${where} has an inline action function`
      else yield* spawnsOf(action, machine, where)
  }
  yield* inActions(node.entry, `${place} entry`)
  yield* inActions(node.exit, `${place} exit`)
  const transitions = [...node.transitions.values()].flat().concat(node.always ?? [], node.initial ? [node.initial as never] : [])
  for (const transition of transitions) yield* inActions(transition.actions, `${place} on '${transition.eventType || 'always'}'`)
  for (const { src } of node.invoke) {
    if (typeof src !== 'string' || src.startsWith('xstate.invoke.')) yield `${place} invokes an actor without a name`
    else if (!(src in machine.implementations.actors)) yield `${place} invokes '${src}', which setup({ actors }) does not have`
  }
}

function* spawnsOf(action: ActionLike, machine: AnyStateMachine, where: string): Generator<string> {
  if (typeof action !== 'function' || action.type !== 'xstate.spawnChild') return
  if (typeof action.src !== 'string') yield `${where} spawns an actor without a name`
  else if (!(action.src in machine.implementations.actors)) yield `${where} spawns '${action.src}', which setup({ actors }) does not have`
}
