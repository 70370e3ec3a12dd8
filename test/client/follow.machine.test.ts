import { expect, test } from 'vitest'
import { type FollowInput, followMachine } from '../../src/client/follow.machine.ts'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { walker } from '../machines/walk.ts'

const follow = walker(followMachine, ['listen', 'hear', 'send', 'ask', 'fetch'])
const silence = new RuntimeError('log_unavailable', 'nobody answers', { retryable: true })
const late = new RuntimeError('timeout', 'nobody answers', { retryable: true })
const refusal = new RuntimeError('bad_request', 'no such thing')
const closed = new RuntimeError('closed', 'this runtime was closed', { retryable: true })

const start = (input: Partial<FollowInput> = {}) => follow.start({ outageMsMax: 0, lossless: false, local: false, ...input })
const sending = async (input?: Partial<FollowInput>) => start(input).resolve('listen', undefined)
const sent = async (input?: Partial<FollowInput>, answer: object = { status: 'started' }) => (await sending(input)).resolve('send', answer)
const asking = async (input?: Partial<FollowInput>) => (await sent(input)).pass(1_000)
const fetching = async (input?: Partial<FollowInput>) => await (await sent(input, { status: 'ok', duplicate: true })).resolve('ask', false)
const others = { outageMsMax: 600_000 }
type Region = { following: Record<'stream' | 'course' | 'link', unknown> }
const at = (walk: { state: unknown }) => (walk.state as Region).following

test('nothing is sent before its answer can be heard', async () => {
  const walk = start()
  expect(at(walk)).toEqual({ stream: 'opening', course: 'preparing', link: 'up' })

  await walk.resolve('listen', undefined)

  expect(at(walk)).toEqual({ stream: 'open', course: 'sending', link: 'up' })
})

test('a stream that cannot be opened at first is tried again where others may answer, and else refuses the message', async () => {
  const walk = await start(others).reject('listen', silence)
  expect(at(walk)).toEqual({ stream: 'broken', course: 'preparing', link: 'down' })
  await walk.pass(1_000).resolve('listen', undefined)
  expect(at(walk).course).toBe('sending')

  expect((await start().reject('listen', silence)).output).toEqual({ error: silence, lost: true })
  expect((await start(others).reject('listen', refusal)).output).toEqual({ error: refusal, lost: false })
})

test('a stream that ends is opened again, and the session asked at once, for as long as that takes', async () => {
  const walk = await (await sent({ lossless: true })).resolve('hear', undefined)
  expect(at(walk)).toMatchObject({ stream: 'broken', course: 'asking' })
  await walk.resolve('ask', true)
  expect(at(walk)).toMatchObject({ stream: 'broken', course: { idle: 'hearing' } })

  await walk.pass(1_000).reject('listen', silence)
  expect(at(walk)).toMatchObject({ stream: 'broken', course: 'asking' })

  await walk.pass(1_000).resolve('listen', undefined)
  await walk.reject('hear', new Error('too slow'))
  expect(at(walk)).toMatchObject({ stream: 'broken', course: 'asking' })
})

test('only a message of which nobody knows whether it was taken is sent again', async () => {
  const walk = await (await sending(others)).reject('send', late)
  expect(at(walk)).toMatchObject({ course: 'unsent', link: 'down' })

  await walk.pass(1_000).resolve('send', { status: 'started' })

  expect(at(walk)).toMatchObject({ link: 'up' })
  expect((await (await sending(others)).reject('send', silence)).output).toEqual({ error: silence, lost: false })
})

test('where events may get lost the session is asked, less and less often', async () => {
  const walk = await sent()
  const asked = () => walk.inputs('ask').length
  for (const ms of [1_000, 2_000, 4_000, 5_000, 5_000]) {
    const before = asked()
    walk.pass(ms - 1)
    expect(asked()).toBe(before)
    await walk.pass(1).resolve('ask', true)
    expect(asked()).toBe(before + 1)
  }
})

test('a sign of the end is looked into at once, and after short pauses until it is true', async () => {
  const walk = (await sent({ lossless: true })).send({ type: 'sign' })
  expect(at(walk).course).toBe('asking')
  await walk.resolve('ask', true)
  expect(at(walk).course).toEqual({ idle: 'hearing' })

  const shared = (await sent()).send({ type: 'sign' })
  await shared.resolve('ask', true)
  shared.pass(200)
  expect(shared.inputs('ask')).toHaveLength(2)
  shared.send({ type: 'sign' })
  await shared.resolve('ask', false)
  expect(at(shared).course).toBe('fetching')
})

test('an end that nobody gave a sign of gets one more round: its event may be on the way', async () => {
  const walk = await (await asking()).resolve('ask', false)
  expect(at(walk).course).toEqual({ idle: 'pausing' })

  await walk.pass(1_000).resolve('ask', false)
  await walk.resolve('fetch', undefined)

  expect(walk.state).toBe('ended')
  expect(walk.output).toEqual({ error: undefined, lost: false })
})

test('a message that joined a turn is asked about at once, one that was answered before has its outcome fetched', async () => {
  expect(at(await sent({ lossless: true }, { status: 'steered' })).course).toBe('asking')
  expect(at(await fetching()).course).toBe('fetching')
})

test('an outage is told once, and over when somebody answers', async () => {
  const walk = await (await asking(others)).reject('ask', silence)
  await walk.pass(1_000).reject('ask', silence)
  expect(walk.heard()).toEqual([{ type: 'outage', error: silence }])
  await walk.pass(1_000).resolve('ask', true)
  expect(at(walk).link).toBe('up')

  walk.pass(599_999)
  expect(at(walk).course).toBe('asking')
})

test('a question or an outcome without an answer counts as silence where others could answer, and is waited for where nobody could', async () => {
  for (const [open, ms, course] of [
    [asking, 10_000, 'asking'],
    [fetching, 60_000, 'fetching'],
  ] as const) {
    expect(at((await open(others)).pass(ms))).toMatchObject({ course: { idle: 'pausing' }, link: 'down' })
    expect(at((await open()).pass(ms))).toMatchObject({ course, link: 'up' })
  }
})

test('an outage that lasts too long is given up with what kept us from an answer', async () => {
  const walk = await (await fetching(others)).reject('fetch', silence)
  await walk.pass(1_000).reject('ask', late)

  walk.pass(599_000)

  expect(walk.state).toBe('lost')
  expect(walk.output).toEqual({ error: late, lost: true })
})

test('what would not be otherwise when asked again ends it', async () => {
  expect((await (await asking(others)).reject('ask', refusal)).output).toEqual({ error: refusal, lost: false })
  expect((await (await fetching(others)).reject('fetch', refusal)).output).toEqual({ error: refusal, lost: false })
  expect((await (await sending(others)).reject('send', refusal)).output).toEqual({ error: refusal, lost: false })
})

test('a runtime of this process that was closed is not waited for, another node is', async () => {
  expect((await (await asking({ ...others, local: true })).reject('ask', closed)).output).toEqual({ error: closed, lost: false })
  expect(at(await (await asking(others)).reject('ask', closed)).link).toBe('down')
})

test('once the outcome was heard there is nothing more to do', async () => {
  const walk = (await sent()).send({ type: 'over' })

  expect(walk.state).toBe('ended')
})

test('every transition of the chart has been taken', () => {
  expect(follow.missed()).toEqual([])
})
