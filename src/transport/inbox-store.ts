/** What the inbox needs of a store; the queue decides which consumer gets which message, and when. */
import type { Inbox } from '../contracts/transport.ts'

/** A message that is neither acknowledged nor dead. `row` rises with every put. */
export type StoredMessage = {
  row: number
  subject: string
  id: string
  /** Deliveries begun, as far as they were recorded. */
  attempts: number
  /** Deliveries whose handler threw. */
  failures: number
  /** ms since the epoch; it is not delivered earlier. */
  readyAt: number
  /** It was there when this process started, so it may have been delivered before: each delivery is recorded. */
  leftOver: boolean
}

/** Every promise resolves when the change is durable. */
export interface InboxStore {
  /** Resolves to the row, or undefined when the id is known. */
  put(subject: string, id: string, data: Uint8Array, at: number): Promise<number | undefined>
  done(row: number, at: number): Promise<void>
  postpone(row: number, attempts: number, failures: number, readyAt: number): Promise<void>
  bury(row: number, reason: string, at: number): Promise<void>
  /** The messages that wait, in order of `row`. */
  waiting(): StoredMessage[]
  /** @throws RuntimeError corrupt_at */
  data(row: number): Uint8Array
  dead: Inbox['deadLetters']
}
