/** An agent whose answer has a type, with another agent and a workflow among its tools. */
import { z } from 'zod'
import { agent, workflow } from '../../src/ladder.ts'

const Offer = z.object({ item: z.string(), price: z.number(), why: z.string() })

/** Finds out what others charge. */
const scout = agent({
  name: 'scout',
  description: 'Finds out what others charge for a thing, in euros.',
  model: 'shop/scout',
})

const discount = workflow({
  name: 'discount',
  description: 'What is left of a price for a good customer.',
  input: z.object({ price: z.number() }),
  steps: [
    { name: 'look-up', run: () => 0.9 },
    { name: 'reckon', run: ({ input, steps }) => Math.round(input.price * Number(steps['look-up']?.output)) },
  ],
})

export const seller = agent({
  name: 'seller',
  model: 'shop/seller',
  instructions: 'Make an offer that undercuts the others.',
  tools: [scout, discount],
  input: z.object({ item: z.string() }),
  prompt: ({ item }) => `A good customer asks for a ${item}.`,
  output: Offer,
  repair: 1,
})
