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
import { Delivering } from './turn-delivery.ts'

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
    const report = (said: DeliverReport): void => {
      if (channel?.repeatable && said.type === 'block.sent') effect(self).tell(said)
      else sendBack(said)
    }
    const delivering = new Delivering({ input, channel, clock, random, log, report, emit: emit as (event: DeliveryOutput | AnyEvent) => void })
    let early: (() => void)[] | undefined = []
    const inTurn = (work: () => void): void => void (early ? early.push(work) : work())
    const known: Delivered[] = []
    receive((order) => {
      if (order.type !== 'known') inTurn(() => delivering.obey(order))
      else if (early) known.push({ key: order.key, kind: order.kind })
    })
    const deafen = hear(input.session, (event) => inTurn(() => delivering.hear(event)))
    let stopped = false
    queueMicrotask(() => {
      const works = early ?? []
      early = undefined
      if (stopped) return
      delivering.begin(known)
      delivering.replaying = effect(self).restarted
      for (const work of works) work()
      delivering.replaying = false
    })
    return () => {
      stopped = true
      deafen()
      delivering.stop()
    }
  })

export const deliverServices = ({ outputs, environment }: SharedParts, channels: Channels): DeliverServices => ({
  channel: (id) => channels.get(id),
  // A turn lives where its session does: what the bus says of it is hearsay.
  hear: (session, listener) => outputs.listenHere(formatAddress({ kind: 'session', id: session }), ({ event }) => listener(event)),
  clock: environment.clock,
  random: () => environment.random.next(),
  log: environment.log,
})

export const deliveryActor = (services: DeliverServices) => deliveryMachine.provide({ actors: { deliver: deliver(services) } })
