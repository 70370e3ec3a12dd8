/** Skills as a person at a socket has them: found, told to the model, read, called, filtered. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { chat } from '../../../src/chat.ts'
import { agent, type RuntimeOptions, tool } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { aFolder, manual, putSkill } from '../../support/skill-folder.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

type Asked = { instructions: string; messages: any[]; tools: { name: string }[] }

/** A gateway whose model writes down what it is sent. @param answer what it says; default: ok */
const aNode = async (app: RuntimeOptions & { main?: object } = {}, answer: (asked: Asked) => object = () => ({ text: 'ok' })) => {
  const workspace = app.workspace ?? (await aFolder())
  const asked: Asked[] = []
  const { main, ...options } = app
  const model = (request: Asked) => {
    asked.push(structuredClone({ instructions: request.instructions, messages: request.messages, tools: request.tools }))
    return answer(request)
  }
  const { gateway, runtime, rpc } = await aGateway(
    {},
    {
      agents: [agent({ name: 'main', model: 'test/model', instructions: 'Be brief.', ...main })],
      models: { 'test/model': model },
      ...options,
      workspace,
    },
  )
  const socket = await aSocket(gateway.url)
  let count = 0
  /** Says something and waits for the end of its run. */
  const say = async (message: string, more: object = {}) => {
    const key = `k${++count}`
    await socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey: key, ...more })
    const { payload } = await socket.event('chat', ({ state, runId }) => state !== 'delta' && runId === key)
    return payload
  }
  const list = async (input: object = {}) => (await socket.request('skills.list', input)).payload
  return { gateway, runtime, rpc, asked, workspace, say, list, ...socket }
}
const web = { origin: { channel: 'web', to: 'me', sender: 'me' } }
const namesIn = ({ instructions }: Asked) => [...instructions.matchAll(/^- ([a-z0-9-]+): /gm)].map(([, name]) => name)

test('[CH-54] of each kind one: installed, bundled, from an MCP server and from a language server, each with its source', async () => {
  const workspace = await aFolder()
  await putSkill(join(workspace, 'skills'), 'local')
  const of = (name: string, source: string) => tool({ name, description: `${name} it`, input: z.object({ q: z.string() }), source, execute: () => 1 })
  const tools = [of('issues', 'mcp:github'), of('rename', 'lsp:typescript'), of('plain', 'service:x')]
  const { list } = await aNode({ workspace, skills: { bundled: ['skill-writer'] }, main: { tools } })

  const { skills } = await list()

  expect(skills.filter(({ eligible }: any) => eligible)).toMatchObject([
    { name: 'issues', kind: 'mcp', source: 'github', parameters: { properties: { q: { type: 'string' } } } },
    { name: 'local', kind: 'workspace', source: 'skills', description: 'For local.', path: join(workspace, 'skills/local') },
    { name: 'rename', kind: 'lsp', source: 'typescript' },
    { name: 'skill-writer', kind: 'bundled', source: 'bundled-skills' },
  ])
})

test('[CH-55] the copy in the workspace is used before the managed, the bundled and the extra one', async () => {
  const [workspace, managed, extra] = [await aFolder(), await aFolder(), await aFolder()]
  await putSkill(join(workspace, 'skills'), 'skill-writer', { body: 'The way of this house.' })
  await putSkill(managed, 'statecast-help', { body: 'managed' })
  await putSkill(managed, 'one', { body: 'managed' })
  for (const name of ['skill-writer', 'one', 'two']) await putSkill(extra, name, { body: 'extra' })
  const { asked, say, list } = await aNode({ workspace, skills: { bundled: true, managed, directories: [extra] } }, ({ messages }) =>
    messages.at(-1).role === 'user' ? { calls: [{ name: 'read_skill', input: { name: 'skill-writer' } }] } : { text: 'ok' },
  )

  await say('write one')

  expect((await list()).skills.map(({ name, kind }: any) => [name, kind])).toEqual([
    ['one', 'managed'],
    ['skill-writer', 'workspace'],
    ['statecast-help', 'managed'],
    ['two', 'extra'],
  ])
  expect(asked[1]?.messages.at(-1).output.text).toContain('The way of this house.')
})

