/** The tools that a run has, as a client of the socket sees them: what the model is offered, what it may call, and why the rest is missing. */
import { access, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../../src/contracts/model.ts'
import { type AgentDefinition, agent, type RuntimeOptions, tool } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

const aTool = (name: string, category: 'mcp' | 'skills' | 'messaging' | 'plugin', execute: () => string = () => 'done') =>
  tool({ name, category, description: `does ${name}`, input: z.looseObject({}), execute })

/** A gateway whose model makes the call that a message names as JSON, and a socket to it. */
const aBench = async (definition: Partial<AgentDefinition> = {}, app: RuntimeOptions = {}) => {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'statecast-bench-')))
  onTestFinished(() => rm(workspace, { recursive: true }))
  const requests: ModelRequest[] = []
  const model = (request: ModelRequest) => {
    requests.push(request)
    const last = request.messages.at(-1)
    if (last?.role === 'user' && last.text.startsWith('{')) return { calls: [JSON.parse(last.text)] }
    return { text: last?.role === 'tool' ? JSON.stringify(last.output) : 'fine' }
  }
  const { gateway, runtime } = await aGateway(
    {},
    {
      workspace,
      agents: [agent({ name: 'main', model: 'test/model', bench: {}, ...definition })],
      models: { 'test/model': model, 'gemini/model': model },
      ...app,
    },
  )
  const socket = await aSocket(gateway.url)
  let count = 0
  const begin = async (message: string, more: object = {}) => {
    const idempotencyKey = `k${++count}`
    const sent = await socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey, ...more })
    if (!sent.ok) throw new Error(JSON.stringify(sent.error))
    return idempotencyKey
  }
  const ended = async (runId: string): Promise<string> => {
    const { payload } = await socket.event('chat', (event) => event.runId === runId && event.state === 'final')
    return (payload as any).message.content.map(({ text = '' }) => text).join('')
  }
  const ask = async (message: string, more: object = {}) => ended(await begin(message, more))
  const call = (name: string, input: object) => ask(JSON.stringify({ name, input }))
  const offered = async (more: object = {}) => {
    await ask('hello', more)
    return requests.at(-1)?.tools.map(({ name }) => name) ?? []
  }
  return { ...socket, workspace, runtime, requests, begin, ended, ask, call, offered }
}
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
const reading = ['calculate', 'now', 'read_file', 'list_files', 'search_files']

test('[CH-35] the bench is built of its categories; with MCP off no MCP tool is in the request', async () => {
  const tools = [aTool('crm__find', 'mcp'), aTool('brew', 'skills'), aTool('post', 'messaging'), aTool('mine', 'plugin')]
  const all = await aBench({ tools, bench: { files: 'rw', shell: true, sandbox: 'off' } })
  const without = await aBench({ tools, bench: { disable: ['mcp'] } })

  expect(await all.offered()).toEqual([...reading, 'write_file', 'edit_file', 'run_command', 'crm__find', 'brew', 'post', 'mine'])
  expect(await without.offered()).toEqual([...reading, 'brew', 'post', 'mine'])
})

test('[CH-35] a provider is given the schema in the form that it takes', async () => {
  const bench = await aBench({ model: 'gemini/model' })
  await bench.offered()

  const tools = bench.requests[0]?.tools ?? []
  expect(JSON.stringify(tools.map(({ inputSchema }) => inputSchema))).not.toMatch(
    /"(default|minimum|maximum|maxLength|additionalProperties|\$schema)":/,
  )
  expect(tools.find(({ name }) => name === 'read_file')?.inputSchema).toMatchObject({ type: 'object', properties: { path: { type: 'string' } } })
})

const secret = { deny: ['read_file'] }
const inGroup = { origin: { channel: 'web', to: 'team', chatType: 'group', mentioned: true } }
test.each([
  ['profile', { toolPolicy: { profile: 'minimal', deny: [] } }, {}, {}],
  ['provider', { toolPolicy: { providers: { test: secret } } }, {}, {}],
  ['global', {}, { toolPolicy: secret }, {}],
  ['agent', { toolPolicy: { allow: ['*'], ...secret } }, {}, {}],
  ['channel', { toolPolicy: { channels: { web: secret } } }, {}, inGroup],
  ['channel', { toolPolicy: { channels: { 'web/team': secret } } }, {}, inGroup],
  ['channel', { toolPolicy: { groups: secret } }, {}, inGroup],
  ['sandbox', { bench: { sandbox: 'bwrap' }, toolPolicy: { sandbox: secret } }, {}, {}],
  ['sub-agent', { toolPolicy: { subAgents: secret } }, {}, { sessionKey: 'agent:main:sub-agent:1' }],
] as [string, Partial<AgentDefinition>, RuntimeOptions, { sessionKey?: string }][])(
  '[CH-36] a tool that the layer %s denies is absent, cannot be called, and the list says why: %j',
  async (layer, definition, app, message) => {
    const bench = await aBench(definition, { toolPolicy: { allow: ['*'] }, ...app })

    const offered = await bench.offered(message)
    const answer = await bench.ask(JSON.stringify({ name: 'read_file', input: { path: 'x' } }), message)
    const { payload } = await bench.request('tools.list', { sessionKey: message.sessionKey ?? 'main' })

    expect(offered).not.toContain('read_file')
    expect(offered).toContain('now')
    expect(answer).toContain('there is no tool')
    expect(payload.agents[0].removed).toContainEqual(expect.objectContaining({ name: 'read_file', category: 'files', layer }))
  },
)

