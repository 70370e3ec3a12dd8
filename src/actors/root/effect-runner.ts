/** Runs what a commit let out: starts and stops effects, delivers to them, runs the author's actions, arms timers. */
import { type Environment, type Instant, instantOf } from '../../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { ActorPath, AnyEvent, Input } from '../../contracts/journal.ts'
import { LeanMap } from '../replica/lean.ts'
import type { Replica } from '../replica/replica.ts'
import { type Effect, effectFailure, mustBeRepeated, type Output } from '../replica/sink.ts'
import { type ActorDirectory, bindOthers, describeEffect } from './effect.ts'
import { type Arriving, unanswered } from './mailbox.ts'
import type { Recorded, RecordedAnswers } from './recorded.ts'
import type { State } from './state.ts'

type EffectsHost = {
  environment: Environment
  others: ActorDirectory | undefined
  input(arriving: Arriving): void
  /** Rejects when somebody else may have taken over since a time. */
  confirm(since: Instant): Promise<void>
  /** Does it when no commit is in the making: until then the tree says more than the journal. */
  alone(work: () => void): void
  /** @property recorded in a fork that answers its effects from a journal */
  state: Pick<State, 'name' | 'ledger' | 'recorded'>
  /** There is a {@link FailedAction} to be taken. */
  actionFailed(): void
}

type Action = Extract<Output, { kind: 'action' }>
export type FailedAction = { action: Action; error: unknown }

const toParent = (path: ActorPath, event: AnyEvent): Input => ({ from: path, to: path.slice(0, path.lastIndexOf('/')) || '/', event })

const unwanted = (path: ActorPath): RuntimeError => new RuntimeError('cancelled', `nobody wants ${path} any more`)

/** Of the machine, or of the effect in it: whoever is about to leave memory says that it may be tried again. */
const isGone = ({ code, retryable }: RuntimeError): boolean => code === 'not_found' || (code === 'closed' && !retryable)

/** The longest delay that a JavaScript timer takes; what is due later is armed again on the way. */
const timeoutMax = 2 ** 31 - 1

export class EffectRunner {
  readonly #host: EffectsHost
  readonly #launched = new LeanMap<ActorPath, Effect>()
  /** Effects of a fork that are answered from a journal, or about to be done since that has no answer. They were never started. */
  readonly #asked = new LeanMap<ActorPath, Effect>()
  /** Those of them that have said that they only wait. */
  readonly #waiting = new Set<Effect>()
  /** Those that were stopped for another reason than that the machine wants them no more. */
  readonly #left = new WeakSet<Effect>()
  readonly #armed = new LeanMap<number, unknown>()
  /** What commits let out and what has not happened yet, or not ended well, with the sequence of its commit. */
  readonly #pending = new LeanMap<Output, number>()
  #failed: FailedAction[] = []
  #later: unknown

  constructor(host: EffectsHost) {
    this.#host = host
  }