test('[CH-55] broken, hostile and escaping skills are skipped, each with what to mend, and the others work', async () => {
  const workspace = await aFolder()
  const skills = join(workspace, 'skills')
  const outside = await aFolder()
  await putSkill(outside, 'elsewhere')
  await putSkill(skills, 'good')
  await putSkill(skills, 'no-matter', { text: 'nothing' })
  await putSkill(skills, 'huge', { body: 'x'.repeat(300_000) })
  await symlink(join(outside, 'elsewhere'), join(skills, 'elsewhere'))
  await mkdir(join(skills, 'linked'))
  await symlink(join(outside, 'elsewhere', 'SKILL.md'), join(skills, 'linked', 'SKILL.md'))
  await mkdir(join(skills, 'no-skill'))
  const { asked, say, list, runtime } = await aNode({ workspace })

  await say('hi')

  const { problems } = await list()
  expect(problems.map(({ path, hint }: any) => [path.slice(skills.length + 1), typeof hint])).toEqual([
    ['elsewhere', 'string'],
    ['huge', 'string'],
    ['linked', 'string'],
    ['no-matter', 'string'],
  ])
  expect(namesIn(asked[0] as Asked)).toEqual(['good'])
  expect(partsOf(runtime).skills.list().problems).toHaveLength(4)
})

test('[CH-56] a skill whose program is missing is absent, and the trace says why', async () => {
  const workspace = await aFolder()
  const needs = 'metadata: { statecast: { requires: { bins: [no-such-program-anywhere] } } }'
  await putSkill(join(workspace, 'skills'), 'able')
  await putSkill(join(workspace, 'skills'), 'unable', { matter: needs })
  await putSkill(join(workspace, 'skills'), 'hidden', { matter: 'disable-model-invocation: true' })
  await putSkill(join(workspace, 'skills'), 'off')
  const { asked, say, request, list } = await aNode({ workspace, skills: { entries: { off: { enabled: false } } } })

  await say('hi')

  expect(namesIn(asked[0] as Asked)).toEqual(['able'])
  const trace = JSON.stringify((await request('trace.read', { id: 'main' })).payload)
  expect(trace).toContain('"name":"unable","why":"not on the PATH: no-such-program-anywhere"')
  const { skills } = await list()
  expect(skills.find(({ name }: any) => name === 'unable')).toMatchObject({ eligible: false, why: expect.stringMatching(/no-such-program/) })
  expect(skills.find(({ name }: any) => name === 'hidden')).toMatchObject({ eligible: true, hidden: true, command: 'hidden' })
  expect(skills.find(({ name }: any) => name === 'off')).toMatchObject({ eligible: false, why: expect.stringMatching(/switched off/) })
})

test('[CH-57, CH-90] without a change the second turn looks nowhere, and its prompt is the same to the byte; the version is in the trace', async () => {
  const workspace = await aFolder()
  await putSkill(join(workspace, 'skills'), 'weather')
  const { asked, say, list, request } = await aNode({ workspace })
  const before = await list()

  await say('one')
  await say('two')

  expect((await list()).builds).toBe(before.builds)
  expect(asked[1]?.instructions).toBe(asked[0]?.instructions)
  expect(JSON.stringify(asked[1]?.tools)).toBe(JSON.stringify(asked[0]?.tools))
  const trace = JSON.stringify((await request('trace.read', { id: 'main' })).payload)
  expect(trace.split(`"skillsVersion":"${before.version}"`).length).toBeGreaterThan(2)
  expect(trace).toContain(`"skills":{"version":"${before.version}","names":["weather"]}`)
})

