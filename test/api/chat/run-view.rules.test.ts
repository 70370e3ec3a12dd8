import { expect, test } from 'vitest'
import { RunView } from '../../../src/api/chat/run-view.rules.ts'
import type { Message } from '../../../src/contracts/message.ts'
import type { SessionOutput } from '../../../src/contracts/session.ts'
import type { TurnOutput } from '../../../src/contracts/turn.ts'

const aRun = () => {
  const view = new RunView('main', { runId: 'k1', ids: ['k1'] })
  const say = (text: string, index: number, change: Partial<Extract<SessionOutput, { type: 'delta' }>> = {}) =>
    view.delta({ type: 'delta', runId: 'k1', answerId: 'k1:1', attempt: 1, index, kind: 'text', text, ...change })
  const tool = (phase: Extract<SessionOutput, { type: 'tool' }>['phase'], more: object = {}) =>
    view.tool({ type: 'tool', runId: 'k1', callId: 'main/k1:1:1', name: 'look', phase, ...more }, 2_000)
  return { view, say, tool }
}
const output: TurnOutput = {
  runId: 'k1',
  status: 'completed',
  outcome: 'replied',
  ids: ['k1'],
  text: 'all of it',
  partial: false,
  answerId: 'k1:1',
  usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 },
  steps: 1,
  toolCalls: 0,
  model: 'test/echo',
  transcriptLength: 2,
}

test('[CH-64] pieces become one text, thinking another, each called as the history will call them', () => {
  const { view, say } = aRun()
  say('let me ', 0, { kind: 'reasoning' })
  say('see', 1, { kind: 'reasoning' })
  say('it ', 2)
  say('is 42', 3)

  expect(view.blocks).toEqual([
    { type: 'thinking', id: 'k1:1', thinking: 'let me see' },
    { type: 'text', id: 'k1:1', text: 'it is 42' },
  ])
})

test('several pieces that came as one count as many', () => {
  const { view, say } = aRun()
  say('a b c ', 0, { count: 3 })
  say('d', 3)
  expect(view.blocks).toEqual([{ type: 'text', id: 'k1:1', text: 'a b c d' }])
  expect(view.lacking).toEqual([])
})

test('a text of which a piece was missed stands still until the whole of it is known', () => {
  const { view, say } = aRun()
  say('it ', 0)

  expect(say('42', 2)).toBe(false)
  expect(say('!', 3)).toBe(false)
  expect(view.blocks).toEqual([{ type: 'text', id: 'k1:1', text: 'it ' }])
  expect(view.lacking).toEqual(['k1:1'])

  expect(view.complete('k1:1', { text: 'it is 42!' })).toBe(true)
  expect(view.blocks).toEqual([{ type: 'text', id: 'k1:1', text: 'it is 42!' }])
  expect(view.lacking).toEqual([])
  expect(view.complete('k1:1', { text: 'it is 42!' })).toBe(false)
})

test('what an attempt had said before a restart is said once', () => {
  const { view, say } = aRun()
  say('it is', 0)
  say('it ', 0, { attempt: 2 })
  say('is 42', 1, { attempt: 2 })
  expect(view.blocks).toEqual([{ type: 'text', id: 'k1:1', text: 'it is 42' }])
})

test('what a call had said that failed is taken back when another one is made', () => {
  const { view, say } = aRun()
  say('it i', 0)
  expect(view.retried()).toBe(true)
  say('forty-two', 0, { answerId: 'k1:2', attempt: 2 })
  expect(view.blocks).toEqual([{ type: 'text', id: 'k1:2', text: 'forty-two' }])
})

