/** An order in four steps. What each has done is written down before the next one begins. */
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { workflow } from '../../src/ladder.ts'

const say = (text: string) => console.log(text)

export const fulfil = workflow({
  name: 'fulfil',
  version: '1',
  description: 'Charges for an order, tells everybody, and ships it.',
  input: z.object({ item: z.string(), price: z.number() }),
  state: { paid: 0 },
  steps: [
    {
      name: 'charge',
      run: ({ input, state, attempt }) => {
        say(`charge ${input.price}, attempt ${attempt}`)
        if (attempt === 1) throw new Error('the bank is busy')
        state.paid = input.price
      },
      retry: { attempts: 3, backoff: () => 50 },
      onFailure: () => ({ goto: 'apologise' }),
    },
    {
      name: 'tell',
      parallel: [
        { name: 'mail', run: ({ input }) => say(`mail about a ${input.item}`) },
        { name: 'invoice', run: ({ state }) => say(`invoice over ${state.paid}`) },
      ],
    },
    {
      name: 'ship',
      // The key is the same when it is begun again after a crash: a carrier that knows it ships once.
      run: async ({ input, key, context }) => {
        say(`ship a ${input.item}, key ${key}`)
        if (context.patience) await sleep(60_000)
        return `parcel with a ${input.item}`
      },
      nextStep: () => ({ end: true }),
    },
    { name: 'apologise', run: ({ input }) => say(`sorry, no ${input.item}`) },
  ],
})