test('[CH-57] after a change the next turn has the new ones; what was said before it keeps those it began with', async () => {
  const workspace = await aFolder()
  const skills = join(workspace, 'skills')
  await putSkill(skills, 'old')
  const gate = Promise.withResolvers<void>()
  const wait = tool({ name: 'wait', description: 'waits', input: z.object({}), execute: () => gate.promise.then(() => 'done') })
  const { asked, say, list, request, event } = await aNode({ workspace, main: { tools: [wait] } }, ({ messages }) =>
    messages.at(-1).text === 'long' ? { calls: [{ name: 'wait' }] } : { text: 'ok' },
  )
  const { version } = await list()
  await request('chat.send', { sessionKey: 'main', message: 'long', idempotencyKey: 'long' })
  await event('session.tool', ({ state }) => state === 'running')
  await request('chat.send', { sessionKey: 'main', message: 'followup', idempotencyKey: 'followup', queueMode: 'followup' })

  await putSkill(skills, 'new')
  await vi.waitFor(async () => expect((await list()).version).not.toBe(version), 5_000)
  expect((await list({ sessionKey: 'main' })).inUse).toBe(version)
  gate.resolve()
  await event('chat', ({ state, runId }) => state === 'final' && runId === 'followup')
  await say('next')

  expect(asked.map((one) => namesIn(one))).toEqual([['old'], ['old'], ['old'], ['new', 'old']])
})

test('[CH-57] a folder that is made later, a manual that is rewritten and a skill that is taken away are noticed', async () => {
  const { workspace, asked, say, list } = await aNode()
  expect((await list()).version).toBeNull()
  const seen = async (names: string[]) =>
    vi.waitFor(
      async () => expect((await list()).skills.filter(({ eligible }: any) => eligible).map(({ description }: any) => description)).toEqual(names),
      5_000,
    )

  await putSkill(join(workspace, 'skills'), 'late')
  await seen(['For late.'])
  await writeFile(join(workspace, 'skills/late/SKILL.md'), manual('late', { description: 'Another text.' }))
  await seen(['Another text.'])
  await say('hi')
  await rm(join(workspace, 'skills/late'), { recursive: true })
  await seen([])
  await say('hi')

  expect(asked.map(({ instructions }) => instructions)).toEqual([
    expect.stringContaining('- late: Another text. (skills/late/SKILL.md)'),
    'Be brief.',
  ])
  expect(asked.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['read_skill'], []])
})

