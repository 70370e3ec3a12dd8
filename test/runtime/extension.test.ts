/** Systems on top of sessions: chat is one of them, an app may leave it out, and others come in by the same contract. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { setup } from 'xstate'
import { registerMachine } from '../../src/actors/index.ts'
import { chat } from '../../src/chat.ts'
import { agent, createRuntime } from '../../src/index.ts'
import type { Extension } from '../../src/runtime/index.ts'
import { testChannel, testRuntime, virtualClock } from '../../src/testing/index.ts'
import { owed } from '../tidy/layers.ts'
import { reachableFrom, repository } from '../tidy/sources.ts'

const main = agent({ name: 'main', model: 't/m' })
const models = { 't/m': [{ text: 'hello' }] }
const origin = { channel: 'test', to: 'ann' }

/** A turn with a tool in a process of its own. @returns its answer, and what it has loaded of src/ */
const inAProcess = async (options: string): Promise<{ text: string; loaded: string[] }> => {
  const script = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    const { agent, createRuntime, tool } = await import(${JSON.stringify(join(repository, 'src/index.ts'))})
    const { z } = await import('zod')
    const add = tool({ name: 'add', description: 'adds', input: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
    const runtime = await createRuntime({
      agents: [agent({ name: 'main', model: 't/m', tools: [add] })],
      models: { 't/m': ({ messages }) => messages.at(-1).role === 'tool' ? { text: 'it is 42' } : { calls: [{ name: 'add', input: { a: 2, b: 40 } }] } },
      environment: { log: { debug() {}, info() {}, warn() {}, error: console.error } },
      ${options}
    })
    const { text } = await (await runtime.session('main').send('what is 2 + 40?')).result()
    await runtime.close()
    console.log(JSON.stringify({ text, urls }))
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd: repository })
  const { text, urls } = JSON.parse(stdout) as { text: string; urls: string[] }
  return { text, loaded: urls.filter((url) => url.startsWith('file:')).map((url) => relative(repository, fileURLToPath(url))) }
}

const folder = mkdtempSync(join(tmpdir(), 'statecast-plain-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the agent's machines still draw in by themselves: nothing, once the list of owed imports holds none of theirs. */
const drawnIn = reachableFrom(owed.map((arrow) => arrow.split(' → ')[1] as string).filter((file) => file.startsWith('src/chat/')))

test.each([["transport: 'memory:'"], [`transport: ${JSON.stringify(`embedded:${folder}`)}`]])(
  'an app without extensions answers with its tool and loads nothing of chat beyond what the machines draw in (%s)',
  async (transport) => {
    const { text, loaded } = await inAProcess(`${transport}, extensions: []`)

    expect(text).toBe('it is 42')
    expect(loaded).toContain('src/runtime.ts')
    expect(loaded.filter((file) => file.startsWith('src/chat/') && !drawnIn.has(file))).toEqual([])
  },
)

test('an app that names no extensions gets chat', async () => {
  const { text, loaded } = await inAProcess("transport: 'memory:'")

  expect(text).toBe('it is 42')
  expect(loaded).toContain('src/chat/chat.ts')
})

test('without chat a message from a channel is refused, since nobody could bring its answer there', async () => {
  await using kit = await testRuntime({ agents: [main], models, extensions: [] })

  await expect(kit.clock.until(kit.session('s').send('hi', { origin }))).rejects.toMatchObject({ code: 'unsupported', field: 'origin' })
  expect(await kit.clock.until((await kit.clock.until(kit.session('s').send('hi'))).result())).toMatchObject({ text: 'hello' })
})

test('what chat() says of an agent wins over what agent() says', async () => {
  const clock = virtualClock()
  const channel = testChannel(clock)
  const agents = [agent({ name: 'main', model: 't/m', responsePrefix: 'agent: ' })]
  const extensions = [chat({ channels: [channel], agents: { main: { responsePrefix: 'chat: ' } } })]
  await using kit = await testRuntime({ agents, models, clock, extensions })

  await kit.clock.until((await kit.clock.until(kit.session('s').send('hi', { origin }))).result())

  expect(channel.texts).toEqual(['chat: hello'])
})

test.each([
  ['settings of an agent that is not there', { extensions: [chat({ agents: { nobody: {} } })] }, 'bad_request', 'agents.nobody'],
  ['channels beside extensions', { extensions: [], channels: [] }, 'bad_request', 'channels'],
  ['two of one name', { extensions: [chat(), chat()] }, 'conflict', 'extensions'],
  ['two that stand in front of sessions', { extensions: [chat(), { name: 'other', session: () => ({}) }] }, 'conflict', 'extensions'],
  ['what is no extension', { extensions: [{}] as never }, 'bad_request', 'extensions'],
  ['a kind that chat has', { machines: { heartbeat: setup({}).createMachine({}) } }, 'conflict', 'machines'],
])('%s: a runtime does not start', async (_, options, code, field) => {
  await expect(createRuntime({ transport: 'memory:', agents: [main], ...options })).rejects.toMatchObject({ code, field })
})

test('an extension brings machines of its own, begins when actors run and ends before they are closed', async () => {
  const told: string[] = []
  const lamp = setup({ types: { events: {} as { type: 'press' } } }).createMachine({
    initial: 'off',
    states: { off: { on: { press: 'on' } }, on: {} },
  })
  const lamps: Extension = {
    name: 'lamps',
    machines: { lamp: () => registerMachine('lamp', lamp) },
    async start({ runtime }) {
      await runtime.actor('lamp', 'hall').send({ type: 'press' })
      told.push('started')
      return async () => void told.push(String((await runtime.actor('lamp', 'hall').snapshot()).value))
    },
  }
  const kit = await testRuntime({ agents: [main], models, extensions: [lamps] })
  await kit.close()

  expect(told).toEqual(['started', 'on'])
})
