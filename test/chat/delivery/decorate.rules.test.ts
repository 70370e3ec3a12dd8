/** What is added to an answer, whether it is sent as a whole or was streamed (OC-82…87). */
import { describe, expect, test } from 'vitest'
import { decorate, decorateBlock, responsePrefix, type TurnFacts } from '../../../src/chat/delivery/decorate.rules.ts'
import { defaultTokens as tokens } from '../../../src/contracts/reply.ts'

const facts = (some: Partial<TurnFacts> = {}): TurnFacts => ({ tokens, verbose: true, streamed: false, ...some })
const all = facts({ newSessionId: 's1', compactions: 2, reasoning: 'hm\n', prefix: '[gpt]', usage: 'Usage: 1 in / 2 out' })
const image = { media: ['a.png'] }

test('an answer is read in the order session notice, compaction notice, reasoning, reply', () => {
  const { leading, payloads, trailing } = decorate([{ text: 'Hi' }, image], all)

  expect(leading.map(({ text }) => text)).toEqual([
    'New session: s1',
    'Older messages were summarised to make room (compaction 2 of this session).',
    'Reasoning:\nhm',
  ])
  expect(payloads).toEqual([{ text: '[gpt] Hi\nUsage: 1 in / 2 out' }, image])
  expect(trailing).toEqual([])
})

test('of an answer that was streamed nothing is lost: what cannot be added to it goes as messages of their own', () => {
  const { leading, payloads, trailing } = decorate([], { ...all, streamed: true })
  expect([leading.length, payloads, trailing]).toEqual([3, [], [{ text: 'Usage: 1 in / 2 out' }]])
})

test('where no payload has text the line is one of its own', () => {
  expect(decorate([image], facts({ usage: 'Usage' }))).toEqual({ leading: [], payloads: [image], trailing: [{ text: 'Usage' }] })
})

test('an answer of nothing stays nothing', () => {
  expect(decorate([], all)).toEqual({ leading: [], payloads: [], trailing: [] })
})

test('notices are for those who want them', () => {
  expect(decorate([{ text: 'Hi' }], facts({ verbose: false, newSessionId: 's1', compactions: 2 })).leading).toEqual([])
  expect(decorate([{ text: 'Hi' }], facts()).leading).toEqual([])
  expect(decorate([{ text: 'Hi' }], facts({ verbose: false, reasoning: ' hm ' })).leading).toEqual([{ text: 'Reasoning:\nhm' }])
  expect(decorate([{ text: 'Hi' }], facts({ reasoning: ' ' })).leading).toEqual([])
})

describe('the response prefix', () => {
  test('is filled with what is known, and keeps what is not', () => {
    const known = { model: 'm', modelFull: 'p/m', provider: 'p', thinkingLevel: 'low', identity: { name: 'Ann' } }
    expect(responsePrefix('{model}|{modelFull}|{provider}|{thinkingLevel}|{identity.name}', known)).toBe('m|p/m|p|low|Ann')
    expect(responsePrefix('{model} {other} {toString} {identity} {}', {})).toBe('{model} {other} {toString} {identity} {}')
    expect(responsePrefix('{model}', { model: '$&{provider}', provider: 'p' })).toBe('$&{provider}')
  })

  test('is put before each text once, also block by block', () => {
    const once = decorateBlock({ text: 'Hi', replyTo: 'm' }, facts({ prefix: '[gpt]' }))
    expect(once).toEqual({ text: '[gpt] Hi', replyTo: 'm' })
    expect(decorateBlock(once, facts({ prefix: '[gpt]' }))).toEqual(once)
    expect(decorateBlock({ text: 'Hi' }, facts({ prefix: 'Ann:\n' }))).toEqual({ text: 'Ann:\nHi' })
  })

  test('is put neither before a token alone nor where there is no text', () => {
    for (const payload of [{ text: ' NO_REPLY ' }, { text: 'HEARTBEAT_OK' }, { text: ' ' }, image])
      expect(decorateBlock(payload, facts({ prefix: '[gpt]' }))).toEqual(payload)
    expect(decorateBlock({ text: 'Hi' }, facts({ prefix: ' ' }))).toEqual({ text: 'Hi' })
  })
})