test('[CH-58] six skills are six lines with name, description and place; none of their text is sent before it is read', async () => {
  const workspace = await aFolder()
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await putSkill(join(workspace, 'skills'), name, { body: 'SECRET RECIPE' })
  const { asked, say, runtime } = await aNode({ workspace })

  await say('hi')

  expect(namesIn(asked[0] as Asked)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  expect(asked[0]?.instructions).toContain('- c: For c. (skills/c/SKILL.md)')
  expect(asked[0]?.instructions).not.toContain('SECRET RECIPE')
  const prompt = await partsOf(runtime).skills.promptFor({ agent: 'main' })
  expect(prompt?.sections[0]?.items).toHaveLength(6)
})

test('[CH-59] a model reads a skill and a file of it with a tool, and has both in its next requests; it gets nowhere else', async () => {
  const workspace = await aFolder()
  await writeFile(join(workspace, 'private.txt'), 'PRIVATE')
  const own = await putSkill(join(workspace, 'skills'), 'tea', { body: 'Water first.', files: { 'references/times.md': 'Three minutes.' } })
  await symlink(join(workspace, 'private.txt'), join(own, 'out.txt'))
  const wants = [
    { name: 'tea' },
    { name: 'tea', file: 'references/times.md' },
    { name: 'tea', file: '../../private.txt' },
    { name: 'tea', file: 'out.txt' },
    { name: 'te' },
  ]
  const { asked, say, events } = await aNode({ workspace }, ({ messages }) => {
    const done = messages.filter(({ role }) => role === 'tool').length
    return done < wants.length ? { calls: [{ name: 'read_skill', input: wants[done] }] } : { text: 'three minutes' }
  })

  const final = await say('make tea')

  expect(final.message?.content.at(-1)).toMatchObject({ text: 'three minutes' })
  expect(events('session.tool').map(({ toolName, state }) => `${toolName} ${state}`)).toEqual(
    ['done', 'done', 'error', 'error', 'error'].flatMap((state) => ['read_skill running', `read_skill ${state}`]),
  )
  const results = asked
    .at(-1)
    ?.messages.filter(({ role }) => role === 'tool')
    .map(({ output }) => output)
  expect(results).toMatchObject([
    { name: 'tea', folder: own, files: ['references/times.md'], text: expect.stringContaining('Water first.') },
    { file: 'references/times.md', text: 'Three minutes.' },
    { error: { message: expect.stringContaining('outside') } },
    { error: { message: expect.stringContaining('outside') } },
    { error: { hint: 'did you mean tea?' } },
  ])
  expect(JSON.stringify(asked)).not.toContain('PRIVATE')
})

test('[CH-59] a person calls a skill with /name: it stays as it was written, and the model is told what to do with it', async () => {
  const workspace = await aFolder()
  await putSkill(join(workspace, 'skills'), 'tea-time')
  await putSkill(join(workspace, 'skills'), 'status')
  const { asked, say, request, rpc } = await aNode({ workspace })

  await say('/tea_time green', web)
  // A program that says nothing of where its message comes from has written for the model alone.
  await rpc('chat.send', { sessionKey: 'main', message: '/tea_time black', idempotencyKey: 'program' })
  await rpc('agent.wait', { sessionKey: 'main', runId: 'program' })
  const stranger = { origin: { ...web.origin, authorised: false } }
  await say('/tea_time white', stranger)
  const help = await say('/skills', web)

  const said = asked.map(({ messages }) => messages.at(-1))
  expect(said[0]).toMatchObject({ role: 'user', text: '/tea_time green', before: expect.stringContaining("calls the skill 'tea-time'") })
  expect(said[1].before ?? '').not.toContain('skill')
  expect(said[2].before ?? '').not.toContain('skill')
  expect(help.message?.content.at(-1)).toMatchObject({ text: 'Skills:\n/status_2: For status.\n/tea_time: For tea-time.' })
  expect((await say('/help', web)).message?.content.at(-1)).toMatchObject({ text: expect.stringContaining('/tea_time: For tea-time.') })
  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(messages[0].text).toBe('/tea_time green')
})

test('[CH-59] a command may call a tool without the model: the tool runs as any other, and what it returns is the answer', async () => {
  const workspace = await aFolder()
  await putSkill(join(workspace, 'skills'), 'shout', { matter: 'command-dispatch: tool\ncommand-tool: loud' })
  await putSkill(join(workspace, 'skills'), 'lost', { matter: 'command-dispatch: tool\ncommand-tool: nowhere' })
  const loud = tool({
    name: 'loud',
    description: 'shouts',
    input: z.object({ command: z.string(), commandName: z.string(), skillName: z.string() }),
    approval: true,
    execute: ({ command }) => command.toUpperCase(),
  })
  const { asked, say, request, event, events } = await aNode({ workspace, main: { tools: [loud] } })
  const shouting = say('/shout hello  there', web)
  const { payload } = await event('approval.requested')
  expect(payload.approval.input).toEqual({ command: 'hello  there', commandName: 'shout', skillName: 'shout' })
  await request('approvals.resolve', {
    sessionKey: 'main',
    callId: payload.approval.callId,
    decision: 'approve',
    inputHash: payload.approval.inputHash,
  })

  expect((await shouting).message?.content.at(-1)).toMatchObject({ text: 'HELLO  THERE' })
  expect((await say('/lost it', web)).message?.content.at(-1)).toMatchObject({ text: expect.stringContaining('there is no tool "nowhere"') })
  expect(asked).toHaveLength(0)
  expect(events('session.tool').map(({ state }) => state)).toEqual(['running', 'done', 'running', 'error'])

  await say('and now?')
  expect(asked[0]?.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ])
})

test('[CH-60] filters of the agent, of the channel and of the message intersect; an empty one means none, also for the tool', async () => {
  const workspace = await aFolder()
  for (const name of ['a', 'b', 'c']) await putSkill(join(workspace, 'skills'), name)
  const phone = { id: 'phone', markdown: false, textMax: 1000, skills: ['b', 'c'], send: () => undefined }
  const { asked, say, request } = await aNode({ workspace, main: { skills: ['a', 'b'] }, extensions: [chat({ channels: [phone] })] })
  const there = { origin: { channel: 'phone', to: 'me', sender: 'me' } }

  await say('agent')
  await say('channel', there)
  await say('message', { skills: ['a', 'c'] })
  await say('all three', { ...there, skills: ['a', 'c'] })
  await say('none', { skills: [] })

  expect(asked.map((one) => namesIn(one))).toEqual([['a', 'b'], ['b'], ['a'], [], []])
  expect(asked.map(({ tools }) => tools.length)).toEqual([1, 1, 1, 0, 0])
  expect(JSON.stringify((await request('trace.read', { id: 'main' })).payload)).toContain('"skillFilter":[]')
})

