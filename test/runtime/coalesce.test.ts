import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { coalesced } from '../../src/runtime/coalesce.ts'
import type { OutputEvent } from '../../src/runtime/output-event.ts'

const address = { kind: 'session', id: 's' }
const delta = (index: number, change: object = {}): OutputEvent => ({
  path: '/turn#1/callModel#1',
  event: { type: 'delta', runId: 'r', attempt: 1, index, kind: 'text', text: `${index} `, ...change },
})
const open = () => {
  const heard: Record<string, unknown>[] = []
  return { heard, say: coalesced((_, { event }) => void heard.push(event)) }
}

test('the first delta goes out at once, those behind it together at the end of the turn of the event loop', async () => {
  const { heard, say } = open()
  for (let index = 0; index < 5; index++) say(address, delta(index))
  expect(heard).toMatchObject([{ index: 0, text: '0 ' }])

  await nextTurn()

  expect(heard).toMatchObject([
    { index: 0, text: '0 ' },
    { index: 1, text: '1 2 3 4 ', count: 4 },
  ])
  expect(heard[0]).not.toHaveProperty('count')
})

test('deltas that come one by one go out one by one', async () => {
  const { heard, say } = open()
  for (let index = 0; index < 3; index++) {
    say(address, delta(index))
    await nextTurn()
  }

  expect(heard.map(({ text }) => text)).toEqual(['0 ', '1 ', '2 '])
})

test('what is said in between keeps its place', async () => {
  const { heard, say } = open()
  say(address, delta(0))
  say(address, delta(1))
  say(address, { path: '/', event: { type: 'tool', name: 'pay' } })
  say(address, delta(2))
  say(address, { path: '/', event: { type: 'final', text: 'done' } })
  await nextTurn()

  expect(heard.map(({ type, text, name }) => text ?? name ?? type)).toEqual(['0 ', '1 ', 'pay', '2 ', 'done'])
})

test.each([
  ['another kind', delta(2, { kind: 'reasoning' })],
  ['another attempt', delta(2, { attempt: 2 })],
  ['another run', delta(2, { runId: 'r2' })],
  ['a gap', delta(3)],
  ['more than fits into a message', delta(2, { text: 'x'.repeat(40_000) })],
])('%s is not joined', async (_, other) => {
  const { heard, say } = open()
  say(address, delta(0))
  say(address, delta(1))
  say(address, other)
  await nextTurn()

  expect(heard.map(({ count }) => count)).toEqual([undefined, undefined, undefined])
})

test('sessions do not wait for each other', async () => {
  const { heard, say } = open()
  say(address, delta(0))
  say({ kind: 'session', id: 'other' }, delta(0))
  expect(heard).toHaveLength(2)
  await nextTurn()
  expect(heard).toHaveLength(2)
})
