/** Sessions: one of two turns that is summarised and remembered, and one without a lock. Rows and memory are in the registry of the runtime. */
import { z } from 'zod'
import { agent, END, memory, orchestrator, registryVectors, router, type VectorStore } from '../../../src/ladder/index.ts'
import { lastWord, type Scenario, usage } from './scenario.ts'

const said = Array.from({ length: 12 }, (_, index) => ({
  role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `said ${index}`,
}))
const words = ['paper', 'letter']

export const session: Scenario = {
  name: 'session',
  comesTo: {
    first: { turnIndex: 0, data: { parts: 1, isReviewed: true, known: 0 }, usage: { total: 40 } },
    second: { turnIndex: 1, data: { parts: 1, isReviewed: true, known: 1 }, report: { turns: [{ turn: 0 }, { turn: 1 }] } },
    remembered: { length: 2 },
    sessions: ['s'],
  },
  made(did) {
    const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
    const vectors = Promise.withResolvers<VectorStore>()
    const known = memory({
      working: false,
      semantic: true,
      embedder: async (texts) => texts.map((text) => [...words.map((word) => (text.includes(word) ? 1 : 0)), 0.01]),
      vectors: {
        upsert: async (...values) => (await vectors.promise).upsert(...values),
        query: async (...values) => (await vectors.promise).query(...values),
        delete: async (...values) => (await vectors.promise).delete(...values),
        clear: async (...values) => (await vectors.promise).clear(...values),
        schema: () => '',
      },
    })
    const office = orchestrator({
      name: 'office',
      version: '1',
      iterate: true,
      state: { parts: 0, isReviewed: false, known: 0 },
      intents: {
        write: { agent: writer, output: z.string().transform(() => ({ parts: 1 })), description: 'Writes.' },
        review: {
          run: ({ context }) => (did('code', 'review'), { isReviewed: true, known: ((context.memories as object[] | undefined) ?? []).length }),
          description: 'Reviews.',
        },
      },
      router: router({ intents: ['write', 'review'], model: 'test/router' }),
      memory: known,
      summarize: { afterTurns: 0, keep: 4, summarizer: 'test/summary', onCompact: () => undefined },
    })
    const ask = (input: string) => office.execute(input, { sessionId: 's', history: said, requestId: input })
    return {
      executables: [office],
      effects: /^\/review#\d+$/,
      models: {
        'test/writer': (request) => (did('model', `writer ${lastWord(request)}`), { text: 'written', usage }),
        'test/summary': () => (did('model', 'summary'), { text: 'all was said', usage }),
        'test/router': (request) => {
          const place = /iteration (\d+)/.exec(JSON.stringify(request.messages))?.[1] ?? ''
          did('model', `router ${place}`)
          return { text: JSON.stringify({ next: { 1: ['write', 'review'] }[place] ?? END }), usage }
        },
      },
      extensions: [
        {
          name: 'vectors',
          async start({ transport }) {
            vectors.resolve(registryVectors(transport.registry))
            return () => undefined
          },
        },
      ],
      async play() {
        const [first, second] = [await ask('a paper'), await ask('another paper')]
        const remembered = await known.recall('paper', { scope: 'session:s', threshold: 0 })
        return { first, second, remembered: remembered.map(({ text }) => text).toSorted(), sessions: await office.sessions() }
      },
    }
  },
}

/** Two turns at the same time, and another one after them: a session without a lock. */
export const atOnce: Scenario = {
  name: 'at-once',
  comesTo: {
    both: [
      { turnIndex: 0, data: { seen: ['one'] }, usage: { total: 10 } },
      { turnIndex: 1, data: { seen: ['two'] }, usage: { total: 0 } },
    ],
    third: { turnIndex: 2, data: { seen: ['two', 'three'] }, report: { turns: [{ turn: 0 }, { turn: 1 }, { turn: 2 }] } },
  },
  made(did) {
    const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
    const desk = orchestrator({
      name: 'desk',
      version: '1',
      sessionLock: false,
      state: { seen: [] as string[] },
      intents: {
        write: { agent: writer, output: z.string().transform(() => ({})) },
        note: ({ input, state }: { input: unknown; state: { seen: string[] } }) => {
          did('code', `note ${String(input)}`)
          // What the turn before has left is known to those alone who come after it.
          return { seen: input === 'three' ? [...state.seen, 'three'] : [String(input)] }
        },
      },
      route: ({ input }) => (input === 'one' ? (['write', 'note'] as const) : 'note'),
    })
    const ask = (input: string) => desk.execute(input, { sessionId: 's', history: [], requestId: input })
    return {
      executables: [desk],
      effects: /^\/note#\d+$/,
      models: { 'test/writer': (request) => (did('model', `writer ${lastWord(request)}`), { text: 'written', usage }) },
      // Which of two turns says something first is chance.
      compares: (kind) => kind !== 'desk',
      async play() {
        const both = await Promise.all(['one', 'two'].map(ask))
        const third = await ask('three')
        return { both: both.map(({ turnIndex, data, usage: spent }) => ({ turnIndex, data, usage: spent })), third }
      },
    }
  },
}
