/** What a session asks of a memory around a turn. */
import { expect, test } from 'vitest'
import { type MemoryHit, type MemoryOptions, type MemoryStore, memory, memoryVectors } from '../../../src/ladder/index.ts'
import { memoryOptions, recallFor, rememberFor } from '../../../src/ladder/memory/session-memory.ts'

const aHit: MemoryHit = { id: '1', text: 'they like bees', score: 0.9, tier: 'semantic', at: 1, similarity: 0.9 }
/** It notes what it is asked. */
const aStore = (hits: MemoryHit[] = [aHit]) => {
  const asked: unknown[] = []
  const store: MemoryStore = {
    tiers: ['working', 'semantic'],
    recall: async (text, options) => (asked.push(['recall', text, options]), hits),
    remember: async (text, options) => (asked.push(['remember', text, options]), 'id'),
    clear: async () => undefined,
  }
  return { asked, store }
}
const checked = (given: MemoryStore | MemoryOptions) => {
  const options = memoryOptions(given)
  if (!options) throw new Error('there are options')
  return options
}

test('[WL-071] what is recalled for the input stands in the context under its key; where nothing is, the context is left as it is', async () => {
  const { store, asked } = aStore()
  expect(await recallFor(checked(store), 's', 'what do they like?')).toEqual({ context: { memories: [aHit] } })
  expect(await recallFor(checked({ store, injectKey: 'known' }), 's', { topic: ['bees'] })).toEqual({ context: { known: [aHit] } })
  expect(asked).toEqual([
    ['recall', 'what do they like?', { scope: 'session:s' }],
    ['recall', '{"topic":["bees"]}', { scope: 'session:s' }],
  ])
  expect(await recallFor(checked(aStore([]).store), 's', 'anything')).toEqual({})
})

test('[WL-072] a turn is remembered as its input, a line break and its outcome; an empty one is not', async () => {
  const { store, asked } = aStore()
  const options = checked(store)
  expect(await rememberFor(options, 's', 'hello', { text: 'hi' })).toEqual({})
  await rememberFor(options, 's', { a: 1 }, undefined)
  for (const [input, outcome] of [
    ['', ''],
    [undefined, null],
    [' ', '\n'],
  ])
    await rememberFor(options, 's', input, outcome)

  expect(asked).toEqual([
    ['remember', 'hello\n{"text":"hi"}', { scope: 'session:s' }],
    ['remember', '{"a":1}\n', { scope: 'session:s' }],
  ])
})

test('[WL-073] how much is recalled and from where can be set, and each half turned off', async () => {
  const { store, asked } = aStore()
  const { signal } = new AbortController()
  await recallFor(checked({ store, recall: { k: 2, threshold: 0.5, tier: 'working' } }), 's', 'x', { signal })
  await rememberFor(checked({ store, rememberTier: 'working' }), 's', 'x', 'y', { signal })
  expect(asked.splice(0)).toEqual([
    ['recall', 'x', { k: 2, threshold: 0.5, tier: 'working', scope: 'session:s', signal }],
    ['remember', 'x\ny', { tier: 'working', scope: 'session:s', signal }],
  ])

  expect(await recallFor(checked({ store, recall: { k: 0 } }), 's', 'x')).toEqual({})
  expect(await rememberFor(checked({ store, remember: false }), 's', 'x', 'y')).toEqual({})
  expect(asked).toEqual([])
})

test('[WL-073] with k: 0 the embedder is not asked for what could be recalled', async () => {
  let embedded = 0
  const store = memory({
    semantic: true,
    vectors: memoryVectors(),
    embedder: async (texts) => {
      embedded += texts.length
      return texts.map(() => [1])
    },
  })
  const options = checked({ store, recall: { k: 0 } })
  await recallFor(options, 's', 'x')
  expect(embedded).toBe(0)
  await rememberFor(options, 's', 'x', 'y')
  expect(embedded).toBe(1)
})

