/** A planner whose first plan fails, and a schedule. */
import { z } from 'zod'
import { pause } from '../../../src/contracts/environment.ts'
import { agent, planner, schedule, workflow } from '../../../src/ladder/index.ts'
import { type Scenario, usage } from './scenario.ts'

/** Two steps at once, one that fails and leads to another plan, an agent, and a last word about each. */
export const planned: Scenario = {
  name: 'planner',
  comesTo: { data: { a: 'a', b: 'a', c: 'written' }, usage: { total: 30 }, report: { status: 'completed', replans: 1 } },
  made(did) {
    const clerk = planner({
      name: 'plans',
      model: 'test/plan',
      mode: 'dag',
      planOnly: true,
      replan: { maxReplans: 1 },
      capabilities: {
        get: { description: 'Gets.', use: (input: unknown, { key }) => (did('code', `get ${key}`), input) },
        break: { description: 'Breaks.', use: (_, { key }) => (did('code', `break ${key}`), Promise.reject(new Error('no ink'))) },
        write: { description: 'Writes.', use: agent({ name: 'writer', model: 'test/writer' }) },
      },
      onStep: ({ error }) => (error ? 'replan' : 'continue'),
    })
    return {
      executables: [clerk],
      // The third step is an agent.
      effects: /^\/step-[012]#\d+\/code#\d+$/,
      models: {
        'test/plan': (request) => {
          const again = JSON.stringify(request.messages).includes('no ink')
          did('model', again ? 'plan 2' : 'plan 1')
          const first = [
            { id: 'a', capability: 'get', input: 'a' },
            { id: 'b', capability: 'break' },
          ]
          const second = [
            { id: 'b', capability: 'get', input: { $from: 'a' } },
            { id: 'c', capability: 'write', input: { $from: 'b' } },
          ]
          return { text: JSON.stringify({ steps: again ? second : first }), usage }
        },
        'test/writer': () => (did('model', 'writer'), { text: 'written', usage }),
      },
      async play() {
        let result = await clerk.execute('go', { runId: 'r' })
        while (result.report.status === 'awaiting-approval') result = await clerk.approve('r')
        return result
      },
    }
  },
}

/** Ends with the second run that was due. The first one is under way when that one is. */
export const nightly: Scenario = {
  name: 'schedule',
  comesTo: { length: 2 },
  made(did) {
    const flow = workflow({
      name: 'flow',
      input: z.object({ nth: z.string() }),
      steps: [
        { name: 'work', run: ({ key }) => did('code', `work ${key}`) },
        { name: 'rest', sleep: 3_000 },
        { name: 'end', run: () => 'done' },
      ],
    })
    const often = schedule({ name: 'often', run: flow, every: '2s', overlap: 'queue', input: ({ due }) => ({ nth: due.toISOString() }) })
    return {
      executables: [flow, often],
      effects: /^\/work#\d+$/,
      compares: (kind) => kind === 'flow',
      async play({ clock }) {
        for (;;) {
          const firings = await often.history().catch(() => [])
          const ended = firings.filter(({ status }) => status === 'completed').map(({ runId, by }) => ({ runId, by }))
          if (ended.length >= 2) return ended.toReversed().slice(0, 2)
          await pause(clock, 500)
        }
      },
    }
  },
}