test('tools stand where they were called, between what was said before and after', () => {
  const { view, say, tool } = aRun()
  say('looking', 0)
  tool('requested', { input: { at: 'it' } })
  tool('completed', { output: 'seen' })
  say('seen it', 0, { answerId: 'k1:2', attempt: 2 })

  expect(view.blocks).toEqual([
    { type: 'text', id: 'k1:1', text: 'looking' },
    { type: 'tool', id: 'k1:1', callId: 'main/k1:1:1', name: 'look' },
    { type: 'text', id: 'k1:2', text: 'seen it' },
  ])
  expect(view.tools.get('main/k1:1:1')).toMatchObject({ state: 'done', input: { at: 'it' }, output: 'seen' })
})

test.each([
  ['requested', 'running'],
  ['progress', 'running'],
  ['completed', 'done'],
  ['failed', 'error'],
  ['denied', 'error'],
  ['in_doubt', 'error'],
  ['skipped', 'skipped'],
  ['cancelled', 'skipped'],
] as const)('[CH-49] a tool call that is %s is told as %s', (phase, state) => {
  expect(aRun().tool(phase).state).toBe(state)
})

test('what a running tool says of itself is progress, and no output', () => {
  expect(aRun().tool('progress', { output: { done: 3, of: 5 } })).toMatchObject({ state: 'running', progress: { done: 3, of: 5 } })
  expect(aRun().tool('progress', { output: 1 })).not.toHaveProperty('output')
})

test('[CH-63] events of a run are numbered from one, and the last one says how it ended', () => {
  const { view, say } = aRun()
  say('all of it', 0)

  const events = [view.soFar(3_000), view.end(output, 4_000)]

  expect(events.map(({ seq, state }) => [seq, state])).toEqual([
    [1, 'delta'],
    [2, 'final'],
  ])
  expect(events[1]).toMatchObject({
    model: 'test/echo',
    stopReason: 'stop',
    steps: 1,
    message: { content: [{ text: 'all of it' }], timestamp: 4_000 },
  })
})

test('[CH-65] a reply of which nothing is to be shown ends without a message', () => {
  const { view, say } = aRun()
  say('NO_REPLY', 0)
  expect(view.end({ ...output, outcome: 'silent' }, 4_000)).not.toHaveProperty('message')
})

test.each([
  ['provider_rate_limit', 'rate_limit'],
  ['provider_overflow', 'context_length'],
  ['provider_timeout', 'timeout'],
  ['budget_time', 'timeout'],
  ['provider_rejected', 'refusal'],
  ['provider_auth', 'unknown'],
] as const)('[CH-66] a run that failed with %s says so, of the kind %s', (code, errorKind) => {
  const error = { code, message: 'no', retryable: false }
  expect(aRun().view.end({ ...output, status: 'failed', outcome: 'failed', error }, 4_000)).toMatchObject({ state: 'error', error, errorKind })
})

test('a message that joined the run stands where it was taken in, once', () => {
  const { view, say } = aRun()
  say('first', 0)
  say('second', 0, { answerId: 'k1:2', attempt: 2 })
  const transcript: Message[] = [
    { role: 'user', id: 'k0', text: 'before' },
    { role: 'user', id: 'k1', text: 'the question' },
    { role: 'assistant', id: 'k1:1', text: 'first', calls: [] },
    { role: 'user', id: 'k2', text: 'and this' },
  ]

  expect(view.read(transcript)).toBe(true)
  expect(view.read(transcript)).toBe(false)
  expect(view.blocks.map((block) => ('text' in block ? block.text : ''))).toEqual(['first', 'and this', 'second'])
})

test('[CH-17] what the session itself answers is said, and nothing of what was said before', () => {
  const { view } = aRun()
  expect(
    view.read([
      { role: 'user', id: 'k0', text: 'before' },
      { role: 'assistant', id: 'k0:1', text: 'an old answer', calls: [] },
    ]),
  ).toBe(false)
  expect(view.end({ ...output, answerId: null, text: '', reply: { text: 'Think: high.' } }, 4_000).message?.content).toEqual([
    { type: 'text', id: 'k1:reply', text: 'Think: high.' },
  ])
})