test('[WL-074] memories are the session’s, everybody’s, or whose a function says', async () => {
  const store = memory()
  const mine = checked(store)
  const shared = checked({ store, scope: 'shared' })
  const byUser = checked({ store, scope: (sessionId) => `user:${sessionId.split('/')[0]}` })
  const recalled = async (options: typeof mine, sessionId: string) =>
    (await recallFor(options, sessionId, 'x')).context?.memories?.map(({ text }) => text) ?? []
  await rememberFor(mine, 'ann/1', 'of a session', '')
  await rememberFor(shared, 'ann/1', 'of all', '')
  await rememberFor(byUser, 'ann/1', 'of ann', '')

  expect(await recalled(mine, 'ann/1')).toEqual(['of a session\n'])
  expect(await recalled(mine, 'bob/1')).toEqual([])
  expect(await recalled(shared, 'bob/1')).toEqual(['of all\n'])
  expect(await recalled(byUser, 'ann/2')).toEqual(['of ann\n'])
  expect(await recalled(byUser, 'bob/1')).toEqual([])
})

test('a memory that fails, or a scope that says nobody, is a warning and nothing else', async () => {
  const down = () => Promise.reject(new Error('ECONNREFUSED'))
  const options = checked({ store: { recall: down, remember: down, clear: down } })
  const warning = { code: 'STORE_FAILED', context: { sessionId: 's' }, cause: 'ECONNREFUSED' }
  const recalled = await recallFor(options, 's', 'x')
  expect(recalled).toMatchObject({ warning: { ...warning, message: 'nothing could be recalled: ECONNREFUSED' } })
  expect(recalled.context).toBeUndefined()
  expect(JSON.parse(JSON.stringify(recalled))).toEqual(recalled)
  expect(await rememberFor(options, 's', 'x', 'y')).toMatchObject({ warning: { ...warning, message: 'nothing could be remembered: ECONNREFUSED' } })

  const circle: Record<string, unknown> = {}
  circle.of = circle
  expect(await recallFor(checked(aStore().store), 's', circle)).toMatchObject({ warning: { code: 'STORE_FAILED' } })
  expect(await rememberFor(checked(aStore().store), 's', circle, 1n)).toMatchObject({ warning: { code: 'STORE_FAILED' } })
  for (const scope of [() => '', () => undefined as never, () => Promise.resolve('user') as never]) {
    const { store, asked } = aStore()
    expect(await recallFor(checked({ store, scope }), 's', 'x')).toMatchObject({ warning: { code: 'STORE_FAILED' } })
    expect(await rememberFor(checked({ store, scope }), 's', 'x', 'y')).toMatchObject({ warning: { code: 'STORE_FAILED' } })
    expect(asked).toEqual([])
  }
})

test('[WL-075] without a memory there is nothing to ask', () => {
  expect(memoryOptions(undefined)).toBeUndefined()
})

const { store } = aStore()
test.each<[string, unknown, string]>([
  ['no store', {}, 'there is no memory to ask'],
  ['something else as a memory', null, 'there is no memory to ask'],
  ['something else as a store', { store: {} }, 'there is no memory to ask'],
  ['half a recall', { store, recall: { k: 0.5 } }, 'recall.k is 0.5'],
  ['no threshold', { store, recall: { threshold: '1' } }, "recall.threshold is '1'"],
  ['a tier to recall from that is not there', { store, recall: { tier: 'episodic' } }, "recall.tier is 'episodic'"],
  ['a tier to remember in that is not there', { store, rememberTier: 'episodic' }, "rememberTier is 'episodic'"],
  ['remembering now and then', { store, remember: 'sometimes' }, "remember is 'sometimes'"],
  ['an unknown scope', { store, scope: 'user' }, "scope is 'user'"],
  ['no key', { store, injectKey: '' }, "injectKey is ''"],
  ['a key that is none', { store, injectKey: '__proto__' }, "injectKey is '__proto__'"],
  ['an option that is misspelt', { store, injectkey: 'x' }, "an option of memory is 'injectkey'"],
])('[WL-073] %s is refused when it is written', (_, given, message) => {
  expect(() => memoryOptions(given as MemoryOptions)).toThrow(
    expect.objectContaining({ code: 'MEMORY_CONFIG', message, hint: expect.stringMatching(/\w/) }),
  )
})
