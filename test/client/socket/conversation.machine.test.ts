import { afterAll, expect, test } from 'vitest'
import { conversationMachine } from '../../../src/client/socket/conversation.machine.ts'
import { walker } from '../../machines/walk.ts'

const conversation = walker(conversationMachine, ['readNewest', 'readEarlier', 'look'])

const start = () => conversation.start(undefined)
const connected = () => start().send({ type: 'connected' })
const page = { messages: 60, more: true }
const read = async () => (await connected().resolve('readNewest', page)).resolve('look', undefined)
const history = ({ state }: { state: unknown }) => (state as { history: unknown }).history
const session = ({ state }: { state: unknown }) => (state as { session: unknown }).session

afterAll(() => expect(conversation.missed()).toEqual([]))

test('a conversation is read when there is a connection, and then its session is looked at', async () => {
  const walk = start()
  expect(walk.inputs('readNewest')).toEqual([])

  walk.send({ type: 'connected' })
  expect(walk.inputs('readNewest')).toEqual([{ messages: 0 }])
  expect(walk.inputs('look')).toEqual([])

  await walk.resolve('readNewest', page)
  expect(history(walk)).toBe('read')
  expect(session(walk)).toEqual({ looking: 'current' })
})

test('a history that is overtaken while it is read is read once more, however often that happens', async () => {
  const walk = connected().send({ type: 'outdated' }).send({ type: 'outdated' })
  await walk.resolve('readNewest', page)

  expect(walk.inputs('readNewest')).toEqual([{ messages: 0 }, { messages: 60 }])
  await walk.resolve('readNewest', page)
  expect(history(walk)).toBe('read')

  walk.send({ type: 'outdated' })
  expect(walk.inputs('readNewest')).toHaveLength(3)
})

test('earlier messages are read where there are any, and what was known is read again after a connection was lost', async () => {
  const walk = await read()
  walk.send({ type: 'earlier' }).send({ type: 'earlier' })
  expect(walk.inputs('readEarlier')).toHaveLength(1)
  await walk.resolve('readEarlier', { messages: 260, more: false })

  walk.send({ type: 'earlier' })
  expect(walk.inputs('readEarlier')).toHaveLength(1)

  walk.send({ type: 'disconnected' }).send({ type: 'connected' })
  expect(walk.inputs('readNewest').at(-1)).toEqual({ messages: 260 })
})

test('what is outdated is read before what stands further up, and a page that cannot be had can be asked for again', async () => {
  const overtaken = (await read()).send({ type: 'earlier' }).send({ type: 'outdated' })
  expect(history(overtaken)).toEqual({ reading: 'current' })
  await overtaken.resolve('readEarlier', { messages: 260, more: false })
  expect(overtaken.context.messages).toBe(60)

  const failed = (await read()).send({ type: 'earlier' })
  await failed.reject('readEarlier', new Error('overloaded'))
  expect(history(failed)).toBe('read')
  failed.send({ type: 'earlier' })
  expect(failed.inputs('readEarlier')).toHaveLength(2)
})

test('a history that cannot be had is asked for again after 2 s, or as soon as there is something new', async () => {
  const walk = await connected().reject('readNewest', new Error('overloaded'))
  walk.pass(1_999)
  expect(history(walk)).toBe('failed')
  walk.pass(1)
  expect(history(walk)).toEqual({ reading: 'current' })

  await walk.reject('readNewest', new Error('overloaded'))
  walk.send({ type: 'outdated' })
  expect(walk.inputs('readNewest')).toHaveLength(3)
})

test('a history that comes when the connection has gone counts for nothing', async () => {
  const walk = connected().send({ type: 'disconnected' })
  await walk.resolve('readNewest', page)
  expect(history(walk)).toBe('away')
  expect(walk.context.more).toBe(false)
})

test.each([{ type: 'look' }, { type: 'run.ended' }])('a session is looked at, and once more where there was $type meanwhile', async (event) => {
  const walk = (await read()).send(event)
  expect(walk.inputs('look')).toHaveLength(2)
  walk.send(event).send(event)
  await walk.resolve('look', undefined)
  expect(walk.inputs('look')).toHaveLength(3)
  await walk.resolve('look', undefined)
  expect(session(walk)).toBe('resting')

  walk.send({ type: 'look' })
  await walk.reject('look', new Error('gone'))
  expect(session(walk)).toBe('resting')
})

test.each(['stop.refused', 'run.ended'])('a run that is being stopped is known until there is %s', (type) => {
  const walk = start().send({ type: 'stop', runId: 'r1' })
  expect(walk.context.stopping).toBe('r1')
  walk.send({ type })
  expect(walk.context.stopping).toBeUndefined()
})
