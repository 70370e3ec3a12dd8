/** Says whether a machine can be made durable before anything runs, and with the cure when it cannot. */
import type { AnyActorLogic, AnyStateMachine, AnyStateNode } from 'xstate'
import type { z } from 'zod'
import { RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import { checkKind } from '../contracts/subjects.ts'
import { machineSignature } from '../machines/signature.ts'
import { gateMachine } from './gate.ts'

export type MachineOptions = {
  /** The schema of events from outside; without one, any event that the machine names is taken. */
  events?: z.ZodType | undefined
  /** What to do with a root whose journal was written by a machine of another structure. Default `refuse`. */
  onDrift?: 'refuse' | 'force' | undefined
  /** Which emitted events are written down beside the inputs, for readers that do not run the machine. */
  noted?: ((event: AnyEvent) => boolean) | undefined
  /** The input of a root that is created by its first message. */
  defaultInput?: ((id: string) => unknown) | undefined
}

export type Registration = Readonly<
  MachineOptions & {
    kind: string
    machine: AnyStateMachine
    /** The machine with its effects and actions held back, see {@link gateMachine}. */
    gated: AnyStateMachine
    signature: string
  }
>

/** @throws RuntimeError not_durable with every place that has to change; bad_request for a bad kind */
export const registerMachine = (kind: string, machine: AnyStateMachine, options: MachineOptions = {}): Registration => {
  checkKind(kind)
  if (typeof machine?.provide !== 'function')
    throw new RuntimeError('bad_request', `what was registered as '${kind}' is no state machine`, {
      field: 'machines',
      hint: 'pass the result of createMachine()',
    })
  const problems = [...inlineParts(machine, machine.id)]
  if (problems.length > 0)
    throw new RuntimeError('not_durable', `machine '${kind}' cannot be made durable: ${problems.join('; ')}`, {
      hint: "name it: put actions under setup({ actions }) and actors under setup({ actors }), and use the names in the machine's config",
      data: { problems },
    })
  return { ...options, kind, machine, gated: gateMachine(machine), signature: machineSignature(machine) }
}

type ActionLike = string | { type: string } | (((...args: never[]) => unknown) & { resolve?: unknown; src?: unknown; type?: string })

/** Every function that XState would run inside a transition, where nothing can hold it back. */
function* inlineParts(machine: AnyStateMachine, name: string): Generator<string> {
  yield* inNode(machine.root, name)
  for (const [actor, logic] of Object.entries(machine.implementations.actors as Record<string, AnyActorLogic>))
    if (typeof (logic as AnyStateMachine).provide === 'function') yield* inlineParts(logic as AnyStateMachine, `${name} > ${actor}`)
}

function* inNode(node: AnyStateNode, machine: string): Generator<string> {
  const place = `${machine} state '${node.path.join('.') || '(root)'}'`
  for (const [where, actions] of [
    ['entry', node.entry],
    ['exit', node.exit],
  ] as const)
    yield* inActions(actions as readonly ActionLike[], `${place} ${where}`)
  const transitions = [...node.transitions.values()].flat().concat(node.always ?? [], node.initial ? [node.initial as never] : [])
  for (const transition of transitions)
    yield* inActions(transition.actions as readonly ActionLike[], `${place} on '${transition.eventType || 'always'}'`)
  for (const { src } of node.invoke) {
    if (typeof src !== 'string' || src.startsWith('xstate.invoke.')) yield `${place} invokes an actor without a name`
    else if (!(src in node.machine.implementations.actors)) yield `${place} invokes '${src}', which setup({ actors }) does not have`
  }
  for (const child of Object.values(node.states)) yield* inNode(child, machine)
}

function* inActions(actions: readonly ActionLike[], place: string): Generator<string> {
  for (const action of actions) {
    if (typeof action !== 'function') continue
    if (action.resolve === undefined) yield `${place} has an inline action function`
    else if (action.type === 'xstate.spawnChild' && typeof action.src !== 'string') yield `${place} spawns an actor without a name`
  }
}

const names = new WeakMap<object, Set<string>>()

/** Every action name that the config mentions; one without an implementation does nothing, as in plain XState. */
export const actionNames = (machine: AnyStateMachine): Set<string> => {
  const known = names.get(machine.config)
  if (known) return known
  const found = new Set<string>()
  const collect = (node: AnyStateNode): void => {
    const transitions = [...node.transitions.values()].flat().concat(node.always ?? [], node.initial ? [node.initial as never] : [])
    for (const action of [...node.entry, ...node.exit, ...transitions.flatMap((transition) => transition.actions)] as ActionLike[])
      if (typeof action === 'string') found.add(action)
      else if (typeof action === 'object') found.add(action.type)
    for (const child of Object.values(node.states)) collect(child)
  }
  collect(machine.root)
  names.set(machine.config, found)
  return found
}
