/**
 * A snapshot in the making: what the actions of a step have made of it so far. XState makes a whole one for each `assign`, child and stopped child; here one is
 * made when somebody looks at it.
 */
import {
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  assign,
  spawnChild,
  stopChild,
} from 'xstate'
import type { AnyEvent } from '../../contracts/journal.ts'
import type { Action, ActionArgs, BuiltIn, Configuration, Custom } from './step-table.ts'

type Snapshot = AnyMachineSnapshot
/** What was sent to an actor that is invoked by the same state: it is looked up when all actions of the state are through. */
type Retry = { action: BuiltIn; params: unknown }

/** The actions that make another snapshot, each told by the function of XState's that does so. */
const [assigns, spawns, stops] = [assign({}), spawnChild(''), stopChild('')].map((action) => (action as unknown as BuiltIn).resolve)
type Assign = BuiltIn & { assignment: ((args: object, params: unknown) => object) | Record<string, unknown> }
type Stop = BuiltIn & { actorRef: Custom | AnyActorRef | string }
type Spawn = (...given: unknown[]) => AnyActorRef

type Children = Record<string, AnyActorRef | undefined>
/** What a snapshot is made of. */
export type Parts = Pick<Snapshot, 'status' | 'output' | 'error' | 'machine' | 'context' | 'children' | 'historyValue'> &
  Pick<Snapshot, 'matches' | 'hasTag' | 'can' | 'getMeta' | 'toJSON'>

/** The fields in XState's order. */
export const snapshotOf = (parts: Parts, { nodes, value, tags }: Configuration, context: unknown, children: unknown): Snapshot =>
  ({
    status: parts.status,
    output: parts.output,
    error: parts.error,
    machine: parts.machine,
    context,
    _nodes: nodes,
    value,
    tags,
    children,
    historyValue: parts.historyValue,
    matches: parts.matches,
    hasTag: parts.hasTag,
    can: parts.can,
    getMeta: parts.getMeta,
    toJSON: parts.toJSON,
  }) as unknown as Snapshot

/** To spawn an actor, XState makes a snapshot of what it is given, at the cost of computing the value of these states: none here. */
const noNodes: AnyStateNode[] = []

export class Draft {
  /** Events that the machine has raised and not yet taken. */
  readonly queue: AnyEvent[] = []
  readonly #machine: AnyStateMachine
  readonly #scope: AnyActorScope
  #at: Configuration
  #snapshot: Snapshot
  /** Of the present moment; the snapshot follows when somebody asks for it. */
  #context: object
  #children: Children
  #isBehind: boolean

  /** @param isBlank whether nobody has seen this snapshot, nor ever will */
  constructor(machine: AnyStateMachine, snapshot: Snapshot, at: Configuration, scope: AnyActorScope, isBlank = false) {
    this.#machine = machine
    this.#scope = scope
    this.#snapshot = snapshot
    this.#at = at
    this.#context = snapshot.context
    this.#children = snapshot.children
    this.#isBehind = isBlank
  }

