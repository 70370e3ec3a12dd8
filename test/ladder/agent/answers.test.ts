/** Answers that are kept, for who asks the same or nearly the same. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { type AnswerCache, agent, type KeptAnswer, type LadderEvent, memoryAnswers } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
/** Alike is what has the same letters. */
const embed = (text: string): number[] => 'abcdefghijklmnopqrstuvwxyz'.split('').map((letter) => text.toLowerCase().split(letter).length - 1)

const said = (message: ModelRequest['messages'][number] | undefined): string => (message?.role === 'user' ? message.text : '')
const aClerk = (cache: AnswerCache, more: object = {}) => agent({ name: 'clerk', model: 'test/a', cache, ...more })
const models = (asked: string[]) => ({
  'test/a': ({ messages }: ModelRequest) => {
    asked.push(said(messages.at(-1)))
    return { text: `answer ${asked.length}`, usage }
  },
})

test('[WL-128] the same question has the same answer without a call; a like one too, from the threshold on', async () => {
  const asked: string[] = []
  const clerk = aClerk({ store: memoryAnswers(), embed, threshold: 0.9, scope: 'agent' })
  await using kit = await aLadderOf(models(asked), clerk)
  const events: LadderEvent[] = []
  const ask = (question: string) => kit.clock.until(clerk.execute(question, { on: { '*': (event) => events.push(event) } }))

  expect(await ask('how tall is a bee')).toMatchObject({ data: 'answer 1', usage: { total: 10 } })
  events.length = 0
  expect(await ask('how tall is a bee')).toMatchObject({
    data: 'answer 1',
    usage: { total: 0 },
    report: { cached: true, trips: 0, status: 'completed' },
  })
  expect(events.map(({ type }) => type)).toEqual(['agent.starting', 'agent.cache.hit', 'agent.completed'])
  expect(events[1]).toMatchObject({ similarity: 1 })
  expect(await ask('how tall is the bee')).toMatchObject({ data: 'answer 1', report: { cached: true } })
  expect(events.find(({ type, similarity }) => type === 'agent.cache.hit' && similarity !== 1)?.similarity).toBeGreaterThan(0.9)
  expect(await ask('quit')).toMatchObject({ data: 'answer 2' })
  expect(asked).toEqual(['how tall is a bee', 'quit'])
  expect(JSON.stringify(await ask('zoo'))).not.toContain('cached')
})

test('[WL-128] the same words go before what is alike; what is alike counts from the threshold on, and nothing below it', async () => {
  const kept = [
    { question: 'a', answer: 'the same', embedding: [1, 0] },
    { question: 'b', answer: 'alike', embedding: [1, 0] },
  ]
  const store: AnswerCache['store'] = { list: () => kept, add: () => undefined }
  const near = (text: string): number[] => (text === 'far' ? [0.9, 0.1] : [1, 0])
  const clerk = aClerk({ store, embed: near, threshold: 1, scope: 'agent' })
  await using kit = await aLadderOf(models([]), clerk)
  const data = async (question: string) => (await kit.clock.until(clerk.execute(question))).data

  expect([await data('a'), await data('c'), await data('far')]).toEqual(['the same', 'alike', 'answer 1'])
})

test('[WL-128] who is told other instructions, by placeholders, is given no answer of somebody else', async () => {
  const asked: string[] = []
  const clerk = aClerk({ store: memoryAnswers(), embed, threshold: 0.9, scope: 'agent' }, { instructions: 'You write to {{customer}}.' })
  await using kit = await aLadderOf(models(asked), clerk)
  const ask = async (customer: string) => (await kit.clock.until(clerk.execute('how tall is a bee', { placeholders: { customer } }))).data

  expect([await ask('Ada'), await ask('Bob'), await ask('Ada')]).toEqual(['answer 1', 'answer 2', 'answer 1'])
  expect((await kit.clock.until(clerk.execute('how tall is a bee'))).data).toBe('answer 3')
})