test('[CH-36] rules of a channel hold for its messages alone, and one that names nothing warns and takes nothing away', async () => {
  const bench = await aBench({ toolPolicy: { allow: ['raed_file'], channels: { 'web/team': secret } } })

  expect(await bench.offered()).toEqual(reading)
  expect(await bench.offered({ sessionKey: 'other', ...inGroup })).toEqual(reading.filter((name) => name !== 'read_file'))
  const { payload } = await bench.request('tools.list')
  expect(payload.agents[0]).toMatchObject({
    tools: reading.map((name) => ({ name })),
    removed: [
      { name: 'write_file' },
      { name: 'edit_file' },
      { name: 'run_command', layer: 'agent', why: 'the bench has no shell; shell: true adds it' },
    ],
    warnings: ['raed_file, which the rule agent allows, is the name of no tool here'],
  })
})

test('[CH-36] the rules of a run are in its journal', async () => {
  const bench = await aBench({ toolPolicy: { groups: { deny: ['mine'] }, ...secret } })
  await bench.ask('hello')

  const { payload } = await bench.request('trace.read', { id: 'main' })

  const entries = payload.entries as { event: string; detail?: { profile?: unknown } }[]
  expect(entries.find(({ event }) => event === 'message')?.detail?.profile).toMatchObject({ toolLayers: [{ layer: 'agent', deny: ['read_file'] }] })
})

test('[CH-39] a name that is not among those permitted is not taken for one that is there', async () => {
  let ran = 0
  const exec = aTool('exec', 'plugin', () => {
    ran++
    return 'done'
  })
  const bench = await aBench({ tools: [exec, aTool('mine', 'plugin')], toolPolicy: { deny: ['exec'] } })

  for (const name of ['Exec1', 'exec', 'functions.exec']) expect(await bench.call(name, {})).toContain('there is no tool')

  expect(ran).toBe(0)
  expect(await bench.call('mine', {})).toContain('done')
})

test('[CH-98] with access ro write and edit are not on the bench, with none no tool for files is', async () => {
  const bench = (access: 'rw' | 'ro' | 'none') => aBench({ bench: { files: 'rw', sandbox: { mode: 'auto', access } } })
  const readOnly = await bench('ro')

  expect(await (await bench('rw')).offered()).toEqual([...reading, 'write_file', 'edit_file'])
  expect(await readOnly.offered()).toEqual(reading)
  expect(await (await bench('none')).offered()).toEqual(['calculate', 'now'])
  expect(await readOnly.call('write_file', { path: 'a', content: 'b' })).toContain('there is no tool')
  const { payload } = await readOnly.request('tools.list', { sessionKey: 'main' })
  expect(payload.agents[0].removed).toContainEqual({ name: 'edit_file', category: 'files', layer: 'sandbox', why: 'the sandbox has access: ro' })
})

test('[CH-98] a sandbox that is not there runs nothing, and the model is told what is missing', async () => {
  const bench = await aBench({ bench: { shell: { approval: false }, sandbox: { mode: 'docker', image: 'statecast.invalid/none' } } })

  const answer = await bench.call('run_command', { command: 'touch', args: ['made'] })

  expect(answer).toContain('nothing was run')
  expect(await isThere(join(bench.workspace, 'made'))).toBe(false)
})

test('[CH-97, CH-98] where commands run is configured, while nothing restarts, for agents that do not say', async () => {
  const bench = await aBench({ bench: { shell: { approval: false } } })
  const firm = await aBench({ bench: { shell: { approval: false }, sandbox: 'off' } })
  const configure = async ({ request }: typeof bench, value: string) =>
    expect(
      await request('config.set', { key: 'agents.defaults.sandbox.mode', value, baseHash: (await request('config.get')).payload.hash }),
    ).toMatchObject({ ok: true })

  await configure(bench, 'off')
  expect(await bench.call('run_command', { command: 'touch', args: ['made'] })).toContain('"sandbox":"off"')
  await configure(bench, 'docker')
  expect(await bench.call('run_command', { command: 'touch', args: ['again'] })).toContain('docker')
  await configure(firm, 'docker')

  expect(await isThere(join(bench.workspace, 'made'))).toBe(true)
  expect(await isThere(join(bench.workspace, 'again'))).toBe(false)
  expect(await firm.call('run_command', { command: 'touch', args: ['made'] })).toContain('"sandbox":"off"')
})

