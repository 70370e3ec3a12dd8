import { expect, test } from 'vitest'
import { AnswerRoom, answerLimits } from '../../src/api/answer-room.ts'

const aRoom = (limits = {}) => new AnswerRoom({ ...answerLimits, atOnceMax: 1, ...limits }, { now: () => 0 })

test('connections take turns, however much one of them asks for', async () => {
  const room = aRoom()
  const [a, b, c] = [{}, {}, {}]
  const order: string[] = []
  const ask = (connection: object, name: string) => room.made(connection, 'chat.history', async () => void order.push(name))

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
  const connection = {}

  await Promise.all(Array.from({ length: 12 }, () => room.made(connection, 'chat.history', async () => void turns.push(turn))))
  over = true

  const waited = turns.slice(4)
  expect(new Set(waited).size).toBe(waited.length)
})

test('a place is free again after an answer that failed', async () => {
  const room = aRoom()
  const fails = room.made({}, 'chat.history', () => Promise.reject(new Error('no')))
  const waits = room.made({}, 'chat.history', async () => 'made')

  await expect(fails).rejects.toThrow('no')
  expect(await waits).toBe('made')
  expect(await room.made({}, 'chat.history', async () => 'again')).toBe('again')
})

test('no more wait than may, of all connections together', async () => {
  const room = aRoom({ waitingMax: 1 })
  const gate = Promise.withResolvers<void>()
  const ask = () => room.made({}, 'chat.history', () => gate.promise)
  const [first, second] = [ask(), ask()]

  await expect(ask()).rejects.toMatchObject({ code: 'overloaded', retryable: true })
  gate.resolve()
  await Promise.all([first, second])
})
