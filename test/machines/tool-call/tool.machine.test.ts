import { expect, test } from 'vitest'
import { definedOf } from '../../../src/contracts/defined.ts'
import { during } from '../../../src/contracts/environment.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import type { ToolCall } from '../../../src/contracts/tool.ts'
import type { ToolInput } from '../../../src/contracts/tool-call.ts'
import { toolMachine } from '../../../src/machines/tool-call/tool.machine.ts'
import { walker } from '../walk.ts'

const tool = walker(toolMachine, ['execute', 'check'])
const hash = 'a'.repeat(64)
const aCall = (call: Partial<ToolCall> = {}): ToolCall => ({
  id: 's/r:1:1',
  callId: 'c1',
  name: 'pay',
  input: { amount: 3 },
  inputHash: hash,
  needsApproval: false,
  onCrash: 'once',
  timeoutMs: 1000,
  attemptMax: 1,
  ...call,
})
const start = (call: Partial<ToolCall> = {}, inDoubt: 'ask' | 'report' = 'ask', more: Partial<ToolInput> = {}) =>
  tool.start({ session: 's', runId: 'r', agent: 'main', call: aCall(call), inDoubt, ...more })
const approve = (decision: 'approve' | 'deny', inputHash = hash, attempt = 1) => ({
  type: 'approve',
  callId: 's/r:1:1',
  decision,
  inputHash,
  attempt,
  by: 'ann',
})
const doubt = new RuntimeError('tool_in_doubt', 'nobody knows')
const busy = new RuntimeError('tool_failed', 'busy', { retryable: true })
const gone = new RuntimeError('tool_lost', 'its worker is gone', { retryable: true })
const finished = (status: string, code: string) => ({
  type: 'tool.finished',
  callId: 's/r:1:1',
  status,
  result: { role: 'tool', callId: 'c1', name: 'pay', isError: true, output: { error: expect.objectContaining({ code }) } },
})

test('a call runs and its result is named, not copied', async () => {
  const walk = start()
  expect(walk.state).toBe('running')
  expect(walk.inputs('execute')).toMatchObject([{ attempt: 1, onCrash: 'once', call: { input: { amount: 3 } } }])

  await walk.resolve('execute', { kind: 'tool', id: 's/r:1:1', callId: 'c1', name: 'pay', output: 'paid' })

  expect(walk.state).toBe('completed')
  expect(walk.heard()).toEqual([
    { type: 'tool', runId: 'r', callId: 's/r:1:1', name: 'pay', phase: 'requested', input: { amount: 3 } },
    { type: 'tool', runId: 'r', callId: 's/r:1:1', name: 'pay', phase: 'completed', output: 'paid' },
    { type: 'tool.finished', callId: 's/r:1:1', status: 'completed', result: { content: 's/r:1:1' }, output: 'paid' },
  ])
})

test('a call with a problem never runs', () => {
  const walk = start({ problem: { code: 'tool_unknown', message: 'there is no tool' }, needsApproval: true })

  expect(walk.state).toBe('failed')
  expect(walk.inputs('execute')).toEqual([])
  expect(walk.heard().at(-1)).toEqual(finished('failed', 'tool_unknown'))
})

