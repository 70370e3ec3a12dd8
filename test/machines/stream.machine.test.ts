import { expect, test } from 'vitest'
import { streamMachine } from '../../src/machines/stream.machine.ts'
import { walker } from './walk.ts'

const stream = walker(streamMachine, [])
const open = () => stream.start({ runId: 'r' })

test('it counts attempts and what passes by; an attempt that replaces another is one more', () => {
  const walk = open()
  expect(walk.state).toEqual({ open: 'buffering' })

  walk.send({ type: 'stream.start', attempt: 1 }).send({ type: 'stream.start', attempt: 2 })
  expect(walk.state).toEqual({ open: 'flushing' })
  walk.send({ type: 'stream.end', chars: 12 })

  expect(walk.state).toEqual({ open: 'buffering' })
  expect(walk.context).toMatchObject({ attempts: 2, chars: 12 })
})

test.each([
  ['stream.close', 'closed'],
  ['stream.abort', 'aborted'],
  ['stream.fail', 'failed'],
])('%s ends it as %s, and it says what there was', (type, state) => {
  const walk = open().send({ type: 'stream.start', attempt: 1 }).send({ type: 'stream.end', chars: 5 }).send({ type })

  expect(walk.state).toBe(state)
  expect(walk.output).toEqual({ attempts: 1, chars: 5 })
})

test('every transition of the chart has been taken', () => {
  expect(stream.missed()).toEqual([])
})
