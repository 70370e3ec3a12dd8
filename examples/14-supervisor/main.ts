/** A supervisor is executed, and says what it decides. */
import { createRuntime } from '../../src/index.ts'
import { type LadderEvent, ladder, type RoutingDecision } from '../../src/ladder.ts'
import { desk } from './desk.ts'

const usage = { inputTokens: 100, outputTokens: 20 }

// What models would say. The first answer is too short for the evaluation.
await using runtime = await createRuntime({
  transport: 'memory:',
  extensions: [ladder({ executables: [desk] })],
  models: {
    'desk/lawyer': [{ text: '{"law":"14 days"}', usage }],
    'desk/writer': ({ messages }) => {
      const asked = JSON.stringify(messages)
      return { text: asked.includes('14 days') ? '{"answer":"You may return it within 14 days."}' : '{"answer":"Yes."}', usage }
    },
  },
})

const decided = ({ iteration, decision }: LadderEvent) => {
  const { source, next } = decision as RoutingDecision
  console.log(`iteration ${Number(iteration) + 1}: ${source} chose ${next.join(' and ') || 'nobody'}`)
}
const judged = ({ verdict }: LadderEvent) => console.log(`  verdict: ${JSON.stringify(verdict)}`)

const { data, error, report } = await desk.execute('May I return the lamp?', {
  runId: 'q-1',
  on: { 'supervisor.router.decided': decided, 'supervisor.evaluate.verdict': judged },
})
if (error) throw error
console.log(`${report.status}, ended by ${report.terminatedBy}: ${data?.answer}`)
for (const { type, name, usage: used } of report.children) console.log(`  ${type} ${name}: ${used.total} tokens`)
console.log(`replay: ${(await runtime.replay({ kind: 'desk', id: 'q-1' })).verdict}`)
