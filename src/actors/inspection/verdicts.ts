/** Guards that tell what they answered, and what they looked at: for looking at a machine, never for running it. */
import { type AnyActor, type AnyActorRef, type AnyMachineSnapshot, type AnyStateMachine, type AnyTransitionDefinition, and } from 'xstate'
import { messageOf } from '../../contracts/errors.ts'
import type { Read, TransitionRef } from '../../contracts/inspection.ts'
import { guardName } from '../charts/names.ts'
import { machineSignature } from '../charts/signature.ts'
import type { Registration } from '../registration.ts'
import { gateMachine } from '../replica/gate.ts'
import { isMachine, nodesIn } from '../state-nodes.ts'
import { readsOf } from './reads.ts'

type Args = { context: unknown; event: unknown }
type Guarded = { guards: unknown[] }
/** XState evaluates a guard only within another one. */
const { check } = and([]) as unknown as { check(snapshot: AnyMachineSnapshot, args: Args, self: Guarded): boolean }

/** What a guard said when it was asked. */
export type Verdict = { says: 'yes' | 'no' | 'threw'; reads: Read[]; error?: string }

type MachineName = { id: string; signature: string }

const machines = new WeakMap<AnyStateMachine, MachineName>()
/** Made once for each machine, however many of its actors are looked at. */
const looked = new WeakMap<AnyStateMachine, AnyStateMachine>()
const guards = new WeakMap<AnyTransitionDefinition, string>()
const refs = new WeakMap<AnyTransitionDefinition, TransitionRef>()
let heard: Map<AnyTransitionDefinition, Verdict> | undefined

/** Undefined for an effect, and for a machine that is not looked at. */
export const machineOf = (ref: AnyActorRef): MachineName | undefined => machines.get((ref as AnyActor).logic as AnyStateMachine)
export const refOf = (transition: AnyTransitionDefinition): TransitionRef | undefined => refs.get(transition)
export const guardOf = (transition: AnyTransitionDefinition): string | undefined => guards.get(transition)

/** Runs a part of XState, and keeps what guards answer meanwhile. A machine decides without waiting, so one listener is enough. */
export const hearing = (into: Map<AnyTransitionDefinition, Verdict>, work: () => void): void => {
  const before = heard
  heard = into
  try {
    work()
  } finally {
    heard = before
  }
}

/** A registration of the same machine, of its own: whoever runs the actor never asks these guards. */
export const inspected = (registration: Registration): Registration => {
  const { machine } = registration
  const gated = looked.get(machine) ?? gateMachine(machine)
  looked.set(machine, gated)
  watch(machine, gated)
  return { ...registration, gated, determinismCheck: undefined }
}

/** The same for whoever wants to know who is who, and not what guards say: the machine that runs the actor, in which each thing gets its name. */
export const named = (registration: Registration): Registration => {
  watch(registration.machine, registration.gated, false)
  return { ...registration, determinismCheck: undefined }
}

const watch = (machine: AnyStateMachine, gated: AnyStateMachine, hears = true): void => {
  if (machines.has(gated)) return
  machines.set(gated, { id: machine.id, signature: machineSignature(machine) })
  for (const node of nodesIn(gated.root))
    for (const [eventType, transitions] of [['', node.always ?? []] as const, ...node.transitions])
      for (const [index, transition] of transitions.entries()) {
        refs.set(transition, { source: node.id, eventType, index })
        if (!hears || transition.guard === undefined) continue
        guards.set(transition, guardName(transition.guard))
        transition.guard = telling(transition) as never
      }
  const [inner, outer] = [gated.implementations.actors, machine.implementations.actors] as Record<string, unknown>[]
  for (const [name, logic] of Object.entries(outer ?? {})) {
    const below = inner?.[name]
    if (isMachine(logic) && isMachine(below)) watch(logic, below, hears)
  }
}

const telling = (transition: AnyTransitionDefinition): object => {
  const own: Guarded = { guards: [transition.guard] }
  const asked = (snapshot: AnyMachineSnapshot, args: Args): boolean => {
    if (!heard) return check(snapshot, args, own)
    const reads = () => readsOf(args, (watched) => check(snapshot, watched, own))
    try {
      const says = check(snapshot, args, own)
      heard.set(transition, { says: says ? 'yes' : 'no', reads: reads() })
      return says
    } catch (error) {
      heard.set(transition, { says: 'threw', reads: reads(), error: messageOf(error) })
      throw error
    }
  }
  // A function with a `check` is one of XState's own kind, which is given the snapshot too.
  return Object.assign(() => false, { check: asked })
}
