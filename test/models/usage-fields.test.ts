import { describe, expect, test } from 'vitest'
import { tokenCounts, usageFrom } from '../../src/models/usage-fields.ts'

describe('tokens, however they are spelled', () => {
  test.each<[string, unknown, object]>([
    ['AI SDK', { inputTokens: 100, outputTokens: 20, totalTokens: 120, cachedInputTokens: 40 }, { input: 60, output: 20, cacheRead: 40, total: 120 }],
    [
      'AI SDK, newest',
      { inputTokens: { total: 100, noCache: 50, cacheRead: 40, cacheWrite: 10 }, outputTokens: { total: 20, reasoning: 5 } },
      { input: 50, output: 20, cacheRead: 40, cacheWrite: 10 },
    ],
    [
      'Anthropic, which counts the cache beside the input',
      { input_tokens: 60, output_tokens: 20, cache_read_input_tokens: 40, cache_creation_input_tokens: 10 },
      { input: 60, output: 20, cacheRead: 40, cacheWrite: 10 },
    ],
    [
      'OpenAI chat, which counts it within',
      { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_tokens_details: { cached_tokens: 40 } },
      { input: 60, output: 20, cacheRead: 40, total: 120 },
    ],
    [
      'OpenAI responses',
      { input_tokens: 100, output_tokens: 20, input_tokens_details: { cached_tokens: 40 } },
      { input: 60, output: 20, cacheRead: 40 },
    ],
    ['older AI SDK', { promptTokens: 100, completionTokens: 20, totalTokens: 120 }, { input: 100, output: 20, total: 120 }],
    ['servers that flatten it', { prompt_tokens: 100, cached_tokens: 30 }, { input: 70, cacheRead: 30 }],
    [
      'short names',
      { input: 60, output: 20, cacheRead: 40, cacheWrite: 10, total: 130 },
      { input: 60, output: 20, cacheRead: 40, cacheWrite: 10, total: 130 },
    ],
    [
      'our own',
      { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 5, cacheWriteTokens: 10 },
      { input: 50, output: 20, cacheRead: 40, cacheWrite: 10 },
    ],
    ['more from the cache than was read', { prompt_tokens: 10, cached_tokens: 30 }, { input: 0, cacheRead: 30 }],
    ['zeros are numbers', { input_tokens: 0, output_tokens: 0 }, { input: 0, output: 0 }],
    ['what is no number of tokens', { input: Number.NaN, output: Number.POSITIVE_INFINITY, total: -1, cacheRead: 'forty', cacheWrite: '-1' }, {}],
    ['more than any call can use', { input: 1e308, output: 2e9, total: 2 ** 53, cacheRead: 7 }, { cacheRead: 7 }],
    ['the next spelling counts where one is no number', { inputTokens: Number.NaN, input_tokens: 8 }, { input: 8 }],
    ['counts in quotes', { prompt_tokens: '100', completion_tokens: '20' }, { input: 100, output: 20 }],
    ['a zero beside a count', { input_tokens: 0, prompt_tokens: 11 }, { input: 11 }],
    ['nothing', undefined, {}],
    ['null', null, {}],
    ['a text', 'many', {}],
  ])('%s', (_, reported, expected) => {
    expect(tokenCounts(reported)).toEqual(expected)
  })
})

describe('as our usage', () => {
  test('tokens of the cache are read ones, wherever the provider counts them', () => {
    const expected = { inputTokens: 110, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 0, cacheWriteTokens: 10 }

    expect(usageFrom({ input_tokens: 60, output_tokens: 20, cache_read_input_tokens: 40, cache_creation_input_tokens: 10 })).toEqual(expected)
    expect(usageFrom({ inputTokens: 110, outputTokens: 20, cachedInputTokens: 40, cacheWriteTokens: 10 })).toEqual(expected)
  })

  test('reasoning is kept where it is told', () => {
    expect(usageFrom({ prompt_tokens: 1, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 7 } })).toMatchObject({
      outputTokens: 9,
      reasoningTokens: 7,
    })
  })

  test('a total alone tells the input', () => {
    expect(usageFrom({ total_tokens: 50, completion_tokens: 20 })).toMatchObject({ inputTokens: 30, outputTokens: 20 })
  })

  test('of what has no known field there is none', () => {
    expect(usageFrom({ cost: 3 })).toBeUndefined()
  })
})

describe('one use in every spelling', () => {
  /** 100 tokens read, of which 40 came from a cache and 10 went into one, and 20 written. */
  const spellings: [string, object][] = [
    ['AI SDK', { inputTokens: { total: 100, noCache: 50, cacheRead: 40, cacheWrite: 10 }, outputTokens: { total: 20 } }],
    ['older AI SDK', { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, cacheWriteTokens: 10 }],
    ['Anthropic', { input_tokens: 50, output_tokens: 20, cache_read_input_tokens: 40, cache_creation_input_tokens: 10 }],
    ['short names', { input: 50, output: 20, cacheRead: 40, cacheWrite: 10 }],
    ['short names with underscores', { input: 50, output: 20, cache_read: 40, cache_write: 10 }],
    ['oldest names, the cache beside', { promptTokens: 50, completionTokens: 20, cacheRead: 40, cacheWrite: 10 }],
  ]
  /** Of those that know nothing of what goes into a cache: 60 read, 40 from a cache, 20 written. */
  const withoutWrites: [string, object][] = [
    ['OpenAI chat', { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } }],
    ['OpenAI responses', { input_tokens: 100, output_tokens: 20, input_tokens_details: { cached_tokens: 40 } }],
    ['flattened', { prompt_tokens: 100, completion_tokens: 20, cached_tokens: 40 }],
    ['AI SDK', { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 }],
    ['Anthropic', { input_tokens: 60, output_tokens: 20, cache_read_input_tokens: 40 }],
  ]

  test.each(spellings)('[OC-88] %s is the same, also beside what is no number', (_, reported) => {
    const expected = { input: 50, output: 20, cacheRead: 40, cacheWrite: 10 }
    expect(tokenCounts(reported)).toEqual(expected)
    expect(tokenCounts({ total: Number.POSITIVE_INFINITY, reasoning_tokens: Number.NaN, ...reported })).toEqual(expected)
    expect(usageFrom(reported)).toEqual({ inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 0, cacheWriteTokens: 10 })
  })

  test.each(withoutWrites)('[OC-88] %s, which tells of no writes, is the same as its like', (_, reported) => {
    expect(tokenCounts(reported)).toEqual({ input: 60, output: 20, cacheRead: 40 })
    expect(usageFrom(reported)).toMatchObject({ inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, cacheWriteTokens: 0 })
  })
})
