/** What an author writes is checked where it is written, with the name of the field. */
import { expect, test } from 'vitest'
import { agent } from '../../src/runtime/agent.ts'

const refusal = (definition: object): unknown => {
  try {
    agent({ name: 'main', ...definition })
  } catch (error) {
    return error
  }
}

test.each([
  ['limits.idleTimeoutMs', { limits: { idleTimeoutMs: 0 } }],
  ['limits.totalTimeoutMs', { limits: { totalTimeoutMs: -1 } }],
  ['limits.outputCharsMax', { limits: { outputCharsMax: Number.NaN } }],
  ['heartbeat.everyMs', { heartbeat: { everyMs: 10 } }],
  ['heartbeat.activeHours', { heartbeat: { activeHours: { start: 'eight', end: '20:00' } } }],
  ['choice', { choice: { aliases: { fast: 'nothing' } } }],
  ['model', { model: 'gpt' }],
  ['name', { name: 'a b' }],
])('%s that cannot be is refused, with a hint', (field, definition) => {
  expect(refusal(definition)).toMatchObject({ code: 'bad_request', field, hint: expect.any(String) })
})

test('limits that are not given are the usual ones', () => {
  expect(agent({ name: 'main', limits: { idleTimeoutMs: 5 } }).limits).toMatchObject({ idleTimeoutMs: 5, outputCharsMax: expect.any(Number) })
})
