/** A report for each night, as a workflow, and when it is made. */
import { z } from 'zod'
import { type Cadence, schedule, workflow } from '../../src/ladder.ts'

export const report = workflow({
  name: 'report',
  description: 'Adds up what was sold on a day, and tells everybody.',
  input: z.object({ by: z.string() }),
  state: { sum: 0 },
  steps: [
    {
      name: 'add',
      run: ({ state }) => {
        state.sum = 42
      },
    },
    { name: 'tell', run: ({ input, state }) => console.log(`the report, begun by the ${input.by}: ${state.sum}`) },
  ],
  output: ({ state }) => state.sum,
})

/** The same under another time: what was due before is not due again. */
export const aNightly = (when: Cadence) =>
  schedule({ name: 'nightly', description: 'Makes a report for each night.', run: report, input: ({ by }) => ({ by }), ...when })
