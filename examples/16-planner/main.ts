/** A plan is made, looked at, approved, and made anew where a step of it fails. */
import { createRuntime } from '../../src/index.ts'
import { type LadderEvent, ladder, type Plan, type Report } from '../../src/ladder.ts'
import { trip } from './trip.ts'

const usage = { inputTokens: 100, outputTokens: 20 }

/** What a model would plan. */
const planTo = (town: string): Plan => ({
  steps: [
    { id: 'train', capability: 'train', input: { town } },
    { id: 'sights', capability: 'sights', input: town },
    { id: 'ticket', capability: 'ticket', input: { town, leaves: { $from: 'train.leaves' } } },
  ],
})

await using runtime = await createRuntime({
  transport: 'memory:',
  extensions: [ladder({ executables: [trip] })],
  models: {
    'trip/plan': ({ messages }) => {
      const failed = JSON.stringify(messages).includes('no train')
      return { text: JSON.stringify(planTo(failed ? 'Ulm' : 'Atlantis')), usage }
    },
    'trip/guide': [{ text: 'Under the sea all is blue.', usage }],
  },
})

const shown = ({ plan }: Report): string =>
  (plan?.steps ?? []).map(({ id, capability }) => (id === capability ? id : `${id} (${capability})`)).join(', ')
const told = ({ type, step }: LadderEvent) => console.log(`  ${type.slice('planner.'.length)} ${step}`)
const on = {
  'planner.step.completed': told,
  'planner.step.failed': told,
  'planner.replanning': ({ feedback }: LadderEvent) => console.log(`  planned anew: ${String(feedback)}`),
}

const first = await trip.execute('A day somewhere, please.', { runId: 't-1' })
console.log(`${first.report.status}: ${shown(first.report)}`)

const second = await trip.approve('t-1', undefined, { on })
console.log(`${second.report.status}: ${shown(second.report)}`)

// The new plan has another town, and the person changes it a little: what was seen already stands.
const changed: Plan = { steps: planTo('Ulm').steps.filter(({ id }) => id !== 'sights') }
const { data, error, report } = await trip.approve('t-1', changed, { on })
if (error) throw error
console.log(`${report.status}: ${JSON.stringify(data)}`)
console.log(`${report.replans} time planned anew, ${report.usage.total} tokens`)
console.log(`replay: ${(await runtime.replay({ kind: 'trip', id: 't-1' })).verdict}`)
