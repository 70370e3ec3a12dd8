/** What an effect may know of itself: its idempotency key, its attempt, and a way to say something without a commit of its own. */
import type { AnyActorRef, PromiseActorLogic } from 'xstate'
import { fromPromise } from 'xstate'
import type { Clock } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { RootView } from './view.ts'

export type EffectInfo = {
  /** The address and path of this effect: the same in every attempt, never used for another. */
  key: string
  /** 1 at first; one more for every host that had to start it again. */
  attempt: number
  /** The epoch of the host that runs it; rises with every takeover. */
  epoch: number
  /** It ran before and nobody knows how far it came. */
  restarted: boolean
  /**
   * Makes sure that this host still owns the actor, for right before what must not be done twice: a process that was frozen may have been replaced
   * meanwhile. Free unless some time has passed since the effect began. @throws RuntimeError fenced, closed
   */
  confirm(): Promise<void>
  /** Sends an event to the parent that is journalled with whatever commit comes next, at no cost of its own. It may be lost in a crash. */
  tell(event: AnyEvent): void
  /**
   * Sends an event to the parent for which it may do without any other. Resolves when that is written down, so before what must not be done unless it is.
   * @throws RuntimeError cancelled where nobody wants the effect any more; closed, fenced … where its actor leaves this process before that
   */
  report(event: AnyEvent): Promise<void>
  /**
   * Says whether all that this effect does is to wait until it is told something: then a host that shuts down, or hands its actor over, gives it no time to
   * end. It is started again, and told all again, where the actor goes on. At first it works.
   */
  waits(only: boolean): void
  /** Asked once its signal has aborted: whether only its actor leaves this process, and it is begun again where that goes on. Otherwise nobody wants it any more. */
  leaves(): boolean
}

const infos = new WeakMap<AnyActorRef, EffectInfo>()
export const describeEffect = (self: AnyActorRef, info: EffectInfo): void => void infos.set(self, info)

const unheard = { tell: () => undefined, report: async () => undefined, waits: () => undefined, leaves: () => false }

/** For use inside an effect: `fromPromise(({ input, self }) => charge(input, { idempotencyKey: effect(self).key }))`. Outside of a host, a plain first attempt. */
export const effect = (self: AnyActorRef): EffectInfo =>
  infos.get(self) ?? { key: self.id, attempt: 1, epoch: 1, restarted: false, confirm: async () => undefined, ...unheard }

/** Other actors, wherever they are, for effects that begin one, tell it something, or look at it. */
export type ActorDirectory = {
  /** Does nothing where it is there. */
  create(address: Address, input?: unknown): Promise<void>
  /** Resolves when the event is durable. @param options.id the same event under it is taken once @throws RuntimeError closed, bad_request … */
  send(address: Address, event: AnyEvent, options: { id: string }): Promise<unknown>
  /** @param whole with its tags and children @throws RuntimeError drift … */
  read(address: Address, whole?: boolean): Promise<RootView>
  /** Resolves at its next commit, or after so many ms; perhaps earlier. */
  nextCommit(address: Address, timeoutMs: number): Promise<void>
}
type Others = { directory: ActorDirectory; clock: Clock }
const others = new WeakMap<AnyActorRef, Others>()
export const bindOthers = (self: AnyActorRef, known: Others): void => void others.set(self, known)
/** For use inside an effect, by its `self`. @throws RuntimeError unsupported outside of a runtime */
export const directoryOf = (self: AnyActorRef): ActorDirectory => othersOf(self).directory
/** The same with the clock of the runtime. @throws RuntimeError unsupported outside of a runtime */
export const othersOf = (self: AnyActorRef): Others => {
  const known = others.get(self)
  if (known) return known
  throw new RuntimeError('unsupported', 'an actor of another kind is only reached from within a runtime', {
    hint: 'register this machine with createRuntime({ machines }), and the other one too',
  })
}

/** Ends when `signal` aborts, whatever the work does; used to keep an unwilling effect from holding up its machine. */
export type TaskScope<Input> = {
  input: Input
  self: AnyActorRef
  signal: AbortSignal
  emit: (event: AnyEvent) => void
  /** Listens to what the machine sends to this effect while it runs. */
  receive: (listener: (event: AnyEvent) => void) => void
}

/** The same for work that may be done on another node, where there is no actor: what it needs to know of itself instead. */
export type PlaceableScope<Input> = Omit<TaskScope<Input>, 'self'> & { info: Omit<EffectInfo, 'tell' | 'report' | 'waits' | 'leaves'> }
export type PlaceableEffect<Output, Input> = (scope: PlaceableScope<Input>) => Promise<Output>

export const placeable = <Output, Input>(work: PlaceableEffect<Output, Input>): PromiseActorLogic<Output, Input> =>
  fromTask(({ self, ...scope }) => work({ ...scope, info: effect(self) }))

const mailboxes = new WeakMap<AnyActorRef, { listeners: ((event: AnyEvent) => void)[]; early: AnyEvent[] }>()
const mailboxOf = (self: AnyActorRef) => {
  const mailbox = mailboxes.get(self) ?? { listeners: [], early: [] }
  mailboxes.set(self, mailbox)
  return mailbox
}

/** Promise logic that can also be told something while it runs: `sendTo('model', { type: 'abort' })`. */
export const fromTask = <Output, Input>(work: (scope: TaskScope<Input>) => Promise<Output>): PromiseActorLogic<Output, Input> => {
  const promise = fromPromise<Output, Input>(({ input, self, signal, emit }) =>
    work({
      input,
      self: self as AnyActorRef,
      signal,
      emit: emit,
      receive: (listener) => {
        const mailbox = mailboxOf(self as AnyActorRef)
        mailbox.listeners.push(listener)
        for (const event of mailbox.early.splice(0)) listener(event)
      },
    }),
  )
  return {
    ...promise,
    transition: (state, event, scope) => {
      if (event.type.startsWith('xstate.')) return promise.transition(state, event, scope)
      const mailbox = mailboxOf(scope.self as AnyActorRef)
      if (mailbox.listeners.length === 0) mailbox.early.push(event)
      for (const listener of mailbox.listeners) listener(event)
      return state
    },
  }
}
