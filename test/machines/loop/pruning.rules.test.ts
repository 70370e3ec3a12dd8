import { describe, expect, test } from 'vitest'
import type { Message, ToolMessage } from '../../../src/contracts/message.ts'
import { cacheTtlMs, clearedResult, type Pruning, pruned } from '../../../src/machines/loop/pruning.rules.ts'

const answer = (id: string): Message => ({ role: 'assistant', id, text: id, calls: [] })
const result = (output: unknown, name = 'read'): ToolMessage => ({ role: 'tool', callId: 'c', name, output, isError: false })
/** Results that are old, with the three answers behind them that nobody touches. */
const old = (...results: ToolMessage[]): Message[] => [...results, answer('a1'), result('x'.repeat(5000)), answer('a2'), answer('a3')]
/** 5 minutes after the last call, at 0.4 of the window. */
const at = (options: Partial<Pruning> = {}): Pruning => ({
  now: cacheTtlMs,
  lastCallAt: 0,
  contextTokens: 40_000,
  contextWindow: 100_000,
  ...options,
})
const outputs = (messages: Message[]) => messages.flatMap((message) => (message.role === 'tool' ? [message.output] : []))
const first = (messages: Message[]) => outputs(messages)[0] as string
const long = `${'a'.repeat(1500)}${'-'.repeat(2000)}${'z'.repeat(1500)}`

describe('an old result of more than 4,000 characters [OC-46]', () => {
  test('keeps its first and last 1,500', () => {
    expect(first(pruned(old(result(long)), at()))).toBe(`${'a'.repeat(1500)}\n[… 2000 characters were left out …]\n${'z'.repeat(1500)}`)
  })

  test('is kept whole at 4,000', () => {
    expect(first(pruned(old(result('x'.repeat(4000))), at()))).toHaveLength(4000)
    expect(first(pruned(old(result('x'.repeat(4001))), at())).length).toBeLessThan(3100)
  })

  test.each<[string, Partial<Pruning>]>([
    ['while the cache is warm', { now: cacheTtlMs - 1 }],
    ['while a longer cache is warm', { ttlMs: 2 * cacheTtlMs }],
    ['before the first call', { lastCallAt: undefined }],
    ['below 0.3 of the window', { contextTokens: 29_999 }],
    ['with a window that is not known', { contextWindow: 0 }],
    ['of a tool that is protected', { deny: ['re*'] }],
    ['of a tool that is not named', { allow: ['write', 'r?ad', 'rea'] }],
    ['of a tool that is named and protected', { allow: ['read'], deny: ['READ'] }],
  ])('is kept whole %s', (_, options) => {
    expect(first(pruned(old(result(long)), at(options)))).toBe(long)
  })

  test.each<[string, Partial<Pruning>]>([
    ['from 0.3 of the window on', { contextTokens: 30_000 }],
    ['of a tool that a pattern names', { allow: ['*e*d'] }],
    ['after a shorter cache', { now: 1000, ttlMs: 1000 }],
  ])('is shortened %s', (_, options) => {
    expect(first(pruned(old(result(long)), at(options)))).toContain('2000 characters were left out')
  })

  test('may be JSON, and is never cut into half a character', () => {
    const messages = old(result({ text: `${'a'.repeat(1490)}😀${'b'.repeat(3000)}` }))

    const shortened = first(pruned(messages, at()))

    expect(shortened.startsWith('{"text":"aaa')).toBe(true)
    expect(shortened.isWellFormed()).toBe(true)
  })

  test('the results behind the third answer from the end stay; with fewer answers all do', () => {
    expect(outputs(pruned(old(result('x')), at()))).toEqual(['x', 'x'.repeat(5000)])
    expect(first(pruned([result(long), answer('a1'), answer('a2')], at()))).toBe(long)
    expect(outputs(pruned(old(result('x')), at({ protect: 2 })))[1]).toContain('2000 characters were left out')
    expect(first(pruned([result(long)], at({ protect: 0 })))).not.toBe(long)
  })

  test.each([
    [{ content: [{ type: 'image', data: long, mimeType: 'image/png' }] }],
    [[{ type: 'image_url', image_url: { url: long } }]],
    [{ mediaType: 'image/jpeg', data: long }],
  ])('a picture stays whole (%#)', (output) => {
    expect(outputs(pruned(old(result(output)), at({ contextTokens: 90_000 })))[0]).toBe(output)
  })

  test('the conversation itself does not change', () => {
    const messages = old(result(long))
    const before = structuredClone(messages)

    const shortened = pruned(messages, at())

    expect(messages).toEqual(before)
    expect(shortened.slice(1)).toEqual(messages.slice(1))
  })
})

describe('from 0.5 of the window on [OC-46]', () => {
  const results = (count: number, chars: number) => Array.from({ length: count }, () => result('x'.repeat(chars)))
  const cleared = (messages: Message[]) => outputs(messages).filter((output) => output === clearedResult).length

  test('old results are taken out, oldest first, until it is less', () => {
    // 15 × 4,000 characters; each that goes frees (4,000 − 48) ÷ 4 = 988 tokens: of 52,000, three bring it to 49,036.
    expect(clearedResult).toHaveLength(48)
    const messages = pruned(old(...results(15, 4000)), at({ contextTokens: 52_000 }))

    expect(outputs(messages).map((output) => output === clearedResult)).toEqual([...Array(3).fill(true), ...Array(13).fill(false)])
  })

  test('all of them go when that is not enough', () => {
    expect(cleared(pruned(old(...results(15, 4000)), at({ contextTokens: 95_000 })))).toBe(15)
  })

  test('at 0.5 one goes, just below none', () => {
    expect(cleared(pruned(old(...results(15, 4000)), at({ contextTokens: 50_000 })))).toBe(1)
    expect(cleared(pruned(old(...results(15, 4000)), at({ contextTokens: 49_999 })))).toBe(0)
  })

  test('with fewer than 50,000 characters in old results none goes', () => {
    expect(cleared(pruned(old(...results(25, 2000)), at({ contextTokens: 90_000 })))).toBe(25)
    expect(cleared(pruned(old(...results(24, 2000), result('x'.repeat(1999))), at({ contextTokens: 90_000 })))).toBe(0)
  })

  test('what shortening alone has brought below is enough', () => {
    // 10 × 20,000 characters keep 3,000 each: about 42,400 tokens are free.
    const messages = pruned(old(...results(10, 20_000)), at({ contextTokens: 90_000 }))

    expect(cleared(messages)).toBe(0)
    expect(first(messages).length).toBeLessThan(3100)
  })
})
