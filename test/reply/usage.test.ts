/** What an answer has cost, as users read it. */
import { expect, test } from 'vitest'
import type { Usage } from '../../src/contracts/message.ts'
import type { Model } from '../../src/contracts/model.ts'
import { story } from '../runtime/harness.ts'
import { ann, ask, crashes, eventsOf, known, listener, payloads, restart, texts, toggles } from './stage.ts'

const priced = { price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }
const answer = (usage: object, text = 'ok') => ({ text, usage })

test('[OC-86] no second line break behind one, and a message of its own where there is no text', async () => {
  const answers = ['ends with a break\n', 'MEDIA:https://example.com/cat.png']
  const model = known(
    {},
    answers.map((text) => answer({ inputTokens: 10, outputTokens: 5 }, text)),
  )
  await using told = await story([], { usage: 'tokens', runtime: { models: { 'test/model': model } } })
  const nameless = { channel: 'test', to: 'ann' }

  expect(texts(await ask(told, '1', { idempotencyKey: '1', origin: nameless }))).toEqual(['ends with a break\nUsage: 10 in / 5 out'])
  expect(payloads(await ask(told, '2', { idempotencyKey: '2', origin: nameless }))).toEqual([
    { media: ['https://example.com/cat.png'] },
    { text: 'Usage: 10 in / 5 out' },
  ])
})

test.each(crashes)('[OC-93] the usage line: off, tokens and full%s', async (crash) => {
  const model = known(priced, () => answer({ inputTokens: 1000, outputTokens: 1000 }))
  await using told = await story([], { runtime: { models: { 'test/model': model } } })
  let count = 0
  const lineAfter = async (order?: string) => {
    if (order) await ask(told, order, ann(`order ${++count}`))
    if (crash) await restart(told)
    const [text = ''] = texts(await ask(told, 'hi', ann(`message ${++count}`)))
    return text.split('\n').slice(1)
  }

  const tokens = 'Usage: 1.0k in / 1.0k out · est $0.02'
  expect(await lineAfter()).toEqual([])
  expect(await lineAfter('/usage tokens')).toEqual([tokens])
  expect(await lineAfter('/usage full')).toEqual([`${tokens} · session main`])
  expect(await lineAfter('/usage off')).toEqual([])
})

test('[OC-93] with an account that is not paid by the token: tokens and session, and no cost', async () => {
  const model = known(priced, () => answer({ inputTokens: 10, outputTokens: 5 }))
  await using told = await story([], {
    usage: 'full',
    runtime: { models: { 'test/model': model }, credentials: { test: [{ id: 'mine', type: 'oauth', value: 'x' }] } },
  })

  expect(texts(await ask(told, 'hi', ann('a')))).toEqual(['ok\nUsage: 10 in / 5 out · session main'])
})

test.each([
  ['no price', {}, { inputTokens: 10, outputTokens: 5 }, ['Usage: 10 in / 5 out']],
  ['nothing was used', priced, {}, []],
])('[OC-93] %s: no cost is made up', async (_, info, usage, line) => {
  await using told = await story([], { usage: 'tokens', runtime: { models: { 'test/model': known(info, () => answer(usage)) } } })

  expect(texts(await ask(told, 'hi', ann('a')))).toEqual([['ok', ...line].join('\n')])
})

test('[OC-93] a side that is not known is a question mark', async () => {
  await using told = await story([], { usage: 'tokens', runtime: { models: { 'test/model': known({}, () => answer({ outputTokens: 5 })) } } })

  expect(texts(await ask(told, 'hi', ann('a')))).toEqual(['ok\nUsage: ? in / 5 out'])
})

test('[OC-93] what it cost counts the summary that was needed for it', async () => {
  const model = known({ ...priced, contextTokens: 40_000 }, ({ instructions }) =>
    instructions.startsWith('You shorten') ? answer({ inputTokens: 1_000_000 }, 'SUMMARY') : answer({ inputTokens: 39_000 }),
  )
  await using told = await story([], { usage: 'tokens', runtime: { models: { 'test/model': model } } })
  await ask(told, '1', ann('1'))

  const [text] = texts(await ask(told, '2', ann('2')))

  // 1,039,000 tokens at 3 USD a million.
  expect(text).toBe('ok\nUsage: 1.0m in / ? out · est $3.12')
})

test('[OC-94] tokens and cost are written in short', async () => {
  const model = known({ price: { input: 4, output: 0 } }, () => answer({ inputTokens: 1000, outputTokens: 1000 }))
  await using told = await story([], { usage: 'tokens', tokenMax: 10_000_000, runtime: { models: { 'test/model': model } } })

  expect(texts(await ask(told, 'hi', ann('a')))).toEqual(['ok\nUsage: 1.0k in / 1.0k out · est $0.0040'])
})

test.each(crashes)('[OC-95] /usage four times goes from off to tokens, full, off and tokens again%s', async (crash) => {
  await using told = await story(listener().script)
  const answers: string[] = []
  for (const id of ['1', '2', '3', '4']) {
    answers.push((await ask(told, '/usage', ann(id))).text)
    if (crash) await restart(told)
  }

  expect(answers).toEqual(['tokens', 'full', 'off', 'tokens'].map((mode) => `Usage line: ${mode}.`))
  expect(await toggles(told)).toEqual({ usage: 'tokens' })
})

