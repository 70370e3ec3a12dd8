import { expect, test } from 'vitest'
import type { Span } from '../../src/contracts/tracing.ts'
import { runTrace } from '../../src/runtime/run-trace.rules.ts'

const span = (name: string, start: number, end: number, outcome: Span['outcome'] = 'ok'): Span => ({ name, start, end, outcome })
const run = { sessionKey: 's', runId: 'r' }
const whole = [
  span('connect', 100, 130),
  span('auth', 110, 115),
  span('acknowledgement', 1000, 1010),
  span('validate', 1000, 1002),
  span('directives', 1003, 1004),
  span('session', 1004, 1009),
  span('model', 1010, 1015),
  span('prompt', 1016, 1018),
  span('skills', 1018, 1019),
  span('tools', 1019, 1020),
  span('call', 1030, 1300),
  span('stream', 1030, 1300),
  span('first-thinking', 1130, 1130),
  span('first-text', 1200, 1200),
  span('tool work', 1305, 1350),
  span('call', 1360, 1400),
  span('end', 1410, 1410),
]

test('stages and steps stand in their order, each once; what was not told was skipped', () => {
  const { stages, steps, ended } = runTrace(run, whole.toReversed())

  expect(ended).toBe(true)
  expect(stages.map(({ name }) => name)).toEqual(['validate', 'dispatch', 'directives', 'session', 'media', 'links', 'model', 'run'])
  expect(stages.map(({ start, end }) => [start, end])).toEqual([
    [1000, 1002],
    [1002, 1003],
    [1003, 1004],
    [1004, 1009],
    [1009, 1009],
    [1009, 1009],
    [1010, 1015],
    [1016, 1410],
  ])
  expect(stages.filter(({ outcome }) => outcome === 'skipped').map(({ name }) => name)).toEqual(['media', 'links'])
  expect(steps.map(({ name }) => name)).toEqual(['prompt', 'skills', 'tools', 'call', 'stream', 'loop'])
  expect(steps.at(-1)).toMatchObject({ start: 1300, end: 1410, outcome: 'ok' })
})

test('the parts of the latency follow each other and add up, their shares to a hundred', () => {
  const { latency, overhead } = runTrace(run, whole)

  expect(latency.parts.map(({ name, ms }) => [name, ms])).toEqual([
    ['connect', 30],
    ['acknowledgement', 10],
    ['startup', 20],
    ['firstToken', 100],
    ['streaming', 280],
  ])
  expect(latency).toMatchObject({ totalMs: 440, firstThinkingMs: 130, firstTextMs: 200 })
  expect(latency.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(100, 0)
  expect(overhead).toEqual({ connect: 30, auth: 5, acknowledgement: 10, session: 5, model: 5, prompt: 2, skills: 1, total: 40 })
})

test('a run that has just begun, and one whose turn was faster than its acknowledgement', () => {
  expect(runTrace(run, [])).toMatchObject({ ended: false, latency: { totalMs: 0 }, spans: [] })
  const fast = runTrace(run, [span('acknowledgement', 0, 20), span('call', 10, 30), span('first-text', 15, 15), span('end', 31, 31)])
  expect(fast.latency.parts.map(({ ms }) => ms)).toEqual([0, 10, 0, 5, 16])
})
