/** Memories as their authors and users meet them. */
import { expect, expectTypeOf, test } from 'vitest'
import { type Embedder, type MemoryDefinition, type MemoryHit, memory, memoryVectors, type VectorStore } from '../../../src/ladder/index.ts'

const start = 1_700_000_000_000
const dayMs = 86_400_000
/** The cosine of a text to `query` is the number that it ends with. */
const embedder: Embedder = async (texts) =>
  texts.map((text) => {
    const cosine = text === 'query' ? 1 : Number(/-?[\d.]+$/.exec(text)?.[0] ?? 0)
    return [cosine, Math.sqrt(1 - cosine * cosine)]
  })
const opened = (definition: MemoryDefinition = {}) => {
  const time = { now: start }
  return { time, made: memory({ embedder, vectors: memoryVectors(), clock: () => time.now, ...definition }) }
}
const texts = (hits: readonly MemoryHit[]): string[] => hits.map(({ text }) => text)
const wrong = expect.objectContaining({ code: 'MEMORY_CONFIG', category: 'validation' })

test('[WL-076] the working memory is there by itself: the newest first, from 1 to 0, and the oldest goes', async () => {
  const { made, time } = opened({ working: { maxItems: 3 } })
  expect(await made.recall('anything')).toEqual([])
  await made.remember('a', { id: 'one' })
  expect(await made.recall('anything')).toEqual([{ id: 'one', text: 'a', score: 1, tier: 'working', at: start }])
  for (const text of ['b', 'c', 'd']) {
    time.now += 1
    await made.remember(text)
  }

  expect((await made.recall('anything')).map(({ text, score }) => [text, score])).toEqual([
    ['d', 1],
    ['c', 0.5],
    ['b', 0],
  ])
  expect(texts(await made.recall('', { k: 2 }))).toEqual(['d', 'c'])
  expect(texts(await made.recall('', { threshold: 0.6 }))).toEqual(['d'])
  expect(await made.recall('', { k: 0 })).toEqual([])
  await made.remember('b')
  expect(texts(await made.recall(''))).toEqual(['b', 'd', 'c'])
})

test('[WL-076] of two items that may stay the first of three is gone; 1,000 may unless it is said', async () => {
  const { made } = opened({ working: { maxItems: 2 } })
  for (const text of ['first', 'second', 'third']) await made.remember(text)
  expect(texts(await made.recall(''))).toEqual(['third', 'second'])

  const { made: usual } = opened()
  for (let index = 0; index < 1_001; index++) await usual.remember(`${index}`)
  const all = texts(await usual.recall('', { k: 2_000 }))
  expect(all).toHaveLength(1_000)
  expect(all.at(-1)).toBe('1')
})

test('[WL-077] what is similar enough is recalled, the most similar first: of 0.69 and 0.71 only the latter', async () => {
  const { made } = opened({ semantic: true })
  for (const text of ['far 0.69', 'near 0.71', 'nearer 0.9']) await made.remember(text)

  const hits = await made.recall('query')
  expect(texts(hits)).toEqual(['nearer 0.9', 'near 0.71'])
  expect(hits[1]).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    text: 'near 0.71',
    tier: 'semantic',
    at: start,
    score: expect.closeTo(0.71, 5),
    similarity: expect.closeTo(0.71, 5),
  })
  expect(texts(await made.recall('query', { threshold: 0.5 }))).toEqual(['nearer 0.9', 'near 0.71', 'far 0.69'])
  expect(texts(await made.recall('query', { k: 1 }))).toEqual(['nearer 0.9'])
})

test('[WL-077] five are recalled unless it is said, and an id, given or made of the text, is there once', async () => {
  const { made } = opened({ semantic: { threshold: 0.1 } })
  for (let index = 0; index < 7; index++) await made.remember(`${index}: 0.8`)
  expect(await made.recall('query')).toHaveLength(5)
  expect(await made.recall('query', { k: 9 })).toHaveLength(7)
  await made.clear()

  const id = await made.remember('the same 0.8')
  expect(await made.remember('the same 0.8')).toBe(id)
  await made.remember('old 0.9', { id: 'mine' })
  await made.remember('new 0.9', { id: 'mine' })
  expect(texts(await made.recall('query'))).toEqual(['new 0.9', 'the same 0.8'])
})

test('[WL-077] tiers have namespaces of their own, and memories that share a store too', async () => {
  const asked = new Set<string>()
  const vectors = memoryVectors()
  const listening: VectorStore = { ...vectors, query: (vector, options) => (asked.add(options.namespace), vectors.query(vector, options)) }
  const { made } = opened({ semantic: true, episodic: true, procedural: true, vectors: listening })
  const { made: other } = opened({ semantic: true, vectors: listening, namespace: 'other' })
  await made.remember('fact 0.9')
  await made.remember('episode 0.9', { tier: 'episodic' })
  await made.remember('procedure 0.9', { tier: 'procedural' })

  for (const [tier, text] of [
    ['semantic', 'fact 0.9'],
    ['episodic', 'episode 0.9'],
    ['procedural', 'procedure 0.9'],
  ] as const)
    expect(texts(await made.recall('query', { tier }))).toEqual([text])
  expect(await made.recall('', { tier: 'working' })).toEqual([])
  expect(await other.recall('query')).toEqual([])
  expect([...asked].toSorted()).toEqual(['memory/episodic', 'memory/procedural', 'memory/semantic', 'other/semantic'])
})

