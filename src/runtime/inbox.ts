/** Messages that were published to an actor's subject: stored first, delivered until the actor's journal has them. */
import type { Logger } from '../contracts/environment.ts'
import { errorBody, isRuntimeError } from '../contracts/errors.ts'
import { parseJson } from '../contracts/parse.ts'
import { shownBody } from '../contracts/redact.ts'
import type { Delivery } from '../contracts/transport.ts'
import { nameCharactersMax } from '../transport/index.ts'
import type { Parts } from './parts.ts'
import type { Session } from './session.ts'

const retryMs = 1000

/** Failures that another attempt may mend; everything else is buried with its reason. */
const mayPass = (error: unknown): boolean =>
  isRuntimeError(error) && (error.retryable || error.code === 'log_full' || error.code === 'log_unavailable')

/** @param partition only messages for actors of this one @returns the stopper */
export const consumeInbox = ({
  parts,
  session,
  partition,
}: {
  parts: Parts
  session: (key: string, which?: { agent?: string | undefined }) => Session
  partition: number | undefined
}): (() => Promise<void>) => {
  const { transport, directory, environment, subjects: names } = parts
  /** @returns whether it has been delivered; if not, what becomes of it is settled */
  const deliver = async (delivery: Delivery): Promise<boolean> => {
    let body: unknown
    try {
      const address = names.address(delivery.subject)
      body = parseJson(delivery.data, 'message', 'send {"type":"message","text":"…"}')
      if (address.kind === 'session') await toSession(session, address.id, body, delivery.id)
      else await directory.send(address, body, { id: delivery.id })
      return true
    } catch (error) {
      if (mayPass(error)) {
        await delivery.retry(retryMs)
        return false
      }
      const named = namedBy(body)
      const reason = shownBody(error)
      environment.log.warn(
        { subject: delivery.subject, id: named ?? delivery.id, error: reason },
        'a message could not be delivered and was put aside',
      )
      await delivery.bury(JSON.stringify(named === undefined ? reason : { messageId: named, ...reason }))
      return false
    }
  }
  const take = async (delivery: Delivery): Promise<void> => {
    // An acknowledgement that fails is no failure of the message: it comes again, and its id says that it was here.
    if (await deliver(delivery)) await delivery.ack()
  }
  return transport.inbox.consume(names.everyIn(), take, partition === undefined ? {} : { partition })
}

/** Leaves what was published where it is until `ready` resolves. @returns the stopper, also of what has not begun */
export const consumeWhen = (ready: Promise<void>, consume: () => () => Promise<void>, log: Logger): (() => Promise<void>) => {
  let stop: (() => Promise<void>) | undefined
  let over = false
  const begin = (): void => {
    if (!over) stop = consume()
  }
  ready.then(begin).catch((error: unknown) => log.error({ error: errorBody(error) }, 'published messages are not taken in'))
  return async () => {
    over = true
    await stop?.()
  }
}

type Published = { type?: unknown; id?: unknown; agent?: unknown }

/** Its publisher knows a message by the id in its body, where it has one; of what is no message that may be anything. */
const namedBy = (body: unknown): string | undefined => {
  const { type, id } = (body ?? {}) as Published
  return type === 'message' && typeof id === 'string' && id !== '' && id.length <= nameCharactersMax ? id : undefined
}

/** A message may name who answers, as `chat.send` does. */
const toSession = async (
  session: (key: string, which?: { agent?: string | undefined }) => Session,
  key: string,
  body: unknown,
  id: string,
): Promise<void> => {
  const { agent, ...message } = (body ?? {}) as Published
  if (message.type !== 'message') await session(key).command(body)
  else await session(key, { agent: typeof agent === 'string' ? agent : undefined }).command({ id, ...message })
}
