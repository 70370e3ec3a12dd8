/**
 * Whether the server still accepts writes. One that has reached a limit, its own, the account's or a stream's, refuses a write at once; one whose disk is full
 * gives publishers no answer at all, and says so only to requests that delete.
 */
import type { JetStreamManager } from '@nats-io/jetstream'
import { errors, type NatsConnection } from '@nats-io/transport-node'
import type { RuntimeError } from '../../../contracts/errors.ts'
import { diskFull, fromNats, isDiskFull, isFull } from '../errors.ts'

export type Capacity = ReturnType<typeof capacityOf>

export const capacityOf = (nc: NatsConnection, jsm: JetStreamManager) => {
  /** Why the newest write was refused. */
  let refused: RuntimeError | undefined
  /** Streams whose files could not be written: they stay so, whatever other streams take. */
  const stuck = new Set<string>()

  /** A deletion that matches nothing: the server answers it with what is wrong with the files of the stream. */
  const isStuck = (stream: string): Promise<boolean> => jsm.streams.purge(stream, { filter: '_nothing' }).then(() => false, isDiskFull)

  return {
    took(stream: string): void {
      refused = undefined
      stuck.delete(stream)
    },
    /** @returns the error of a publish, or the full disk that caused it */
    async explain(error: unknown, subject: string): Promise<unknown> {
      if (isFull(error)) refused = fromNats(error, 'the newest write')
      if (!(error instanceof errors.TimeoutError) || nc.isClosed()) return error
      const stream = await jsm.streams.find(subject).catch(() => undefined)
      if (stream === undefined || !(await isStuck(stream))) return error
      stuck.add(stream)
      return diskFull(`writing to ${stream}`, error)
    },
    /** @param write is tried where the newest write was refused: perhaps nothing has been written since @returns why nothing can be written */
    async lack(write: () => Promise<unknown>): Promise<RuntimeError | undefined> {
      for (const stream of stuck) if (!(await isStuck(stream))) stuck.delete(stream)
      const [first] = stuck
      if (first !== undefined) return diskFull(`writing to ${first}`, undefined)
      if (refused !== undefined) await write().catch(() => undefined)
      return refused
    },
  }
}