test('[WL-078] an episode counts by its similarity, and by half as much of its freshness after each half-life', async () => {
  const { made, time } = opened({ episodic: true })
  await made.remember('old 0.9')
  time.now += 7 * dayMs
  await made.remember('new 0.9 ', { id: 'new' })
  await made.remember('new: 0.9', { id: 'newer' })
  const hits = await made.recall('query')

  expect(hits.map(({ text, score }) => [text, Math.round(score * 1e4) / 1e4])).toEqual([
    ['new: 0.9', 0.93],
    ['old 0.9', 0.78],
  ])
  time.now += 7 * dayMs
  expect((await made.recall('query')).map(({ score }) => Math.round(score * 1e4) / 1e4)).toEqual([0.78, 0.705])
})

test('[WL-078] a new episode comes before one that is more similar and has faded; weight and half-life can be set', async () => {
  const { made, time } = opened({ episodic: { weight: 0.5, halfLifeMs: 1_000 } })
  await made.remember('similar 0.95')
  time.now += 3_000
  await made.remember('fresh 0.75')
  const hits = await made.recall('query')

  expect(texts(hits)).toEqual(['fresh 0.75', 'similar 0.95'])
  expect(hits.map(({ score }) => score)).toEqual([expect.closeTo(0.875, 5), expect.closeTo(0.475 + 0.5 / 8, 5)])
})

test('[WL-078] a procedure that was remembered more often comes first, and each time counts, at once too', async () => {
  const { made } = opened({ procedural: true })
  await made.remember('once: 0.8')
  await Promise.all(Array.from({ length: 3 }, () => made.remember('thrice: 0.8')))
  const hits = await made.recall('query')

  expect(hits.map(({ text, score }) => [text, Math.round(score * 1e4) / 1e4])).toEqual([
    ['thrice: 0.8', 0.785],
    ['once: 0.8', 0.71],
  ])
})

test('[WL-074] what is remembered for one is never recalled for another, nor without one; nobody’s is recalled without one alone', async () => {
  for (const tier of ['working', 'semantic', 'episodic', 'procedural'] as const) {
    const { made } = opened({ semantic: true, episodic: true, procedural: true })
    await made.remember('of a 0.8', { scope: 'session:a', tier, id: 'same' })
    await made.remember('of b 0.8', { scope: 'session:b', tier, id: 'same' })
    await made.remember('shared 0.8', { tier, id: 'same' })
    const recalled = async (scope?: string) => texts(await made.recall('query', { scope, tier }))

    expect(await recalled('session:a'), tier).toEqual(['of a 0.8'])
    expect(await recalled('session:b'), tier).toEqual(['of b 0.8'])
    expect(await recalled(), tier).toEqual(['shared 0.8'])
    for (const scope of ['session:', 'session:A', 'session:%', '', 'null']) expect(await recalled(scope), `${tier} ${scope}`).toEqual([])
  }
})

test('[WL-074, WL-077] a store that knows no filter is asked for more until there are enough of one’s own', async () => {
  const vectors = memoryVectors()
  const asked: number[] = []
  const careless: VectorStore = {
    ...vectors,
    query: (vector, { k, namespace }) => {
      asked.push(k)
      return vectors.query(vector, { k, namespace })
    },
  }
  const { made } = opened({ semantic: true, vectors: careless })
  for (let index = 0; index < 200; index++) await made.remember(`${index}: 0.9`, { scope: 'others' })
  await made.remember('mine: 0.8', { scope: 'me' })

  expect(texts(await made.recall('query', { scope: 'me' }))).toEqual(['mine: 0.8'])
  expect(asked.splice(0)).toEqual([20, 80, 320])
  await made.recall('query', { scope: 'me', k: 10 })
  expect(asked).toEqual([40, 160, 640])
})

test('[WL-079] one tier is cleared by itself, for everybody, and without a name all of them', async () => {
  const { made } = opened({ semantic: true, episodic: true })
  for (const scope of ['a', 'b', undefined])
    for (const tier of ['working', 'semantic', 'episodic'] as const) await made.remember('kept 0.9', { scope, tier })
  const left = async () => {
    const counts = { working: 0, semantic: 0, episodic: 0 }
    for (const tier of ['working', 'semantic', 'episodic'] as const)
      for (const scope of ['a', 'b', undefined]) counts[tier] += (await made.recall('query', { scope, tier })).length
    return counts
  }
  await made.clear('working')
  expect(await left()).toEqual({ working: 0, semantic: 3, episodic: 3 })
  await made.clear('semantic')
  expect(await left()).toEqual({ working: 0, semantic: 0, episodic: 3 })
  await made.clear()
  expect(await left()).toEqual({ working: 0, semantic: 0, episodic: 0 })
})

