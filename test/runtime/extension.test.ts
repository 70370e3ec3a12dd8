/** Systems on top of sessions: chat is one of them, an app may leave it out, and others come in by the same contract. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test, vi } from 'vitest'
import { sendParent, setup } from 'xstate'
import { z } from 'zod'
import { chat } from '../../src/chat.ts'
import {
  agent,
  createRuntime,
  type DeskAnswer,
  type DeskInput,
  type DeskRequest,
  type Extension,
  RuntimeError,
  type SessionSockets,
} from '../../src/index.ts'
import { testChannel, testRuntime, virtualClock } from '../../src/testing/index.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/index.ts'
import { owed } from '../tidy/layers.ts'
import { reachableFrom, repository } from '../tidy/sources.ts'
import { anEnvironment } from '../transport/harness.ts'

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

test('what chat() is told of an agent holds for its messages from channels', async () => {
  const clock = virtualClock()
  const channel = testChannel(clock)
  const extensions = [chat({ channels: [channel], agents: { main: { responsePrefix: 'chat: ' } } })]
  await using kit = await testRuntime({ agents: [main], models, clock, extensions })

  await kit.clock.until((await kit.clock.until(kit.session('s').send('hi', { origin }))).result())

  expect(channel.texts).toEqual(['chat: hello'])
})

const lamp = setup({}).createMachine({})
const noLamp = (): never => {
  throw new Error('no lamp')
}
const sockets = (session: () => unknown): Extension => ({ name: 'lamps', session: session as never })

test.each<[string, Parameters<typeof createRuntime>[0], string, string]>([
  ['settings of an agent that is not there', { extensions: [chat({ agents: { nobody: {} } })] }, 'bad_request', 'agents.nobody'],
  ['channels beside extensions', { extensions: [], channels: [] }, 'bad_request', 'channels'],
  ['two of one name', { extensions: [chat(), chat()] }, 'conflict', 'extensions'],
  ['two that stand in front of sessions', { extensions: [chat(), { name: 'other', session: () => ({}) }] }, 'conflict', 'extensions'],
  ['what is no extension', { extensions: [{}] as never }, 'bad_request', 'extensions'],
  ['a machine that is none', { extensions: [{ name: 'lamps', machines: { lamp: () => undefined as never } }] }, 'bad_request', 'extensions'],
  [
    'a machine with an option that there is not',
    { extensions: [{ name: 'lamps', machines: { lamp: { machine: setup({}).createMachine({}), often: 1 } as never } }] },
    'bad_request',
    'machines.lamp.often',
  ],
  ['a machine of the kind session', { extensions: [{ name: 'lamps', machines: { session: lamp } }] }, 'conflict', 'extensions'],
  ['a machine of the kind provider', { extensions: [{ name: 'lamps', machines: { provider: () => lamp } }] }, 'conflict', 'extensions'],
  [
    'a function that makes a machine of another kind than its own',
    { extensions: [{ name: 'lamps', machines: { lamp: () => ({ kind: 'session', machine: lamp }) as never } }] },
    'conflict',
    'extensions',
  ],
  [
    'what is registered by nobody',
    { extensions: [{ name: 'lamps', machines: { lamp: { kind: 'lamp', machine: lamp } as never } }] },
    'bad_request',
    'machines.lamp.kind',
  ],
  ['a machine that comes late', { extensions: [{ name: 'lamps', machines: { lamp: async () => lamp } as never }] }, 'bad_request', 'extensions'],
  ['a machine that cannot be made', { extensions: [{ name: 'lamps', machines: { lamp: noLamp } }] }, 'bad_request', 'extensions'],
  ['no machines at all', { extensions: [{ name: 'lamps', machines: null as never }] }, 'bad_request', 'extensions.lamps.machines'],
  ['a list of machines', { extensions: [{ name: 'lamps', machines: [lamp] as never }] }, 'bad_request', 'extensions.lamps.machines'],
  ['a key that there is not', { extensions: [{ name: 'lamps', stert: noLamp } as never] }, 'bad_request', 'extensions.lamps.stert'],
  ['a start that is no function', { extensions: [{ name: 'lamps', start: 5 as never }] }, 'bad_request', 'extensions.lamps.start'],
  ['a session that is no function', { extensions: [{ name: 'lamps', session: 5 as never }] }, 'bad_request', 'extensions.lamps.session'],
  ['sockets that come late', { extensions: [sockets(async () => ({ receive: noLamp }))] }, 'bad_request', 'extensions.lamps.session'],
  ['sockets that fail late', { extensions: [sockets(() => Promise.reject(new Error('no lamp')))] }, 'bad_request', 'extensions.lamps.session'],
  ['sockets that cannot be made', { extensions: [sockets(noLamp)] }, 'bad_request', 'extensions'],
  ['no sockets', { extensions: [sockets(() => undefined)] }, 'bad_request', 'extensions.lamps.session'],
  ['a number for sockets', { extensions: [sockets(() => 5)] }, 'bad_request', 'extensions.lamps.session'],
  ['a socket that there is not', { extensions: [sockets(() => ({ dsk: {} }))] }, 'bad_request', 'extensions.lamps.session.dsk'],
  ['a desk that is none', { extensions: [sockets(() => ({ desk: 5 }))] }, 'bad_request', 'extensions.lamps.session.desk'],
  [
    'a desk without a schema',
    { extensions: [sockets(() => ({ desk: { logic: lamp, annotations: {} } }))] },
    'bad_request',
    'extensions.lamps.session.desk.annotations',
  ],
  [
    'a publisher that follows nothing',
    { extensions: [sockets(() => ({ publisher: { logic: lamp, conclude: noLamp } }))] },
    'bad_request',
    'extensions.lamps.session.publisher.follows',
  ],
  ['a receiver that is no function', { extensions: [sockets(() => ({ receive: 5 }))] }, 'bad_request', 'extensions.lamps.session.receive'],
  ['a stopper that is none', { extensions: [{ name: 'lamps', start: async () => ({ stop: noLamp }) as never }] }, 'bad_request', 'extensions'],
  ['a kind that chat has', { machines: { heartbeat: setup({}).createMachine({}) } }, 'conflict', 'machines'],
])('%s: a runtime does not start', async (_, options, code, field) => {
  await expect(createRuntime({ transport: 'memory:', agents: [main], ...options })).rejects.toMatchObject({ code, field, hint: expect.any(String) })
})

test('an extension may be an object of a class, with fields of its own', async () => {
  class Lamps implements Extension {
    readonly name = 'lamps'
    pressed = 0
    session() {
      return this
    }
    async start() {
      this.pressed += 1
      return () => undefined
    }
    receive: NonNullable<SessionSockets['receive']> = () => noLamp()
  }
  const lamps = new Lamps()
  await using kit = await testRuntime({ agents: [main], models, extensions: [lamps] })

  expect(lamps.pressed).toBe(1)
  await expect(kit.clock.until(kit.session('s').send('hi'))).rejects.toMatchObject({ code: 'internal' })
})

test.each<[string, NonNullable<SessionSockets['receive']>]>([
  ['throws', noLamp],
  ['rejects', () => Promise.reject(new Error('no lamp'))],
])('where receive() of an extension %s, the sender is told whose it is, and so is the log', async (_, receive) => {
  await using kit = await testRuntime({ agents: [main], models, extensions: [sockets(() => ({ receive }))] })

  await expect(kit.clock.until(kit.session('s').send('hi'))).rejects.toMatchObject({
    code: 'internal',
    message: "the extension 'lamps' failed to receive the message: no lamp",
    hint: expect.stringContaining('receive()'),
  })
  expect(kit.log).toContainEqual(expect.objectContaining({ level: 'error', fields: expect.objectContaining({ extension: 'lamps' }) }))
})

test('an extension brings machines of its own, begins when actors run and ends before they are closed', async () => {
  const told: string[] = []
  const lamp = setup({ types: { events: {} as { type: 'press' } } }).createMachine({
    initial: 'off',
    states: { off: { on: { press: 'on' } }, on: {} },
  })
  const lamps: Extension = {
    name: 'lamps',
    machines: { lamp, shade: () => ({ machine: lamp, strict: true }) },
    async start({ runtime }) {
      await runtime.actor('lamp', 'hall').send({ type: 'press' })
      await runtime
        .actor('shade', 'hall')
        .send({ type: 'pull' })
        .catch(({ code }: RuntimeError) => told.push(code))
      told.push('started')
      return async () => void told.push(String((await runtime.actor('lamp', 'hall').snapshot()).value))
    },
  }
  const kit = await testRuntime({ agents: [main], models, extensions: [lamps] })
  await kit.close()

  expect(told).toEqual(['bad_request', 'started', 'on'])
})

const broken = (start: () => Promise<never>): Extension => ({ name: 'broken', start })

test.each<[string, () => Promise<never>]>([
  ['rejects', () => Promise.reject(new Error('no lamp'))],
  [
    'throws',
    () => {
      throw new Error('no lamp')
    },
  ],
])('where the start of an extension %s, what had started is stopped, and the folder is free at once', async (way, start) => {
  const told: string[] = []
  const tells = (name: string): Extension => ({ name, start: async () => () => void told.push(`${name} stopped`) })
  const options = { transport: `embedded:${join(folder, way)}`, agents: [main], models }

  await expect(createRuntime({ ...options, extensions: [tells('first'), tells('second'), broken(start), tells('late')] })).rejects.toMatchObject({
    code: 'bad_request',
    field: 'extensions',
    message: "the extension 'broken' did not start: no lamp",
    hint: expect.any(String),
  })

  expect(told).toEqual(['second stopped', 'first stopped'])
  await using runtime = await createRuntime({ ...options, extensions: [] })
  expect(await (await runtime.session('s').send('hi')).result()).toMatchObject({ text: 'hello' })
})

test('a runtime that did not start leaves no timer, and what is published to others', async () => {
  const clock = virtualClock()
  const environment = { ...anEnvironment(), clock }
  const transport = await openMemory({ environment, store: createMemoryStore() })
  const waiting = clock.pending()

  const starting = createRuntime({
    transport,
    environment,
    agents: [main],
    models,
    retention: { idleDays: 1 },
    extensions: [broken(() => Promise.reject(new Error('no lamp')))],
  })

  await expect(starting).rejects.toMatchObject({ code: 'bad_request' })
  await clock.settle()
  expect(clock.pending()).toBe(waiting)
  const heard: string[] = []
  const stop = transport.inbox.consume('statecast.in.>', async ({ id, ack }) => {
    heard.push(id)
    await ack()
  })
  await transport.inbox.put('statecast.in.session.s', 'letter', new TextEncoder().encode('{"type":"message","text":"hi"}'))
  await clock.until(() => heard.length > 0)
  expect(heard).toEqual(['letter'])
  await stop()
  await transport.close()
})

test('an error of its own is what an extension that cannot start is known by', async () => {
  const own = new RuntimeError('log_full', 'no room for lamps', { retryable: true })

  await expect(createRuntime({ transport: 'memory:', agents: [main], extensions: [broken(() => Promise.reject(own))] })).rejects.toBe(own)
})

test('an extension that cannot stop keeps nothing else from ending', async () => {
  const told: string[] = []
  const stubborn: Extension = { name: 'stubborn', start: async () => () => Promise.reject(new Error('no')) }
  const tells: Extension = { name: 'tells', start: async () => () => void told.push('stopped') }
  const kit = await testRuntime({ agents: [main], models, extensions: [tells, stubborn] })

  await kit.close()

  expect(told).toEqual(['stopped'])
  expect(kit.log).toContainEqual(expect.objectContaining({ level: 'error', fields: expect.objectContaining({ extension: 'stubborn' }) }))
})

const never = () => new Promise<never>(() => undefined)

test.each(['close', 'drain'] as const)('an extension that never ends to stop holds up %s() for a while only, and the log names it', async (way) => {
  const told: string[] = []
  const endless: Extension = { name: 'endless', start: async () => never }
  const tells: Extension = { name: 'tells', start: async () => () => void told.push('stopped') }
  const kit = await testRuntime({ agents: [main], models, extensions: [tells, endless] })
  const begun = kit.clock.now()

  await kit.clock.until(kit.runtime[way](), 60_000)

  expect(kit.clock.now() - begun).toBe(10_000)
  expect(told).toEqual(['stopped'])
  expect(kit.log).toContainEqual(expect.objectContaining({ level: 'error', fields: { extension: 'endless', timeoutMs: 10_000 } }))
  await kit.close()
})

test('an extension that does not start in time keeps the runtime from starting; what it begins after all is ended', async () => {
  const told: string[] = []
  const belated = Promise.withResolvers<() => void>()
  const errors: object[] = []
  const clock = virtualClock()
  const plain = anEnvironment()
  const environment = { ...plain, clock, log: { ...plain.log, error: (fields: object) => void errors.push(fields) } }
  const tells: Extension = { name: 'tells', start: async () => () => void told.push('tells stopped') }
  const starting = createRuntime({
    transport: 'memory:',
    environment,
    agents: [main],
    models,
    extensions: [tells, { name: 'endless', start: () => belated.promise }],
  })

  await expect(clock.until(starting, 60_000)).rejects.toMatchObject({
    code: 'timeout',
    field: 'extensions',
    message: expect.stringContaining("'endless'"),
    hint: expect.stringContaining('start()'),
  })
  expect(errors).toEqual([{ extension: 'endless', timeoutMs: 30_000 }])
  expect(told).toEqual(['tells stopped'])
  belated.resolve(() => void told.push('endless stopped'))
  await clock.settle()

  expect(told).toEqual(['tells stopped', 'endless stopped'])
  expect(clock.pending()).toBe(0)
})

test('what was published before the start waits until every extension has started', async () => {
  const options = { transport: `embedded:${join(folder, 'waits')}`, agents: [main], models: { 't/m': () => ({ text: 'hello' }) } }
  const before = await createRuntime({ ...options, resume: false })
  await before.publish('statecast.in.session.s', new TextEncoder().encode('{"type":"message","text":"published"}'), 'letter')
  await before.close()
  const speaks: Extension = {
    name: 'speaks',
    start: async ({ runtime }) => {
      await (await runtime.session('s').send('of the extension')).result()
      return () => undefined
    },
  }

  await using runtime = await createRuntime({ ...options, extensions: [speaks] })

  const asked = async () => (await runtime.session('s').history()).flatMap((message) => (message.role === 'user' ? [message.text] : []))
  await vi.waitFor(async () => expect(await asked()).toEqual(['of the extension', 'published']), { timeout: 20_000 })
})

const messageIn = (request: DeskRequest) => {
  if (request.type !== 'message') throw new Error(`${request.type} is no message`)
  return request.message
}

/** Who stands at the door of a club and lets in whom it knows, written with what the package exports. */
const doorman = (guests: readonly string[]): Extension => ({
  name: 'doorman',
  session({ receive }) {
    const desk = setup({
      types: { events: {} as DeskRequest, input: {} as DeskInput },
      guards: { isGuest: ({ event }) => event.type === 'message' && guests.includes(String(event.message.annotations?.guest)) },
      actions: {
        admit: sendParent(({ event }): DeskAnswer => {
          const { type: _, ...message } = messageIn(event)
          return { type: 'admit', ...message, note: `the guest is ${String(message.annotations?.guest)}` }
        }),
        refuse: sendParent(({ event }): DeskAnswer => {
          const { id } = messageIn(event)
          return { type: 'refuse', id, code: 'forbidden', message: 'you are not on the list', hint: 'ask to be put on it' }
        }),
      },
    }).createMachine({ on: { message: [{ guard: 'isGuest', actions: 'admit' }, { actions: 'refuse' }] } })
    return {
      desk: { logic: desk, annotations: z.object({ guest: z.string() }) },
      receive: ({ origin, ...message }, by) => ({ ...receive(message, by), annotations: { guest: origin?.to ?? 'nobody' } }),
    }
  },
})

