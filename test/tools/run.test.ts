/** What a tool throws is somebody else's: it may look like anything, and it may bite. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { createTools } from '../../src/tools/registry.ts'
import { aContext, aTool, plan, run, virtualClock } from './fixtures.ts'

const trap = (): never => {
  throw new Error('trap')
}
const bites = new Proxy(new Error('x'), { get: trap, has: trap, getPrototypeOf: trap, getOwnPropertyDescriptor: trap })

test.each<[string, unknown, object]>([
  [
    'that has our name and the code of a tool error',
    Object.assign(new Error('forged'), { name: 'RuntimeError', code: 'tool_denied' }),
    { message: 'forged' },
  ],
  ['that has our name and no message', Object.assign(new Error(), { name: 'RuntimeError', code: 'timeout', hint: 7, data: 'x' }), {}],
  ['of ours whose fields were broken', Object.assign(new RuntimeError('tool_denied', 'no'), { data: 7 }), { message: 'no' }],
  [
    'with getters that throw',
    Object.defineProperties(new RuntimeError('tool_denied', 'no'), { code: { get: trap }, hint: { get: trap } }),
    { message: 'no' },
  ],
  ['that is a plain object', { status: 402 }, { message: '{"status":402}' }],
  ['that throws at every touch', bites, { message: 'tool "probe" failed without a message' }],
])('an error %s is a failed tool, never more', async (_, thrown, expected) => {
  const failing = aTool(() => {
    throw thrown
  })

  await expect(run(failing)).rejects.toMatchObject({ name: 'RuntimeError', code: 'tool_failed', data: { tool: 'probe' }, ...expected })
})

test('a schema that throws something unreadable refuses the input', () => {
  const input = z.looseObject({}).refine(() => {
    throw bites
  })
  const tools = createTools([aTool(() => 1, { input })], { clock: virtualClock() })

  expect(plan(tools, 'probe', {})).toMatchObject({ problem: { code: 'tool_input', message: expect.stringContaining('could not be checked') } })
})

test.each<[string, unknown]>([
  ['something unreadable', bites],
  ['an error of ours that means something else', new RuntimeError('fenced', 'gone')],
])('a result that throws %s while it is read is refused as a result', async (_, thrown) => {
  const failing = aTool(() => ({
    toJSON: () => {
      throw thrown
    },
  }))

  await expect(run(failing)).rejects.toMatchObject({ code: 'tool_output', hint: 'return plain data' })
})

test('[INV-5] a tool whose host was replaced while it waited does not act', async () => {
  let acted = 0
  const tools = createTools([aTool(() => ++acted)], { clock: virtualClock() })
  const fenced = new RuntimeError('fenced', 'somebody else has it')

  await expect(tools.run(plan(tools, 'probe', {}), aContext(), () => Promise.reject(fenced))).rejects.toBe(fenced)
  await tools.run(plan(tools, 'probe', {}), aContext(), async () => undefined)

  expect(acted).toBe(1)
})

test('[INV-5] a process that stands still between the answer that nobody has taken over and the deed asks again', async () => {
  let now = 0
  const clock = { ...virtualClock(), now: () => now, elapsed: () => now }
  const done: string[] = []
  const tools = createTools([aTool(() => done.push('acted'))], { clock })
  const stillFor = [60_000, 0]
  const confirm = async () => void (now += stillFor.shift() ?? 0)

  await tools.run(plan(tools, 'probe', {}), aContext(), confirm)
  expect([stillFor, done]).toEqual([[], ['acted']])

  // And where it was replaced meanwhile it does nothing.
  let asked = 0
  const replaced = async () => {
    if (++asked > 1) throw new RuntimeError('fenced', 'taken over')
    now += 60_000
  }
  await expect(tools.run(plan(tools, 'probe', {}), aContext(), replaced)).rejects.toMatchObject({ code: 'fenced' })
  expect([asked, done]).toEqual([2, ['acted']])
})
