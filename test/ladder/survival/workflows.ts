/** A workflow with steps of every sort, and a batch of them. */
import { z } from 'zod'
import { agent, batch, workflow } from '../../../src/ladder/index.ts'
import { besides, lastWord, type Scenario, usage } from './scenario.ts'

export const shop: Scenario = {
  name: 'workflow',
  comesTo: { data: [6, { by: 'ann' }, 'written: a letter'], report: { status: 'completed' } },
  made(did) {
    const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
    const flow = workflow({
      name: 'shop',
      state: { sum: 0 },
      steps: [
        {
          name: 'charge',
          run: ({ state, attempt, key }) => {
            did('code', `charge ${key} ${attempt}`)
            if (attempt === 1) throw new Error('busy')
            state.sum += 5
          },
          retry: { attempts: 2 },
        },
        {
          name: 'tell',
          parallel: [
            { name: 'mail', run: ({ key }) => (did('code', `mail ${key}`), 'mailed') },
            { name: 'invoice', run: ({ state, key }) => void (did('code', `invoice ${key}`), (state.sum += 1)) },
            { name: 'letter', agent: writer, input: () => 'a letter' },
          ],
          nextStep: () => ({ goto: 'pause' }),
        },
        { name: 'never', run: () => did('code', 'never') },
        { name: 'pause', sleep: 700 },
        { name: 'due', sleepUntil: () => 0 },
        { name: 'approved', waitFor: 'approved', schema: z.object({ by: z.string() }) },
        { name: 'ship', run: ({ state, steps, key }) => (did('code', `ship ${key}`), [state.sum, steps.approved?.output, steps.letter?.output]) },
      ],
    })
    return {
      executables: [flow],
      effects: /^\/(?:charge|mail|invoice|ship)#\d+$/,
      models: { 'test/writer': (request) => (did('model', lastWord(request)), { text: `written: ${lastWord(request)}`, usage }) },
      play: (at) =>
        besides(at, flow.execute(undefined, { runId: 'r' }), async () => {
          const { value } = await at.runtime.actor('shop', 'r').snapshot()
          // Whoever says it once more, after a crash, says the same.
          if (JSON.stringify(value).includes('"approved":"resting"')) await flow.send('r', { type: 'approved', by: 'ann' }, { id: 'ann-1' })
        }),
    }
  },
}

/** The second item fails once, the last one always. */
export const all: Scenario = {
  name: 'batch',
  comesTo: { data: [0, 1, 2, null], report: { status: 'failed' } },
  made(did) {
    const one = workflow({
      name: 'one',
      steps: [
        {
          name: 'work',
          run: ({ input, key, runId }) => {
            did('code', key)
            if (input === 3 || runId === 'r/1/1') throw new Error('busy')
            return input
          },
        },
      ],
    })
    const many = batch(one, { name: 'all', concurrency: 2, retry: { attempts: 2 } })
    return { executables: [many], effects: /\/work#\d+$/, play: () => many.execute([0, 1, 2, 3], { runId: 'r' }) }
  },
}