test('[CH-60] what is configured for an agent and a channel narrows what their authors allow, and opens nothing', async () => {
  const workspace = await aFolder()
  for (const name of ['a', 'b', 'c', 'd']) await putSkill(join(workspace, 'skills'), name)
  const { asked, say, request } = await aNode({ workspace, main: { skills: ['a', 'b', 'c'] }, extensions: [chat()] })
  const configure = async (key: string, value: unknown) =>
    expect(await request('config.set', { key, value, baseHash: (await request('config.get')).payload.hash })).toMatchObject({ ok: true })
  await configure('agents.list', [{ id: 'main', skills: ['b', 'c', 'd'] }])
  await say('agent')
  await configure('channels', { web: { skillFilter: ['c', 'd'] } })
  await say('channel')

  expect(asked.map((one) => namesIn(one))).toEqual([['b', 'c'], ['c']])
})

const run = promisify(execFile)
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

test('[CH-61] two runs at once, each with the key of its own skill: each process has its own, and nobody else ever sees one', async () => {
  const workspace = await aFolder()
  const key = (name: string) => `very-private-value-of-${name}-1234567890`
  for (const name of ['one', 'two']) await putSkill(join(workspace, 'skills'), name, { matter: 'metadata: { statecast: { primaryEnv: SKILL_KEY } }' })
  const both = { waiting: 0, all: Promise.withResolvers<void>() }
  const probe = tool({
    name: 'probe',
    description: 'starts a process',
    input: z.object({}),
    execute: async (_, { env, progress, log }) => {
      if (++both.waiting === 2) both.all.resolve()
      await both.all.promise
      progress(`with ${env?.SKILL_KEY}`)
      log.warn({ key: env?.SKILL_KEY }, `with ${env?.SKILL_KEY}`)
      const script = "const { SKILL_KEY = '', HOME = '', EXTRA = '' } = process.env; console.log(JSON.stringify([SKILL_KEY, HOME, EXTRA]))"
      const { stdout } = await run(process.execPath, ['-e', script], { env: { ...process.env, ...env } })
      const [value, home, extra] = JSON.parse(stdout) as string[]
      return { hash: hash(value as string), home, extra, leaked: stdout }
    },
  })
  const lines: unknown[] = []
  const write = (fields: object, message?: string) => void lines.push([fields, message])
  const log = { debug: write, info: write, warn: write, error: write }
  const { asked, say, request, frames, runtime } = await aNode(
    {
      workspace,
      environment: { log },
      main: { tools: [probe] },
      skills: {
        entries: {
          one: { key: key('one'), env: { HOME: '/changed', EXTRA: 'region-one' } },
          two: { key: key('two') },
        },
      },
    },
    ({ messages }) => (messages.at(-1).role === 'user' ? { calls: [{ name: 'probe' }] } : { text: 'ok' }),
  )

  await Promise.all([say('go', { sessionKey: 'one', skills: ['one'] }), say('go', { sessionKey: 'two', skills: ['two'] })])

  const outputs = await Promise.all(
    ['one', 'two'].map(async (sessionKey) => {
      const { messages } = (await request('chat.history', { sessionKey })).payload
      return messages.find(({ role }: any) => role === 'tool').output
    }),
  )
  expect(outputs).toMatchObject([
    { hash: hash(key('one')), home: process.env.HOME, leaked: expect.stringContaining('[redacted]') },
    { hash: hash(key('two')), home: process.env.HOME, extra: '', leaked: expect.stringContaining('[redacted]') },
  ])
  expect(process.env.SKILL_KEY).toBeUndefined()
  const journals = await Promise.all(
    ['one', 'two'].map(async (id) =>
      Buffer.concat((await request('trace.frames', { id })).payload.frames.map(({ bytes }: any) => Buffer.from(bytes, 'base64'))).toString('latin1'),
    ),
  )
  const listed = [(await request('skills.list')).payload, (await request('sessions.get', { sessionKey: 'one' })).payload]
  const seen = JSON.stringify([asked, frames, lines, listed, partsOf(runtime).skills.list()]) + journals.join()
  expect(lines.length).toBeGreaterThan(0)
  for (const name of ['one', 'two']) expect(seen).not.toContain(key(name))
})

