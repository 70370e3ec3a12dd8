import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LoopDetection } from '../../../src/contracts/profile.ts'
import type { ToolCall } from '../../../src/contracts/tool.ts'
import { deadEnd, nothingSeen, seenMore, shortenedSince, verdictOf, type Watch } from '../../../src/machines/loop/repetition.rules.ts'
import { casesOf } from '../../support/property.ts'

type Call = { name: string; input?: unknown; output?: unknown }
const asCall = ({ name, input = {} }: Call): ToolCall => ({ name, input, inputHash: JSON.stringify(input) }) as ToolCall
const after = (calls: Call[], wanted: LoopDetection = {}, watch: Watch = nothingSeen): Watch =>
  calls.reduce((seen, call) => seenMore(seen, asCall(call), call.output ?? 'same', wanted), watch)
const times = (count: number, ...calls: Call[]): Call[] => Array.from({ length: count }, (_, index) => calls[index % calls.length] as Call)
const levelOf = (calls: Call[], next: Call, wanted: LoopDetection = {}) => verdictOf(after(calls, wanted), asCall(next), wanted)?.level
const read = { name: 'read', input: { path: 'a' } }
const list = { name: 'list' }

test.each([
  [8, undefined],
  [9, 'warning'],
  [18, 'warning'],
  [19, 'blocked'],
])('after %i calls that are the same with one result the next one is %s', (count, level) => {
  expect(levelOf(times(count, read), read)).toBe(level)
})

test('other calls between them change nothing, another result does', () => {
  expect(levelOf(times(27, read, list, { name: 'look' }), read)).toBe('warning')
  expect(levelOf([...times(18, read), { ...read, output: 'new' }], read)).toBeUndefined()
  expect(
    levelOf(
      times(25, read).map((call, output) => ({ ...call, output })),
      read,
    ),
  ).toBeUndefined()
})

test.each([
  [9, 'warning'],
  [19, 'blocked'],
])('after %i calls to and fro between two the next one is %s', (count, level) => {
  const next = count % 2 === 0 ? read : list
  expect(levelOf(times(count, read, list), next)).toBe(level)
  expect(levelOf(times(count, read, list), { name: 'other' })).toBeUndefined()
})

test('who waits for something asks for the same, however long it waits each time', () => {
  const polls = Array.from({ length: 19 }, (_, index) => ({ name: 'process', input: { action: 'poll', id: 7, timeoutMs: index } }))
  expect(levelOf(polls, { name: 'process', input: { action: 'poll', id: 7, timeoutMs: 99 } })).toBe('blocked')
  expect(levelOf(polls, { name: 'process', input: { action: 'poll', id: 8 } })).toBeUndefined()
  expect(
    levelOf(
      Array.from({ length: 19 }, (_, offset) => ({ name: 'read', input: { offset } })),
      { name: 'read', input: { offset: 99 } },
    ),
  ).toBeUndefined()
})

test('the figures are those that were asked for', () => {
  expect(levelOf(times(2, read), read, { warn: 3 })).toBe('warning')
  expect(levelOf(times(2, read), read, { block: 3, warn: 2 })).toBe('blocked')
  expect(deadEnd(after(times(4, read), { end: 4 }))).toMatchObject({ code: 'tool_loop' })
})

test('thirty without progress end the run, those included that were blocked', () => {
  const blocked = { ...asCall(read), problem: { code: 'tool_loop' as const, message: 'not run' } }
  let watch = after(times(19, read))
  for (let count = 20; count < 30; count++) watch = seenMore(watch, blocked, { error: 'not run' }, {})
  expect(deadEnd(watch)).toBeUndefined()
  expect(deadEnd(seenMore(watch, blocked, { error: 'not run' }, {}))).toMatchObject({
    code: 'tool_loop',
    message: expect.stringContaining('30 times'),
  })
})

test('after the history was shortened one repetition is the end, and something new is not', () => {
  const watch = shortenedSince(after([read, list]))
  expect(deadEnd(after([read], {}, watch))).toMatchObject({ code: 'tool_loop', message: expect.stringContaining('shortened') })
  expect(deadEnd(after([{ name: 'a' }, { name: 'b' }, { name: 'c' }, read], {}, watch))).toBeUndefined()
})

test('calls that all differ are never remarked on', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 60 }), (inputs) => {
      const calls = inputs.map((n) => ({ name: 'read', input: { n } }))
      expect(levelOf(calls.slice(0, -1), calls.at(-1) as Call)).toBeUndefined()
      expect(deadEnd(after(calls))).toBeUndefined()
    }),
    casesOf(import.meta.url),
  )
})
