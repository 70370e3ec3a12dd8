import { expect, test } from 'vitest'
import { promptMachine } from '../../../src/api/agent-protocol/prompt.machine.ts'
import type { Approval } from '../../../src/contracts/turn.ts'
import { walker } from '../../machines/walk.ts'

const prompt = walker(promptMachine, ['answer', 'decide'])
const start = () => prompt.start(undefined)

const approval = (change: Partial<Approval> = {}): Approval => ({
  callId: 'c1',
  runId: 'r1',
  name: 'refund',
  input: { amount: 500 },
  inputHash: 'h'.repeat(64),
  attempt: 1,
  why: 'approval',
  ...change,
})

test('a prompt is acknowledged first, and its stream ended last', async () => {
  const walk = start()
  expect(walk.heard()).toEqual([{ type: 'ack' }])

  await walk.resolve('answer', undefined)

  expect(walk.state).toBe('ended')
  expect(walk.heard()).toEqual([{ type: 'end' }])
})

test('a failure is told before the end of the stream', async () => {
  const walk = await start().reject('answer', new Error('broken'))

  expect(walk.state).toBe('failed')
  expect(walk.heard()).toEqual([
    { type: 'ack' },
    { type: 'error', error: { code: 'internal', message: 'broken', retryable: false } },
    { type: 'end' },
  ])
})

test('while nothing is said the caller hears that we are alive', () => {
  const walk = start()
  walk.heard()

  walk.pass(19_999)
  expect(walk.heard()).toEqual([])
  walk.send({ type: 'said' }).pass(19_999)
  expect(walk.heard()).toEqual([])

  walk.pass(1).pass(20_000)
  expect(walk.heard()).toEqual([{ type: 'ack' }, { type: 'ack' }])
})

test.each([
  ['yes', 'approve'],
  [' OK.\n', 'approve'],
  ['no', 'deny'],
  ['Deny!', 'deny'],
])('a call that waits for a person is asked about; %j means %s', async (text, decision) => {
  const walk = start()
  walk.heard()
  walk.send({ type: 'approval', approval: approval() }).send({ type: 'approval', approval: approval() })
  expect(walk.heard()).toEqual([{ type: 'question', approval: approval() }])

  walk.send({ type: 'reply', callId: 'c1', text })
  expect(walk.inputs('decide')).toEqual([{ approval: approval(), decision }])

  walk.send({ type: 'decided', callId: 'c1' })
  expect(walk.heard()).toEqual([{ type: 'question.over', callId: 'c1' }])
})

test('an answer that is neither yes nor no is asked for again, and a decision that was not taken too', () => {
  const walk = start().send({ type: 'approval', approval: approval() })
  walk.heard()

  walk.send({ type: 'reply', callId: 'c1', text: 'yes, but only the half' })
  expect(walk.inputs('decide')).toEqual([])
  expect(walk.heard()).toEqual([{ type: 'question', approval: approval(), why: 'please answer yes or no' }])

  walk.send({ type: 'reply', callId: 'c1', text: 'yes' })
  walk.send({ type: 'undecided', callId: 'c1', error: { code: 'log_unavailable', message: 'no node has it', retryable: true } })
  expect(walk.heard()).toEqual([{ type: 'question', approval: approval(), why: 'no node has it' }])
})

test('whoever decided elsewhere was first: a late answer and what became of it count no more', () => {
  const walk = start().send({ type: 'approval', approval: approval() }).send({ type: 'decided', callId: 'c1' })
  walk.heard()

  walk.send({ type: 'reply', callId: 'c1', text: 'yes' }).send({ type: 'decided', callId: 'c1' })
  walk.send({ type: 'undecided', callId: 'c1', error: { code: 'already_decided', message: 'it has been decided', retryable: false } })

  expect(walk.inputs('decide')).toEqual([])
  expect(walk.heard()).toEqual([])
})

test('a second attempt of a call in doubt is a question of its own, and the end closes those that are open', async () => {
  const walk = start().send({ type: 'approval', approval: approval() })
  const again = approval({ attempt: 2, why: 'in_doubt' })
  walk.heard()

  walk.send({ type: 'approval', approval: again })
  expect(walk.heard()).toEqual([{ type: 'question', approval: again }])

  await walk.resolve('answer', undefined)
  expect(walk.heard()).toEqual([{ type: 'question.over', callId: 'c1' }, { type: 'end' }])
})

test('[CH-43] a question that the caller does not answer is refused after two minutes, and a call in doubt waits', () => {
  const walk = start().send({ type: 'approval', approval: approval() })
  walk.send({ type: 'approval', approval: approval({ callId: 'c2', attempt: 2, why: 'in_doubt' }) }).pass(119_999)
  expect(walk.inputs('decide')).toEqual([])

  walk.pass(1).pass(86_400_000)

  expect(walk.inputs('decide')).toEqual([{ approval: approval(), decision: 'deny' }])
})

test('[CH-43] a question that was decided elsewhere is refused no more, and the deadline of an agent is left to its turn', () => {
  const walk = start().send({ type: 'approval', approval: approval() }).send({ type: 'decided', callId: 'c1' })
  walk.send({ type: 'approval', approval: approval({ callId: 'c2', deadline: 1 }) }).pass(86_400_000)

  expect(walk.inputs('decide')).toEqual([])
})

test('every transition of the chart has been taken', () => {
  expect(prompt.missed()).toEqual([])
})
