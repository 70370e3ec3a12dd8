/** How often a root may fail before it is set aside, and how long it rests in between. */
import type { Clock } from '../../contracts/environment.ts'
import { type ErrorBody, errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { Commit, Input } from '../../contracts/journal.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Ledger } from '../journal/ledger.ts'

type Budget = { crashMax: number; crashPeriodMs: number }

const recent = (crashes: number[], now: number, { crashPeriodMs }: Budget): number => crashes.filter((at) => now - at < crashPeriodMs).length

/** Whether one more crash now would be too many. @param crashes ms since the epoch of those before */
export const overBudget = (crashes: number[], now: number, budget: Budget): boolean => recent(crashes, now, budget) + 1 > budget.crashMax

const firstMs = 50
const mostMs = 10_000

/** ms to wait before effects run again; four times as long with every crash in the period, so that the budget outlasts a short outage. */
export const backoffMs = (crashes: number[], now: number, budget: Budget): number =>
  Math.min(mostMs, firstMs * 4 ** Math.max(0, recent(crashes, now, budget) - 1))

/** What the journal says about a crash: that it happened, and whether it was one too many. */
export const verdict = (crash: ErrorBody, { crashes, at }: Ledger, budget: Budget): Pick<Commit, 'crash' | 'quarantine'> =>
  overBudget(crashes, at, budget) ? { crash, quarantine: crash } : { crash }

const calmTakeovers = 3

/** ms in which a process that took over from several that had got nowhere stays up and answers, before it runs what they ran. */
export const takeoverRestMs = ({ takeovers }: Ledger): number =>
  takeovers < calmTakeovers ? 0 : Math.min(60_000, 1000 * 2 ** (takeovers - calmTakeovers))

/** Why a root is not run again after one more takeover, if so. */
export const exhaustion = ({ takeovers }: Ledger, running: Iterable<string>, takeoverMax: number): ErrorBody | undefined =>
  takeovers < takeoverMax
    ? undefined
    : new RuntimeError('internal', `${takeovers} processes in a row ended while they ran ${[...running].slice(0, 5).join(', ') || 'its actions'}`, {
        // Without a name: a fork that shares this commit has another one.
        hint: "look at what that does to a process, mend it, then take it into service again with 'statecast revive'",
      }).toJSON()

/** A wait that can be cut short. */
export class Pause {
  #end: (() => void) | undefined

  wait(clock: Clock, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.setTimeout(resolve, ms)
      this.#end = () => {
        clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  end(): void {
    this.#end?.()
  }
}

export const noSuchError = (name: string): RuntimeError =>
  new RuntimeError('not_found', `there is no ${name}`, { hint: 'it begins with its first message' })

/** Only a conversation is deleted by command: an actor is forgotten by the app that has it. */
export const endedError = (address: Address): RuntimeError =>
  new RuntimeError('closed', `${formatAddress(address)} has ended`, {
    hint:
      address.kind === 'session'
        ? `use another key, or delete it and begin again: statecast delete ${formatAddress(address)}`
        : 'use another id for a new one',
  })

/** Of an event, a decision and a question alike. */
export const shuttingDownError = (): RuntimeError =>
  new RuntimeError('closed', 'this runtime is shutting down', {
    retryable: true,
    hint: 'ask the same again when it is back; what was accepted continues then',
  })

export const notHereError = (name: string): RuntimeError =>
  new RuntimeError('closed', `${name} is not running here any more`, { retryable: true, hint: 'send the message again' })

/** Why a root had to let go. */
export const lostError = (name: string, reason: unknown): RuntimeError =>
  isRuntimeError(reason) ? reason : new RuntimeError('internal', `${name} stopped: ${errorBody(reason).message}`, { cause: reason })

export const poisonError = (name: string, failure: ErrorBody): RuntimeError =>
  isUnlike(failure)
    ? RuntimeError.from(failure)
    : new RuntimeError('bad_request', `${name} failed on this event: ${failure.message}`, {
        hint: `${isUnnamed(failure) ? failure.hint : "mend the machine's guard or action"}; the event is kept in the journal, unapplied`,
        data: { cause: failure },
      })

/** What has no name can neither be held back until the commit nor found again in a replay. These showed only when they were met. */
export const inlineActionError = (type: string): RuntimeError =>
  new RuntimeError('not_durable', `the action '${type}' is an inline function`, {
    hint: 'declare it under setup({ actions }) and enqueue it by that name',
  })
export const inlineActorError = (id: string): RuntimeError =>
  new RuntimeError('not_durable', `the actor '${id}' was spawned without a name`, {
    hint: 'declare its logic under setup({ actors }) and spawn it by that name',
  })

const isUnlike = ({ code }: ErrorBody): boolean => code === 'not_deterministic'
const isUnnamed = ({ code }: ErrorBody): boolean => code === 'not_durable'

/**
 * Whether a failure is the affair of whoever sent the event, and no failure of the actor: it is the same whenever the event comes, and its sender is told.
 * What an effect or a timer runs into nobody is told of; it would come again at once.
 */
export const isSendersAffair = (failure: ErrorBody, input: Input): boolean =>
  (isUnnamed(failure) || isUnlike(failure)) && !('timer' in input) && !('from' in input)

/** The machine could not even begin: nothing was written, so another input may do better. */
export const createFailedError = (name: string, thrown: unknown): RuntimeError => {
  const failure = errorBody(thrown)
  return isUnlike(failure)
    ? RuntimeError.from(failure)
    : new RuntimeError('bad_request', `${name} cannot begin: ${failure.message}`, {
        hint: hintOf(thrown) ?? "mend the machine's context or entry actions, or create it with another input",
        data: { cause: failure },
      })
}

/** What the machine itself says to do, where it has thrown an error that says so. */
const hintOf = (thrown: unknown): string | undefined => {
  const { hint } = thrown instanceof Error ? (thrown as { hint?: unknown }) : {}
  return typeof hint === 'string' ? hint : undefined
}

export const quarantinedError = (name: string, reason: ErrorBody): RuntimeError =>
  new RuntimeError('quarantined', `${name} was quarantined after repeated failures: ${reason.message}`, {
    hint: `see 'statecast trace ${name}', mend the cause, then 'statecast revive ${name}'`,
    data: { reason },
  })
