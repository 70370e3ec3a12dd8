/** Shows on a channel that somebody types, as {@link typingMachine} decides. */
import { createActor } from 'xstate'
import type { Channel, DeliveryOutput, FullDelivery } from '../../contracts/channel.ts'
import { actorClock, type Clock, type Logger } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { Route } from '../../contracts/reply.ts'
import { type TypingEvent, typingMachine } from './typing.machine.ts'

type TypingParts = {
  channel: Channel | undefined
  route: Route
  runId: string
  typing: FullDelivery['typing']
  clock: Clock
  log: Logger
  emit: (output: DeliveryOutput) => void
}

/** @property stop ends it without a word */
export type Typing = { tell(type: TypingEvent['type']): void; stop(): void }

export const showTyping = ({ channel, route, runId, typing, clock, log, emit }: TypingParts): Typing => {
  if (!channel?.typing) return { tell: () => undefined, stop: () => undefined }
  const abort = new AbortController()
  /** A sign that takes long is not given twice at the same time. */
  let giving = false
  let warned = false
  const give = async (): Promise<void> => {
    if (giving) return
    giving = true
    try {
      await channel.typing?.(route, { signal: abort.signal })
    } catch (error) {
      if (!warned && !abort.signal.aborted) log.warn({ channel: channel.id, runId, error: errorBody(error) }, 'that somebody types cannot be shown')
      warned = true
    } finally {
      giving = false
    }
  }
  const machine = createActor(typingMachine, {
    input: typing,
    clock: actorClock(clock),
  })
  machine.on('typing', () => {
    emit({ type: 'typing', runId, route, active: true })
    void give()
  })
  machine.on('stopped', () => emit({ type: 'typing', runId, route, active: false }))
  /** An abort that nobody hears is dear all the same: it makes an error. */
  const end = (): void => {
    if (giving) abort.abort()
  }
  machine.subscribe({ complete: end })
  machine.start()
  return {
    tell: (type) => machine.send({ type }),
    stop: () => {
      end()
      machine.stop()
    },
  }
}