test('[CH-61] without a skill that asks for them there are no variables', async () => {
  const workspace = await aFolder()
  await putSkill(join(workspace, 'skills'), 'one')
  const probe = tool({ name: 'probe', description: 'looks', input: z.object({}), execute: (_, { env }) => ({ names: Object.keys(env ?? {}) }) })
  const { say, request } = await aNode(
    { workspace, main: { tools: [probe] }, skills: { entries: { one: { env: { SKILL_ONE: 'value-of-one' } } } } },
    ({ messages }) => (messages.at(-1).role === 'user' ? { calls: [{ name: 'probe' }] } : { text: 'ok' }),
  )

  await say('with')
  await say('without', { skills: [] })

  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(messages.filter(({ role }: any) => role === 'tool').map(({ output }: any) => output.names)).toEqual([['SKILL_ONE'], []])
})

test('[CH-62] tools of an agent run with the PATH of its environment, which is listed, and described to the model', async () => {
  const bin = await aFolder()
  await writeFile(join(bin, 'align-genes'), '#!/bin/sh\necho "aligned with $BIO_DATA"\n', { mode: 0o755 })
  const shell = tool({
    name: 'shell',
    description: 'runs a command',
    input: z.object({ command: z.string() }),
    execute: async ({ command }, { env }) => (await run('/bin/sh', ['-c', command], { env: { ...process.env, ...env } })).stdout,
  })
  let activated = 0
  const bio = {
    activate: () => {
      activated++
      return { path: [bin], env: { BIO_DATA: '/data/bio' } }
    },
    status: () => ({ packages: ['align-genes 1.0'] }),
    describe: () => 'align-genes 1.0 is installed.',
  }
  const broken = { activate: () => Promise.reject(new Error('no disk space')) }
  const agents = ['main', 'plain', 'unlucky'].map((name) =>
    agent({
      name,
      model: 'test/model',
      tools: [shell],
      ...(name === 'main' && { environment: 'bio' }),
      ...(name === 'unlucky' && { environment: 'broken' }),
    }),
  )
  const { asked, say, request } = await aNode({ agents, extensions: [chat(), { name: 'lab', environments: { bio, broken } }] }, ({ messages }) =>
    messages.at(-1).role === 'user' ? { calls: [{ name: 'shell', input: { command: 'align-genes || echo missing' } }] } : { text: 'ok' },
  )
  expect((await request('environments.list')).payload.environments).toMatchObject([
    { name: 'bio', state: 'inactive', agents: ['main'] },
    { name: 'broken' },
  ])

  await say('align')
  await say('again')
  await say('align', { sessionKey: 'p', agent: 'plain' })
  await say('align', { sessionKey: 'u', agent: 'unlucky' })

  const output = (index: number) => asked[index]?.messages.at(-1).output
  expect([output(1), output(3), output(5), output(7)]).toEqual(['aligned with /data/bio\n', 'aligned with /data/bio\n', 'missing\n', 'missing\n'])
  expect(activated).toBe(1)
  expect(asked[0]?.instructions).toContain("environment 'bio'.\nalign-genes 1.0 is installed.")
  expect(asked[4]?.instructions).not.toContain('Environment')
  expect(asked[6]?.instructions).toContain('not available')
  expect((await request('environments.list')).payload.environments).toMatchObject([
    { name: 'bio', extension: 'lab', agents: ['main'], state: 'active', path: [bin], details: { packages: ['align-genes 1.0'] } },
    { name: 'broken', agents: ['unlucky'], state: 'failed', error: 'no disk space' },
  ])
})

test('[CH-62] an environment that nobody brings keeps the runtime from starting', async () => {
  await expect(aGateway({}, { agents: [agent({ name: 'main', environment: 'bio' })] })).rejects.toMatchObject({
    code: 'bad_request',
    field: 'environment',
  })
})