test('an extension of somebody else stands in front of sessions as chat does, with what the package exports', async () => {
  const asked: string[] = []
  const echo = {
    't/m': ({ messages }: { messages: { role: string; before?: string; text?: string }[] }) => {
      asked.push(messages.map(({ before = '', text = '' }) => `${before}|${text}`).join())
      return { text: 'welcome' }
    },
  }
  await using kit = await testRuntime({ agents: [main], models: echo, extensions: [doorman(['ann'])] })

  const run = await kit.clock.until(kit.session('club').send('hi', { origin: { channel: 'door', to: 'ann' } }))
  expect(await kit.clock.until(run.text())).toBe('welcome')
  expect(asked).toEqual([expect.stringMatching(/the guest is ann[^|]*\|hi$/)])
  await expect(kit.clock.until(kit.session('club').send('me too', { origin: { channel: 'door', to: 'bob' } }))).rejects.toMatchObject({
    code: 'forbidden',
    hint: 'ask to be put on it',
  })
  expect(asked).toHaveLength(1)
})

test.each([
  ['left out', [chat()], []],
  ['added', [], [chat()]],
])('where chat was %s, conversations that are there are refused, and the hint names what has changed', async (_, before, after) => {
  await using kit = await testRuntime({ agents: [main], models, extensions: before })
  await kit.clock.until((await kit.clock.until(kit.session('s').send('hi'))).result())
  await kit.close()
  await kit.restart({ extensions: after })

  const refused = kit.session('s').view()

  await expect(refused).rejects.toMatchObject({ code: 'drift', hint: expect.stringMatching(/extension .*chat\(\).*onDrift/) })
})
