/** Runs what a commit let out: starts and stops effects, delivers to them, runs the author's actions, arms timers. */
import type { Environment } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ActorPath, AnyEvent, Input } from '../contracts/journal.ts'
import { describeEffect } from './effect.ts'
import { effectFailed } from './gate.ts'
import { type Effect, launchFailed, type Output, type Replica } from './replica.ts'

export type EffectsHost = {
  name: string
  environment: Environment
  /** @param lazy the input may wait for another one's commit */
  input(input: Input, lazy: boolean): void
  actionFailed(output: Output, error: unknown): void
}

/** The longest delay that a JavaScript timer takes; what is due later is armed again on the way. */
const timeoutMax = 2 ** 31 - 1

export class Effects {
  readonly #host: EffectsHost
  readonly #launched = new Map<ActorPath, Effect>()
  readonly #armed = new Map<number, unknown>()

  constructor(host: EffectsHost) {
    this.#host = host
  }

  run(outputs: Output[], replica?: Replica, epoch = 0): void {
    for (const output of outputs) {
      switch (output.kind) {
        case 'start': {
          const effect = replica?.effects.get(output.path)
          if (effect) this.#launch(effect, epoch, false)
          break
        }
        case 'stop':
          // An effect that never ran must not be told to stop: its logic would not know what of.
          if (this.#launched.delete(output.path)) this.#guard(output.path, output.run)
          break
        case 'deliver': {
          const effect = this.#launched.get(output.path)
          if (effect) this.#guard(output.path, () => effect.deliver(output.event))
          break
        }
        case 'action':
          this.#act(output)
          break
        case 'log':
          this.#host.environment.log.info({ actor: this.#host.name, log: output.args }, 'log')
          break
        case 'emit':
          break
      }
    }
    if (replica) for (const path of this.#launched.keys()) if (!replica.effects.has(path)) this.#launched.delete(path)
  }

  #act(output: Extract<Output, { kind: 'action' }>): void {
    try {
      const result = output.run()
      if (result instanceof Promise) result.catch((error: unknown) => this.#host.actionFailed(output, error))
    } catch (error) {
      this.#host.actionFailed(output, error)
    }
  }

  /** Starts every effect that is active and not running here, each told that it ran before. */
  launchAll(replica: Replica, epoch: number, again = false): void {
    for (const effect of [...replica.effects.values()])
      if (!this.#launched.has(effect.path)) this.#launch(effect, epoch, again || effect.epoch < epoch)
  }

  #launch(effect: Effect, epoch: number, restarted: boolean): void {
    const { path, ref } = effect
    this.#launched.set(path, effect)
    describeEffect(ref, {
      key: `${this.#host.name}${path}`,
      attempt: epoch - effect.epoch + 1,
      epoch,
      restarted,
      tell: (event) => this.#host.input({ from: path, to: path.slice(0, path.lastIndexOf('/')) || '/', event }, true),
    })
    const sent = restarted ? effect.sent.slice() : []
    this.#guard(path, effect.launch)
    for (const event of sent) this.#guard(path, () => effect.deliver(event))
  }

  #guard(path: ActorPath, run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#host.input(launchFailed(path, error), false)
    }
  }

  /** The event by which an effect learns that what it produced cannot be stored. */
  unstorable(input: { event: AnyEvent }, cause: unknown): AnyEvent {
    const why = cause instanceof Error ? cause.message : String(cause)
    const error = new RuntimeError('tool_output', `the result cannot be journalled: ${why}`, {
      hint: 'return plain data: JSON, Date, Uint8Array, Error',
    })
    return { type: input.event.type === 'xstate.promise.resolve' ? 'xstate.promise.reject' : effectFailed, data: error, error }
  }

  /** Arms what is not armed yet, and disarms what was cancelled. */
  arm(replica: Replica): void {
    const { clock } = this.#host.environment
    for (const [n, handle] of this.#armed)
      if (!replica.timers.has(n)) {
        clock.clearTimeout(handle)
        this.#armed.delete(n)
      }
    for (const { n, dueAt } of replica.timers.pending()) if (!this.#armed.has(n)) this.#armOne(n, dueAt)
  }

  #armOne(n: number, dueAt: number): void {
    const { clock } = this.#host.environment
    const wait = Math.max(0, dueAt - clock.now())
    const fire = () => {
      if (wait > timeoutMax) return this.#armOne(n, dueAt)
      this.#armed.delete(n)
      this.#host.input({ timer: n }, false)
    }
    this.#armed.set(n, clock.setTimeout(fire, Math.min(wait, timeoutMax)))
  }

  /** Stops all processes without telling the machine: the root leaves memory, or begins anew from its journal. */
  stopAll(replica: Replica): void {
    for (const handle of this.#armed.values()) this.#host.environment.clock.clearTimeout(handle)
    this.#armed.clear()
    replica.disconnect()
    for (const [path, effect] of this.#launched) {
      try {
        effect.kill()
      } catch (error) {
        this.#host.environment.log.warn({ actor: this.#host.name, path, error: String(error) }, 'an effect threw while it was stopped')
      }
    }
    this.#launched.clear()
  }
}
