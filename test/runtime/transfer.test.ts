/** Journals that come from elsewhere, some of them only in part, some of them made up. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decode, encode } from '../../src/actors/codec.ts'
import { systemEnvironment } from '../../src/environment.ts'
import { agent, createRuntime, type Runtime } from '../../src/index.ts'
import { execute } from '../../src/runtime/commands.ts'
import type { FramePage, StoredFrame } from '../../src/runtime/trace.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'

let store: ReturnType<typeof createMemoryStore>
let here: Runtime
let frames: StoredFrame[] = []
/** How often the model was asked here. */
let asked = 0

const open = async (text: string): Promise<Runtime> =>
  createRuntime({
    transport: await openMemory({ environment: systemEnvironment(), store, steal: true }),
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': () => (asked++, { text }) },
  })

beforeEach(async () => {
  store = createMemoryStore()
  const there = await open('from there')
  for (const text of ['one', 'two', 'three']) await (await there.session('s').send(text)).result()
  frames = ((await execute(there, 'trace.frames', { id: 's' })) as FramePage).frames
  await there.close()
  store = createMemoryStore()
  here = await open('from here')
  asked = 0
})
afterEach(() => here.close())

const imports = (some: StoredFrame[], end: { wakeAt?: unknown } = {}) => execute(here, 'trace.import', { id: 's', frames: some, ...end })
const half = () => frames.slice(0, 3)

test.each(['in this life', 'after a kill'])('what is only half imported is nobody’s to use: nothing of it runs (%s)', async (when) => {
  await imports(half())
  if (when === 'after a kill') {
    here.services.host.abandon()
    here = await open('from here')
  }
  const conflict = { code: 'conflict', hint: expect.stringContaining('import it again') }

  for (const [command, input] of [
    ['chat.send', { sessionKey: 's', message: 'hello?' }],
    ['chat.history', { sessionKey: 's' }],
    ['sessions.get', { sessionKey: 's' }],
    ['trace.frames', { id: 's' }],
    ['trace.replay', { id: 's' }],
  ] as const)
    await expect(execute(here, command, input)).rejects.toMatchObject(conflict)
  await expect(here.session('s').view()).rejects.toMatchObject(conflict)
  expect(await execute(here, 'sessions.list', {})).toMatchObject({ sessions: [{ key: 's', state: 'importing', busy: false }] })
  expect(await execute(here, 'actors.list', {})).toMatchObject({ actors: [{ id: 's', wakeAt: null, error: { code: 'conflict' } }] })
  expect(asked).toBe(0)
})

test('an import that is sent again goes on where it was cut off, and then is whole', async () => {
  await imports(half())

  expect(await imports(frames, { wakeAt: null })).toEqual({ seq: frames.length, known: 3 })
  expect(await imports(frames, { wakeAt: null })).toEqual({ seq: frames.length, known: frames.length })

  expect(await (await here.session('s').send('four')).result()).toMatchObject({ text: 'from here' })
  expect((await here.session('s').history()).map((message) => 'text' in message && message.text)).toEqual([
    'one',
    'from there',
    'two',
    'from there',
    'three',
    'from there',
    'four',
    'from here',
  ])
})

test('one that has gone on since says how far it is now', async () => {
  await imports(frames, { wakeAt: null })
  await (await here.session('s').send('four')).result()
  const { seq } = (await here.services.transport.journal.head({ kind: 'session', id: 's' }))!

  expect(await imports(frames, { wakeAt: null })).toEqual({ seq, known: frames.length })

  expect(seq).toBeGreaterThan(frames.length)
})

test('one that comes to its end goes on by itself at the time that was given', async () => {
  // The second message has been accepted, and its answer is still to come.
  const cut = frames.slice(0, 3)

  await imports(cut, { wakeAt: 0 })

  await vi.waitFor(async () => expect((await here.session('s').history()).map((message) => 'text' in message && message.text)).toContain('from here'))
})

test('half an import can be deleted, and its name is free again', async () => {
  await imports(half())

  expect(await execute(here, 'sessions.delete', { sessionKey: 's' })).toEqual({ deleted: 's' })

  expect(await (await here.session('s').send('hello')).result()).toMatchObject({ text: 'from here' })
})

test('where the last commit came without a wake time, whoever gives one later is told that it is too late', async () => {
  await imports(frames)

  await expect(imports(frames, { wakeAt: null })).rejects.toMatchObject({ code: 'bad_request', hint: expect.stringContaining('delete it') })
})

test.each([Number.NaN, -1, '5', 1e300, Number.POSITIVE_INFINITY])('a wake time of %s is refused', async (wakeAt) => {
  await expect(imports(frames, { wakeAt })).rejects.toMatchObject({ code: 'bad_request', field: 'wakeAt' })
  expect(await here.services.transport.journal.head({ kind: 'session', id: 's' })).toBeUndefined()
})

test.each([{ at: Number.NaN }, { at: -1 }, { at: '5' }, { at: 1e300 }, { inputs: [{ to: '/' }] }, { epoch: 'first' }, { extra: true }])(
  'a commit with %o is none',
  async (change) => {
    const [first] = frames
    const bytes = encode({ ...(decode(Buffer.from(first!.bytes, 'base64')) as object), ...change })

    const importing = imports([{ seq: 1, bytes: Buffer.from(bytes).toString('base64') }], { wakeAt: null })

    await expect(importing).rejects.toMatchObject({ code: 'bad_request', field: 'frames' })
    expect(await here.services.transport.journal.head({ kind: 'session', id: 's' })).toBeUndefined()
  },
)
