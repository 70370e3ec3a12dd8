import { expect, test } from 'vitest'
import { type TypingEvent, typingMachine } from '../../../src/chat/delivery/typing.machine.ts'
import { walker } from '../../machines/walk.ts'

const typing = walker(typingMachine, [])
const start = (change: object = {}) => typing.start({ mode: 'instant', everyMs: 6000, lifetimeMs: 120_000, ...change })

/** The clock of a walk fires a timer once in each step. */
const live = (walk: ReturnType<typeof start>, seconds: number) => {
  for (let second = 0; second < seconds; second++) walk.pass(1000)
}

const triggers: TypingEvent['type'][] = ['run.start', 'message.start', 'reasoning', 'text', 'tool']

test.each([
  ['never', []],
  ['instant', ['run.start']],
  ['thinking', ['reasoning']],
  ['message', ['text']],
])('[OC-68] in mode %s, as a turn goes on, typing begins at %j', (mode, first) => {
  const walk = start({ mode })

  const begun = ['run.start', 'message.start', 'reasoning', 'text'].filter((type) => {
    const before = walk.state
    walk.send({ type })
    return before === 'idle' && walk.state !== 'idle'
  })

  expect(begun).toEqual(first)
})

test.each([
  ['instant', ['run.start', 'text', 'tool']],
  ['thinking', ['reasoning', 'text', 'tool']],
  ['message', ['text', 'tool']],
  ['never', []],
])('[OC-69] in mode %s each of %j sets it off alone', (mode, expected) => {
  const setOff = triggers.filter((type) => start({ mode }).send({ type }).state !== 'idle')

  expect(setOff).toEqual(expected)
})

test('[OC-69] the start of a message sets it off once text was seen', () => {
  const walk = start({ mode: 'message', lifetimeMs: 1000 }).send({ type: 'text' }).pass(1000)
  expect(walk.state).toBe('idle')

  walk.send({ type: 'message.start' })

  expect(walk.state).not.toBe('idle')
})

test('[OC-70] the sign is given again every 6 s, for 2 min after the last activity', () => {
  const walk = start().send({ type: 'run.start' })
  live(walk, 60)
  expect(walk.heard()).toHaveLength(11)

  for (const type of triggers) walk.send({ type })
  expect(walk.heard()).toEqual([])
  live(walk, 119)
  expect(walk.state).not.toBe('idle')
  live(walk, 1)

  expect(walk.state).toBe('idle')
  expect(walk.heard().at(-1)).toEqual({ type: 'stopped' })
  live(walk, 60)
  expect(walk.heard()).toEqual([])
})

test('[OC-70] with an interval of 0 nobody is ever seen to type', () => {
  const walk = start({ everyMs: 0 })

  for (const type of triggers) walk.send({ type })

  expect(walk.state).toBe('idle')
})

test('[OC-70] it goes on when all is said, ends when all is sent, and nothing starts it again', () => {
  const walk = start().send({ type: 'run.start' }).send({ type: 'run.complete' })
  expect(walk.state).not.toBe('sealed')
  walk.send({ type: 'cleanup' })
  expect(walk.state).toBe('sealed')
  walk.heard()

  walk.send({ type: 'tool' }).pass(10_000)
  expect(walk.heard()).toEqual([])
})

test('[OC-70] once all is said, what happens late does not set it off while the rest is sent', () => {
  const walk = start({ mode: 'message' }).send({ type: 'run.complete' })

  for (const type of triggers) walk.send({ type })

  expect(walk.state).toBe('idle')
})

test('[OC-04] a turn that breaks off ends it at once', () => {
  const walk = start().send({ type: 'run.start' })

  expect(walk.send({ type: 'cleanup' }).state).toBe('sealed')
  expect(walk.heard().at(-1)).toEqual({ type: 'stopped' })
})

test('every transition of the chart has been taken', () => {
  expect(typing.missed()).toEqual([])
})
