/** Time, identity and chance as values that are passed in, so that a test or the simulator owns them. */
import type { Tracing } from './tracing.ts'

export interface Clock {
  /** ms since the epoch; may jump with the machine's clock. */
  now(): number
  /** ms from some start on a clock that does not jump; left out where `now` never does. */
  elapsed?(): number
  /** Calls back after `ms` on a clock that does not jump. */
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(handle: unknown): void
}

type ActorClock = { setTimeout(callback: () => void, ms: number): number; clearTimeout(handle: number): void }

/** The clock of the environment as XState wants one, for charts that run beside the journal: its type names handles numbers. */
export const actorClock = (clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): ActorClock => ({
  setTimeout: (callback, ms) => clock.setTimeout(callback, ms) as number,
  clearTimeout: (handle) => clock.clearTimeout(handle),
})

/** A moment on both clocks: the one may jump, the other may stand still while the machine sleeps. */
export type Instant = { wall: number; steady: number }

export const instantOf = (clock: Clock): Instant => ({ wall: clock.now(), steady: clock.elapsed?.() ?? clock.now() })

/** Whether no more than `ms` have passed by either clock. One that went back says nothing. */
export const isWithin = (clock: Clock, since: Instant, ms: number): boolean => {
  const { wall, steady } = instantOf(clock)
  return wall >= since.wall && wall - since.wall <= ms && steady - since.steady <= ms
}

/** Resolves after `ms`. */
export const pause = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => void clock.setTimeout(resolve, ms))

export interface Ids {
  /** A new sortable id, one subject token. @param prefix such as `run` */
  next(prefix: string): string
}

export interface Random {
  /** 0 <= n < 1 */
  next(): number
}

/** A named place where a test may stop, delay or kill the process. Production passes {@link noFailPoints}. */
export interface FailPoints {
  hit(name: FailPoint): void | Promise<void>
}

/** The crash points of the reliability matrix, in the order a turn meets them. */
export const failPoints = {
  K01: 'received, not appended',
  K02: 'append sent, no acknowledgement',
  K03: 'acknowledged, client not told',
  K04: 'read by the owner, turn not started',
  K05: 'turn started, model not called',
  K06: 'model called, no token',
  K07: 'in the middle of the stream',
  K08: 'model done, not appended',
  K09: 'tool requested, not dispatched',
  K10: 'tool running',
  K11: 'effect done, no reply',
  K12: 'reply in, not appended',
  K13: 'tool result appended',
  K14: 'final text, not appended',
  K15: 'completed, subscribers not told',
  K16: 'in a snapshot write',
  K17: 'in a takeover, around the claim',
  K18: 'approval pending',
  K19: 'cancel received, not appended',
  K20: 'draining',
  K21: 'in a removal',
} as const
export type FailPoint = keyof typeof failPoints

export const noFailPoints: FailPoints = { hit: () => undefined }

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type Logger = {
  debug(fields: object, message?: string): void
  info(fields: object, message?: string): void
  warn(fields: object, message?: string): void
  error(fields: object, message?: string): void
  /** Whether anybody reads lines of a level; left out where all are read. What nobody reads is not searched for secrets. */
  enabled?(level: LogLevel): boolean
}

/** Everything the core takes from the outside world. */
export type Environment = {
  clock: Clock
  ids: Ids
  random: Random
  failPoints: FailPoints
  log: Logger
  /** Where it is told what runs do when; a runtime keeps the newest by itself. */
  tracing?: Tracing
  /** Variables such as `OPENAI_API_KEY`; default: those of the process. */
  variables?: Readonly<Record<string, string | undefined>>
  /** Relative paths of the options start here; default: the working directory of the process. */
  folder?: string
}

/** What a transition may know of time and chance: the same again whenever it is replayed. */
export type Moment = {
  /** ms since the epoch of the commit that the transition belongs to. */
  now(): number
  /** 32 unpredictable bytes, new ones with each call. */
  draw(): Uint8Array
  /** Whether XState is setting a delay just now, and no author's code runs. */
  scheduling(): boolean
  /** ms until a delayed event of this actor is due; undefined where there is none. */
  leftOf(actor: object, id: string): number | undefined
}

let present: Moment | undefined

/** The moment of the transition that is running, if one is: transitions never wait, so there is at most one. */
export const presentMoment = (): Moment | undefined => present

export const during = <T>(moment: Moment, work: () => T): T => {
  const before = present
  present = moment
  try {
    return work()
  } finally {
    present = before
  }
}
