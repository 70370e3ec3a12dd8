/** A machine that pays money back, and asks somebody first where it is much. */
import { setup } from 'xstate'
import { defineApp, fromTask } from '../../src/index.ts'

type Event = { type: 'ask'; amount: number; customer: string } | { type: 'approve' } | { type: 'deny' }

/** @param much from which amount on somebody is asked @param afterDenial where a refused one goes */
export const refundMachine = ({ much = 100, afterDenial = 'refused' }: { much?: number; afterDenial?: 'refused' | 'paying' } = {}) =>
  setup({
    types: { events: {} as Event },
    actors: { pay: fromTask(async () => 'paid') },
    guards: { isMuch: ({ event }) => event.type === 'ask' && event.amount >= much },
  }).createMachine({
    id: 'refund',
    initial: 'waiting',
    states: {
      waiting: { on: { ask: [{ guard: 'isMuch', target: 'deciding' }, { target: 'paying' }] } },
      deciding: { on: { approve: 'paying', deny: afterDenial } },
      paying: { invoke: { src: 'pay', onDone: 'paid' } },
      paid: { type: 'final' },
      refused: { type: 'final' },
    },
  })

export default defineApp({ machines: { refund: refundMachine() } })
