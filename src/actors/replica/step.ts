/**
 * XState's own step, by table: what follows from the chart alone is looked up (`step-table.ts`), where XState computes it again for every microstep, and the
 * state value for every `assign` too. Guards and actions are XState's own functions, called in its order
 * (docs/decisions/0010-a-step-by-table.md; `test/actors/replica/step.test.ts` compares the two).
 */
import {
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  and,
  assign,
  createActor,
  createMachine,
  stopChild,
} from 'xstate'
import { RuntimeError } from '../../contracts/errors.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import { Draft, type Parts, snapshotOf } from './step-draft.ts'
import { type Action, type Guarded, initialOf, isKnown, type Move, StepTable } from './step-table.ts'

type Snapshot = AnyMachineSnapshot
type Transition = AnyTransitionDefinition
type Output = ((args: { context: unknown; event: AnyEvent; self: AnyActorRef }) => unknown) | undefined

/** XState evaluates a guard only within another one. */
const { check } = and([]) as unknown as { check(snapshot: Snapshot, args: { context: unknown; event: AnyEvent }, self: Guarded): boolean }
/** A state looks for the first of its transitions that an event may take. */
type Selecting = { next(snapshot: Snapshot, event: AnyEvent): Transition[] | undefined }

/** One event, until the machine has come to rest. */
class Step {
  readonly #machine: AnyStateMachine
  readonly #scope: AnyActorScope
  readonly #draft: Draft

  constructor(machine: AnyStateMachine, scope: AnyActorScope, draft: Draft) {
    this.#machine = machine
    this.#scope = scope
    this.#draft = draft
  }

  transition(event: AnyEvent): Snapshot {
    if (event.type === 'xstate.stop') return this.#end(event, { status: 'stopped' })
    if (event.type === 'xstate.init') return this.#settle(event)
    const isFailure = event.type.startsWith('xstate.error.actor')
    const chosen = this.#select(event)
    if (!chosen && isFailure) return this.#end(event, { status: 'error', error: event.error })
    this.#microstep(chosen, event)
    return this.#settle(event)
  }

  /** @param context the action that makes the first context, where that is not written in the machine */
  begin(event: AnyEvent, blank: Snapshot, context: Action | undefined): Snapshot {
    const draft = this.#draft
    const { at } = draft
    let { context: first, children } = draft
    try {
      if (context !== undefined) draft.execute([context], event)
      first = draft.context
      children = draft.children
      this.#go(at.move(undefined), event)
      return this.#settle(event)
    } catch (error) {
      return snapshotOf({ ...blank, status: 'error', error } as Parts, at, first, children)
    }
  }

  #select(event: AnyEvent): Transition | undefined {
    const { at } = this.#draft
    for (const node of at.leafFirst) {
      if (!at.names(node, event.type)) continue
      const [transition] = (node as unknown as Selecting).next(this.#draft.snapshot, event) ?? []
      if (transition) return transition
    }
    return undefined
  }

  #selectAlways(event: AnyEvent): Transition | undefined {
    for (const { transition, guarded } of this.#draft.at.always)
      if (!guarded || check(this.#draft.snapshot, { context: this.#draft.context, event }, guarded)) return transition
    return undefined
  }

  #settle(first: AnyEvent): Snapshot {
    const maxIterations = this.#machine.options?.maxIterations ?? Number.POSITIVE_INFINITY
    let event = first
    let looksForAlways = true
    for (let count = 1; this.#draft.status === 'active'; count++) {
      if (count > maxIterations) throw new Error(endless(maxIterations))
      const always: Transition | undefined = looksForAlways ? this.#selectAlways(event) : undefined
      const before = this.#draft.snapshot
      let chosen = always
      if (!always) {
        if (this.#draft.queue.length === 0) break
        event = this.#draft.queue.shift() as AnyEvent
        chosen = this.#select(event)
      }
      this.#microstep(chosen, event)
      // An `always` that has changed nothing would be taken for ever.
      looksForAlways = always === undefined || this.#draft.snapshot !== before
    }
    const settled = this.#draft.snapshot
    if (settled.status !== 'active') this.#stopChildren(event)
    return settled
  }

  #microstep(transition: Transition | undefined, event: AnyEvent): void {
    if (transition) this.#go(this.#draft.at.move(transition), event)
    this.#tell(event, transition ? [transition] : [])
  }

  #go({ leaving, entries, to }: Move, event: AnyEvent): void {
    this.#draft.execute(leaving, event)
    for (const { node, actions, invoked } of entries) {
      this.#draft.execute(actions, event, invoked)
      if (node.type === 'final') this.#finish(node, event)
    }
    const isDone = this.#draft.status === 'done'
    if (isDone)
      this.#draft.execute(
        to.leafFirst.flatMap((node): Action[] => node.exit as Action[]),
        event,
      )
    if (to !== this.#draft.at) this.#draft.moveTo(isDone ? to.reversed() : to)
  }

