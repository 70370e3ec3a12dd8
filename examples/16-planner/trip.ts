/** A day in a town: a model plans over what is registered here, and a person looks at the plan before anything is booked. */
import { z } from 'zod'
import { agent, planner } from '../../src/ladder.ts'

const guide = agent({ name: 'guide', model: 'trip/guide' })
const trains: Record<string, string> = { Ulm: '8:12', Bern: '9:40' }

export const trip = planner({
  name: 'trip',
  input: z.string(),
  model: 'trip/plan',
  mode: 'dag',
  planOnly: true,
  replan: { maxReplans: 1 },
  capabilities: {
    train: {
      description: 'Finds a train to a town: { town }. Answers { town, leaves }.',
      input: z.object({ town: z.string() }),
      use: ({ town }) => {
        if (trains[town] === undefined) throw new Error(`no train goes to ${town}`)
        return { town, leaves: trains[town] }
      },
    },
    sights: { description: 'Says in a sentence what to see in a town: its name.', use: guide },
    ticket: {
      description: 'Buys a ticket: { town, leaves }. Answers its number.',
      input: z.object({ town: z.string(), leaves: z.string() }),
      use: ({ town, leaves }) => `${town}-${leaves.replace(':', '')}`,
    },
  },
})
