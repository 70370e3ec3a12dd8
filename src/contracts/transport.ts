/**
 * What a backend promises. `embedded` (SQLite on disk), `memory` and `nats` (JetStream) implement it;
 * `test/transport/transport.contract.ts` is the one suite that all of them pass. The comments carry the promises.
 */
import type { ForkChoice, Origin } from './fork.ts'
import type { Address } from './subjects.ts'

/** The answer to an append. `unknown` says that nothing is known: read back and compare before believing anything. */
export type Appended =
  | { outcome: 'ok' }
  /** Somebody else wrote: `last` is the sequence found, 0 for an empty journal. */
  | { outcome: 'fenced'; last: number }
  | { outcome: 'unknown'; cause: unknown }

/**
 * One durable frame: everything that one commit of one root says. The journal does not look inside `bytes`.
 * @property of the root that wrote it, where that is another one: what a fork shares with its origin was written by that, or by an origin of it
 */
export type Frame = { seq: number; bytes: Uint8Array; of?: Address }

/** What the backend keeps beside the last frame so that a node can find work without reading any journal. */
export type Head = {
  address: Address
  /** Sequence of the last frame; frames are numbered 1, 2, 3 … without a gap. */
  seq: number
  /** When this root wants to be woken though nobody writes to it: 0 at once, ms since the epoch, null for never, or {@link beingImported}. */
  wakeAt: number | null
  /** ms since the epoch of the last append, by the appender's clock. */
  at: number
  /** Of a fork where it came from; what was changed {@link Journal.origin} says. */
  origin?: Omit<Origin, 'change'>
}

/**
 * The wake time of a root whose journal is still on its way here, for as long as it is not whole: nobody takes it up, and no clock ever says so.
 * It is set with every commit but the last, so what was begun and not ended shows for what it is.
 */
export const beingImported = 8_640_000_000_000_000

/**
 * A journal that is found shorter than it was seen or acknowledged to this process before, without having been removed, has lost its end: `append`, `last`
 * and `head` say so, and so does `read` where it comes to the end. That is `corrupt_at`: neither fenced, nor empty.
 */
export interface Journal {
  /**
   * Appends one frame as `expected + 1` if the last sequence is `expected`, and sets the wake time in the same atomic act.
   * Resolves when the frame is durable at the backend's stated level. Appends that are in flight at the same time may share one commit of the
   * store. Never rejects for what a retry could mend: that is `unknown`.
   * @throws RuntimeError corrupt_at, log_full (nothing was written), too_large, closed
   */
  append(address: Address, expected: number, bytes: Uint8Array, head: { wakeAt: number | null; at: number }): Promise<Appended>
  /** Frames with `seq >= from`, in order; an empty journal yields none. @throws RuntimeError corrupt_at where a stored checksum does not fit */
  read(address: Address, from: number, options?: { limit?: number }): Promise<Frame[]>
  /**
   * Begins `to` with the frames 1 to `at` of `from`, which are shared: it takes no longer where there are many. Its next append is `at` + 1. What becomes of
   * `from` later does not touch them, also where it is truncated or removed: that is when they are copied. Cut off in the middle, it leaves all of it or none.
   * @throws RuntimeError not_found, bad_request (another kind, or no such frame), conflict (`to` is there, or `from` is half imported), log_full, log_unavailable
   */
  fork(from: Address, at: number, to: Address, choice: ForkChoice, head: { wakeAt: number | null; at: number }): Promise<void>
  /** All that a fork was told when it was made; undefined for what is none. */
  origin(address: Address): Promise<Origin | undefined>
  last(address: Address): Promise<Frame | undefined>
  head(address: Address): Promise<Head | undefined>
  /** Roots of one kind, or of all, in address order. */
  list(options?: { kind?: string | undefined; after?: Address | undefined; limit?: number | undefined }): Promise<Head[]>
  /** Heads with `wakeAt <= until`, earliest first. @param wanted those of others are left out, and do not count */
  due(until: number, limit: number, wanted?: (address: Address) => boolean): Promise<Head[]>
  /**
   * Calls back for every append that sets a wake time, whoever made it: not before the append is sent, and soon after it is stored. What another process
   * appended may go unsaid, or be said where the append fails: {@link due} knows. Returns the unsubscriber.
   */
  watchWakes(listener: (address: Address, wakeAt: number) => void): () => void
  /** The newest snapshot taken at `seq`; older ones are replaced. Losing one costs time only, so no promise of durability is made. */
  saveSnapshot(address: Address, seq: number, bytes: Uint8Array): Promise<void>
  /**
   * The newest readable snapshot, also where the journal ends before it or is empty: it then says what was there. A damaged one is as good as none.
   * The store does not say whether it belongs to the journal: whoever reads it sees to that.
   */
  snapshot(address: Address): Promise<Frame | undefined>
  /** Forgets frames with `seq < before`, but never the last one: it is what the next append continues. What a fork shares may stay as long as it has some of it. */
  truncate(address: Address, before: number): Promise<void>
  /** Forgets the root altogether: it may begin again. Its forks keep what they share with it. Cut off in the middle, it leaves a journal without a snapshot, never a snapshot without a journal. */
  remove(address: Address): Promise<void>
}

