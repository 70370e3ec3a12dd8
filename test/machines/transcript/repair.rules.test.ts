import { expect, test } from 'vitest'
import type { Message } from '../../../src/contracts/message.ts'
import { repaired } from '../../../src/machines/transcript/repair.rules.ts'

const nameFor = ({ name }: { name: string }) => (/read/i.test(name) ? 'read' : undefined)
const asks = (id: string, ...calls: [string, string][]): Message => ({
  role: 'assistant',
  id,
  text: '',
  calls: calls.map(([callId, name]) => ({ callId, name, input: {} })),
})
const gave = (callId: string): Message => ({ role: 'tool', callId, name: 'read', output: 'ok', isError: false })
const said: Message = { role: 'user', id: 'u', text: 'go' }

test('a conversation that is in order stays the same object', () => {
  const messages = [said, asks('r:1', ['a', 'read']), gave('a')]
  expect(repaired(messages, nameFor)).toBe(messages)
})

test('a call without a result gets an error, results stand beside their calls, and those without one go', () => {
  const messages = [gave('z'), said, asks('r:1', ['a', 'read'], ['b', 'read']), said, gave('b'), gave('b')]

  expect(repaired(messages, nameFor)).toEqual([
    said,
    messages[2],
    expect.objectContaining({ callId: 'a', isError: true, output: { error: expect.objectContaining({ code: 'tool_lost' }) } }),
    gave('b'),
    said,
  ])
})

test('[CH-40] bent names of an older history are mended, and what no provider takes back goes with its result', () => {
  const messages = [
    said,
    asks('r:1', ['a', 'functions.read:0'], ['b', 'my own tool']),
    gave('a'),
    gave('b'),
    asks('r:2', ['c', 'x'.repeat(65)]),
    gave('c'),
  ]

  expect(repaired(messages, nameFor)).toEqual([said, asks('r:1', ['a', 'read']), gave('a')])
})
