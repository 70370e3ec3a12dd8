/** Durable work on a work-queue stream: what is published is stored, and taken out when it is acknowledged. */
import type { Environment } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Blobs, Inbox } from '../../contracts/transport.ts'
import { checkBytes, checkName } from '../limits.ts'
import { checkPattern, checkSubject } from '../subject.ts'
import { type Consumption, consumption } from './consumption.ts'
import { deadLettersOf, idHeader } from './dead-letters.ts'
import { fromNats } from './errors.ts'
import type { Link } from './link.ts'
import type { Names } from './names.ts'
import { sweepAcknowledged } from './workarounds/acknowledged-sweep.ts'
import { contentMax, payloads } from './workarounds/payload.ts'

export const natsInbox = (
  link: Link,
  names: Names,
  blobs: Blobs,
  environment: Pick<Environment, 'clock' | 'log'>,
): Inbox & { stop(): Promise<void> } => {
  const { prefix } = names
  const content = payloads(link, blobs)
  /** By partition; undefined takes all. */
  const consuming = new Map<number | undefined, Consumption>()
  let sweep: ReturnType<typeof sweepAcknowledged> | undefined

  return {
    async put(subject, id, data) {
      checkSubject(subject)
      checkName(id, 'message id')
      checkBytes(data, contentMax(link), 'message')
      if (!subject.startsWith(`${prefix}.in.`))
        throw new RuntimeError('bad_request', `'${subject.slice(0, 120)}' is not an inbox subject`, {
          field: 'subject',
          hint: `write ${prefix}.in.<kind>.<id>`,
        })
      try {
        // The server knows ids by stream, and users choose the same id for messages to two sessions.
        const { duplicate } = await link.publish(subject, data, { id: `${subject} ${id}`, headers: { [idHeader]: id } })
        return { duplicate }
      } catch (error) {
        throw fromNats(error, 'storing a message')
      }
    },

    consume(pattern, handler, { partition } = {}) {
      checkPattern(pattern)
      if (consuming.has(partition) || consuming.has(undefined) || (partition === undefined && consuming.size > 0))
        throw new RuntimeError('conflict', 'this inbox has a consumer', { hint: 'stop it first; one consumer takes all subjects by a wildcard' })
      const mine = consumption({ link, names, content, environment, pattern, partition }, handler)
      consuming.set(partition, mine)
      sweep ??= sweepAcknowledged({ link, stream: names.streams.inbox, environment }, () => consuming.values())
      return async () => {
        await mine.stop()
        if (consuming.get(partition) === mine) consuming.delete(partition)
      }
    },
    deadLetters: deadLettersOf(link, names, content),
    async stop() {
      sweep?.stop()
      // A handler that is still at work cannot settle its message any more; another consumer gets the message.
      await Promise.all([...consuming.values()].map((one) => one.abandon()))
      consuming.clear()
    },
  }
}
