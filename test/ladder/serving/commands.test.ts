/** Runs through the doors of a node. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { agent, ladder, planner, workflow } from '../../../src/ladder/index.ts'
import { aGateway } from '../../api/http/harness.ts'
import { aSocket } from '../../api/ws/a-socket.ts'

const double = workflow({
  name: 'double',
  description: 'Doubles.',
  version: '2',
  input: z.number(),
  steps: [{ name: 'double', run: ({ input }) => input * 2 }],
})

test('[WL-136] with serve: true runs are begun, waited for and looked at over HTTP and the socket alike', async () => {
  const { gateway, rpc } = await aGateway({}, { extensions: [ladder({ executables: [double], serve: true })] })
  const { request } = await aSocket(gateway.url)

  expect((await rpc('ladder.list')).json).toMatchObject({
    executables: [{ name: 'double', type: 'workflow', version: '2', description: 'Doubles.', input: { type: 'number' } }],
  })
  expect((await rpc('ladder.execute', { name: 'double', input: 4, runId: 'r', wait: true })).json).toMatchObject({
    runId: 'r',
    status: 'completed',
    data: 8,
    report: { type: 'workflow', runId: 'r' },
  })
  expect(await request('ladder.execute', { name: 'double', input: 4, runId: 'r', wait: true })).toMatchObject({ ok: true, payload: { data: 8 } })
  // A name stands for one input.
  expect(await rpc('ladder.execute', { name: 'double', input: 5, runId: 'r' })).toMatchObject({
    status: 409,
    json: { error: { code: 'conflict', data: { code: 'INPUT_CONFLICT' } } },
  })
  expect(await request('ladder.result', { name: 'double', runId: 'r' })).toMatchObject({ payload: { status: 'completed', data: 8 } })
  const begun = (await rpc('ladder.execute', { name: 'double', input: 5 })).json
  expect(begun.runId).toBeTypeOf('string')
  expect((await rpc('ladder.result', { name: 'double', runId: begun.runId, wait: true })).json).toMatchObject({ data: 10 })

  expect(await rpc('ladder.execute', { name: 'double', input: 'four' })).toMatchObject({
    status: 400,
    json: { error: { data: { code: 'SCHEMA_VALIDATION_FAILED' } } },
  })
  expect(await rpc('ladder.execute', { name: 'treble', input: 4 })).toMatchObject({
    status: 404,
    json: { error: { hint: expect.stringContaining('double') } },
  })
  expect(await rpc('ladder.result', { name: 'double', runId: 'nobody' })).toMatchObject({ status: 404 })
})

test('[WL-136] what a step waits for is sent from outside; what fits none is refused, and the run waits on', async () => {
  const payment = workflow({ name: 'payment', steps: [{ name: 'wait', waitFor: 'paid', schema: z.object({ amount: z.number() }) }] })
  const { rpc } = await aGateway({}, { extensions: [ladder({ executables: [payment], serve: true })] })
  const run = { name: 'payment', runId: 'r' }
  expect(await rpc('ladder.send', { ...run, event: { type: 'paid', amount: 5 } })).toMatchObject({
    status: 404,
    json: { error: { hint: expect.stringContaining('execute()') } },
  })
  await rpc('ladder.execute', run)

  expect(await rpc('ladder.send', { ...run, event: { type: 'paid', amount: 'much' } })).toMatchObject({ status: 400 })
  expect(await rpc('ladder.send', { ...run, event: { type: 'payed' } })).toMatchObject({
    status: 400,
    json: { error: { hint: 'steps wait for paid' } },
  })
  expect((await rpc('ladder.send', { ...run, event: { type: 'paid', amount: 5 } })).json).toEqual({ sent: 'r' })
  expect((await rpc('ladder.result', { ...run, wait: true })).json).toMatchObject({ status: 'completed', data: { amount: 5 } })
})

test('[WL-136] a run is cancelled and gone on with from outside; who waits for too long is told that it is running', async () => {
  let [hang, ran] = [true, 0]
  const slow = workflow({
    name: 'slow',
    steps: [
      { name: 'once', run: () => ++ran },
      { name: 'wait', run: () => (hang ? new Promise(() => undefined) : 'done') },
    ],
  })
  const { rpc } = await aGateway({}, { extensions: [ladder({ executables: [slow], serve: true })] })
  const run = { name: 'slow', runId: 'r' }
  expect((await rpc('ladder.execute', run)).json).toMatchObject({ runId: 'r', status: 'running' })
  expect((await rpc('ladder.result', { ...run, wait: true, timeoutMs: 20 })).json).toEqual({ runId: 'r', status: 'running' })
  expect((await rpc('ladder.cancel', { ...run, reason: 'enough' })).json).toEqual({ cancelled: 'r' })
  expect((await rpc('ladder.result', run)).json).toMatchObject({
    status: 'cancelled',
    error: { code: 'WORKFLOW_CANCELLED', context: { reason: 'enough' } },
  })
  hang = false
  expect((await rpc('ladder.resume', { ...run, wait: true })).json).toMatchObject({ status: 'completed', data: 'done' })
  expect(ran).toBe(1)
})

test('[WL-136, WL-129] calls that wait are seen and decided by those who may, once', async () => {
  const wipe = tool({ name: 'wipe', description: 'Wipes.', input: z.object({}), onCrash: 'retry', approval: true, execute: () => 'clean' })
  const cleaner = agent({ name: 'cleaner', model: 'test/a', tools: [wipe] })
  const { rpc, call } = await aGateway(
    {},
    {
      extensions: [ladder({ executables: [cleaner], serve: true })],
      models: { 'test/a': ({ messages }) => (messages.some(({ role }) => role === 'tool') ? { text: 'done' } : { calls: [{ name: 'wipe' }] }) },
      agents: [],
    },
  )
  const run = { name: 'cleaner', runId: 'r' }
  await rpc('ladder.execute', { ...run, input: 'go' })
  const pending = async (): Promise<any[]> => {
    for (;;) {
      const { json } = await rpc('ladder.pending', run)
      if (json.pending?.length > 0) return json.pending
    }
  }
  const [{ callId, name }] = (await pending()) as [{ callId: string; name: string }]
  expect(name).toBe('wipe')
  const { token } = (await rpc('tokens.create', { name: 'writer', scopes: ['write'] })).json
  const decision = { ...run, callId, decision: 'approve', by: 'ann' }
  const refused = await call('POST', '/rpc/ladder.decide', { body: JSON.stringify(decision), headers: { authorization: `Bearer ${token}` } })
  expect(refused.status).toBe(403)
  expect((await rpc('ladder.decide', decision)).json).toEqual({ decided: callId })
  expect((await rpc('ladder.result', { ...run, wait: true })).json).toMatchObject({ data: 'done' })
  expect(await rpc('ladder.decide', decision)).toMatchObject({ status: 400, json: { error: { data: { code: 'APPROVAL_UNKNOWN' } } } })
})

test('[WL-136, WL-133] a plan that waits is approved from outside by those who may', async () => {
  const clerk = planner({
    name: 'clerk',
    model: 'test/a',
    planOnly: true,
    capabilities: { say: { description: 'Says.', use: (input: unknown) => input } },
  })
  const plan = { steps: [{ id: 'b', capability: 'say', input: 2 }] }
  const { rpc } = await aGateway(
    {},
    {
      extensions: [ladder({ executables: [clerk, double], serve: true })],
      models: { 'test/a': () => ({ text: '{"steps":[{"id":"a","capability":"say","input":1}]}' }) },
      agents: [],
    },
  )
  const run = { name: 'clerk', runId: 'r' }
  expect((await rpc('ladder.execute', { ...run, input: 'go', wait: true })).json).toMatchObject({
    status: 'awaiting-approval',
    report: { plan: { steps: [{ id: 'a' }] } },
  })
  expect(await rpc('ladder.approve', { ...run, plan: { steps: 'none' } })).toMatchObject({ status: 400 })
  expect((await rpc('ladder.approve', { ...run, plan, wait: true })).json).toMatchObject({ status: 'completed', data: { b: 2 } })
  expect(await rpc('ladder.approve', run)).toMatchObject({ status: 400, json: { error: { data: { code: 'APPROVAL_UNKNOWN' } } } })
  expect(await rpc('ladder.approve', { ...run, name: 'double' })).toMatchObject({ json: { error: { code: 'unsupported' } } })
})

test('[WL-136] unless it is said, the doors of a node serve no runs', async () => {
  const { rpc } = await aGateway({}, { extensions: [ladder({ executables: [double] })] })
  expect((await rpc('ladder.list')).status).toBe(404)
})