/** A message on the bus. `reply` is where an answer is expected. */
export type BusMessage = { subject: string; data: Uint8Array; headers?: Record<string, string> | undefined; reply?: string | undefined }

/** Live traffic: at most once, no storage. Wildcards as in NATS: `*` one token, a final `>` one or more. */
export interface Bus {
  publish(subject: string, data: Uint8Array, headers?: Record<string, string>): void
  /** False when surely nobody would get a message on this subject, or, without one, on any: then nothing needs to be encoded. */
  wanted(subject?: string): boolean
  /** Publishes, and says whether somebody was there to get it: false only when surely nobody was. @throws RuntimeError log_unavailable without a link */
  reaches(subject: string, data: Uint8Array, headers?: Record<string, string>): Promise<boolean>
  /** With a queue name, each message reaches one subscriber of that queue. A throwing listener never disturbs another. Returns the unsubscriber. */
  subscribe(pattern: string, listener: (message: BusMessage) => void, options?: { queue?: string }): () => void
  /** @throws RuntimeError not_found at once when nobody listens; timeout */
  request(subject: string, data: Uint8Array, options: { timeoutMs: number; headers?: Record<string, string> }): Promise<BusMessage>
  /**
   * One question with any number of answers, in the order in which they come; asked when the loop over it begins. Ends when the loop is left, when `signal`
   * aborts, or after `timeoutMs`, and takes no answer after that. Nobody can guess where the answers go.
   * @throws RuntimeError not_found at once when nobody listens; overloaded when 10,000 answers wait to be read
   */
  requestMany(
    subject: string,
    data: Uint8Array,
    options: { timeoutMs: number; headers?: Record<string, string>; signal?: AbortSignal },
  ): AsyncIterable<BusMessage>
}

export type Delivery = {
  subject: string
  id: string
  data: Uint8Array
  /** 1 for the first delivery. */
  attempt: number
  /** The work is done and durable elsewhere: never deliver it again. */
  ack(): Promise<void>
  /** Deliver it again after a pause. */
  retry(delayMs: number): Promise<void>
  /** It can never be done: keep it with the reason, where `deadLetters` shows it. */
  bury(reason: string): Promise<void>
}

/** Durable work by subject: stored before `put` resolves, delivered until acknowledged, also after a restart. */
export interface Inbox {
  /** A repeated id within the de-duplication window (2 minutes at least) is dropped and answered `duplicate`. @throws RuntimeError overloaded, log_full */
  put(subject: string, id: string, data: Uint8Array): Promise<{ duplicate: boolean }>
  /**
   * Deliveries of one subject come in order, one in flight per subject. One consumer per backend instance, or one per partition where nodes share the
   * work: a backend that is not shared takes no notice of it. Returns the stopper; what was not settled goes to whoever consumes next.
   */
  consume(pattern: string, handler: (delivery: Delivery) => Promise<void>, options?: { partition?: number }): () => Promise<void>
  deadLetters(options?: { limit?: number }): Promise<{ subject: string; id: string; data: Uint8Array; reason: string; at: number }[]>
}

/** Compare-and-set keys, with watch and expiry. */
export interface Registry {
  get(key: string): Promise<{ value: string; revision: number } | undefined>
  /** `expected` 0 means: must not exist. Resolves to the new revision, or undefined when somebody else was first. */
  put(key: string, value: string, options?: { expected?: number; ttlMs?: number }): Promise<number | undefined>
  delete(key: string, options?: { expected?: number }): Promise<boolean>
  list(prefix: string): Promise<{ key: string; value: string; revision: number }[]>
  /** Calls back for every later change, also for an expiry (value undefined); of what comes while the link is down, for the newest of each key. */
  watch(prefix: string, listener: (change: RegistryChange) => void): () => void
}
/** `revision` of what was put; of a deletion where the backend numbers those. */
export type RegistryChange = { key: string; value: string | undefined; revision: number | undefined }

/** Bytes by the hex SHA-256 of their content. */
export interface Blobs {
  put(bytes: Uint8Array): Promise<string>
  /** @throws RuntimeError not_found, corrupt_at when the content does not fit its name */
  get(hash: string): Promise<Uint8Array>
  /** Whether all of it is there; its content is not read. */
  has(hash: string): Promise<boolean>
  /** One that is not there is as good as deleted. It can be put again. */
  delete(hash: string): Promise<void>
}

export type TransportHealth = { writable: boolean; freeBytes: number | undefined; durability: string; detail?: string }

/** The detail of the health of a node that ends its work, and takes no more. */
export const shuttingDownDetail = 'shutting down'

export interface Transport {
  readonly name: string
  readonly capabilities: Readonly<{ durable: boolean; sharedByNodes: boolean }>
  readonly journal: Journal
  readonly bus: Bus
  readonly inbox: Inbox
  readonly registry: Registry
  readonly blobs: Blobs
  health(): Promise<TransportHealth>
  /** Waits for what is in flight, then refuses everything with `closed`. Safe twice. */
  close(): Promise<void>
}
