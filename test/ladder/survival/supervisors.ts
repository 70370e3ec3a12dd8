/** A supervisor that sends to several at once, one of them a run with steps of its own; and one whose code calls runs. */
import { z } from 'zod'
import { agent, END, router, supervisor, workflow } from '../../../src/ladder/index.ts'
import { type Did, lastWord, type Scenario, usage } from './scenario.ts'

const aWriter = () => agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
const writerModel = (did: Did) => (request: Parameters<typeof lastWord>[0]) => (
  did('model', `writer ${lastWord(request)}`), { text: `written: ${lastWord(request)}`, usage }
)

export const desk: Scenario = {
  name: 'supervisor',
  comesTo: { data: { parts: 1, proof: 'written: proof 1', isReviewed: true }, usage: { total: 60 }, report: { terminatedBy: 'router' } },
  made(did) {
    const writer = aWriter()
    const proof = workflow({
      name: 'proof',
      description: 'Reads a part again.',
      state: { n: 0 },
      steps: [
        { name: 'count', run: ({ state, key }) => (did('code', `count ${key}`), (state.n += 1)) },
        { name: 'part', agent: writer, input: ({ state }) => `proof ${state.n}` },
      ],
    })
    const boss = supervisor({
      name: 'desk',
      state: { parts: 0, proof: '', isReviewed: false },
      intents: {
        one: { agent: writer, output: z.string().transform(() => ({ parts: 1 })), description: 'Writes one part.' },
        two: { agent: writer, input: () => 'the second part', output: z.string().transform(() => ({})), description: 'Writes the other.' },
        proof: { agent: proof, output: z.string().transform((text) => ({ proof: text })), description: 'Reads a part again.' },
        review: { run: () => (did('code', 'review'), { isReviewed: true }), description: 'Reviews.' },
      },
      router: router({ intents: ['one', 'two', 'proof', 'review'], model: 'test/router' }),
    })
    return {
      executables: [boss],
      effects: /(?:^\/review|\/count)#\d+$/,
      models: {
        'test/writer': writerModel(did),
        'test/router': (request) => {
          const place = /iteration (\d+)/.exec(lastWord(request))?.[1] ?? ''
          did('model', `router ${place}`)
          return { text: JSON.stringify({ next: { 1: ['one', 'two', 'proof'], 2: 'review' }[place] ?? END }), usage }
        },
      },
      play: () => boss.execute('a paper', { runId: 'r' }),
    }
  },
}

export const lead: Scenario = {
  name: 'runs that code calls',
  comesTo: { data: { text: 'written: look at written: one and written: two' }, usage: { total: 30 } },
  made(did) {
    const writer = aWriter()
    const boss = supervisor({
      name: 'lead',
      state: { text: '' },
      intents: {
        lead: async ({ run, dispatch }) => {
          const [one, two] = await Promise.all([run(writer, 'one'), dispatch('write', 'two')])
          const { data } = await writer.execute(`look at ${one.data} and ${String(two.data)}`)
          return { text: String(data) }
        },
        write: { agent: writer },
      },
      route: ({ iteration }) => (iteration === 0 ? 'lead' : END),
    })
    return {
      executables: [boss],
      models: { 'test/writer': writerModel(did) },
      callers: /\/lead#\d+$/,
      play: () => boss.execute('go', { runId: 'r' }),
    }
  },
}
