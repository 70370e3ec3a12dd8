/** A help desk: who answers is chosen as it goes, until a reviewer is content. */
import { z } from 'zod'
import { agent, END, supervisor } from '../../src/ladder.ts'

const Answer = z.object({ answer: z.string() })
const writer = agent({ name: 'writer', model: 'desk/writer', output: Answer })
const lawyer = agent({ name: 'lawyer', model: 'desk/lawyer', output: z.object({ law: z.string() }) })

type State = { answer?: string; law?: string; checks: number }
const state: State = { checks: 0 }

export const desk = supervisor({
  name: 'desk',
  input: z.string(),
  state,
  goal: 'an answer that a customer understands',
  intents: {
    write: {
      agent: writer,
      input: ({ input, feedback = '' }) => `${input} ${feedback}`,
      output: Answer,
    },
    law: { agent: lawyer, output: z.object({ law: z.string() }) },
    check: ({ state }) => ({ checks: state.checks + 1 }),
  },
  initialAgent: 'law',
  // Both at once, then only what the evaluation has found wanting.
  route: ({ state }) => (state.answer === undefined || state.checks > 0 ? ['write', 'check'] : END),
  evaluate: ({ state, iteration }) => {
    if (iteration === 0) return
    return state.answer?.includes('14 days') ? { satisfied: true } : { feedback: `Say it with the law: ${state.law}` }
  },
})
