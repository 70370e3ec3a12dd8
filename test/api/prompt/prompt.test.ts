/** What models are sent by a gateway: the sections of the prompt, how large they are, and that the same comes first each time. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { agent, type RuntimeOptions, tool } from '../../../src/index.ts'
import { startAnthropicServer } from '../../support/anthropic-server.ts'
import { startOpenAiServer } from '../../support/openai-server.ts'
import { manual } from '../../support/skill-folder.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from '../ws/a-socket.ts'

const aFolder = (files: Record<string, string> = {}): string => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-prompt-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}
const aTool = (name: string, fields = 1) =>
  tool({
    name,
    description: `does ${name}`,
    input: z.object(Object.fromEntries(Array.from({ length: fields }, (_, index) => [`field${index}`, z.string()]))),
    execute: () => 'done',
  })

type Sent = { instructions: string; tools: { name: string }[]; messages: unknown[] }
/** A gateway whose model keeps what it is sent. */
const talking = async (app: RuntimeOptions, main: Partial<Parameters<typeof agent>[0]> = {}) => {
  const sent: Sent[] = []
  const models: RuntimeOptions['models'] = {
    'test/keeping': (request) => {
      sent.push(request)
      return { text: 'yes' }
    },
  }
  const { gateway, runtime } = await aGateway({}, { agents: [agent({ name: 'main', model: 'test/keeping', ...main })], models, ...app })
  const socket = await aSocket(gateway.url)
  const say = async (message: string, id: string = message) => {
    await socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey: id })
    return (await socket.event('chat', ({ runId, state }) => runId === id && state !== 'delta')).payload
  }
  return { ...socket, say, sent, runtime, gateway }
}

test('[CH-31] the prompt has its sections in order, each once: a file that says what another one says is left out', async () => {
  const workspace = aFolder({ 'AGENTS.md': 'You are Ada.', 'IDENTITY.md': 'You are Ada.\n', 'NOTES.md': 'Tea at four.' })
  const prompt = {
    identity: 'You are Ada.',
    files: ['AGENTS.md', 'IDENTITY.md', 'NOTES.md', 'NOTES.md'],
    conversation: 'Be brief.',
    tools: 'Prefer tools.',
  }
  const { say, sent } = await talking({ workspace }, { instructions: 'Help.', prompt, tools: [aTool('work')] })
  await say('hi')

  const { instructions } = sent[0] as Sent
  expect(instructions.split('You are Ada.')).toHaveLength(2)
  expect(instructions.split('Tea at four.')).toHaveLength(2)
  const places = ['You are Ada.', 'Prefer tools.', 'Tea at four.', 'Be brief.', 'Help.'].map((text) => instructions.indexOf(text))
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect(places[0]).toBe(0)
})

test('[CH-31] of a file 20,000 characters are sent, with a remark; one outside of the workspace is not', async () => {
  const workspace = aFolder({ 'AGENTS.md': `first ${'x'.repeat(30_000)} last` })
  const { say, sent, request } = await talking({ workspace, prompt: { files: ['AGENTS.md', '../../etc/hosts', 'none.md'] } })
  await say('hi')

  expect(sent[0]?.instructions).toContain('[cut here: AGENTS.md has 30011 characters]')
  expect(sent[0]?.instructions).not.toContain('last')
  const { payload } = await request('sessions.context', { sessionKey: 'main' })
  expect(payload.prompt.files).toEqual([
    { path: 'AGENTS.md', raw: 30_011, injected: 20_000, truncated: true },
    { path: '../../etc/hosts', raw: 0, injected: 0, truncated: false, missing: true },
    { path: 'none.md', raw: 0, injected: 0, truncated: false, missing: true },
  ])
})

/** All that a prompt can have. @returns the names of its sections as they are sent, by the command that reports them */
const sectionsOf = async (sessionKey: string, mode?: 'full' | 'minimal') => {
  const workspace = aFolder({ 'AGENTS.md': 'Tea at four.' })
  mkdirSync(join(workspace, 'skills', 'brew'), { recursive: true })
  writeFileSync(join(workspace, 'skills', 'brew', 'SKILL.md'), manual('brew'))
  const prompt = { identity: 'You are Ada.', files: ['AGENTS.md'], conversation: 'Be brief.', tools: 'Prefer tools.', ...(mode && { mode }) }
  const { request, event, sent } = await talking({ workspace, skills: {} }, { instructions: 'Help.', prompt, tools: [aTool('work')] })
  await request('chat.send', { sessionKey, message: 'hi', idempotencyKey: 'k' })
  await event('chat', ({ state }) => state === 'final')
  const { instructions } = sent[0] as Sent
  const marks = {
    identity: 'You are Ada.',
    tools: 'Prefer tools.',
    skills: 'brew',
    workspace: 'Tea at four.',
    conversation: 'Be brief.',
    instructions: 'Help.',
  }
  const found = Object.entries(marks).filter(([, mark]) => instructions.includes(mark))
  return found.sort(([, a], [, b]) => instructions.indexOf(a) - instructions.indexOf(b)).map(([name]) => name)
}
const all = ['identity', 'tools', 'skills', 'workspace', 'conversation', 'instructions']
const least = ['identity', 'tools', 'instructions']