test('[OC-95] a bare /usage goes on from what the agent says', async () => {
  await using told = await story(listener().script, { usage: 'tokens' })

  expect((await ask(told, '/usage', ann('a'))).text).toBe('Usage line: full.')
})

test.each(crashes)('[OC-95] /usage cost sums up the session%s', async (crash) => {
  const model = known(priced, () => answer({ inputTokens: 3000, outputTokens: 1000, cachedInputTokens: 1000, cacheWriteTokens: 1000 }))
  await using told = await story([], { runtime: { models: { 'test/model': model } } })
  for (const id of ['1', '2']) await ask(told, id, ann(id))
  if (crash) await restart(told)

  expect((await told.main.view()).record.spent.costUsd).toBeCloseTo(2 * 0.02205, 10)
  expect((await ask(told, '/usage cost', ann('3'))).text).toContain('This session: 2 turns, 6.0k in / 2.0k out, est $0.04')
})

test('[OC-95] it sums up today and the last 30 days as well', async () => {
  const model = known(priced, () => answer({ inputTokens: 1000, outputTokens: 1000 }))
  await using told = await story([], { runtime: { models: { 'test/model': model } } })
  await ask(told, 'hi', ann('1'))

  expect((await ask(told, '/usage cost', ann('2'))).text).toMatch(/today.*\$0\.02.*30 days.*\$0\.02/is)
})

test('[OC-95] where the price of some calls is not known, the sum is partial', async () => {
  const [dear, free] = [known(priced, () => answer({ inputTokens: 1000 })), known({}, () => answer({ inputTokens: 1000 }))]
  await using told = await story([], { runtime: { models: { 'test/model': dear, 'test/free': free } } })
  await ask(told, 'hi', ann('1'))
  await ask(told, 'hi /model:test/free', ann('2'))

  expect((await ask(told, '/usage cost', ann('3'))).text).toMatch(/est \$0\.0030 \(partial/)
})

test('[OC-95] where no price is known no cost is named, also after a turn that used nothing', async () => {
  const model = known({}, ({ messages }) => answer(messages.length > 1 ? {} : { inputTokens: 1000 }))
  await using told = await story([], { runtime: { models: { 'test/model': model } } })
  for (const id of ['1', '2']) await ask(told, id, ann(id))

  expect((await ask(told, '/usage cost', ann('3'))).text).not.toContain('$')
})

test('[OC-95] a wrong word is answered with what there is, and nothing changes', async () => {
  await using told = await story(listener().script)

  expect((await ask(told, '/usage much', ann('a'))).text).toBe("Usage line: 'much' is not an option; choose one of off, tokens, full, cost.")
  expect(await toggles(told)).toEqual({})
})

test('[OC-95] what a summary by command used is part of the sum', async () => {
  const model = known(priced, ({ instructions }) =>
    instructions.startsWith('You shorten') ? answer({ inputTokens: 500_000 }, 'SUMMARY') : answer({ inputTokens: 1000 }),
  )
  await using told = await story([], { runtime: { models: { 'test/model': model } } })
  for (const id of ['1', '2']) await ask(told, id, ann(id))
  await ask(told, '/compact', ann('3'))

  expect((await told.main.view()).record.spent.usage.inputTokens).toBe(502_000)
})

/** What a model of one's own reports, as its provider spells it. */
const reporting = (usage: object): Model => ({
  ref: 'test/model',
  call: async () => ({ text: 'ok', reasoning: '', calls: [], usage: usage as Usage, finish: 'stop', model: 'test/model', partial: false }),
})

test.each<[string, object]>([
  ['AI SDK', { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, cacheWriteTokens: 10 }],
  ['AI SDK, newest', { inputTokens: { total: 100, cacheRead: 40, cacheWrite: 10 }, outputTokens: { total: 20 } }],
  ['Anthropic', { input_tokens: 50, output_tokens: 20, cache_read_input_tokens: 40, cache_creation_input_tokens: 10 }],
  ['short', { input: 50, output: 20, cacheRead: 40, cacheWrite: 10 }],
])('[OC-88] a model that reports its tokens as %s: event, record and metrics have the same numbers', async (_, spelled) => {
  await using told = await story([], { runtime: { models: { 'test/model': reporting({ ...spelled, total_tokens: Number.NaN }) } } })

  await ask(told, 'hi', ann('a'))

  const counts = { input: 50, output: 20, cacheRead: 40, cacheWrite: 10 }
  expect(eventsOf(told, 'usage')).toMatchObject([{ usage: { ...counts, promptTokens: 100, total: 120 } }])
  expect((await told.main.view()).record).toMatchObject({
    tokens: { input: 100, output: 20 },
    spent: { usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, cacheWriteTokens: 10 } },
  })
  expect(told.runtime.metrics().model_tokens_total).toEqual({ 'test/model': counts })
})

test.each([{ input: 1 }, { output: 1 }, { cacheRead: 1 }, { cacheWrite: 1 }, { total: 1 }])(
  '[OC-88] %j is some use, and is told',
  async (spelled) => {
    await using told = await story([], { runtime: { models: { 'test/model': reporting(spelled) } } })

    await ask(told, 'hi', ann('a'))

    expect(eventsOf(told, 'usage')).toHaveLength(1)
  },
)

test('[OC-88] where every field is zero nothing was used, and nothing is told', async () => {
  await using told = await story([], {
    runtime: { models: { 'test/model': reporting({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }) } },
  })

  await ask(told, 'hi', ann('a'))

  expect(eventsOf(told, 'usage')).toEqual([])
})