  /** The commits that cannot be said to have been carried out, since something that they let out has not ended well yet. */
  get pendingSince(): number[] {
    return [...new Set(this.#pending.values())].sort((a, b) => a - b)
  }

  get running(): boolean {
    return this.#launched.size + this.#asked.size > 0
  }

  /** Whether one of them does something, or may. */
  get working(): boolean {
    return this.#asked.size > 0 || this.#launched.size > this.#waiting.size
  }

  get hasPending(): boolean {
    return this.#pending.size > 0
  }

  addPending(outputs: Output[], seq: number): void {
    for (const output of outputs) if (mustBeRepeated(output)) this.#pending.set(output, seq)
  }

  /** Nothing of it will be done here any more. */
  discardPending(): void {
    this.#pending.clear()
    this.#failed = []
  }

  get failing(): boolean {
    return this.#failed.length > 0
  }

  takeFailed(): FailedAction[] {
    return this.#failed.splice(0)
  }

  /** Lets the outputs of a commit happen, in the order in which it caused them. */
  run(outputs: Output[], replica: Replica, epoch: number): void {
    for (const output of outputs) {
      switch (output.kind) {
        case 'start': {
          const effect = replica.effects.get(output.path)
          if (effect) this.#launch(effect, epoch, [])
          break
        }
        case 'stop':
          // An effect that never ran must not be told to stop: its logic would not know what of.
          if (this.#forget(output.path)) this.#guard(output.path, output.run)
          break
        case 'deliver': {
          const effect = this.#launched.get(output.path)
          if (effect) this.#guard(output.path, () => effect.deliver(output.event))
          break
        }
        case 'action':
          this.act(output)
          break
        case 'log':
          this.#host.environment.log.info({ actor: this.#host.state.name, log: output.args }, 'log')
          break
        case 'emit':
          // The listeners of the host have it.
          this.#pending.delete(output)
          break
      }
    }
    for (const [path] of this.#asked) if (!replica.effects.has(path)) this.#asked.delete(path)
    for (const [path, effect] of this.#launched)
      if (!replica.effects.has(path)) {
        this.#forget(path)
        // Whoever failed in one of its parts may still be running in the others.
        if (effect.ref.getSnapshot().status === 'error') this.#kill(effect)
      }
  }

  act(action: Action): void {
    const ended = () => void this.#pending.delete(action)
    const failed = (error: unknown) => {
      if (!this.#pending.has(action)) return
      this.#failed.push({ action, error })
      this.#host.actionFailed()
    }
    try {
      const result = action.run()
      if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') Promise.resolve(result).then(ended, failed)
      else ended()
    } catch (error) {
      failed(error)
    }
  }

  /**
   * Starts every effect that is active and not running here, and gives it all that it was ever sent. One of an earlier epoch is told that it ran before.
   * @param afterMs to wait before
   */
  launchAll(replica: Replica, epoch: number, afterMs = 0): void {
    const { clock } = this.#host.environment
    this.#cancelLater()
    if (afterMs > 0) {
      // It may be called off while it waits for the commit, too: the tree is another one then.
      const later = clock.setTimeout(() => this.#host.alone(() => this.#later === later && this.launchAll(replica, epoch)), afterMs)
      this.#later = later
      return
    }
    for (const effect of replica.effects.values())
      if (!this.#launched.has(effect.path) && !this.#asked.has(effect.path)) this.#launch(effect, epoch, effect.sent.slice())
  }

  #forget(path: ActorPath): boolean {
    const effect = this.#launched.get(path)
    if (effect) this.#waiting.delete(effect)
    return this.#launched.delete(path)
  }

  #cancelLater(): void {
    this.#host.environment.clock.clearTimeout(this.#later)
    this.#later = undefined
  }

  /** Before it is done, in a fork: whether its origin has an answer. Of all that it is told meanwhile the effect itself has the list. */
  #ask(recorded: RecordedAnswers, effect: Effect, epoch: number): void {
    this.#asked.set(effect.path, effect)
    void recorded.answer(effect, this.#host.state.ledger.seq).then((answer) => this.#host.alone(() => this.#answer(effect, epoch, answer)))
  }

  #answer(effect: Effect, epoch: number, answer: Recorded): void {
    if (this.#asked.get(effect.path) !== effect) return
    if (Array.isArray(answer)) {
      for (const input of answer) this.#host.input(unanswered(input))
      return
    }
    this.#asked.delete(effect.path)
    this.#launch(effect, epoch, effect.sent.slice(), answer)
  }

  /** @param answer that its origin has none; one that was begun there is that very work */
  #launch(effect: Effect, epoch: number, sent: AnyEvent[], answer?: 'begun' | 'unknown'): void {
    const { recorded } = this.#host.state
    if (recorded && !answer) {
      this.#ask(recorded, effect, epoch)
      return
    }
    const { path, ref } = effect
    const elsewhere = answer === 'begun'
    const began = instantOf(this.#host.environment.clock)
    this.#launched.set(path, effect)
    describeEffect(ref, {
      key: `${this.#host.state.name}${path}`,
      attempt: epoch - effect.epoch + 1 + (elsewhere && effect.epoch === epoch ? 1 : 0),
      epoch,
      restarted: elsewhere || effect.epoch < epoch,
      confirm: () => this.#host.confirm(began),
      tell: (event) => {
        if (this.#launched.get(path) === effect) this.#host.input(unanswered(toParent(path, event), true))
      },
      report: async (event) => {
        if (this.#launched.get(path) !== effect && !this.#left.has(effect)) throw unwanted(path)
        const written = Promise.withResolvers<unknown>()
        this.#host.input({ ...unanswered(toParent(path, event)), ...written })
        await written.promise.catch((error: unknown) => {
          throw isRuntimeError(error) && isGone(error) ? unwanted(path) : error
        })
      },
      waits: (only) => {
        if (only && this.#launched.get(path) === effect) this.#waiting.add(effect)
        else this.#waiting.delete(effect)
      },
      leaves: () => this.#left.has(effect),
    })
    const { others, environment } = this.#host
    if (others) bindOthers(ref, { directory: others, clock: environment.clock })
    this.#guard(path, effect.launch)
    for (const event of sent) this.#guard(path, () => effect.deliver(event))
  }

  #guard(path: ActorPath, run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#host.input(unanswered(effectFailure(path, error)))
    }
  }

  /** Arms what is not armed yet, and disarms what was cancelled. @param at the time of the last commit, which a wall clock may have fallen behind */
  arm(replica: Replica, at: number): void {
    const { clock } = this.#host.environment
    for (const [n, handle] of this.#armed)
      if (!replica.timers.has(n)) {
        clock.clearTimeout(handle)
        this.#armed.delete(n)
      }
    const now = Math.max(at, clock.now())
    for (const { n, dueAt } of replica.timers.pending()) if (!this.#armed.has(n)) this.#armOne(n, Math.max(0, dueAt - now))
  }

  #armOne(n: number, wait: number): void {
    const { clock } = this.#host.environment
    const fire = () => {
      if (wait > timeoutMax) return this.#armOne(n, wait - timeoutMax)
      this.#armed.delete(n)
      this.#host.input(unanswered({ timer: n }))
    }
    this.#armed.set(n, clock.setTimeout(fire, Math.min(wait, timeoutMax)))
  }

  #kill(effect: Effect): void {
    try {
      effect.kill()
    } catch (error) {
      this.#host.environment.log.warn(
        { actor: this.#host.state.name, path: effect.path, error: String(error) },
        'an effect threw while it was stopped',
      )
    }
  }

  /** Stops all processes without telling the machine: the root leaves memory, or begins anew from its journal. */
  stopAll(replica: Replica): void {
    this.#cancelLater()
    for (const handle of this.#armed.values()) this.#host.environment.clock.clearTimeout(handle)
    this.#armed.clear()
    for (const effect of this.#launched.values()) this.#left.add(effect)
    replica.disconnect()
    for (const effect of this.#launched.values()) this.#kill(effect)
    this.#launched.clear()
    this.#asked.clear()
    this.#waiting.clear()
  }
}