test.each<[string, MemoryDefinition, string]>([
  ['no tier', { working: false }, 'the memory has no tier'],
  ['a tier of vectors without a store', { semantic: true, vectors: undefined as never }, "the tier 'semantic' has no vectors"],
  ['a tier of vectors without an embedder', { episodic: true, embedder: undefined as never }, "the tier 'episodic' has no embedder"],
  ['a default tier that is off', { defaultTier: 'semantic' }, "defaultTier is 'semantic'"],
  ['a default tier that is unknown', { defaultTier: 'none' as never }, "defaultTier is 'none'"],
  ['the working tier as a default that is off', { working: false, semantic: true, defaultTier: 'working' }, "defaultTier is 'working'"],
  ['no items', { working: { maxItems: 0 } }, 'working.maxItems is 0'],
  ['half an item', { working: { maxItems: 1.5 } }, 'working.maxItems is 1.5'],
  ['items as a text', { working: { maxItems: '5' as never } }, "working.maxItems is '5'"],
  ['endless items', { working: { maxItems: Number.POSITIVE_INFINITY } }, 'working.maxItems is Infinity'],
  ['less than nothing recalled', { semantic: { k: -1 } }, 'semantic.k is -1'],
  ['no threshold', { semantic: { threshold: Number.NaN } }, 'semantic.threshold is NaN'],
  ['too much weight', { procedural: { weight: 1.1 } }, 'procedural.weight is 1.1'],
  ['no half-life', { episodic: { halfLifeMs: 0 } }, 'episodic.halfLifeMs is 0'],
  ['an empty namespace', { namespace: '' }, "namespace is ''"],
])('[WL-079] %s is refused when the memory is made', (_, definition, message) => {
  expect(() => opened(definition)).toThrow(expect.objectContaining({ code: 'MEMORY_CONFIG', message, hint: expect.stringMatching(/\w/) }))
})

test('[WL-079] the default tier is the first there is of semantic, episodic, procedural and working; another is refused', async () => {
  expect(memory().tiers).toEqual(['working'])
  const { made } = opened({ episodic: true, procedural: true })
  await made.remember('episode 0.9')
  expect((await made.recall('query')).map(({ tier }) => tier)).toEqual(['episodic'])
  await expect(made.recall('query', { tier: 'semantic' })).rejects.toEqual(wrong)
  await expect(made.remember('x', { tier: 'none' as never })).rejects.toEqual(wrong)
  await expect(made.clear('semantic')).rejects.toEqual(wrong)
  await expect(made.recall('query', { k: 0.5 })).rejects.toEqual(wrong)
})

test('nothing is embedded for nothing: no text, or none wanted', async () => {
  let asked = 0
  const { made } = opened({ semantic: true, embedder: (given, options) => ((asked += 1), embedder(given, options)) })
  expect(await made.remember(' \n')).toBeUndefined()
  expect(await made.recall(' ')).toEqual([])
  expect(await made.recall('query', { k: 0 })).toEqual([])
  expect(asked).toBe(0)
})

test('an embedder is told when nobody waits any more; one that throws or gives something else is STORE_FAILED', async () => {
  const abort = new AbortController()
  let heard: AbortSignal | undefined
  const { made } = opened({ semantic: true, embedder: async (given, { signal }) => ((heard = signal), embedder(given, { signal })) })
  await made.remember('a 0.9', { signal: abort.signal })
  expect(heard).toBe(abort.signal)
  await made.recall('query')
  expect(heard?.aborted).toBe(false)

  for (const broken of [
    async () => Promise.reject(new Error('503')),
    () => {
      throw new Error('503')
    },
    async () => [],
    async () => [[]],
    async () => [[Number.NaN]],
    async () => 'vectors' as never,
  ] satisfies Embedder[]) {
    const { made: one } = opened({ semantic: true, embedder: broken })
    await expect(one.recall('query')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await expect(one.remember('a 0.9')).rejects.toMatchObject({ code: 'STORE_FAILED' })
  }
})

test('a procedure that could not be stored does not keep the next one from it', async () => {
  const vectors = memoryVectors()
  let isDown = true
  const flaky: VectorStore = { ...vectors, upsert: (items, where) => (isDown ? Promise.reject(new Error('down')) : vectors.upsert(items, where)) }
  const { made } = opened({ procedural: true, vectors: flaky })
  await expect(made.remember('a 0.9')).rejects.toThrow('down')
  isDown = false
  await made.remember('a 0.9')
  expect(texts(await made.recall('query'))).toEqual(['a 0.9'])
})

test('names and shapes are checked by the compiler', () => {
  expectTypeOf(memory().recall).returns.resolves.toEqualTypeOf<MemoryHit[]>()
  // @ts-expect-error: no such tier
  const _tier: MemoryDefinition = { defaultTier: 'short' }
  // @ts-expect-error: an embedder gives a vector for each text
  const _embedder: MemoryDefinition = { embedder: async () => [1, 2] }
  // @ts-expect-error: no such option of a tier
  const _option: MemoryDefinition = { semantic: { minimum: 1 } }
  expect([_tier, _embedder, _option]).toHaveLength(3)
})
