/** A help desk with sessions: each question is a turn. */
import { z } from 'zod'
import { agent, orchestrator } from '../../src/ladder.ts'

const clerk = agent({ name: 'clerk', model: 'desk/clerk' })

type State = { answer?: string; questions: number }
const state: State = { questions: 0 }

export const desk = orchestrator({
  name: 'desk',
  input: z.string(),
  state,
  intents: {
    answer: { agent: clerk, output: z.string().transform((answer) => ({ answer })) },
    count: ({ state }) => ({ questions: state.questions + 1 }),
  },
  // Both at once, once in each turn.
  route: () => ['answer', 'count'],
  summarize: { afterTurns: 1, keep: 2 },
})
