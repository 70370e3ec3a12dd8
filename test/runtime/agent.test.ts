/** What an author writes is checked where it is written, with the name of the field. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { toolServer } from '../../src/api/nats/tool-server.ts'
import type { Tool } from '../../src/contracts/tool.ts'
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

const whole = { name: 'add', description: 'adds', input: z.object({ a: z.number() }), execute: () => 1 }
const { name: _, ...nameless } = whole

test.each<[string, unknown, string]>([
  ['a tool without a name, as other libraries write it', [{ description: 'adds', inputSchema: whole.input, execute: () => 1 }], 'tools[0].name'],
  ['the second one without a name', [whole, nameless], 'tools[1].name'],
  ['a tool whose schema has the name that other libraries use', [{ ...whole, input: undefined, inputSchema: whole.input }], 'tools[0].input'],
  ['a tool that cannot be executed', [{ ...whole, execute: undefined }], 'tools[0].execute'],
  ['a name for a tool', ['add'], 'tools[0]'],
  ['nothing', [undefined], 'tools[0]'],
  ['tools by name', { add: whole }, 'tools'],
])('%s is refused before any turn, by an agent and by a tool server', (_name, tools, field) => {
  const refused = { code: 'bad_request', field, hint: expect.any(String) }

  expect(refusal({ tools })).toMatchObject(refused)
  expect(() => toolServer({} as never, { name: 'tools', tools: tools as never })).toThrow(expect.objectContaining(refused))
})

test('a tool that was written without tool() gets what it left out', () => {
  expect(agent({ name: 'main', tools: [whole as unknown as Tool] }).tools[0]).toMatchObject({ name: 'add', onCrash: 'once', timeoutMs: 60_000 })
})
