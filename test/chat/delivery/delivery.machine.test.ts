import { expect, test } from 'vitest'
import { fromCallback } from 'xstate'
import type { DeliverOrder } from '../../../src/chat/delivery/delivery.context.ts'
import { deliveryMachine } from '../../../src/chat/delivery/delivery.machine.ts'
import { defaultProfile } from '../../../src/contracts/profile.ts'
import { anAnswer } from '../../machines/loop/answers.ts'
import { walker } from '../../machines/walk.ts'

/** What the effect was told since the last look; an order `break` makes it fail. */
let told: DeliverOrder[] = []
const orders = () => told.splice(0)
const deliver = fromCallback<DeliverOrder>(({ receive }) => receive((order) => void told.push(order)))
const delivery = walker(deliveryMachine, [], () => ({ deliver }))

const route = { channel: 'test', to: 'ada' }
const open = (input: object = { route, delivery: {} }) => {
  told = []
  return delivery.start({ session: 's', runId: 'r', ...input })
}
const finish = { type: 'delivery.finish', leading: [], payloads: [{ text: 'all of it' }], trailing: [] }
const finished = { type: 'delivery.finished', counts: { tool: 0, block: 1, final: 1 }, failed: 1, lost: 0, aborted: false, skipped: { silent: 1 } }
const sent = { type: 'block.sent', key: 'k1', kind: 'block' }
const late = { type: 'block.failed', key: 'k2', kind: 'block', timedOut: true }
const broken = { type: 'xstate.error.actor.deliver', error: new Error('gone') }

const approval = { callId: 'c1', runId: 'r', name: 'work', input: {}, inputHash: 'x'.repeat(64), attempt: 1, why: 'approval' }
const waiting = { type: 'tool.waiting', approval }

test('the effect learns of calls that begin and end, of tools, and that all is said', () => {
  const walk = open()
  expect(walk.state).toEqual({ open: 'buffering' })

  walk.send({ type: 'model.started', attempt: 1, model: 'test/model' }).send({ type: 'model.started', attempt: 2, model: 'test/model' })
  expect(walk.state).toEqual({ open: 'flushing' })
  walk.send({ type: 'model.ended', text: 'hm' }).send({ type: 'tool.started', callId: 'c1', name: 'work', input: {} }).send(waiting)
  expect(walk.state).toEqual({ open: 'buffering' })
  walk.send(finish)

  expect(walk.state).toBe('finishing')
  expect(orders().map(({ type }) => type)).toEqual([
    'delivery.start',
    'delivery.start',
    'delivery.end',
    'delivery.tool',
    'delivery.tool',
    'delivery.finish',
  ])
})

test('[OC-64] it ends when the effect has nothing left to do, and says what was delivered', () => {
  const walk = open().send(finish).send(finished)

  expect(walk.state).toBe('closed')
  expect(walk.output).toEqual({ counts: { tool: 0, block: 1, final: 1 }, failed: 1, lost: 0, aborted: false, skipped: { silent: 1 } })
})

test('what arrived is counted, and the effect told that this is known', () => {
  const walk = open().send(sent).send({ type: 'block.failed', key: 'k2', kind: 'block', timedOut: false })

  expect(walk.state).toEqual({ open: 'buffering' })
  expect(walk.context).toMatchObject({ counts: { tool: 0, block: 1, final: 0 }, failed: 1 })
  expect(orders()).toEqual([{ type: 'known', key: 'k1', kind: 'block' }])
})

test('[OC-62] a block that took too long breaks the stream: the effect is told so, for the case that it has to begin again, and all else as before', () => {
  const walk = open().send({ type: 'model.started', attempt: 1, model: 'test/model' }).send(late)
  expect(walk.state).toBe('broken')

  walk
    .send({ type: 'model.ended' })
    .send({ type: 'model.started', attempt: 2, model: 'test/model' })
    .send({ type: 'tool.started', callId: 'c', name: 'work', input: {} })
    .send(waiting)
    .send(finish)
  expect(
    orders()
      .map(({ type }) => type)
      .slice(-3),
  ).toEqual(['delivery.tool', 'delivery.tool', 'delivery.finish'])
  walk.send({ ...finished, aborted: true })

  expect(walk.output).toMatchObject({ aborted: true })
})

test('a message about a tool that took too long breaks nothing', () => {
  expect(open().send({ ...late, kind: 'tool' }).state).toEqual({ open: 'buffering' })
})

test.each([
  ['while it is open', []],
  ['when it is broken', [late]],
  ['while the last of it is delivered', [finish]],
])('[OC-04] %s a turn that is stopped has nothing more sent', (_, before) => {
  const walk = open()
  for (const event of before) walk.send(event)
  orders()

  walk.send({ type: 'turn.stopped' }).send({ type: 'turn.stopped' })
  expect(walk.state).toBe('aborting')
  expect(orders()).toEqual([{ type: 'delivery.abort' }])
  walk.send({ ...finished, aborted: true })

  expect(walk.state).toBe('aborted')
  expect(walk.output).toMatchObject({ aborted: true, counts: { block: 1 } })
})