test('[CH-97, CH-98] limits of commands are configured while nothing restarts, for agents that set none', async () => {
  const bench = await aBench({ bench: { shell: { approval: false }, sandbox: 'off' } })
  const own = await aBench({ bench: { shell: { approval: false }, sandbox: { mode: 'off', limits: { fileBytes: 1_048_576 } } } })
  const write = { command: 'truncate', args: ['-s', '500000', 'made'] }
  for (const { request } of [bench, own])
    expect(
      await request('config.set', {
        key: 'agents.defaults.sandbox.limits.fileBytes',
        value: 8192,
        baseHash: (await request('config.get')).payload.hash,
      }),
    ).toMatchObject({ ok: true })

  const answer = await bench.call('run_command', write)

  expect(answer).toContain('"code":"sandbox_limit"')
  expect(answer).toContain('8 KiB for one file')
  expect(answer).toContain('sandbox.limits.fileBytes')
  expect(await own.call('run_command', write)).toContain('"exitCode":0')
})

test('the tools of a session are those of the agent that its key names', async () => {
  const tool = (name: string) => aTool(name, 'plugin')
  const agents = ['main', 'coder'].map((name) => agent({ name, model: 'test/model', tools: [tool(`of_${name}`)] }))
  const bench = await aBench({}, { agents })
  await bench.ask('hello', { sessionKey: 'agent:coder:x' })

  const { payload } = await bench.request('tools.list', { sessionKey: 'agent:coder:x' })

  expect(payload.agents.map(({ agent, tools }: any) => [agent, tools.map(({ name }: any) => name)])).toEqual([['coder', ['of_coder']]])
})

test('[CH-93] with categories disabled the report of what a prompt is made of gets shorter by their tools', async () => {
  const report = async (disable: ('files' | 'plugin')[]) => {
    const bench = await aBench({ tools: [aTool('mine', 'plugin')], bench: { disable } })
    const text = await bench.ask('/context json', { origin: { channel: 'web', to: 'me' } })
    return JSON.parse(text) as { prompt: { chars: number; tools: { name: string; chars: number }[] } }
  }
  const all = await report([])
  const some = await report(['files', 'plugin'])

  expect(some.prompt.tools.map(({ name }) => name)).toEqual(['calculate', 'now'])
  const gone = all.prompt.tools.filter(({ name }) => !['calculate', 'now'].includes(name))
  expect(all.prompt.chars - some.prompt.chars).toBe(gone.reduce((sum, { chars }) => sum + chars, 0))
})

test('[CH-35] the data of the node are no files of an agent, where they lie in its workspace under any name', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'statecast-data-'))
  onTestFinished(() => rm(workspace, { recursive: true }))
  const bench = await aBench({ bench: { files: 'rw' } }, { workspace, transport: `embedded:${join(workspace, 'data')}` })

  expect(await bench.call('list_files', { path: 'data' })).toContain('hidden')
  for (const name of ['statecast.db', 'token']) {
    expect(await bench.call('read_file', { path: `data/${name}` })).toMatch(/hidden|there is no/)
    expect(await bench.call('write_file', { path: `data/${name}`, content: 'mine' })).toContain('hidden')
  }
})

test('[CH-35] files are written, changed and found, and no path leads out of the workspace', async () => {
  const bench = await aBench({ bench: { files: 'rw' } })
  const beside = `${bench.workspace}-beside.txt`
  await writeFile(beside, 'untouched')
  onTestFinished(() => rm(beside))

  await bench.call('write_file', { path: 'notes/plan.md', content: 'buy milk\n' })
  await bench.call('edit_file', { path: 'notes/plan.md', old: 'milk', new: 'bread' })
  expect(await bench.call('search_files', { pattern: 'BREAD' })).toContain('notes/plan.md')
  for (const path of [beside, `../${beside.split('/').at(-1)}`, '~/x', 'notes/../../x', '.env', 'a\0b'])
    for (const [name, input] of [
      ['write_file', { path, content: 'changed' }],
      ['edit_file', { path, old: 'untouched', new: 'changed' }],
      ['read_file', { path }],
      ['search_files', { pattern: 'untouched', path }],
    ] as const)
      expect(await bench.call(name, input)).toMatch(/"code":"tool_(failed|input)"|is outside|is hidden|is absolute|NUL/)

  expect(await readFile(join(bench.workspace, 'notes/plan.md'), 'utf8')).toBe('buy bread\n')
  expect(await readFile(beside, 'utf8')).toBe('untouched')
})

test('[CH-35] a command waits for a person, and what means something to a shell is plain text to it', async () => {
  const bench = await aBench({ bench: { shell: true, sandbox: 'off' } })
  const args = ['%s|', '; rm -rf .', '$(touch made)', '`touch made`', '\ntouch made', '&& touch made', '> made']
  const runId = await bench.begin(JSON.stringify({ name: 'run_command', input: { command: 'printf', args } }))

  const { payload: asked } = await bench.event('approval.requested')
  expect(asked.approval).toMatchObject({ name: 'run_command', input: { command: 'printf' } })
  await bench.request('approvals.resolve', {
    sessionKey: 'main',
    callId: asked.approval.callId,
    decision: 'approve',
    inputHash: asked.approval.inputHash,
  })

  expect(JSON.parse(await bench.ended(runId))).toMatchObject({ exitCode: 0, stdout: `${args.slice(1).join('|')}|` })
  expect(await isThere(join(bench.workspace, 'made'))).toBe(false)
  expect(await isThere(bench.workspace)).toBe(true)
})
