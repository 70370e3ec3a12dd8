/** Wraps a machine so that whatever acts on the world (effects, custom actions) is held back until the commit that caused it. */
import type { AnyActorLogic, AnyActorRef, AnyActorScope, AnyStateMachine, Snapshot } from 'xstate'
import type { AnyEvent } from '../../contracts/journal.ts'
import { detached } from '../../contracts/plain.ts'
import { isMachine } from '../state-nodes.ts'
import { stepByTable } from './step.ts'
import type { ExecutedAction } from './xstate-hooks.ts'

type AnySystem = AnyActorRef['system']

/** What the gate tells the replica that owns a system. All calls come from within a transition. */
export interface Gatekeeper {
  holdAction(self: AnyActorRef, type: string, run: () => unknown): void
  /** An effect was invoked or spawned; `launch` really starts it, any number of transitions later. */
  effectInvoked(self: AnyActorRef, process: { launch: () => void; deliver: (event: AnyEvent) => void; kill: () => void }): void
  holdDelivery(self: AnyActorRef, event: AnyEvent): void
  holdStop(self: AnyActorRef, stop: () => void): void
}

/** The event by which a launch that threw reaches its own actor. */
export const effectFailed = 'statecast.effect.failed'

const keepers = new WeakMap<AnySystem, Gatekeeper>()
export const keepGate = (system: AnySystem, keeper: Gatekeeper): void => void keepers.set(system, keeper)
const keeperOf = (system: AnySystem): Gatekeeper => {
  const keeper = keepers.get(system)
  if (!keeper) throw new TypeError('this machine is made durable: run it under a Statecast host, not with createActor')
  return keeper
}

type EffectLogic = AnyActorLogic & { start: NonNullable<AnyActorLogic['start']> }

/**
 * Promise, callback and observable logic, and any other that has a `start`: it runs only after the commit, stops only after the commit, and what
 * it is sent reaches it only after the commit. Its own `transition` sees nothing but its ends, which come in as journalled inputs.
 */
const gateEffect = (logic: EffectLogic): AnyActorLogic =>
  Object.assign(Object.create(logic), {
    start(_: Snapshot<unknown>, scope: AnyActorScope) {
      const { self, system } = scope
      keeperOf(system).effectInvoked(self, {
        launch: () => logic.start(withInputOfItsOwn(self.getSnapshot()), scope),
        deliver: (event) => void logic.transition(self.getSnapshot(), detached(event), scope),
        kill: () => void logic.transition(self.getSnapshot(), { type: 'xstate.stop' }, scope),
      })
    },
    transition(state: Snapshot<unknown>, event: AnyEvent, scope: AnyActorScope) {
      if (state.status !== 'active') return state
      if (event.type === 'xstate.stop') {
        keeperOf(scope.system).holdStop(scope.self, () => void logic.transition(state, event, scope))
        return { ...state, status: 'stopped', input: undefined, error: undefined }
      }
      if (event.type === effectFailed) return { ...state, status: 'error', error: event.error, input: undefined }
      if (event.type.startsWith('xstate.')) return logic.transition(state, event, scope)
      keeperOf(scope.system).holdDelivery(scope.self, event)
      return state
    },
  })

/** An effect that changes what it was given must not change the context that it came from. What it keeps on its state still gets there. */
const withInputOfItsOwn = (state: Snapshot<unknown>): Snapshot<unknown> => {
  if (!('input' in state) || typeof state.input !== 'object' || state.input === null) return state
  const input = detached(state.input)
  return new Proxy(state, { get: (target, key) => (key === 'input' ? input : Reflect.get(target, key)) })
}

type ActionArgs = { self: AnyActorRef; system: AnySystem; context: unknown; event: unknown }
type Action = ((args: ActionArgs, params: unknown) => unknown) & { resolve?: unknown }

/** Actions that the gate holds back. Any other function that XState would run in a transition was written in place. */
const held = new WeakSet<object>()

/** `enqueueActions` may enqueue a function that has no name; it would act before the commit, so its transition must not be. */
export const isInline = ({ type, exec }: ExecutedAction): boolean => exec !== undefined && !type.startsWith('xstate.') && !held.has(exec)

const gateAction = (type: string, action: Action): Action => {
  if (action.resolve !== undefined) return action
  const gated: Action = (args, params) => keeperOf(args.system).holdAction(args.self, type, () => action(detachedArgs(args), detached(params)))
  held.add(gated)
  return gated
}

/** Copied when they are looked at, since most actions look at little. */
const detachedArgs = (args: ActionArgs): ActionArgs => {
  const own: Record<string, unknown> = { ...args }
  for (const part of ['context', 'event'] as const) {
    let copy: unknown
    Object.defineProperty(own, part, { get: () => (copy ??= detached(args[part])), enumerable: true })
  }
  return own as ActionArgs
}

/** All roots of a machine share the context that is written in it as a literal: one that changed it in place would change how the next ones begin. */
const withContextOfItsOwn = (config: AnyStateMachine['config']): AnyStateMachine['config'] => {
  const literal: unknown = config.context
  return typeof literal === 'object' && literal !== null && Object.getPrototypeOf(literal) === Object.prototype
    ? { ...config, context: () => detached(literal) }
    : config
}

const mapValues = <In, Out>(record: Record<string, In>, map: (value: In, key: string) => Out): Record<string, Out> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]))

/** XState runs `always` transitions until they settle; a circle would hang the process, so a root may take this many microsteps for one event. */
const microstepMax = 10_000

/** The same machine with its effects and actions held back, children included. Made once for all roots of a kind. */
export const gateMachine = (machine: AnyStateMachine, gates = new Map<AnyStateMachine, AnyStateMachine>()): AnyStateMachine => {
  // A machine may spawn its own kind.
  const before = gates.get(machine)
  if (before) return before
  const { actors, actions } = machine.implementations
  const gated = machine.provide({
    actions: mapValues(actions as unknown as Record<string, Action>, (action, type) =>
      typeof action === 'function' ? gateAction(type, action) : action,
    ),
  })
  gates.set(machine, gated)
  gated.implementations.actors = mapValues(actors as Record<string, AnyActorLogic>, (logic) =>
    isMachine(logic) ? gateMachine(logic, gates) : typeof logic.start === 'function' ? gateEffect(logic as EffectLogic) : logic,
  ) as typeof gated.implementations.actors
  gated.config = withContextOfItsOwn(gated.config)
  gated.options = { ...gated.options, maxIterations: Math.min(gated.options?.maxIterations ?? microstepMax, microstepMax) }
  stepByTable(gated)
  return gated
}
