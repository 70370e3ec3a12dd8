/**
 * Beside the step by table, the one file that touches names of XState which begin with an underscore. It puts itself between a running actor system and the world:
 * every delivery passes `system._relay`, every timer passes `system.scheduler`. `test/actors/replica/xstate-hooks.test.ts` notices when XState changes.
 */
import type { ActorRefLike, AnyActorRef, InspectionEvent } from 'xstate'
import { Actor } from 'xstate'
import { RuntimeError } from '../../contracts/errors.ts'
import type { AnyEvent } from '../../contracts/journal.ts'

type AnySystem = AnyActorRef['system']

export type ScheduledSend = { from: ActorRefLike; to: AnyActorRef; event: AnyEvent; id: string }

type Relay = (source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEvent) => void
type Scheduler = {
  schedule(source: AnyActorRef, target: AnyActorRef, event: AnyEvent, delay: number, id?: string): void
  cancel(source: AnyActorRef, id: string): void
}
type Inspect = (event: InspectionEvent) => void
type Internals = { _sendInspectionEvent: Inspect; _relay: Relay; _bookId: () => string; scheduler: Scheduler }
export type ExecutedAction = { type: string; exec?: object | undefined }
type Scope = { actionExecutor: (action: ExecutedAction) => void; emit: (event: AnyEvent) => void }
type RefInternals = { _parent?: AnyActorRef; sessionId: string; _actorScope: Scope; _processingStatus: number }
/** What `_processingStatus` says of an actor that has ended. */
const stopped = 2

export type SystemHooks = {
  /** What XState tells inspectors. Asked directly, since its own way makes a copy for each event and each observer. */
  inspect(event: InspectionEvent): void
  /**
   * Where deliveries come from now: from within a transition, which they are part of; from outside, which makes them inputs; or from XState
   * rebuilding a tree from a snapshot, which repeats what was delivered long ago.
   */
  phase(): 'applying' | 'outside' | 'restoring'
  /** Called before each delivery within a transition. May throw to end a circle. */
  delivering(): void
  /** A delivery that somebody outside of a transition asked for: an effect's result, `ref.send` in an action or anywhere else. */
  outside(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEvent): void
  /** Called around the clock's setTimeout of this delayed send. */
  scheduling(send: ScheduledSend | undefined): void
  /** A name for an actor or a delayed send that has none, the same in every replay; XState would count over the whole process, or draw one. */
  name(prefix: string): string
}

export const hookSystem = (root: AnyActorRef, hooks: SystemHooks): void => {
  const internals = root.system as unknown as Internals
  const refInternals = root as unknown as RefInternals
  if (
    typeof internals._relay !== 'function' ||
    typeof internals._bookId !== 'function' ||
    typeof internals._sendInspectionEvent !== 'function' ||
    typeof internals.scheduler?.schedule !== 'function' ||
    typeof internals.scheduler.cancel !== 'function' ||
    typeof refInternals._actorScope?.actionExecutor !== 'function' ||
    typeof refInternals._actorScope.emit !== 'function' ||
    typeof refInternals._processingStatus !== 'number'
  )
    throw new RuntimeError('unsupported', 'this version of XState is built differently from those Statecast knows', {
      hint: 'install xstate 5.32 or a later 5',
    })
  const relay = internals._relay
  internals._relay = (source, target, event) => {
    const phase = hooks.phase()
    if (phase === 'outside') return hooks.outside(source, target, event)
    if (phase === 'restoring') return
    hooks.delivering()
    relay(source, target, event)
  }
  tellInspectors(root.system, hooks.inspect.bind(hooks))
  refInternals.sessionId = hooks.name('x:')
  internals._bookId = () => hooks.name('x:')
  const { scheduler } = internals
  const { schedule } = scheduler
  scheduler.schedule = (source, target, event, delay, id = hooks.name('send-')) => {
    hooks.scheduling({ from: source, to: target, event, id })
    schedule(source, target, event, delay, id)
    hooks.scheduling(undefined)
  }
}

/** Ours is asked for every event; the machine's author may have inspectors of his own. */
const tellInspectors = (system: AnySystem, inspect: Inspect): void => {
  const internals = system as unknown as Internals
  const { inspect: observe } = system
  const others = internals._sendInspectionEvent
  internals._sendInspectionEvent = inspect
  system.inspect = (observer) => {
    internals._sendInspectionEvent = (event) => {
      inspect(event)
      others(event)
    }
    return observe(observer)
  }
}

