import { expect, test } from 'vitest'
import { AnswerRoom, type Asker, answerLimits } from '../../src/api/answer-room.ts'

const asker = (token: string, { client = 'here', isGone = () => false }: Partial<Pick<Asker, 'client' | 'isGone'>> = {}): Asker => ({
  token,
  client,
  connection: {},
  isGone,
})
const aRoom = (limits = {}) => new AnswerRoom({ ...answerLimits, atOnceMax: 1, ...limits }, { now: () => 0 })

test('connections take turns, however much one of them asks for', async () => {
  const room = aRoom()
  const [a, b, c] = [asker('t'), asker('t'), asker('t')]
  const order: string[] = []
  const ask = (from: Asker, name: string) => room.made(from, 'chat.history', 's', async () => void order.push(name))

  await Promise.all([ask(a, 'a1'), ask(a, 'a2'), ask(a, 'a3'), ask(a, 'a4'), ask(b, 'b1'), ask(b, 'b2'), ask(c, 'c1')])

  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

test('between two large answers the event loop goes round', async () => {
  const room = aRoom({ atOnceMax: 4 })
  let turn = 0
  let over = false
  const count = () => {
    turn++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const turns: number[] = []
  const one = asker('t')

  await Promise.all(Array.from({ length: 12 }, () => room.made(one, 'chat.history', 's', async () => void turns.push(turn))))
  over = true

  const waited = turns.slice(4)
  expect(new Set(waited).size).toBe(waited.length)
})

test('a place is free again after an answer that failed', async () => {
  const room = aRoom()
  const fails = room.made(asker('t'), 'chat.history', 's', () => Promise.reject(new Error('no')))
  const waits = room.made(asker('t'), 'chat.history', 's', async () => 'made')

  await expect(fails).rejects.toThrow('no')
  expect(await waits).toBe('made')
  expect(await room.made(asker('t'), 'chat.history', 's', async () => 'again')).toBe('again')
})

test('no more wait than may, of all connections together', async () => {
  const room = aRoom({ waitingMax: 1 })
  const gate = Promise.withResolvers<void>()
  const ask = () => room.made(asker('t'), 'chat.history', 's', () => gate.promise)
  const [first, second] = [ask(), ask()]

  await expect(ask()).rejects.toMatchObject({ code: 'overloaded', retryable: true })
  gate.resolve()
  await Promise.all([first, second])
})

test.each<[string, Asker, string]>([
  ['another token', asker('u'), 's'],
  ['another address', asker('t', { client: 'there' }), 's'],
  ['another session', asker('t'), 'small'],
])('a request of %s passes a hundred connections of one token', async (_, newcomer, about) => {
  const room = aRoom()
  const order: string[] = []
  const ask = (from: Asker, session: string, name: string) => room.made(from, 'chat.history', session, async () => void order.push(name))

  const flood = Array.from({ length: 100 }, () => ask(asker('t'), 's', 'flood'))
  await Promise.all([...flood, ask(newcomer, about, 'newcomer')])

  expect(order.indexOf('newcomer')).toBeLessThanOrEqual(2)
})

test('makes no answer for a client that left while it waited', async () => {
  const room = aRoom()
  const gate = Promise.withResolvers<void>()
  let isGone = false
  const made: string[] = []
  const first = room.made(asker('t'), 'chat.history', 's', () => gate.promise)
  const leaves = room.made(asker('t', { isGone: () => isGone }), 'chat.history', 's', async () => void made.push('gone'))
  const stays = room.made(asker('t'), 'chat.history', 's', async () => void made.push('stays'))

  isGone = true
  gate.resolve()

  await expect(leaves).rejects.toMatchObject({ code: 'cancelled' })
  await Promise.all([first, stays])
  expect(made).toEqual(['stays'])
})

test('a client that left frees its place in the queue', async () => {
  const room = aRoom({ waitingMax: 1 })
  const gate = Promise.withResolvers<void>()
  const first = room.made(asker('t'), 'chat.history', 's', () => gate.promise)
  const leaves = room.made(asker('t', { isGone: () => true }), 'chat.history', 's', async () => 'made')
  const newcomer = room.made(asker('u'), 'chat.history', 's', async () => 'made')
  gate.resolve()

  await expect(leaves).rejects.toMatchObject({ code: 'cancelled' })
  expect(await newcomer).toBe('made')
  await first
})

test('a token whose connections read nothing fills its own share and leaves room for another', async () => {
  const room = aRoom({ unsentBytesMax: 100, unsentBytesPerAddress: 80, unsentBytesPerToken: 50, unsentBytesPerSession: 20 })
  const hold = (token: string, about: string) => room.hold(asker(token), about, 10, () => undefined)
  for (const about of ['a', 'a', 'b', 'b', 'c']) hold('t', about)

  expect(() => hold('t', 'd')).toThrow('too many answers')
  await expect(room.made(asker('t'), 'chat.history', 'd', async () => 'made').then(() => hold('t', 'd'))).rejects.toMatchObject({
    code: 'overloaded',
  })
  const sent = hold('u', 'a')
  expect(room.unsent).toBe(60)
  sent()
  expect(room.unsent).toBe(50)
})
