/** A machine as an author writes one: regions, a history, and a guard. */
import { assign, setup } from 'xstate'

const types = {} as {
  context: { paid: number; refunds: number; note: string }
  events: { type: 'pay'; amount: number } | { type: 'refund' } | { type: 'pause' } | { type: 'resume' } | { type: 'note'; text: string }
}

export const orderMachine = setup({
  types,
  guards: { mayRefund: ({ context }) => context.refunds < 1 && context.paid > 0 },
  actions: {
    takeMoney: assign({ paid: ({ context, event }) => context.paid + (event.type === 'pay' ? event.amount : 0) }),
    giveBack: assign({ refunds: ({ context }) => context.refunds + 1 }),
    write: assign({ note: ({ event }) => (event.type === 'note' ? event.text : '') }),
  },
}).createMachine({
  id: 'order',
  context: { paid: 0, refunds: 0, note: '' },
  initial: 'open',
  states: {
    open: {
      type: 'parallel',
      states: {
        money: { initial: 'due', states: { due: { on: { pay: { target: 'paid', actions: 'takeMoney' } } }, paid: {} } },
        parcel: { initial: 'packing', states: { packing: { after: { 60000: 'packed' } }, packed: {} } },
        was: { type: 'history', history: 'deep' },
      },
      on: { pause: 'paused' },
    },
    paused: { on: { resume: 'open.was' } },
  },
  on: { refund: { guard: 'mayRefund', actions: 'giveBack' }, note: { actions: 'write' } },
})
