/** A machine that pays money back. It has a fault: now and then a customer is paid more than once. */
import { assign, setup } from 'xstate'
import { defineApp, fromTask } from '../../src/index.ts'

type Event = { type: 'ask'; amount: number } | { type: 'approve'; by: string } | { type: 'receipt'; number: string }

export const refundMachine = setup({
  types: { context: {} as { amount: number; attempts: number; receipts: string[] }, events: {} as Event },
  actors: { pay: fromTask(async () => 'the order has gone out') },
  actions: {
    remember: assign({ amount: ({ event }) => (event.type === 'ask' ? event.amount : 0) }),
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    keepReceipt: assign({ receipts: ({ context, event }) => (event.type === 'receipt' ? [...context.receipts, event.number] : context.receipts) }),
  },
  guards: {
    isMuch: ({ context }) => context.amount >= 40,
    hasReceipt: ({ context }) => context.receipts.length > 0,
    mayTryAgain: ({ context }) => context.attempts < 3,
  },
  delays: { patience: 300 },
}).createMachine({
  id: 'refund',
  description: 'Pays money back, and waits for the bank to say that it has.',
  context: { amount: 0, attempts: 0, receipts: [] },
  initial: 'waiting',
  on: { receipt: { actions: 'keepReceipt', description: 'the bank says that it has paid' } },
  states: {
    waiting: { on: { ask: { target: 'checked', actions: 'remember' } } },
    checked: { always: [{ guard: 'isMuch', target: 'approving' }, { target: 'paying' }] },
    approving: { on: { approve: 'paying' } },
    paying: { entry: 'countAttempt', invoke: { src: 'pay', onDone: 'ordered' } },
    ordered: { after: { patience: 'overdue' }, description: 'The bank takes its time.' },
    overdue: {
      always: [
        { guard: 'mayTryAgain', target: 'paying', description: 'it may have got lost' },
        { guard: 'hasReceipt', target: 'paid' },
        { target: 'failed' },
      ],
    },
    paid: { type: 'final' },
    failed: { type: 'final' },
  },
})

export default defineApp({ machines: { refund: refundMachine } })
