/** From what a model wrote to what it reads back, as a client of the socket sees it. */
import { expect, test } from 'vitest'
import { aTool, aToolGateway } from './a-tool-gateway.ts'

const call = (name: string, input: object = {}) => ({ calls: [{ name, input }] })

test('[CH-37] two rounds of tools are three calls of the model, and each result is in the request that follows', async () => {
  const { ask, shown, results } = await aToolGateway({
    script: [
      {
        text: 'I look.',
        calls: [
          { name: 'read', input: { n: 1 } },
          { name: 'read', input: { n: 2 } },
        ],
      },
      call('read', { n: 3 }),
      { text: 'all read' },
    ],
    tools: [aTool('read', ({ n }) => `page ${n}`)],
  })

  const { message, steps } = await ask('go')

  expect(shown).toHaveLength(3)
  expect(results(1).map(({ output }) => output)).toEqual(['page 1', 'page 2'])
  expect(results(2).map(({ output }) => output)).toEqual(['page 1', 'page 2', 'page 3'])
  expect(steps).toBe(3)
  expect(message?.content.at(-1)).toMatchObject({ type: 'text', text: 'all read' })
})

test('[CH-38] a name that a model has bent is the tool that it means, and both names stand in the trace', async () => {
  const { ask, results, events, request } = await aToolGateway({
    script: [{ calls: ['toolsread3', 'functions.read', 'READ', 'x/read'].map((name) => ({ name })) }, { text: 'ok' }],
    tools: [aTool('read')],
  })

  await ask('go')

  expect(results(1).map(({ name, output }) => [name, output])).toEqual(Array(4).fill(['read', 'done']))
  expect(new Set(events('session.tool').map(({ toolName }) => toolName))).toEqual(new Set(['read']))
  const { payload } = await request('trace.read', { id: 'main' })
  expect(JSON.stringify(payload)).toContain('"originalName":"functions.read"')
})

test('[CH-38] where two tools fit, none is called', async () => {
  const { ask, results } = await aToolGateway({ script: [call('functions.read3'), { text: 'ok' }], tools: [aTool('read'), aTool('read3')] })

  await ask('go')

  expect(results(1)).toMatchObject([{ isError: true, output: { error: { code: 'tool_unknown' } } }])
})

test('[CH-40] a call without a name is for the tool that its id names', async () => {
  const { ask, results } = await aToolGateway({
    script: [{ rawCalls: [{ name: '', input: '{}', callId: 'functions.read:0' }] }, { text: 'ok' }],
    tools: [aTool('read')],
  })

  await ask('go')

  expect(results(1)).toMatchObject([{ name: 'read', output: 'done' }])
})

test('[CH-44] a tool that throws gives the next call of the model an error with its message', async () => {
  const broken = aTool('read', () => {
    throw new Error('the disk is gone')
  })
  const { ask, results, events } = await aToolGateway({ script: [call('read'), { text: 'I am sorry' }], tools: [broken] })

  const { state } = await ask('go')

  expect(state).toBe('final')
  expect(results(1)).toMatchObject([{ name: 'read', isError: true, output: { error: { code: 'tool_failed', message: 'the disk is gone' } } }])
  expect(events('session.tool').map((tool) => tool.state)).toEqual(['running', 'error'])
})

test('[CH-45] a tool that does not exist is answered with those that do; ten in a row end the run', async () => {
  const { ask, shown, results } = await aToolGateway({ script: [call('delete')], tools: [aTool('read'), aTool('write')] })

  const { state, error } = await ask('go')

  expect(results(1)).toMatchObject([{ output: { error: { code: 'tool_unknown', message: expect.stringContaining('read, write') } } }])
  expect(shown).toHaveLength(10)
  expect(state).toBe('error')
  expect(error).toMatchObject({ code: 'tool_unknown', message: expect.stringContaining('10 times'), hint: expect.any(String) })
})

test('[CH-45] a call of a tool that exists begins the count anew', async () => {
  const wrong = call('delete')
  const { ask, shown } = await aToolGateway({ script: [...Array(9).fill(wrong), call('read'), wrong, { text: 'ok' }], tools: [aTool('read')] })

  expect((await ask('go')).state).toBe('final')
  expect(shown).toHaveLength(12)
})

