import { expect, test } from 'vitest'
import { fromCallback } from 'xstate'
import { type DeliverOrder, streamMachine } from '../../../src/chat/delivery/delivery.machine.ts'
import { walker } from '../../machines/walk.ts'

/** What the effect was told since the last look; an order `break` makes it fail. */
let told: DeliverOrder[] = []
const orders = () => told.splice(0)
const deliver = fromCallback<DeliverOrder>(({ receive }) => receive((order) => void told.push(order)))
const stream = walker(streamMachine, [], () => ({ deliver }))

const route = { channel: 'test', to: 'ada' }
const open = (input: object = { route, delivery: {} }) => {
  told = []
  return stream.start({ session: 's', runId: 'r', ...input })
}
const finish = { type: 'stream.finish', leading: [], payloads: [{ text: 'all of it' }], trailing: [] }
const finished = { type: 'stream.finished', counts: { tool: 0, block: 1, final: 1 }, failed: 1, lost: 0, aborted: false, skipped: { silent: 1 } }
const sent = { type: 'block.sent', key: 'k1', kind: 'block' }
const late = { type: 'block.failed', key: 'k2', kind: 'block', timedOut: true }
const broken = { type: 'xstate.error.actor.deliver', error: new Error('gone') }

test('the effect learns of calls that begin and end, of tools, and that all is said', () => {
  const walk = open()
  expect(walk.state).toEqual({ open: 'buffering' })

  walk.send({ type: 'stream.start', attempt: 1 }).send({ type: 'stream.start', attempt: 2 })
  expect(walk.state).toEqual({ open: 'flushing' })
  walk.send({ type: 'stream.end', text: 'hm' }).send({ type: 'stream.tool', callId: 'c1' })
  expect(walk.state).toEqual({ open: 'buffering' })
  walk.send(finish)

  expect(walk.state).toBe('finishing')
  expect(orders().map(({ type }) => type)).toEqual(['stream.start', 'stream.start', 'stream.end', 'stream.tool', 'stream.finish'])
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
  const walk = open().send({ type: 'stream.start', attempt: 1 }).send(late)
  expect(walk.state).toBe('broken')

  walk.send({ type: 'stream.end' }).send({ type: 'stream.start', attempt: 2 }).send({ type: 'stream.tool', callId: 'c' }).send(finish)
  expect(orders().map(({ type }) => type)).toEqual(['stream.start', 'broken', 'stream.end', 'stream.start', 'stream.tool', 'stream.finish'])
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

  walk.send({ type: 'stream.abort' }).send({ type: 'stream.abort' })
  expect(walk.state).toBe('aborting')
  expect(orders()).toEqual([{ type: 'stream.abort' }])
  walk.send({ ...finished, aborted: true })

  expect(walk.state).toBe('aborted')
  expect(walk.output).toMatchObject({ aborted: true, counts: { block: 1 } })
})

test('[OC-04] an effect that cannot put its things away is not waited for', () => {
  const stopped = () => open().send({ type: 'stream.abort' })
  expect(stopped().pass(4_999).state).toBe('aborting')
  expect(stopped().pass(5_000).output).toMatchObject({ aborted: true })
  expect(stopped().send(broken).output).toMatchObject({ aborted: true })
  expect(open({}).send({ type: 'stream.abort' }).output).toMatchObject({ aborted: true })
})

test('an effect that fails does not keep the turn from ending', () => {
  const walk = open().send(broken)
  expect(walk.state).toBe('broken')
  walk.send(broken).send({ type: 'stream.start', attempt: 1 }).send(sent).send(finish)
  expect(walk.state).toBe('closed')
  expect(orders()).toEqual([])

  const last = open().send(finish).send(broken)
  expect(last.state).toBe('closed')
  expect(last.output).toMatchObject({ aborted: true })
})

test('a turn whose answer goes to nobody but listeners delivers nothing, and ends at once', () => {
  const walk = open({}).send({ type: 'stream.start', attempt: 1 }).send({ type: 'stream.end' }).send({ type: 'stream.tool', callId: 'c' })

  walk.send(finish)

  expect(walk.state).toBe('closed')
  expect(walk.output).toEqual({ counts: { tool: 0, block: 0, final: 0 }, failed: 0, lost: 0, aborted: false, skipped: {} })
  expect(orders()).toEqual([])
})

test('every transition of the chart has been taken', () => {
  expect(stream.missed()).toEqual([])
})
