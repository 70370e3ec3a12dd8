/** An ordinary XState machine. Nothing in it knows of Statecast but the idempotency key, which is there for the asking. */
import { setTimeout as sleep } from 'node:timers/promises'
import { assign, fromPromise, setup } from 'xstate'
import { effect } from '../../src/index.ts'

const say = (text: string) => console.log(text)

export const orderMachine = setup({
  types: {
    input: {} as { item: string },
    context: {} as { item: string; reservation?: string },
    events: {} as { type: 'place' } | { type: 'pay' },
    output: {} as { item: string; reservation: string | undefined },
  },
  actors: {
    // Runs again after a crash, under the same key: the warehouse can tell that it is the same wish.
    reserve: fromPromise<string, { item: string }>(async ({ input, self }) => {
      const { key, attempt } = effect(self)
      say(`reserve a ${input.item}, key ${key}, attempt ${attempt}`)
      if (attempt === 1) await sleep(60_000)
      return 'shelf 9'
    }),
  },
  // Named, so that they can be held back until what caused them is stored.
  actions: {
    keepReservation: assign((_, { reservation }: { reservation: string }) => ({ reservation })),
    remind: () => say('remind the customer'),
    askForPayment: ({ context }) => say(`${context.reservation} is yours, please pay`),
  },
}).createMachine({
  id: 'order',
  context: ({ input }) => input,
  initial: 'new',
  states: {
    new: { on: { place: 'reserving' } },
    reserving: {
      invoke: {
        id: 'reserve', // part of the key
        src: 'reserve',
        input: ({ context }) => context,
        onDone: { target: 'unpaid', actions: { type: 'keepReservation', params: ({ event }) => ({ reservation: event.output }) } },
      },
    },
    unpaid: { entry: 'askForPayment', on: { pay: 'paid' }, after: { 1000: 'reminded' } },
    reminded: { entry: 'remind', on: { pay: 'paid' } },
    paid: { type: 'final' },
  },
  output: ({ context }) => ({ item: context.item, reservation: context.reservation }),
})
