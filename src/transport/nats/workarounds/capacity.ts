/**
 * Whether the server still takes what is written. One without room says so at once, by a limit of the server, the account or a stream; one whose disk is
 * full gives publishers no answer at all, and tells only who deletes.
 */
import type { JetStreamManager } from '@nats-io/jetstream'
import { errors, type NatsConnection } from '@nats-io/transport-node'
import type { RuntimeError } from '../../../contracts/errors.ts'
import { diskFull, fromNats, isDiskFull, isFull } from '../errors.ts'

export type Room = ReturnType<typeof roomOf>

export const roomOf = (nc: NatsConnection, jsm: JetStreamManager) => {
  /** Why the newest write was refused. */
  let refused: RuntimeError | undefined
  /** Streams whose files could not be written: they stay so, whatever other streams take. */
  const stuck = new Set<string>()

  /** Deletes nothing, and is answered with what is wrong with the files of the stream. */
  const isStuck = (stream: string): Promise<boolean> => jsm.streams.purge(stream, { filter: '_nothing' }).then(() => false, isDiskFull)

  return {
    took(stream: string): void {
      refused = undefined
      stuck.delete(stream)
    },
    /** @returns the error of a publish, or what is behind it */
    async explain(error: unknown, subject: string): Promise<unknown> {
      if (isFull(error)) refused = fromNats(error, 'the newest write')
      if (!(error instanceof errors.TimeoutError) || nc.isClosed()) return error
      const stream = await jsm.streams.find(subject).catch(() => undefined)
      if (stream === undefined || !(await isStuck(stream))) return error
      stuck.add(stream)
      return diskFull(`writing to ${stream}`, error)
    },
    /** @param write is tried when the newest one was refused, since nobody may have written since @returns why nothing can be written */
    async lack(write: () => Promise<unknown>): Promise<RuntimeError | undefined> {
      for (const stream of stuck) if (!(await isStuck(stream))) stuck.delete(stream)
      const [first] = stuck
      if (first !== undefined) return diskFull(`writing to ${first}`, undefined)
      if (refused !== undefined) await write().catch(() => undefined)
      return refused
    },
  }
}