  get snapshot(): Snapshot {
    if (this.#isBehind) this.remake()
    return this.#snapshot
  }
  get status(): Snapshot['status'] {
    return this.#snapshot.status
  }
  get at(): Configuration {
    return this.#at
  }
  get context(): object {
    return this.#context
  }
  get children(): Children {
    return this.#children
  }

  moveTo(configuration: Configuration): void {
    this.#at = configuration
    this.remake()
  }

  /** @param change of what no action changes */
  remake(change?: Partial<Parts>): void {
    this.#snapshot = snapshotOf(change ? ({ ...this.#snapshot, ...change } as Parts) : this.#snapshot, this.#at, this.#context, this.#children)
    this.#isBehind = false
  }

  /** @param invoked ids of the actors that are invoked beside these actions: what is sent to one of them finds it when all are through */
  execute(actions: readonly Action[], event: AnyEvent, invoked?: string[]): void {
    const retries: Retry[] | undefined = invoked && []
    this.#execute(actions, event, invoked, retries)
    if (retries) for (const { action, params } of retries) action.retryResolve?.(this.#scope, this.snapshot, params)
  }

  #execute(actions: readonly Action[], event: AnyEvent, invoked?: string[], retries?: Retry[]): void {
    const { self, system } = this.#scope
    for (const action of actions) {
      const implementation =
        typeof action === 'function' ? action : this.#machine.implementations.actions[typeof action === 'string' ? action : action.type]
      const args: ActionArgs = { context: this.#context, event, self, system }
      const params = typeof action !== 'function' && typeof action !== 'string' && 'params' in action ? paramsOf(action, args) : undefined
      if (implementation && 'resolve' in implementation) this.#resolve(implementation as unknown as BuiltIn, args, params, invoked, retries)
      else this.#scope.actionExecutor({ type: nameOf(action), info: args, params, exec: implementation } as never)
    }
  }

  #resolve(action: BuiltIn, args: ActionArgs, params: unknown, invoked: string[] | undefined, retries: Retry[] | undefined): void {
    let found: unknown
    let more: Action[] | undefined
    if (action.resolve === assigns && this.#context) this.#assign(action as Assign, args, params)
    else if (action.resolve === stops) found = this.#stop(action as Stop, args, params)
    else [found, more] = this.#asXState(action, args, params, invoked)
    if (action.retryResolve) retries?.push({ action, params: found })
    if (action.execute)
      this.#scope.actionExecutor({ type: action.type, info: args, params: found, exec: action.execute.bind(null, this.#scope, found) } as never)
    if (more) this.#execute(more, args.event, invoked, retries)
  }

  #asXState(action: BuiltIn, args: ActionArgs, params: unknown, invoked?: string[]): [params: unknown, more: Action[] | undefined] {
    const before = action.resolve === spawns ? this.#withoutNodes() : this.snapshot
    const extra = { internalQueue: this.queue, deferredActorIds: invoked }
    const [after, found, more] = action.resolve(this.#scope, before, args, params, action, extra)
    if (action.resolve === spawns) this.#change(after.context, after.children)
    else if (after !== before) this.#adopt(after)
    return [found, more]
  }

  #assign(action: Assign, args: ActionArgs, params: unknown): void {
    const { assignment } = action
    let spawner: Spawn | undefined
    let spawned: Children | undefined
    const spawn: Spawn = (...given) => {
      spawner ??= this.#spawner(action, args)
      const ref = spawner(...given)
      spawned ??= {}
      spawned[ref.id] = ref
      return ref
    }
    const { context, event, self, system } = args
    const own = { context, event, spawn, self, system }
    let update: object
    if (typeof assignment === 'function') update = assignment(own, params)
    else {
      const parts: Record<string, unknown> = {}
      for (const key of Object.keys(assignment)) {
        const part = assignment[key]
        parts[key] = typeof part === 'function' ? part(own, params) : part
      }
      update = parts
    }
    // As XState does it: what a spread leaves out, such as a `__proto__` of its own, counts here.
    this.#change(Object.assign({}, this.#context, update), spawned ? { ...this.#children, ...spawned } : this.#children)
  }

  /** As XState hands it to an `assign`. */
  #spawner(action: Assign, args: ActionArgs): Spawn {
    let spawn: Spawn | undefined
    const asks = (own: object): object => {
      spawn = (own as { spawn: Spawn }).spawn
      return {}
    }
    action.resolve(this.#scope, this.#withoutNodes(), args, undefined, { assignment: asks } as unknown as BuiltIn, {
      internalQueue: this.queue,
      deferredActorIds: undefined,
    })
    return spawn as unknown as Spawn
  }

  #stop({ actorRef }: Stop, args: ActionArgs, params: unknown): AnyActorRef | undefined {
    const named = typeof actorRef === 'function' ? (actorRef(args, params) as AnyActorRef | string) : actorRef
    const ref = typeof named === 'string' ? this.#children[named] : named
    const { [ref?.id ?? '']: _, ...others } = this.#children
    this.#change(this.#context, ref ? others : this.#children)
    return ref
  }

  #withoutNodes(): Snapshot {
    return { machine: this.#machine, context: this.#context, _nodes: noNodes, children: this.#children } as unknown as Snapshot
  }

  #change(context: object, children: Children): void {
    this.#context = context
    this.#children = children
    this.#isBehind = true
  }

  /** An action that is not known here may make of a snapshot what it likes. */
  #adopt(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#context = snapshot.context
    this.#children = snapshot.children
  }
}

const nameOf = (action: Action): string =>
  typeof action === 'string' ? action : typeof action === 'object' ? action.type : action.name || '(anonymous)'

const paramsOf = (action: { params?: unknown }, { context, event }: ActionArgs): unknown =>
  typeof action.params === 'function' ? action.params({ context, event }) : action.params
