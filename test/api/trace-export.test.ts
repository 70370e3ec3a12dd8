/** `trace.export`: what the inspector saves for somebody else to see. */
import { expect, test } from 'vitest'
import { createMachine } from 'xstate'
import { commitOf, replay } from '../../src/actors/index.ts'
import { journalOfFile, parseTraceFile } from '../../src/client/index.ts'
import { createRuntime, scriptedModel } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { aGateway } from './http/harness.ts'

test('nothing of what was said is in it, and it leads to the same states', async () => {
  const { runtime, rpc } = await aGateway()
  await (await runtime.session('secret-plan').send('my number is 0170 1234567, says Gertrud')).result()

  const { json } = await rpc('trace.export', { id: 'secret-plan' })
  const trace = parseTraceFile(json.file, 'the answer')

  expect(trace).toMatchObject({ redacted: true, address: { kind: 'session' } })
  expect(trace.frames).toHaveLength(json.commits)
  const { address } = trace
  const held = trace.frames.map(({ seq, bytes }) => JSON.stringify(commitOf({ seq, bytes: Buffer.from(bytes, 'base64') }, address))).join()
  for (const said of ['Gertrud', '1234567', 'secret-plan', 'echo my']) expect(held).not.toContain(said)
  const { registration } = partsOf(runtime).runtime
  expect(await replay(journalOfFile(trace), address, registration('session'), {})).toMatchObject({ verdict: 'identical' })
  expect((await rpc('trace.export', { id: 'nobody' })).json.error.code).toBe('not_found')
})

test('what would keep others from their turn is refused, with the command that does it elsewhere', async () => {
  const light = createMachine({ id: 'light', on: { toggle: {} } })
  await using runtime = await createRuntime({ transport: 'memory:', machines: { light }, models: { 'test/none': scriptedModel([]) } })
  for (let turn = 0; turn < 1_001; turn++) await runtime.actor('light', 'lamp').send({ type: 'toggle' })

  await expect(runtime.command('trace.export', { kind: 'light', id: 'lamp' })).rejects.toMatchObject({
    code: 'too_large',
    hint: expect.stringContaining('statecast export'),
  })
})