test('[WL-128] answers are shared within a session, unless the author says among whom', async () => {
  const asked: string[] = []
  const store = memoryAnswers()
  const own = aClerk({ store })
  const shared = agent({ name: 'shared', model: 'test/a', cache: { store, scope: ({ context }) => String(context.team) } })
  await using kit = await aLadderOf(models(asked), own, shared)
  const told = async (who: typeof own, context: Record<string, unknown>) => (await kit.clock.until(who.execute('same?', { context }))).data

  expect([
    await told(own, { sessionId: 'a' }),
    await told(own, { sessionId: 'b' }),
    await told(own, { sessionId: 'a' }),
    await told(own, {}),
    await told(own, {}),
  ]).toEqual(['answer 1', 'answer 2', 'answer 1', 'answer 3', 'answer 4'])
  expect([await told(shared, { team: 'x' }), await told(shared, { team: 'y' }), await told(shared, { team: 'x' })]).toEqual([
    'answer 5',
    'answer 6',
    'answer 5',
  ])
})

test('[WL-128] only the first trip: what tools had a part in is asked again, and so is what did not fit', async () => {
  const asked: number[] = []
  const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => 'seen' })
  const worker = aClerk({ store: memoryAnswers(), scope: 'agent' }, { tools: [look] })
  const model = ({ messages }: { messages: { role: string }[] }) => (
    asked.push(1), messages.some(({ role }) => role === 'tool') ? { text: 'done' } : { calls: [{ name: 'look' }] }
  )
  await using kit = await aLadderOf({ 'test/a': model }, worker)
  for (const _ of [1, 2]) expect(await kit.clock.until(worker.execute('go'))).toMatchObject({ data: 'done', report: { trips: 2 } })
  expect(asked).toHaveLength(4)
})

test('[WL-128, WL-122] a kept answer is checked; one that fits no more is asked for anew', async () => {
  const store = memoryAnswers()
  const before = aClerk({ store, scope: 'agent' }, { output: z.object({ n: z.number() }) })
  const after = aClerk({ store, scope: 'agent' }, { output: z.object({ m: z.number() }), repair: 1 })
  const answers = ['{"n":1}', '{"m":2}']
  const asked: string[] = []
  const model = ({ messages }: ModelRequest) => ({ text: answers[asked.push(said(messages.at(-1))) - 1] as string, usage })
  await using kit = await aLadderOf({ 'test/a': model }, before)
  expect(await kit.clock.until(before.execute('go'))).toMatchObject({ data: { n: 1 } })
  expect(await kit.clock.until(before.execute('go'))).toMatchObject({ data: { n: 1 }, report: { cached: true } })

  await using other = await aLadderOf({ 'test/a': model }, after)
  expect(await other.clock.until(after.execute('go'))).toMatchObject({ data: { m: 2 }, report: { trips: 1 } })
  expect(asked).toEqual(['go', 'go'])
})

test('[WL-128] a cache that fails is as good as none, and is warned of once', async () => {
  const asked: string[] = []
  const store = { list: () => Promise.reject(new Error('no disk')), add: () => Promise.reject(new Error('no disk')) }
  const clerk = aClerk({ store })
  await using kit = await aLadderOf(models(asked), clerk)
  for (const _ of [1, 2]) expect((await kit.clock.until(clerk.execute('go'))).data).toMatch('answer')
  await kit.runtime.settled(1_000)
  expect(kit.log.filter(({ message }) => message?.includes('cache'))).toHaveLength(1)
})

test('[WL-128] in memory the newest stay, of each scope and of all; what cannot be a cache is said where it is written', async () => {
  const store = memoryAnswers({ max: 2, scopesMax: 2 })
  for (const [scope, question] of ['a 1', 'a 2', 'a 3', 'a 3', 'b 1', 'c 1'].map((line) => line.split(' ') as [string, string]))
    await store.add(scope, { question, answer: question })
  expect(['a', 'b', 'c'].map((scope) => (store.list(scope) as readonly KeptAnswer[]).map(({ question }) => question))).toEqual([[], ['1'], ['1']])
  await store.add('b', { question: '2', answer: '2' })
  await store.add('b', { question: '3', answer: '3' })
  expect(store.list('b')).toMatchObject([{ question: '2' }, { question: '3' }])

  for (const cache of [{}, { store, threshold: 2 }, { store, embed: 1 }, { store, scope: 'all' }])
    expect(() => aClerk(cache as AnswerCache), JSON.stringify(cache)).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
})
