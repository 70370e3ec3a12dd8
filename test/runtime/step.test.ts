/** The switch `STATECAST_STEP`: who suspects the table turns it off, and on again, without a word of a conversation lost. */
import { afterEach, expect, test, vi } from 'vitest'
import { partsOf } from '../../src/runtime/index.ts'
import { expectNothingAlive, type Story, story, work, worker } from './harness.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

/** XState binds the step of a machine to it; the table puts another one in its place. */
const stepOf = (told: Story) => (partsOf(told.runtime).host.registration('session').gated.transition.name.startsWith('bound') ? 'xstate' : 'table')

test.each([
  ['xstate', 'table'],
  ['table', 'xstate'],
])('a turn that began with the step of %s goes on with that of %s, from the same journal', async (first, then) => {
  vi.stubEnv('STATECAST_STEP', first)
  await using told = await story([{ text: 'hello' }, { calls: [work('x', 1_000)] }, { text: 'done' }, { text: 'and again' }], {
    tools: (world) => [worker()(world)],
  })
  expect(stepOf(told)).toBe(first)
  await told.clock.until((await told.say('good morning')).result())
  await told.say('do x', { idempotencyKey: 'x' })
  await told.clock.advance(500)
  expect(told.did).toEqual(['x starts'])

  vi.stubEnv('STATECAST_STEP', then)
  await told.crash()
  await told.restart()
  expect(stepOf(told)).toBe(then)
  expect((await told.clock.until(told.main.wait('x'))).text).toBe('done')

  vi.stubEnv('STATECAST_STEP', first)
  await told.crash()
  await told.restart()
  expect((await told.clock.until((await told.say('once more')).result())).text).toBe('and again')
  expect(await told.transcript()).toEqual([
    'user: good morning',
    'assistant: hello',
    'user: do x',
    'assistant:  <work {"name":"x","ms":1000}>',
    'tool work: "x done"',
    'assistant: done',
    'user: once more',
    'assistant: and again',
  ])
  await expectNothingAlive(told)
})
