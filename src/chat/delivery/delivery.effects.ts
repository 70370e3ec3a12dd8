/** The publisher of turns on channels: {@link deliveryMachine} with its effect, which sends what a turn says to where its message came from. */
import { type CallbackActorLogic, fromCallback } from 'xstate'
import { effect } from '../../actors/index.ts'
import type { Channel, DeliveryOutput } from '../../contracts/channel.ts'
import type { Clock, Logger } from '../../contracts/environment.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import { formatAddress } from '../../contracts/subjects.ts'
import type { SharedParts } from '../../runtime/index.ts'
import type { Channels } from '../channels/channel-table.ts'
import type { Delivered, DeliverInput, DeliverOrder, DeliverReport } from './delivery.context.ts'
import { deliveryMachine } from './delivery.machine.ts'
import { deliverTurn, type TurnDelivery } from './turn-delivery.effects.ts'

type DeliverServices = {
  channel(id: string): Channel | undefined
  /** Tells what a session says, deltas included. @returns the unsubscriber */
  hear(session: string, listener: (event: AnyEvent) => void): () => void
  clock: Clock
  /** 0 <= n < 1 */
  random: () => number
  log: Logger
}

/**
 * After a crash it is started again and gets all orders once more, with what had arrived by then among them; only the model's deltas are lost.
 * So it looks at all of them before it begins: what arrived is not sent again. What was being sent may be, under the same key.
 */
export const deliver = ({
  channel: find,
  hear,
  clock,
  random,
  log,
}: DeliverServices): CallbackActorLogic<DeliverOrder, DeliverInput, DeliveryOutput> =>
  fromCallback<DeliverOrder, DeliverInput, DeliveryOutput>(({ input, receive, sendBack, emit, self }) => {
    const channel = find(input.route.channel)
    const report = (message: DeliverReport): void => {
      if (channel?.repeatable && message.type === 'block.sent') effect(self).tell(message)
      else sendBack(message)
    }
    const live = emit as (event: DeliveryOutput | AnyEvent) => void
    let turn: TurnDelivery | undefined
    const known: Delivered[] = []
    const early: ((turn: TurnDelivery, replayed: boolean) => void)[] = []
    const inTurn = (work: (turn: TurnDelivery, replayed: boolean) => void): void => void (turn ? work(turn, false) : early.push(work))
    receive((order) => {
      if (order.type !== 'known') inTurn((begun, replayed) => begun.obey(order, replayed))
      else if (!turn) known.push({ key: order.key, kind: order.kind })
    })
    const deafen = hear(input.session, (event) => inTurn((begun) => begun.hear(event)))
    let stopped = false
    queueMicrotask(() => {
      if (stopped) return
      const begun = deliverTurn({ input, channel, known, clock, random, log, report, emit: live, waits: (only) => effect(self).waits(only) })
      turn = begun
      for (const work of early) work(begun, effect(self).restarted)
    })
    return () => {
      stopped = true
      deafen()
      turn?.stop()
    }
  })

export const deliverServices = ({ outputs, environment }: SharedParts, channels: Channels): DeliverServices => ({
  channel: (id) => channels.get(id),
  // A turn lives where its session does: what the bus says of it is untrusted.
  hear: (session, listener) => outputs.listenHere(formatAddress({ kind: 'session', id: session }), ({ event }) => listener(event)),
  clock: environment.clock,
  random: () => environment.random.next(),
  log: environment.log,
})

export const deliveryActor = (services: DeliverServices) => deliveryMachine.provide({ actors: { deliver: deliver(services) } })
