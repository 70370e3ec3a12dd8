/** Who decides whether a tool call runs: the hooks of an application, and people, as a client of the socket sees it. */
import { expect, onTestFinished, test } from 'vitest'
import { chat } from '../../../src/chat/index.ts'
import type { BeforeTool } from '../../../src/contracts/tool-gate.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { aSocket } from './a-socket.ts'
import { aTool, aToolGateway } from './a-tool-gateway.ts'

const call = (name: string, input: object = {}) => ({ calls: [{ name, input }] })

/** One tool behind hooks, and what it was called with. */
const guarded = async (beforeTool: (BeforeTool | BeforeTool['check'])[], app: Parameters<typeof aToolGateway>[0]['app'] = {}) => {
  const ran: unknown[] = []
  const write = aTool('write', (input) => void ran.push(input))
  const served = await aToolGateway({
    script: [call('write', { path: '/etc/passwd', text: 'x' }), { text: 'ok' }],
    tools: [write],
    agent: { beforeTool },
    app,
  })
  return { ...served, ran }
}

test('[CH-41] a hook that blocks: the tool has not run, and the model reads why', async () => {
  const { ask, ran, results, events } = await guarded([({ input }) => ({ block: `not to ${(input as { path: string }).path}` })])

  expect((await ask('go')).state).toBe('final')

  expect(ran).toEqual([])
  expect(results(1)).toMatchObject([{ isError: true, output: { error: { code: 'tool_blocked', message: 'not to /etc/passwd' } } }])
  expect(events('session.tool').map(({ state }) => state)).toEqual(['running', 'error'])
})

test.each<[string, BeforeTool['check']]>([
  ['throws', () => Promise.reject(new Error('no database'))],
  ['answers with something else', () => ({ blok: 'no' }) as never],
  ['changes the input to one that does not fit', () => ({ params: { path: BigInt(1) } })],
])('[CH-41] a hook that %s blocks the call', async (_, check) => {
  const { ask, ran, results } = await guarded([check])

  await ask('go')

  expect(ran).toEqual([])
  expect(results(1)).toMatchObject([{ output: { error: { code: 'tool_blocked' } } }])
})

test('[CH-41] a hook that hangs blocks when its time is over', async () => {
  const { ask, ran, results } = await guarded([{ name: 'slow', timeoutMs: 20, check: () => new Promise(() => undefined) }])

  await ask('go')

  expect(ran).toEqual([])
  expect(results(1)).toMatchObject([{ output: { error: { code: 'tool_blocked', message: expect.stringContaining('20 ms') } } }])
})

test('[CH-41] hooks are asked by priority, those of extensions among them, and not after a block', async () => {
  const asked: string[] = []
  const hook = (name: string, priority: number, answer?: { block: string }): BeforeTool => ({
    name,
    priority,
    check: () => (asked.push(name), answer),
  })
  const { ask } = await guarded([hook('second', 5), hook('never', 0)], {
    extensions: [chat(), { name: 'policy', beforeTool: [hook('first', 9), hook('third', 1, { block: 'enough' })] }],
  })

  await ask('go')

  expect(asked).toEqual(['first', 'second', 'third'])
})

test('[CH-42] a hook rewrites a path: the tool gets it once, beside what was not changed, and both stand in the trace', async () => {
  const { ask, ran, request } = await guarded([{ name: 'jail', check: () => ({ params: { path: '/jail/passwd' } }) }])

  await ask('go')

  expect(ran).toEqual([{ path: '/jail/passwd', text: 'x' }])
  const { payload } = await request('trace.read', { id: 'main' })
  const verdict = payload.entries?.flat() ?? payload
  expect(JSON.stringify(verdict)).toMatch(
    /"runId":"go","callId":"main\/go:1:1".*"original":\{"path":"\/etc\/passwd","text":"x"\},"input":\{"path":"\/jail\/passwd","text":"x"\}/,
  )
})

test('[CH-42] where no hook stands before a call, nothing of it is in the journal', async () => {
  const { ask, ran, request } = await guarded([{ name: 'other', tools: ['read'], check: () => ({ block: 'no' }) }])

  await ask('go')

  expect(ran).toHaveLength(1)
  expect(JSON.stringify((await request('trace.read', { id: 'main' })).payload)).not.toContain('gate')
})

const pay = () => aTool('pay', () => 'paid', { approval: true })
const decide = (approval: { callId: string; inputHash: string; attempt: number }, decision: 'approve' | 'deny', more: object = {}) => ({
  sessionKey: 'main',
  callId: approval.callId,
  inputHash: approval.inputHash,
  attempt: approval.attempt,
  decision,
  ...more,
})

test('[CH-43] a hook can ask a person; one who allows it once is asked again', async () => {
  const script = [call('write'), { text: 'one' }, call('write'), { text: 'two' }]
  const { say, end, event, request } = await aToolGateway({ script, tools: [aTool('write')], agent: { beforeTool: [() => ({ approval: true })] } })

  for (const id of ['a', 'b']) {
    await say(id)
    const { payload } = await event('approval.requested', ({ approval }) => approval.runId === id)
    await event('session.state', ({ state, runId }) => state === 'running.awaiting-input' && runId === id)
    await request('approvals.resolve', decide(payload.approval, 'approve'))
    expect((await end(id)).state).toBe('final')
  }
})

