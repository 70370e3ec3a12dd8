/** Tools of MCP servers that are programs, made with the SDK, in both eras of the protocol. */
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { startProgram } from '../../support/processes.ts'
import { aBench, alive, desk } from './fixtures.ts'

describe.each([
  ['new', '2026-07-28'],
  ['old', '2025-11-25'],
])('a server of the %s era', (era, protocol) => {
  test('nothing is started until its tools are wanted; then they are there under its name, with what their annotations say', async () => {
    const { servers, tools } = aBench({ desk: desk(era) })
    const before = { report: servers.report(), names: tools.names }

    await tools.discover?.()

    expect(before).toEqual({ report: [{ server: 'desk', state: 'idle', tools: 0 }], names: [] })
    expect(servers.report()).toEqual([{ server: 'desk', state: 'ready', tools: 10, protocol }])
    expect(tools.get('desk__add')).toMatchObject({ source: 'mcp:desk', onCrash: 'retry', approval: false, description: 'adds two numbers' })
    expect(tools.get('desk__note')).toMatchObject({ onCrash: 'idempotent', approval: true })
    expect(tools.get('desk__grow')?.jsonSchema).toMatchObject({ type: 'object' })
    expect([...tools.names]).toEqual([...tools.names].sort())
  })

  test('a call answers with what is structured, with text, and with a note of what is neither', async () => {
    const { call } = aBench({ desk: desk(era) })

    expect(await call('desk__add', { a: 40, b: 2 })).toEqual({ sum: 42 })
    expect(await call('desk__note', { text: 'x' })).toBe('written')
    expect(await call('desk__picture')).toBe('see\n[image image/png, 6 bytes, not kept]\n[resource file:///a.txt]\nthe file')
  })

  test('what the server refuses fails the call with its words, and bad input is refused before it is asked', async () => {
    const { call, tools } = aBench({ desk: desk(era) })

    await expect(call('desk__refuse')).rejects.toMatchObject({ code: 'tool_failed', message: 'no such row' })
    expect(tools.plan([{ callId: 'c', name: 'desk__add', input: '{"a":"one"}' }])).toMatchObject([
      { problem: { code: 'tool_input', message: expect.stringContaining('a:') } },
    ])
  })

  test('an answer that is too long fails its call alone, whether the limit is ours or that of the tool', async () => {
    const { call } = aBench({ desk: desk(era) })

    await expect(call('desk__long', { bytes: 9_000_000 })).rejects.toMatchObject({ code: 'tool_output', hint: expect.any(String) })
    await expect(call('desk__long', { bytes: 2_000_000 })).rejects.toMatchObject({ code: 'tool_output' })
    expect(await call('desk__add', { a: 1, b: 1 })).toEqual({ sum: 2 })
  })

  test('progress is shown, and a call that is stopped is stopped at the server', async () => {
    const { call, lines } = aBench({ desk: desk(era) })
    const stop = new AbortController()
    const progress: string[] = []

    const waiting = call('desk__wait', {}, { signal: stop.signal, progress: (message) => stop.abort(progress.push(message)) })

    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    expect(progress).toEqual(['waiting'])
    await expect.poll(() => lines.map(({ fields }) => JSON.stringify(fields)).join()).toContain('told to stop')
  })

  test('a server that dies in mid-call loses that call, and the next one finds it again', async () => {
    const { call, servers } = aBench({ desk: desk(era) })

    await expect(call('desk__die')).rejects.toMatchObject({ code: 'tool_lost', retryable: true })
    expect(servers.report()).toMatchObject([{ state: 'backing-off', tools: 10, error: { message: expect.stringContaining('code 3') } }])
    expect(await call('desk__add', { a: 1, b: 2 })).toEqual({ sum: 3 })
    expect(servers.report()).toEqual([{ server: 'desk', state: 'ready', tools: 10, protocol }])
  })

  test('tools that come up later are there when the server has said so', async () => {
    const { call, tools } = aBench({ desk: desk(era) })

    await call('desk__grow')

    await expect.poll(() => tools.names, { timeout: 5000 }).toContain('desk__grown')
    expect(await call('desk__grown')).toBe('new')
  })
})

test('a server is told of PATH, HOME, LANG and what its env names, and of no key of ours', async () => {
  const env = { ...process.env, LANG: 'C', OPENAI_API_KEY: 'sk-ours', GITHUB_TOKEN: 'theirs' }
  const { call } = aBench({ desk: { ...desk('new'), env: { TOKEN: `Bearer \${GITHUB_TOKEN}` } } }, { env })

  const told = JSON.parse((await call('desk__env')) as string)

  expect(told).toEqual({ PATH: process.env.PATH, HOME: process.env.HOME, LANG: 'C', TOKEN: 'Bearer theirs' })
})

test('with the bench ends the server, and all that it has started', async () => {
  const { call, servers } = aBench({ desk: desk('new') })
  const { own, child } = JSON.parse((await call('desk__family')) as string)
  const before = alive(own, child)

  await servers.close()

  expect(before).toEqual([own, child])
  await expect.poll(() => alive(own, child)).toEqual([])
  expect(servers.report()).toMatchObject([{ state: 'closed', tools: 0 }])
})

test('no server outlives a node that is killed, and nothing that it has started does', async () => {
  await using node = startProgram(execPath, fileURLToPath(new URL('../../support/mcp-holder.ts', import.meta.url)))
  await node.said('pids ')
  const { own, child } = JSON.parse(/pids (\{.*\})/.exec(node.output())?.[1] ?? '{}')
  const before = alive(own, child)

  await node.kill('SIGKILL')

  expect(before).toEqual([own, child])
  await expect.poll(() => alive(own, child)).toEqual([])
})

test('an agent sees the servers and tools that it names, and the others are not even started', async () => {
  const { servers, tools } = aBench({ a: desk('new'), b: desk('new'), c: desk('new') }, { allowed: ['a/add', 'a/n*', 'b/refuse'] })

  await tools.discover?.()

  expect(tools.names).toEqual(['a__add', 'a__note', 'b__refuse'])
  expect(servers.report().map(({ state }) => state)).toEqual(['ready', 'ready', 'idle'])
})

test.each([
  ['always', [true, true]],
  ['writes', [false, true]],
  ['never', [false, false]],
])('approval %s asks before reading and writing: %s', async (approval, expected) => {
  const { tools } = aBench({ desk: { ...desk('new'), approval } as never })

  await tools.discover?.()

  expect(['desk__add', 'desk__note'].map((name) => tools.get(name)?.approval)).toEqual(expected)
})

test.each([
  ['a program that is not there', { command: 'no-such-program-here' }, 'not_found', 'no-such-program-here'],
  ['a variable that is not set', { command: execPath, env: { KEY: `\${NOT_SET_HERE}` } }, 'bad_request', 'NOT_SET_HERE'],
  ['a folder that is not there', { command: execPath, cwd: '/no/such/folder' }, 'not_found', 'folder'],
])('%s fails at once, with what to do, and the agent goes on without its tools', async (_, settings, code, word) => {
  const { servers, tools, call } = aBench({ x: settings, desk: desk('new') })

  expect(await call('desk__add', { a: 1, b: 1 })).toEqual({ sum: 2 })
  expect(tools.names.every((name) => name.startsWith('desk__'))).toBe(true)
  const [report] = servers.report()
  expect(report).toMatchObject({ server: 'x', state: 'failed', error: { code, hint: expect.any(String) } })
  expect(JSON.stringify([report, await call('x__y').catch((error: unknown) => error)])).toContain(word)
})
