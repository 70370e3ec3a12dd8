/** What is said on a channel beside the turns. */
import type { Delivery } from '../../contracts/channel.ts'
import type { IncomingMessage } from '../../contracts/desk.ts'
import type { SayingInput } from '../delivery/delivery.context.ts'
import { routed } from '../delivery/route.rules.ts'
import { annotationsOf } from './annotations.rules.ts'

export type Saying = { id: string; input: SayingInput; text: string }

/** Nothing where there is nobody to say it to. @param what of the several things that can be said about one message, since each has a name of its own */
export const sayings = (
  session: string,
  message: Pick<IncomingMessage, 'id' | 'annotations'>,
  what: 'answer' | 'notice' | 'report',
  text: string,
): Saying[] => {
  const { origin, delivery } = annotationsOf(message)
  if (!origin || !delivery || text === '') return []
  const runId = `${message.id}:${what}`
  return [{ id: `saying-${runId}`, input: { session, runId, aside: what, delivery: silent(delivery), ...routed(origin) }, text }]
}

/** It is said at once: nobody is seen to type for it. */
const silent = (delivery: Delivery): Delivery => ({ ...delivery, streaming: false, typing: { mode: 'never' } })