test.each([
  ['a person', 'agent:main:web:main', undefined, all],
  ['a person of an agent with the least prompt', 'agent:main:web:main', 'minimal', least],
  ['a sub-agent', 'agent:main:sub-agent:7', undefined, least],
  ['a sub-agent of a sub-agent', 'agent:main:sub-agent:7/sub-agent/1', undefined, least],
  ['a sub-agent that is to have all of it', 'agent:main:sub-agent:7', 'full', all],
  ['a session with a similar name', 'agent:main:web:sub-agents', undefined, all],
] as const)('[CH-31] the prompt of %s (%s, mode %s) has its sections in order', async (_, key, mode, sections) => {
  expect(await sectionsOf(key, mode)).toEqual(sections)
})

test('[CH-31] instructions alone are sent as they were written', async () => {
  const { say, sent } = await talking({}, { instructions: '  Help. \n' })
  await say('hi')
  expect(sent[0]?.instructions).toBe('  Help. \n')
})

test('[CH-32] five tools are reported with their sizes, and the total is that of what was sent', async () => {
  const workspace = aFolder({ 'AGENTS.md': 'Rules.' })
  const tools = [1, 2, 3, 4, 5].map((fields) => aTool(`tool${fields}`, fields))
  const { say, sent, request } = await talking(
    { workspace },
    { instructions: 'Help.', tools, prompt: { identity: 'You are Ada.', files: ['AGENTS.md'] } },
  )
  await say('hi')
  const { payload } = await request('sessions.context', { sessionKey: 'main' })

  const { prompt } = payload
  expect(prompt.tools).toMatchObject([1, 2, 3, 4, 5].map((properties) => ({ name: `tool${properties}`, properties })))
  for (const one of prompt.tools) expect(one.chars).toBeGreaterThan(one.schema)
  const { instructions, tools: described } = sent[0] as Sent
  expect(prompt.chars).toBe(instructions.length + described.reduce((sum, one) => sum + JSON.stringify(one).length, 0))
  const parts = [...prompt.sections, ...prompt.tools].reduce((sum: number, { chars }: { chars: number }) => sum + chars, 0)
  expect(prompt.chars).toBe(parts)
  const { message } = await say('/context detail', 'k2')
  expect(message).toMatchObject({
    content: [{ text: expect.stringMatching(/instructions: .*\n.*tool5: \d+ characters, \d+ of them for 5 parameters/s) }],
  })
})

test('[CH-93] with fewer tools the total falls by what they took', async () => {
  const sizeWith = async (...names: string[]) => {
    const { say, request } = await talking({}, { tools: names.map((name) => aTool(name)) })
    await say('hi')
    return (await request('sessions.context', { sessionKey: 'main' })).payload.prompt
  }
  const [all, fewer] = [await sizeWith('one', 'two'), await sizeWith('one')]

  expect(all.chars - fewer.chars).toBe(all.tools[1].chars)
})

test('[CH-90] the second request of a session begins with the bytes of the first, as OpenAI and as Anthropic are sent it', async () => {
  const script = [{ text: 'yes' }, { text: 'and yes' }]
  const servers = { openai: await startOpenAiServer({ script }), anthropic: await startAnthropicServer({ script }) }
  onTestFinished(async () => void (await Promise.all(Object.values(servers).map((server) => server.close()))))
  const workspace = aFolder({ 'AGENTS.md': 'Rules.' })
  for (const provider of ['openai', 'anthropic'] as const) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    const model =
      provider === 'openai'
        ? createOpenAICompatible({ name: 'test', baseURL: servers.openai.url })('m')
        : createAnthropic({ baseURL: `${servers.anthropic.url}/v1`, apiKey: 'k' })('claude-sonnet-4-5')
    const { say } = await talking(
      { workspace, models: { 'test/keeping': model } },
      { instructions: 'Help.', tools: [aTool('one'), aTool('two')], prompt: { files: ['AGENTS.md'] } },
    )
    await say('hi')
    await say('again')
    const [first, second] = servers[provider].requests.map(({ body }) => body)
    const { messages: before, ...stableBefore } = first as typeof first & object
    const { messages: after, ...stableAfter } = second as typeof second & object
    expect(JSON.stringify(stableAfter)).toBe(JSON.stringify(stableBefore))
    const bytes = JSON.stringify(before)
    // Up to the bracket that ends the list.
    expect(JSON.stringify(after).slice(0, bytes.length - 1)).toBe(bytes.slice(0, -1))
  }
})

test('[CH-91] a tool that was added is told as the reason why the prefix changed, and the hit ratio is counted', async () => {
  const folder = aFolder()
  const workspace = aFolder({ 'AGENTS.md': 'Rules.' })
  const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 60 }
  const app = (...names: string[]): [RuntimeOptions, object] => [
    { transport: `embedded:${folder}`, workspace, models: { 'test/keeping': () => ({ text: 'yes', usage }) } },
    { tools: names.map((name) => aTool(name)), prompt: { files: ['AGENTS.md'] } },
  ]
  const first = await talking(...app('one'))
  await first.say('hi')
  await first.say('again')
  expect(first.events('session.prefix')).toEqual([])
  await first.gateway.close()
  await first.runtime.close()

  const second = await talking(...app('one', 'two'))
  await second.say('more')

  expect(second.events('session.prefix')).toMatchObject([{ sessionKey: 'main', runId: 'more', changed: ['tools'] }])
  writeFileSync(join(workspace, 'AGENTS.md'), 'Other rules.')
  await second.say('and more')
  expect(second.events('session.prefix').at(-1)).toMatchObject({ runId: 'and more', changed: ['workspace'] })
  const { payload } = await second.request('sessions.get', { sessionKey: 'main' })
  expect(payload.cache).toMatchObject({ hitRatio: 0.6, read: 240, input: 160, output: 40 })
})
