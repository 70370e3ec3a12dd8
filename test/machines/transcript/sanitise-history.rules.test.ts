import { describe, expect, test } from 'vitest'
import type { AssistantMessage, Message, ToolMessage } from '../../../src/contracts/message.ts'
import { prepared } from '../../../src/machines/transcript/sanitise-history.rules.ts'

const user = (id: string, text = id): Message => ({ role: 'user', id, text })
const says = (id: string, ...calls: string[]): AssistantMessage => ({
  role: 'assistant',
  id,
  text: id,
  calls: calls.map((callId) => ({ callId, name: 'look', input: {} })),
})
const result = (callId: string, output: unknown = callId): ToolMessage => ({ role: 'tool', callId, name: 'look', output, isError: false })
const summary = (id: string): Message => ({ role: 'summary', id, text: id })
const lost = (callId: string) => ({ role: 'tool', callId, name: 'look', isError: true, output: { error: { code: 'tool_lost' } } })

test('a conversation that is in order stays as it is, and the same objects', () => {
  const messages = [summary('s'), user('u1'), says('a1', 'c1', 'c2'), result('c1'), result('c2'), says('a2'), user('u2')]

  const sent = prepared(messages)

  expect(sent).toEqual(messages)
  for (const [place, message] of sent.entries()) expect(message).toBe(messages[place])
  expect(prepared([])).toEqual([])
})

describe('messages of the user in a row [OC-57]', () => {
  test('one that got no answer goes where a new one follows', () => {
    expect(prepared([user('u1'), says('a1'), user('u2'), user('u3'), user('u4')])).toEqual([user('u1'), says('a1'), user('u4')])
  })

  test('those that one turn answers together stay, as one', () => {
    const sent = prepared([user('u1'), says('a1'), user('u2'), user('u3'), user('u4')], { prompt: ['u3', 'u4'] })

    expect(sent).toEqual([user('u1'), says('a1'), { role: 'user', id: 'u4', text: 'u3\n\nu4' }])
  })

  test('older ones were answered together: they become one', () => {
    expect(prepared([user('u1'), user('u2'), says('a1'), user('u3')])).toEqual([{ role: 'user', id: 'u2', text: 'u1\n\nu2' }, says('a1'), user('u3')])
  })

  test('in the middle of a turn none is dropped: what steers it belongs to the prompt', () => {
    const messages = [user('u1'), says('a1', 'c1'), result('c1'), user('u2'), user('u3')]

    expect(prepared(messages, { prompt: ['u1', 'u2', 'u3'] }).at(-1)).toEqual({ role: 'user', id: 'u3', text: 'u2\n\nu3' })
    expect(prepared([user('u1'), says('a1', 'c1'), result('c1')], { prompt: ['u1'] })).toHaveLength(3)
  })

  test('what the model is told before a message stays before it', () => {
    const noted = (id: string): Message => ({ role: 'user', id, text: id, before: `note of ${id}` })

    expect(prepared([noted('u1'), noted('u2'), says('a')])[0]).toEqual({
      role: 'user',
      id: 'u2',
      before: 'note of u1',
      text: 'u1\n\nnote of u2\n\nu2',
    })
  })

  test('a summary is not a message of the user', () => {
    expect(prepared([summary('s'), user('u1')])).toEqual([summary('s'), user('u1')])
  })

  test('without a text there is nothing to join', () => {
    expect(prepared([user('u1', ''), user('u2'), says('a')])[0]).toEqual(user('u2'))
  })
})

describe('calls and results (OC-57, CH-52)', () => {
  test('a call without a result gets an error in its place', () => {
    expect(prepared([user('u1'), says('a1', 'c1', 'c2'), result('c2'), user('u2')])).toMatchObject([
      user('u1'),
      says('a1', 'c1', 'c2'),
      lost('c1'),
      result('c2'),
      user('u2'),
    ])
  })

  test('a result without a call goes, and so does a second one', () => {
    const messages = [result('c0'), user('u1'), says('a1', 'c1'), result('c1', 'first'), result('c9'), result('c1', 'second'), says('a2')]

    expect(prepared(messages)).toEqual([user('u1'), says('a1', 'c1'), result('c1', 'first'), says('a2')])
  })

  test('results move next to their call, in the order of the calls', () => {
    const messages = [user('u1'), says('a1', 'c1', 'c2'), result('c2'), user('u2'), says('a2'), result('c1'), user('u3')]

    expect(prepared(messages)).toEqual([user('u1'), says('a1', 'c1', 'c2'), result('c1'), result('c2'), user('u2'), says('a2'), user('u3')])
  })

  test('an id that is used again belongs to the newer call', () => {
    const messages = [user('u1'), says('a1', 'c1'), user('u2'), says('a2', 'c1'), result('c1'), user('u3')]

    expect(prepared(messages)).toMatchObject([user('u1'), says('a1', 'c1'), lost('c1'), user('u2'), says('a2', 'c1'), result('c1'), user('u3')])
  })
})

describe('the newest turns of the user [OC-57]', () => {
  const messages = [user('u1'), says('a1'), user('u2'), says('a2', 'c1'), result('c1'), says('a3'), user('u3')]

  test.each([
    [1, 1],
    [2, 5],
    [2.9, 5],
    [3, 7],
    [9, 7],
    [0, 7],
    [-1, 7],
    [Number.NaN, 7],
  ])('%s of them are %s messages, and no pair is split', (historyTurns, count) => {
    expect(prepared(messages, { historyTurns })).toEqual(messages.slice(-count))
  })

  test('the newest summary stays in the place of what goes', () => {
    expect(prepared([summary('s1'), summary('s2'), ...messages], { historyTurns: 1 })).toEqual([summary('s2'), user('u3')])
  })

  test('the present turn is never cut, however often it was steered', () => {
    const steered = [user('u1'), says('a1'), user('u2'), says('a2', 'c1'), result('c1'), user('u3'), says('a3', 'c2'), result('c2')]

    expect(prepared(steered, { historyTurns: 1, prompt: ['u2', 'u3'] })).toEqual(steered.slice(2))
  })

  test('messages in a row are one turn', () => {
    const collected = [user('u1'), says('a1'), user('u2'), user('u3'), says('a2'), user('u4')]

    expect(prepared(collected, { historyTurns: 2 }).map((message) => message.role)).toEqual(['user', 'assistant', 'user'])
  })
})
