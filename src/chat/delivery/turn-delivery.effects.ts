/** One answer on its way: runs {@link dispatcherMachine}, gives its messages to the channel, and reads to it what the model says. */
import { createHash } from 'node:crypto'
import { createActor, fromPromise } from 'xstate'
import { type Channel, type DeliveryOutput, deliveryDefaults, type FullDelivery } from '../../contracts/channel.ts'
import { definedOf } from '../../contracts/defined.ts'
import { actorClock, type Clock, type Logger } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import { escapeToken } from '../../contracts/subjects.ts'
import { messageNameOf, saidBy } from './adapter-errors.ts'
import type { Counted, Delivered, DeliverInput, DeliverOrder, DeliverReport } from './delivery.context.ts'
import { abandoned, counted, type SendInput } from './dispatcher.context.ts'
import { dispatcherMachine } from './dispatcher.machine.ts'
import { showDraft } from './draft.ts'
import { MessageReader } from './message-reader.ts'
import { limited } from './settings.rules.ts'
import { showTyping } from './typing.effects.ts'

type TurnParts = {
  input: DeliverInput
  channel: Channel | undefined
  /** What had arrived before a crash. */
  known: Delivered[]
  clock: Clock
  random: () => number
  log: Logger
  report: (report: DeliverReport) => void
  emit: (event: DeliveryOutput | AnyEvent) => void
  /** Is told whether there is nothing to send until the turn says more. */
  waits: (only: boolean) => void
}

export type TurnDelivery = {
  /** @param replayed it was told to a process that crashed */
  obey(order: DeliverOrder, replayed: boolean): void
  /** Takes something that was said in the session. */
  hear(event: AnyEvent): void
  /** Ends it without a word. */
  stop(): void
}

export const deliverTurn = ({ input, channel, known, clock, random, log, report, emit: emitLive, waits }: TurnParts): TurnDelivery => {
  const { session, runId, route, messageId } = input
  const textMax = channel?.textMax
  const delivery = limited(deliveryDefaults(input.delivery), textMax ?? Number.MAX_SAFE_INTEGER)
  let over = false
  const emit = (event: DeliveryOutput | AnyEvent): void => void (over || emitLive(event))
  // People choose the ids of their messages: none may be that of another one with something behind it.
  const name = [escapeToken(session), encodeURIComponent(runId), ...(input.aside === undefined ? [] : [input.aside])].join('/')
  const idOf = ({ kind, key }: Delivered): string =>
    `${name}/${kind}/${kind === 'block' ? createHash('sha256').update(key).digest('hex').slice(0, 16) : key}`

  const send = async ({ kind, key: block, payload, part }: SendInput, signal: AbortSignal): Promise<void> => {
    const id = idOf({ kind, key: block })
    const key = part === 0 ? id : `${id}.${part}`
    const about = { runId, channel: route.channel }
    try {
      const said = await channel?.send(payload, { route, kind, key, signal, emit: (event) => emit({ type: 'channel', ...about, event }) })
      if (signal.aborted) return
      emit({ type: 'block', runId, kind, key, route, payload, ...definedOf({ messageId: messageNameOf(said) }) })
    } catch (error) {
      if (!signal.aborted) log.warn({ ...about, to: route.to, kind, key, error: saidBy(error) }, 'a message could not be sent')
      throw error
    }
  }

  const typing = showTyping({ channel, route, runId, typing: delivery.typing, clock, log, emit })
  const draft = showDraft({ channel, route, delivery })
  const dispatcher = createActor(
    dispatcherMachine.provide({
      actors: { send: fromPromise<void, SendInput>(({ input: message, signal }) => send(message, signal)) },
      delays: { pause: () => pauseMs(delivery.pacing, random) },
    }),
    { clock: actorClock(clock), input: { delivery, textMax: textMax ?? null, messageId, known } },
  )
  const reader = new MessageReader({
    delivery,
    messageId,
    draft,
    typing,
    known: known.flatMap(({ kind, key }) => (kind === 'block' ? [key] : [])),
    tell: (event) => dispatcher.send(event),
    onRefused: (refused) => log.warn({ runId, refused }, 'the model wants files sent that it may not send'),
  })
  const stop = (): void => {
    over = true
    typing.stop()
    draft.stop()
    dispatcher.stop()
  }
  const end = (counts: Counted): void => {
    if (over) return
    report({ type: 'delivery.finished', ...counts })
    stop()
  }

  dispatcher.on('typing', ({ trigger }) => typing.tell(trigger))
  dispatcher.on('superseded', ({ said }) => reader.restart(said))
  dispatcher.on('stripped', () => log.info({ runId }, 'a heartbeat token was taken off an answer'))
  dispatcher.on('block.sent', report)
  dispatcher.on('block.failed', (failed) => {
    const { kind, timedOut } = failed
    const about = { runId, channel: route.channel, to: route.to, kind, key: idOf(failed), sendTimeoutMs: delivery.sendTimeoutMs }
    if (timedOut) log.warn(about, kind === 'block' ? blocksGivenUp : 'a message took too long to send')
    report(failed)
  })
  dispatcher.subscribe({
    next: (snapshot) => waits(snapshot.status === 'active' && !snapshot.hasTag('busy')),
    complete: () => end(counted(dispatcher.getSnapshot().context)),
    error: (error) => {
      log.error({ runId, error: errorBody(error) }, 'an answer could not be delivered to its end')
      const { context } = dispatcher.getSnapshot()
      end(counted({ ...context, ...abandoned(context) }))
    },
  })
  if (!channel) log.error({ channel: route.channel, runId }, 'there is no such channel: an answer cannot be delivered')
  dispatcher.start()

  return {
    obey(order, replayed) {
      if (over || order.type === 'known') return
      if (order.type === 'delivery.tool' && order.question && channel?.showsApprovals) return
      if (order.type === 'delivery.end') return reader.end(order, replayed)
      // What was said goes first.
      if (order.type === 'delivery.tool') reader.drain()
      if (order.type === 'delivery.finish') reader.close()
      dispatcher.send(order)
      if (order.type === 'delivery.start') reader.start(order.attempt, order.prefix)
    },
    hear(event) {
      if (over || event.runId !== runId) return
      if (event.type === 'tool' && event.phase === 'progress') typing.tell('tool')
      if (event.type === 'delta') reader.hear(event)
    },
    stop,
  }
}

/** As long as a person would take. */
const pauseMs = (pacing: FullDelivery['pacing'], random: () => number): number => {
  const { minMs, maxMs } = typeof pacing === 'object' ? pacing : { minMs: 800, maxMs: 2500 }
  return minMs + Math.round(random() * Math.max(0, maxMs - minMs))
}

const blocksGivenUp = 'a block took too long to send: what is left goes when all is said'