test('[OC-04] an effect that cannot put its things away is not waited for', () => {
  const stopped = () => open().send({ type: 'turn.stopped' })
  expect(stopped().pass(4_999).state).toBe('aborting')
  expect(stopped().pass(5_000).output).toMatchObject({ aborted: true })
  expect(stopped().send(broken).output).toMatchObject({ aborted: true })
  expect(open({}).send({ type: 'turn.stopped' }).output).toMatchObject({ aborted: true })
})

test('an effect that fails does not keep the turn from ending', () => {
  const walk = open().send(broken)
  expect(walk.state).toBe('broken')
  walk.send(broken).send({ type: 'model.started', attempt: 1, model: 'test/model' }).send(sent).send(finish)
  expect(walk.state).toBe('closed')
  expect(orders()).toEqual([])

  const last = open().send(finish).send(broken)
  expect(last.state).toBe('closed')
  expect(last.output).toMatchObject({ aborted: true })
})

test('a turn whose answer goes to nobody but listeners delivers nothing, and ends at once', () => {
  const walk = open({})
    .send({ type: 'model.started', attempt: 1, model: 'test/model' })
    .send({ type: 'model.ended' })
    .send({ type: 'tool.started', callId: 'c', name: 'work', input: {} })

  walk.send(finish)

  expect(walk.state).toBe('closed')
  expect(walk.output).toEqual({ counts: { tool: 0, block: 0, final: 0 }, failed: 0, lost: 0, aborted: false, skipped: {} })
  expect(orders()).toEqual([])
})

const profile = { ...defaultProfile, agent: 'main', model: 'test/model' }
const origin = { channel: 'test', to: 'ann', messageId: '1' }
/** It publishes a turn. */
const follow = (more: object = {}, facts: object = { origin, delivery: {} }) =>
  open({ profile: { ...profile, ...more }, facts: { compactions: 0, at: 0, ...facts } })
const ended = (answer: Parameters<typeof anAnswer>[0] = {}) => ({ type: 'turn.ended', answer: anAnswer(answer) })
const started = (callId: string) => ({ type: 'tool.started', callId, name: 'work', input: { a: 1 } })
const worked = (callId: string) => ({ type: 'tool.ended', callId, name: 'work', output: 2 })

test('[OC-87] the prefix of a message names the model that begins to say it', () => {
  follow({ responsePrefix: '[{provider}]' }).send({ type: 'model.started', attempt: 1, model: 'other/model' })

  expect(orders()).toEqual([{ type: 'delivery.start', attempt: 1, prefix: '[other]' }])
})

test('[OC-66, OC-81] of tools users read as much as their session wants now', () => {
  const walk = follow().send(started('a')).send(worked('a'))
  expect(orders()).toEqual([{ type: 'delivery.tool', callId: 'a' }])

  walk.send({ type: 'configure', verbose: 'full' }).send(started('b')).send({ type: 'configure' }).send(worked('b')).send(late).send(worked('c'))

  expect(orders().filter(({ type }) => type === 'delivery.tool')).toEqual([
    { type: 'delivery.tool', callId: 'b', payload: { text: 'Tool work: {"a":1}' } },
    { type: 'delivery.tool', callId: 'b', payload: { text: 'Tool work answered: 2' } },
    { type: 'delivery.tool', callId: 'c', payload: { text: 'Tool work answered: 2' } },
  ])
})

test.each([
  ['open', []],
  ['broken', [late]],
])('[OC-64] a turn that has ended while it was %s is delivered as messages, and what became of them is told the turn', (_, before) => {
  const walk = follow({ usage: 'tokens' })
  for (const event of before) walk.send(event)
  orders()

  walk.send(ended())
  expect(orders()).toEqual([
    { type: 'delivery.finish', leading: [], payloads: [{ text: 'hello\nUsage: 1.2k in / 34 out · est $0.01', replyTo: '1' }], trailing: [] },
  ])
  walk.send({ ...finished, lost: 2 })

  expect(walk.output).toMatchObject({ outcome: 'replied', reply: { text: expect.stringContaining('Usage'), replyTo: '1' }, undelivered: 2 })
})

test.each([
  ['open', []],
  ['broken', [broken]],
])('where it is %s and there is nobody to deliver to, it ends with the turn', (_, before) => {
  const walk = before.length > 0 ? follow() : follow({}, {})
  for (const event of before) walk.send(event)

  expect(walk.send(ended()).output).toMatchObject({ outcome: 'replied' })
})

test.each([
  ['open', []],
  ['broken', [late]],
])('[OC-04] of a turn that was cancelled while it was %s nothing more is sent', (_, before) => {
  const walk = follow()
  for (const event of before) walk.send(event)
  orders()
  walk.send(ended({ status: 'cancelled' }))

  expect(orders()).toEqual([{ type: 'delivery.abort' }])
  expect(walk.send(finished).state).toBe('aborted')
})

test('every transition of the chart has been taken', () => {
  expect(delivery.missed()).toEqual([])
})