test('[CH-48] of calls that are the same with the same result the 10th is remarked on, the 20th is not run, and the 30th is the end', async () => {
  let runs = 0
  const { ask, results, events } = await aToolGateway({
    script: [call('read', { path: 'a' })],
    tools: [aTool('read', () => ['nothing', void runs++])],
    agent: { loopDetection: true },
  })

  const { state, error } = await ask('go')

  expect(runs).toBe(19)
  expect(events('session.tool').find(({ message }) => message !== undefined)).toMatchObject({ message: expect.stringContaining('10 times') })
  expect(results(20).at(-1)).toMatchObject({ isError: true, output: { error: { code: 'tool_loop', message: expect.stringContaining('20 times') } } })
  expect(state).toBe('error')
  expect(error).toMatchObject({ code: 'tool_loop', message: expect.stringContaining('30 times') })
})

test('[CH-48] another run begins anew, and who has not asked for it is not watched', async () => {
  let calls = 0
  const script = [() => (++calls % 26 === 0 ? { text: 'enough' } : call('read'))]
  const { ask } = await aToolGateway({ script, tools: [aTool('read')] })

  expect((await ask('one')).state).toBe('final')
  expect((await ask('two')).state).toBe('final')
})

const log = (chars: number) => 'nothing new here\n'.repeat(Math.ceil(chars / 17)).slice(0, chars)

test('[CH-46] of 100,000 characters that end in an error the model is shown 16,000 with the error, and can read the rest', async () => {
  const text = `${log(100_000)}\nError: out of paper`
  const { ask, results, offered, request, events } = await aToolGateway({
    script: [
      call('print'),
      (shown) => call('read_output', { ref: /ref "([^"]+)"/.exec(JSON.stringify(shown.at(-1)).replaceAll('\\"', '"'))?.[1], offset: 99_000 }),
      { text: 'no paper' },
    ],
    tools: [aTool('print', () => text)],
  })

  await ask('go')

  const [shown] = results(1)
  expect(String(shown?.output).length).toBeLessThanOrEqual(16_000)
  expect(shown?.output).toContain('Error: out of paper')
  expect(results(2)[1]).toMatchObject({ name: 'read_output', output: { text: text.slice(99_000), offset: 99_000, total: text.length } })
  expect(offered).toEqual([['print'], ['print', 'read_output'], ['print', 'read_output']])
  const { callId } = events('session.tool')[0] as { callId: string }
  const { payload } = await request('chat.output', { sessionKey: 'main', callId, offset: 50, limit: 100 })
  expect(payload).toEqual({ callId, text: text.slice(50, 150), offset: 50, total: text.length, next: 150 })
  await request('sessions.reset', { sessionKey: 'main' })
  expect((await request('chat.output', { sessionKey: 'main', callId })).payload).toMatchObject({ text, total: text.length })
  expect(await request('chat.output', { sessionKey: 'main', callId: 'nothing' })).toMatchObject({
    ok: false,
    error: { code: 'not_found', field: 'callId' },
  })
})

test('[CH-46] read_output is on no bench where nothing was cut', async () => {
  const { ask, results } = await aToolGateway({ script: [call('read_output', { ref: 'go:1:1' }), { text: 'ok' }], tools: [aTool('print')] })

  await ask('go')

  expect(results(1)).toMatchObject([{ output: { error: { code: 'tool_unknown' } } }])
})

test('[CH-47] results that fill more than nine tenths of the window are compacted before the provider is asked', async () => {
  const { ask, shown, events } = await aToolGateway({
    script: [
      { text: 'hello' },
      { calls: Array.from({ length: 5 }, (_, n) => ({ name: 'print', input: { n } })) },
      { text: 'they said hello' },
      { text: 'done' },
    ],
    tools: [aTool('print', () => log(15_000))],
    agent: { context: { tokens: 20_000 } },
  })
  await ask('first')

  const { state, message } = await ask('print it')

  expect(state).toBe('final')
  expect(message?.content.at(-1)).toMatchObject({ text: 'done' })
  expect(events('session.state').map((one) => one.state)).toContain('running.compacting')
  // The provider was never asked with more than it can read.
  expect(shown).toHaveLength(4)
  expect(Math.max(...shown.map((messages) => JSON.stringify(messages).length / 4))).toBeLessThan(18_000)
})
