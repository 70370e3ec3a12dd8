/** Chat behind the turns of a session. */
import type { Publisher } from '../../machines/turn/publisher.setup.ts'
import type { deliveryMachine } from './delivery.machine.ts'
import { published } from './render.rules.ts'

/** Only where a message came from a channel is there somebody to send to while the turn goes on; all get what the answer comes to. */
export const chatPublisher = (delivery: typeof deliveryMachine): Publisher => ({
  logic: delivery as unknown as Publisher['logic'],
  follows: ({ facts: { origin, delivery: wanted } }) => origin !== undefined && wanted !== undefined,
  conclude: (turn, answer) => published(turn, answer).output,
})
