import { expect, test } from 'vitest'
import type { BusMessage } from '../../src/contracts/transport.ts'
import { type AnswerQueue, collectAnswers } from '../../src/transport/answers.ts'
import { virtualClock } from '../models/fixtures.ts'
import { bytesOf } from './harness.ts'

const answer = (number: number): BusMessage => ({ subject: 'reply', data: bytesOf(String(number)) })

const allOf = async (answers: AsyncIterable<BusMessage>): Promise<BusMessage[]> => {
  const all: BusMessage[] = []
  for await (const one of answers) all.push(one)
  return all
}

test('who reads too slowly is told, after what has come, instead of filling the memory', async () => {
  const clock = virtualClock()
  let closed = 0
  const answers = collectAnswers(clock, { timeoutMs: 1000 }, ({ push }: AnswerQueue) => {
    for (let number = 0; number < 20_000; number++) push(answer(number))
    return () => (closed += 1)
  })
  let read = 0

  const reading = (async () => {
    for await (const _ of answers) read += 1
  })()

  await expect(reading).rejects.toMatchObject({ code: 'overloaded' })
  expect(read).toBe(10_001)
  expect(closed).toBe(1)
  expect(clock.pending()).toBe(0)
})

test('one that is aborted while it is being asked ends, and is closed', async () => {
  const abort = new AbortController()
  let closed = 0
  const answers = collectAnswers(virtualClock(), { timeoutMs: 1000, signal: abort.signal }, ({ push }) => {
    push(answer(1))
    abort.abort()
    return () => (closed += 1)
  })

  expect(await allOf(answers)).toEqual([])
  expect(closed).toBe(1)
})

test('a question that cannot be asked leaves nothing behind', async () => {
  const clock = virtualClock()
  const answers = collectAnswers(clock, { timeoutMs: 1000 }, () => {
    throw new Error('no')
  })

  await expect(allOf(answers)).rejects.toThrow('no')
  expect(clock.pending()).toBe(0)
})