test('a failure that may pass is tried again, with a longer pause each time', async () => {
  const walk = start({ attemptMax: 3 })
  await walk.reject('execute', busy)
  expect(walk.state).toBe('retrying')
  expect(walk.pass(249).state).toBe('retrying')
  expect(walk.pass(1).state).toBe('running')
  await walk.reject('execute', busy)
  walk.pass(500)
  await walk.reject('execute', busy)

  expect(walk.inputs('execute').map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  expect(walk.state).toBe('failed')
  expect(walk.heard().at(-1)).toEqual(finished('failed', 'tool_failed'))
})

test('an error of unknown kind is not tried again', async () => {
  const walk = await start({ attemptMax: 3 }).reject('execute', new Error('boom'))

  expect(walk.state).toBe('failed')
  expect(walk.heard().at(-1)).toEqual(finished('failed', 'tool_failed'))
})

test('its time is up', () => {
  const walk = start().pass(1000)

  expect(walk.state).toBe('failed')
  expect(walk.heard().at(-1)).toEqual(finished('failed', 'tool_timeout'))
})

test('a person agrees: the decision counts for these arguments only, and the first attempt is the first', () => {
  const walk = start({ needsApproval: true })
  expect(walk.state).toBe('awaiting-input')
  expect(walk.heard().at(-1)).toMatchObject({ type: 'tool.waiting', approval: { why: 'approval', inputHash: hash } })
  expect(walk.send(approve('approve', 'b'.repeat(64))).state).toBe('awaiting-input')

  expect(walk.send(approve('approve')).state).toBe('running')
  expect(walk.heard()).toEqual([{ type: 'tool.decided', callId: 's/r:1:1' }])
  expect(walk.inputs('execute')).toMatchObject([{ attempt: 1 }])
})

test('a person refuses', () => {
  const walk = start({ needsApproval: true }).send(approve('deny'))

  expect(walk.state).toBe('denied')
  expect(walk.heard().at(-1)).toEqual(finished('denied', 'tool_denied'))
  expect(walk.context.error.message).toContain('ann')
})

test('in doubt: a person may have it repeated, as another attempt', async () => {
  const walk = await start().reject('execute', doubt)
  expect(walk.state).toBe('awaiting-input')
  expect(walk.heard().at(-1)).toMatchObject({ type: 'tool.waiting', approval: { why: 'in_doubt', attempt: 2 } })
  expect(walk.send(approve('approve', hash, 1)).state).toBe('awaiting-input')

  expect(walk.send(approve('approve', hash, 2)).state).toBe('running')
  expect(walk.inputs('execute').map(({ attempt }) => attempt)).toEqual([1, 2])
})

test('once, its worker lost: in doubt, never repeated without a person', async () => {
  const walk = await start({ attemptMax: 5 }).reject('execute', gone)
  expect(walk.state).toBe('awaiting-input')
  expect(walk.heard().at(-1)).toMatchObject({ type: 'tool.waiting', approval: { why: 'in_doubt', attempt: 2 } })

  walk.send(approve('approve', hash, 2))
  await walk.reject('execute', gone)
  expect(walk.state).toBe('awaiting-input')
  walk.send(approve('deny', hash, 3))

  expect(walk.inputs('execute').map(({ attempt }) => attempt)).toEqual([1, 2])
  expect(walk.heard().at(-1)).toEqual(finished('in_doubt', 'tool_in_doubt'))
})

test.each(['retry', 'idempotent'] as const)('%s, its worker lost: tried again until another one is there', async (onCrash) => {
  const walk = await start({ onCrash }).reject('execute', gone)
  expect(walk.state).toBe('retrying')
  walk.pass(250)
  await walk.reject('execute', busy)
  expect(walk.pass(500).state).toBe('running')

  await walk.resolve('execute', { kind: 'tool', id: 's/r:1:1', callId: 'c1', name: 'pay', output: 'paid' })

  expect(walk.inputs('execute').map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  expect(walk.state).toBe('completed')
})

test('a call that loses each of its workers ends', async () => {
  const walk = start({ onCrash: 'retry' })
  for (let attempt = 1; attempt < 8; attempt++) {
    await walk.reject('execute', gone)
    expect(walk.pass(30_000).state).toBe('running')
  }
  await walk.reject('execute', gone)

  expect(walk.state).toBe('failed')
  expect(walk.heard().at(-1)).toEqual(finished('failed', 'tool_lost'))
})

test.each(['ask', 'report'] as const)('in doubt, with %s: the model is told that nobody knows', async (inDoubt) => {
  const walk = await start({}, inDoubt).reject('execute', doubt)
  if (inDoubt === 'ask') walk.send(approve('deny', hash, 2))

  expect(walk.state).toBe('reported-in-doubt')
  expect(walk.heard().at(-1)).toEqual(finished('in_doubt', 'tool_in_doubt'))
})

test.each<[string, () => ReturnType<typeof start> | Promise<ReturnType<typeof start>>]>([
  ['running', () => start()],
  ['awaiting-input', () => start({ needsApproval: true })],
  ['retrying', () => start({ attemptMax: 2 }).reject('execute', busy)],
])('cancelled while %s', async (state, begin) => {
  const walk = await begin()
  expect(walk.state).toBe(state)

  expect(walk.send({ type: 'cancel' }).state).toBe('cancelled')
  expect(walk.heard().at(-1)).toEqual(finished('cancelled', 'cancelled'))
})

const verdict = (found: object) => ({ kind: 'gate', runId: 'r', callId: 's/r:1:1', name: 'pay', verdict: found })

test('a call that hooks stand before waits for them, and runs with what they made of it', async () => {
  const walk = start({ gated: true })
  expect(walk.state).toBe('checking')
  expect(walk.inputs('execute')).toEqual([])

  await walk.resolve(
    'check',
    verdict({ kind: 'pass', needsApproval: false, adjusted: { original: {}, input: { amount: 1 }, inputHash: 'b'.repeat(64), by: [] } }),
  )

  expect(walk.inputs('execute')).toMatchObject([{ call: { input: { amount: 1 }, inputHash: 'b'.repeat(64) } }])
})

test('what a hook changed is what a person is asked about, and agrees to', async () => {
  const walk = await start({ gated: true }).resolve(
    'check',
    verdict({ kind: 'pass', needsApproval: true, adjusted: { original: {}, input: { amount: 1 }, inputHash: 'b'.repeat(64), by: [] } }),
  )
  expect(walk.state).toBe('awaiting-input')
  expect(walk.send(approve('approve')).state).toBe('awaiting-input')
  expect(walk.send(approve('approve', 'b'.repeat(64))).state).toBe('running')
})

test('a hook that blocks, or cannot be asked, is a result with the reason', async () => {
  const blocked = await start({ gated: true }).resolve('check', verdict({ kind: 'block', by: 'guard', reason: 'not on Sundays' }))
  expect(blocked.heard().at(-1)).toMatchObject({
    ...finished('denied', 'tool_blocked'),
    result: { output: { error: { message: 'not on Sundays' } } },
  })
  const lost = await start({ gated: true }).reject('check', gone)
  expect(lost.heard().at(-1)).toMatchObject(finished('denied', 'tool_blocked'))
})

test.each([
  ['is denied', {}, 119_999, 1, 'denied', 'deny'],
  ['runs where the agent says so', { timeoutMs: 1000, onTimeout: 'allow' as const }, 999, 1, 'running', 'approve'],
])('a call of an earlier build, whose journal holds the timer, %s in silence', (_, approval, before, then, state, decision) => {
  const walk = start({ needsApproval: true, timeoutMs: 1_000_000 }, 'ask', { approval })
  expect(walk.pass(before).state).toBe('awaiting-input')
  expect(walk.pass(then).state).toBe(state)
  expect(walk.heard()).toContainEqual({ type: 'decided', runId: 'r', callId: 's/r:1:1', decision, by: 'timeout' })
})

test('[CH-43] a call waits for a person without a deadline, unless the agent sets one', () => {
  const waits = (approval?: { timeoutMs: number }) =>
    start({ needsApproval: true }, 'ask', { pauses: true, ...(approval && { approval }) }).pass(400 * 86_400_000).state

  expect([waits(), waits({ timeoutMs: 0 }), waits({ timeoutMs: 60_000 })]).toEqual(['awaiting-input', 'awaiting-input', 'denied'])
})

test.each([
  ['no deadline', undefined, { at: 5000 }],
  ['the end of its wait', { timeoutMs: 60_000 }, { at: 5000, deadline: 65_000 }],
  ['what silence comes to', { timeoutMs: 60_000, onTimeout: 'allow' as const }, { at: 5000, deadline: 65_000, onTimeout: 'allow' }],
])('the question carries the time it was asked and %s', (_, approval, times) => {
  const walk = during({ now: () => 5000, draw: () => new Uint8Array(), scheduling: () => false, leftOf: () => undefined }, () =>
    start({ needsApproval: true }, 'ask', { pauses: true, ...(approval && { approval }) }),
  )

  const asked = walk.heard().find(({ type }) => type === 'tool.waiting')?.approval as Record<string, unknown>
  const { at, deadline, onTimeout } = asked
  expect(definedOf({ at, deadline, onTimeout })).toEqual(times)
})

test('a call in doubt waits until a person has looked, whatever the agent sets', async () => {
  const doubtful = await start({}, 'ask', { approval: { timeoutMs: 1000 }, pauses: true }).reject('execute', doubt)
  expect(doubtful.pass(90_000_000).state).toBe('awaiting-input')
})

test('where nobody has asked for the turn nobody can agree, unless somebody did so for the whole session', async () => {
  expect(start({ needsApproval: true }, 'ask', { unattended: true }).state).toBe('denied')
  expect(start({ needsApproval: true }, 'ask', { unattended: true, allowed: ['pay'] }).state).toBe('running')
  const asked = await start({ gated: true }, 'ask', { unattended: true }).resolve('check', verdict({ kind: 'pass', needsApproval: true }))
  expect(asked.state).toBe('denied')
})

const delegates = { delegates: true } as const

test('a call that somebody above runs is told to them, and ends as they say', async () => {
  const walk = start({ delegated: true }, 'ask', delegates)
  expect(walk.state).toBe('delegated')
  expect(walk.inputs('execute')).toEqual([])
  expect(walk.heard().at(-1)).toEqual({ type: 'tool.delegated', callId: 's/r:1:1', name: 'pay', input: { amount: 3 } })
  walk.send({ type: 'answer', callId: 's/r:1:1', output: { paid: 3 } })
  expect(walk.state).toBe('completed')
  expect(walk.heard().at(-1)).toEqual({
    type: 'tool.finished',
    callId: 's/r:1:1',
    status: 'completed',
    result: { role: 'tool', callId: 'c1', name: 'pay', output: { paid: 3 }, isError: false },
    output: { paid: 3 },
  })

  const failed = start({ delegated: true }, 'ask', delegates)
  failed.send({ type: 'answer', callId: 's/r:1:1', error: { code: 'tool_failed', message: 'no', retryable: false } })
  expect(failed.heard().at(-1)).toMatchObject(finished('failed', 'tool_failed'))
  expect(start({ delegated: true }, 'ask', delegates).pass(1000).heard().at(-1)).toMatchObject(finished('failed', 'tool_timeout'))
})

test('it waits for a person and for hooks as any other, and is run here where nobody above does', async () => {
  expect(start({ delegated: true }).state).toBe('running')
  expect(start({ delegated: true, needsApproval: true }, 'ask', delegates).send(approve('approve')).state).toBe('delegated')
  const unasked = { ...delegates, approval: { timeoutMs: 1000, onTimeout: 'allow' as const } }
  expect(start({ delegated: true, needsApproval: true, timeoutMs: 1_000_000 }, 'ask', unasked).pass(1000).state).toBe('delegated')
  const checked = await start({ delegated: true, gated: true }, 'ask', delegates).resolve('check', verdict({ kind: 'pass', needsApproval: false }))
  expect(checked.state).toBe('delegated')
})

test('every transition of the chart has been taken', () => {
  expect(tool.missed()).toEqual([])
})