test('[CH-43] a command that is answered while a person is asked does not end the waiting of the turn', async () => {
  const { say, end, event, events, request } = await aToolGateway({ script: [call('pay'), { text: 'paid' }], tools: [pay()] })
  await say('a')
  const { payload } = await event('approval.requested')
  await say('/help', 'h')
  await end('h')
  await request('approvals.resolve', decide(payload.approval, 'approve'))
  await end('a')
  await event('session.state', ({ state }) => state === 'awaiting-input')

  const states = events('session.state').map(({ state }) => state)
  expect(states.indexOf('awaiting-input')).toBeGreaterThan(states.indexOf('running.tools', states.indexOf('running.awaiting-input')))
})

test('[CH-43] one who allows it always is not asked again, until that is taken back or the session begins anew', async () => {
  const script = [
    { calls: [{ name: 'pay' }, { name: 'pay' }] },
    call('pay'),
    ...Array(9)
      .fill(call('pay'))
      .flatMap((one) => [{ text: 'ok' }, one]),
  ]
  const { say, end, event, events, request, results } = await aToolGateway({ script, tools: [pay()] })
  await say('a')
  const { payload } = await event('approval.requested')
  await event('approval.requested', ({ approval }) => approval.callId !== payload.approval.callId)

  await request('approvals.resolve', decide(payload.approval, 'approve', { remember: 'session' }))

  await end('a')
  expect(results(2).map(({ output }) => output)).toEqual(['paid', 'paid', 'paid'])
  expect(events('approval.resolved')).toMatchObject([{ decision: 'approve', remember: 'session' }, { decision: 'approve' }])
  expect((await request('sessions.get', { sessionKey: 'main' })).payload.record.allowedTools).toEqual(['pay'])
  await say('b')
  await end('b')
  expect(events('approval.requested')).toHaveLength(2)

  await request('sessions.configure', { sessionKey: 'main', toggles: { allowedTools: null } })
  await say('c')
  const again = await event('approval.requested', ({ approval }) => approval.runId === 'c')
  await request('approvals.resolve', decide(again.payload.approval, 'approve', { remember: 'session' }))
  await end('c')
  await request('sessions.reset', { sessionKey: 'main' })
  expect((await request('sessions.get', { sessionKey: 'main' })).payload.record.allowedTools).toBeUndefined()
})

test('[CH-43] nobody can allow it for good without the scope to approve', async () => {
  const { request } = await aToolGateway({ script: [{ text: 'ok' }], tools: [pay()] })
  expect(await request('sessions.configure', { sessionKey: 'main', toggles: { allowedTools: ['pay'] } })).toMatchObject({
    ok: false,
    error: { code: 'bad_request' },
  })
})

test('[CH-43] where the agent sets a deadline it comes with the question; silence is a no, and those who watch are told', async () => {
  const clock = virtualClock()
  const { say, end, event, results } = await aToolGateway({
    script: [call('pay'), { text: 'then not' }],
    tools: [pay()],
    agent: { approval: { timeoutMs: 120_000 } },
    app: { environment: { clock } },
  })
  await say('a')
  const { payload } = await event('approval.requested')
  expect(payload.approval.deadline).toBe((payload.approval.at as number) + 120_000)

  await clock.advance(120_000)

  expect((await event('approval.resolved')).payload).toMatchObject({ decision: 'deny', by: 'timeout' })
  expect((await end('a')).state).toBe('final')
  expect(results(1)).toMatchObject([{ isError: true, output: { error: { code: 'tool_denied', message: expect.stringContaining('120 s') } } }])
})

test('[CH-43] a stop while it waits ends the run at once', async () => {
  const { say, end, event, request } = await aToolGateway({ script: [call('pay'), { text: 'no' }], tools: [pay()] })
  await say('a')
  await event('approval.requested')

  await request('chat.abort', { sessionKey: 'main' })

  expect((await end('a')).state).toBe('aborted')
  expect((await request('approvals.list', { sessionKey: 'main' })).payload.approvals).toEqual([])
})

test('[CH-52] a thread that begins while a call has no result yet: its request is whole, and marked as mended', async () => {
  const { gateway, say, event, request, shown } = await aToolGateway({ script: [call('pay'), { text: 'hello from the thread' }], tools: [pay()] })
  await say('a')
  await event('approval.requested')
  const other = await aSocket(gateway.url)
  onTestFinished(() => void request('chat.abort', { sessionKey: 'main' }))

  await other.request('chat.send', { sessionKey: 'thread', parent: 'main', message: 'meanwhile', idempotencyKey: 't' })
  await other.event('chat', ({ state }) => state === 'final')

  expect(shown[1]).toMatchObject([
    { role: 'user' },
    { role: 'assistant', calls: [{ name: 'pay' }] },
    { role: 'tool', isError: true, output: { error: { code: 'tool_lost' } } },
    { role: 'user', text: 'meanwhile' },
  ])
  expect(JSON.stringify((await request('trace.read', { id: 'thread' })).payload)).toContain('"repaired":true')
})