  #finish({ id, parent, output }: AnyStateNode, event: AnyEvent): void {
    const { root } = this.#machine
    const saidBy = (said: unknown, of: AnyEvent): unknown =>
      typeof said === 'function' ? (said as NonNullable<Output>)({ context: this.#draft.context, event: of, self: this.#scope.self }) : said
    this.#draft.queue.push({ type: `xstate.done.state.${parent?.id}`, output: saidBy(output, event) })
    if (parent?.parent) return
    const whole = root.output === undefined ? undefined : saidBy(root.output, { type: `xstate.done.state.${id}`, output: saidBy(output, event) })
    this.#draft.remake({ status: 'done', output: whole })
  }

  #stopChildren(event: AnyEvent): void {
    this.#draft.execute(
      Object.values(this.#draft.children).map((child) => stopChild(child as AnyActorRef) as unknown as Action),
      event,
    )
  }

  #end(event: AnyEvent, end: Partial<Parts>): Snapshot {
    this.#stopChildren(event)
    this.#draft.remake(end)
    this.#tell(event, [])
    return this.#draft.snapshot
  }

  /** What XState tells inspectors of each microstep. */
  #tell(event: AnyEvent, transitions: Transition[]): void {
    const { self, system } = this.#scope
    const { _sendInspectionEvent: tell } = system as unknown as { _sendInspectionEvent: (told: object) => void }
    tell({ type: '@xstate.microstep', actorRef: self, event, snapshot: this.#draft.snapshot, _transitions: transitions })
  }
}

/** A parent may keep the text in its context: it has to be the one that XState has, in every replay. */
const endless = (max: number): string =>
  `Infinite loop detected: the machine has processed more than ${max} microsteps without reaching a stable state. This usually happens when there's a cycle of transitions (e.g., eventless transitions or raised events causing state A -> B -> C -> A).`

/** For whoever suspects the table: journals are the same with either step. @throws RuntimeError bad_request */
const isOff = (): boolean => {
  const wanted = globalThis.process?.env?.STATECAST_STEP || 'table'
  if (wanted !== 'table' && wanted !== 'xstate')
    throw new RuntimeError('bad_request', `STATECAST_STEP is '${wanted.slice(0, 40)}', and there is no such step`, {
      field: 'STATECAST_STEP',
      hint: "write 'xstate' for the step of XState itself, or leave it out for the faster one, 'table'",
    })
  return wanted === 'xstate'
}

/** Whether it is an XState that ends a machine as these do: until 5.32, one that failed at its beginning had a snapshot of another shape. */
const isKnownXState = (): boolean => {
  const fails = createMachine({
    context: () => {
      throw new Error('on purpose')
    },
  })
  return 'machine' in createActor(fails).getSnapshot()
}
let knowsXState: boolean | undefined

/** Lets a machine that nobody else holds step by table, where it can. */
export const stepByTable = (machine: AnyStateMachine): void => {
  knowsXState ??= isKnownXState()
  if (isOff() || !knowsXState || !isKnown(machine)) return
  const table = new StepTable(machine)
  const { transition } = machine
  const { context } = machine.config
  const isMade = typeof context === 'function'
  const makeContext = assign(({ spawn, event, self }: { spawn: unknown; event: AnyEvent; self: unknown }) =>
    (context as (args: object) => object)({ spawn, input: event.input, self }),
  ) as unknown as Action
  const { matches, hasTag, can, getMeta, toJSON } = machine.resolveState({ value: initialOf(machine.root).key, context: {} })
  const methods = { matches, hasTag, can, getMeta, toJSON }
  machine.transition = (snapshot, event, scope) => {
    const at = table.of((snapshot as unknown as { _nodes: AnyStateNode[] })._nodes)
    return at ? new Step(machine, scope, new Draft(machine, snapshot, at, scope)).transition(event) : transition(snapshot, event, scope)
  }
  machine.getInitialSnapshot = (scope, input) => {
    const at = table.beginning
    const parts = {
      status: 'active',
      output: undefined,
      error: undefined,
      machine,
      context: isMade ? {} : context || {},
      _nodes: at.nodes,
      children: {},
    }
    const blank = { ...parts, historyValue: {}, ...methods } as unknown as Snapshot
    const draft = new Draft(machine, blank, at, scope, true)
    return new Step(machine, scope, draft).begin({ type: 'xstate.init', input }, blank, isMade ? makeContext : undefined)
  }
}