/** Looks at every action before an actor executes it. @param check throws to refuse one */
export const checkActions = (ref: AnyActorRef, check: (action: ExecutedAction) => void): void => {
  const scope = (ref as unknown as RefInternals)._actorScope
  const execute = scope.actionExecutor
  scope.actionExecutor = (action) => {
    check(action)
    execute(action)
  }
}

/** Hears whatever an actor emits while it lives, without the lists that XState makes for its own listeners, who hear it next. */
export const takeEmits = (ref: AnyActorRef, hear: (event: AnyEvent) => void): void => {
  const internals = ref as unknown as RefInternals
  const scope = internals._actorScope
  const { emit } = scope
  scope.emit = (event) => {
    if (internals._processingStatus !== stopped) hear(event)
    emit(event)
  }
}

type Report = (error: unknown) => void
const reports = new WeakMap<object, Report>()
const reportOf = (ref: object): Report => reports.get(ref) as Report

const guarded = <T>(listener: ((value: T) => void) | undefined, report: Report) =>
  listener &&
  ((value: T) => {
    try {
      listener(value)
    } catch (error) {
      report(error)
    }
  })

type Observer = { next?: (value: unknown) => void; error?: Report; complete?: () => void }

/** The same for all actors: closures of its own would cost each of them 300 bytes for as long as it lives. */
const guardedMethods = {
  subscribe(this: AnyActorRef, next: Observer | Observer['next'], error?: Observer['error'], complete?: Observer['complete']) {
    const report = reportOf(this)
    const observer = typeof next === 'object' ? next : { next, error, complete }
    return Actor.prototype.subscribe.call(this, {
      next: guarded(observer.next?.bind(observer), report),
      error: guarded(observer.error?.bind(observer) ?? report, report),
      complete: guarded(observer.complete?.bind(observer), report),
    } as never)
  },
  on(this: AnyActorRef, type: never, listener: (event: unknown) => void) {
    return Actor.prototype.on.call(this, type, guarded(listener, reportOf(this)) as never)
  },
}

/** XState rethrows what a listener threw, and the errors that no listener takes, on the event loop, which ends the process: here they are reported. */
export const guardListeners = (ref: AnyActorRef, report: Report): void => {
  reports.set(ref, report)
  Object.assign(ref, guardedMethods)
}

/** Delivers as XState itself does. `source` undefined means: from outside the system. */
export const relay = (system: AnySystem, source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEvent): void =>
  (system as unknown as Internals)._relay(source, target, event)

export const reschedule = (system: AnySystem, send: ScheduledSend, delay: number): void =>
  (system as unknown as Internals).scheduler.schedule(send.from as AnyActorRef, send.to, send.event, delay, send.id)

/** Takes a delayed send back. */
export const unschedule = (system: AnySystem, from: AnyActorRef, id: string): void => (system as unknown as Internals).scheduler.cancel(from, id)

type Node = { id: string; type: string }
type NodesOf = { _nodes?: Node[] }

/**
 * In which order the active states of machines were entered, where that matters: eventless transitions of several regions run in it, and histories keep it.
 * XState's own snapshot does not hold it.
 */
export const entryOrders = (actors: Iterable<[string, AnyActorRef]>): [string, string[]][] =>
  [...actors].flatMap(([path, ref]): [string, string[]][] => {
    const nodes = (ref.getSnapshot() as NodesOf)._nodes
    return nodes?.some(({ type }) => type === 'parallel') ? [[path, nodes.map(({ id }) => id)]] : []
  })

/** Puts the active states of a machine that was just restored into the order in which they were entered. */
export const restoreEntryOrder = (ref: AnyActorRef | undefined, ids: readonly string[]): void => {
  const places = new Map(ids.map((id, place) => [id, place]))
  const placeOf = ({ id }: Node): number => places.get(id) ?? ids.length
  ;(ref?.getSnapshot() as NodesOf | undefined)?._nodes?.sort((a, b) => placeOf(a) - placeOf(b))
}

export const parentOf = (ref: AnyActorRef): AnyActorRef | undefined => (ref as unknown as RefInternals)._parent
