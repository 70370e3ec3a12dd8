/** Messages that were published to an actor's subject: stored first, delivered until the actor's journal has them. */
import { errorBody, isRuntimeError } from '../contracts/errors.ts'
import type { Subjects } from '../contracts/subjects.ts'
import type { Delivery } from '../contracts/transport.ts'
import { parseJson } from './parse.ts'
import type { Services } from './services.ts'
import type { Session } from './session.ts'

const retryMs = 1000

/** Failures that another attempt may mend; everything else is buried with its reason. */
const mayPass = (error: unknown): boolean =>
  isRuntimeError(error) && (error.retryable || error.code === 'log_full' || error.code === 'log_unavailable')

/** @param partition only messages for actors of this one @returns the stopper */
export const consumeInbox = ({
  services,
  names,
  session,
  partition,
}: {
  services: Services
  names: Subjects
  session: (key: string, which?: { agent?: string }) => Session
  partition: number | undefined
}): (() => Promise<void>) => {
  const { transport, directory, environment } = services
  const take = async (delivery: Delivery): Promise<void> => {
    try {
      const address = names.address(delivery.subject)
      const body = parseJson(delivery.data, 'message', 'send {"type":"message","text":"…"}')
      if (address.kind === 'session') {
        await toSession(session, address.id, body, delivery.id)
      } else await directory.send(address, body, { id: delivery.id })
      await delivery.ack()
    } catch (error) {
      if (mayPass(error)) return delivery.retry(retryMs)
      environment.log.warn({ subject: delivery.subject, error: errorBody(error) }, 'a message could not be delivered and was put aside')
      await delivery.bury(JSON.stringify(errorBody(error)))
    }
  }
  return transport.inbox.consume(names.everyIn(), take, partition === undefined ? {} : { partition })
}

type Published = { type?: unknown; id?: unknown; agent?: unknown }

/** A message may name who answers, as `chat.send` does. */
const toSession = async (session: (key: string, which?: { agent?: string }) => Session, key: string, body: unknown, id: string): Promise<void> => {
  const { agent, ...message } = (body ?? {}) as Published
  if (message.type !== 'message') await session(key).command(body)
  else await session(key, typeof agent === 'string' ? { agent } : {}).command({ id, ...message })
}
