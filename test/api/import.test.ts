/** Journals that come from elsewhere, some of them only in part, some of them made up. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { checksum, decode, encode } from '../../src/actors/journal/codec.ts'
import type { Commit } from '../../src/contracts/journal.ts'
import { agent, createRuntime, type Runtime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
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
  frames = (await there.command<FramePage>('trace.frames', { id: 's' })).frames
  await there.close()
  store = createMemoryStore()
  here = await open('from here')
  asked = 0
})
afterEach(() => here.close())

const imports = (some: StoredFrame[], end: { wakeAt?: unknown } = {}) => here.command('trace.import', { id: 's', frames: some, ...end })
const half = () => frames.slice(0, 3)

test.each(['in this life', 'after a kill'])('what is only half imported is nobody’s to use: nothing of it runs (%s)', async (when) => {
  await imports(half())
  if (when === 'after a kill') {
    partsOf(here).host.abandon()
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
    await expect(here.command(command, input)).rejects.toMatchObject(conflict)
  await expect(here.session('s').view()).rejects.toMatchObject(conflict)
  expect(await here.command('sessions.list', {})).toMatchObject({ sessions: [{ key: 's', state: 'importing', busy: false }] })
  expect(await here.command('actors.list', {})).toMatchObject({ actors: [{ id: 's', wakeAt: null, error: { code: 'conflict' } }] })
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
  const { seq } = (await partsOf(here).transport.journal.head({ kind: 'session', id: 's' }))!

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

  expect(await here.command('sessions.delete', { sessionKey: 's' })).toEqual({ deleted: 's' })

  expect(await (await here.session('s').send('hello')).result()).toMatchObject({ text: 'from here' })
})

test('where the last commit came without a wake time, whoever gives one later is told that it is too late', async () => {
  await imports(frames)

  await expect(imports(frames, { wakeAt: null })).rejects.toMatchObject({ code: 'bad_request', hint: expect.stringContaining('delete it') })
})

test.each([Number.NaN, -1, '5', 1e300, Number.POSITIVE_INFINITY])('a wake time of %s is refused', async (wakeAt) => {
  await expect(imports(frames, { wakeAt })).rejects.toMatchObject({ code: 'bad_request', field: 'wakeAt' })
  expect(await partsOf(here).transport.journal.head({ kind: 'session', id: 's' })).toBeUndefined()
})

test.each([{ at: Number.NaN }, { at: -1 }, { at: '5' }, { at: 1e300 }, { inputs: [{ to: '/' }] }, { epoch: 'first' }, { extra: true }])(
  'a commit with %o is none',
  async (change) => {
    const [first] = frames
    const bytes = encode({ ...(decode(Buffer.from(first!.bytes, 'base64')) as object), ...change })

    const importing = imports([{ seq: 1, bytes: Buffer.from(bytes).toString('base64') }], { wakeAt: null })

    await expect(importing).rejects.toMatchObject({ code: 'bad_request', field: 'frames' })
    expect(await partsOf(here).transport.journal.head({ kind: 'session', id: 's' })).toBeUndefined()
  },
)

/** The conversation with one commit changed, the checksums behind it put right: only its content is wrong. */
const remade = (seq: number, change: (commit: Commit) => object): StoredFrame[] => {
  let prev = 0
  return frames.map((frame) => {
    const commit = decode(Buffer.from(frame.bytes, 'base64')) as Commit
    const bytes = encode({ ...(frame.seq === seq ? { ...commit, ...change(commit) } : commit), prev })
    prev = checksum(bytes)
    return { seq: frame.seq, bytes: Buffer.from(bytes).toString('base64') }
  })
}

const transcript = (note: object) => () => ({ notes: [{ type: 'transcript', ...note }] })
const answering = (data: object) => (commit: Commit) => ({
  inputs: commit.inputs.map((input) =>
    'from' in input ? { ...input, event: { ...input.event, data: { ...(input.event.data as object), ...data } } } : input,
  ),
})

test.each<[string, (commit: Commit) => object, string]>([
  ['notes that are no list', () => ({ notes: 'none' }), 'notes'],
  ['a note of another kind', () => ({ notes: [{ type: 'gossip' }] }), 'notes.0.type'],
  ['a note whose list is none', transcript({ add: 'all' }), 'notes.0.add'],
  ['a note that adds a number', transcript({ add: [5] }), 'notes.0.add.0'],
  ['a note that adds half a message', transcript({ add: [{ role: 'assistant', id: 'a' }] }), 'notes.0.add.0'],
  ['a note that drops a number', transcript({ drop: [7] }), 'notes.0.drop.0'],
  ['a note about an end without messages', transcript({ ended: [{ runId: 'r' }] }), 'notes.0.ended.0'],
  ['a note that keeps a part of a message', transcript({ compact: { keep: 0.5, summary: 's' } }), 'notes.0.compact.keep'],
  ['a note of what the journal does not hold', transcript({ add: ['nobody'] }), 'does not hold'],
  ['a note that keeps more than there is', transcript({ compact: { keep: 99, summary: 's' } }), 'keeps 99'],
  ['an answer without a text', answering({ text: 5 }), 'event.data.text'],
  ['an answer whose calls are none', answering({ calls: 'many' }), 'event.data.calls'],
  ['a second beginning', () => ({ create: { machine: 'session', signature: 'x' } }), 'begins anew'],
])('an import with %s is refused, naming the commit and the place', async (_, change, place) => {
  const changed = remade(4, change)

  const importing = imports(changed, { wakeAt: null })

  await expect(importing).rejects.toMatchObject({ code: 'bad_request', field: 'frames', message: expect.stringContaining('commit 4') })
  await expect(importing).rejects.toThrow(place)
  expect(await partsOf(here).transport.journal.head({ kind: 'session', id: 's' })).toBeUndefined()
})

test('what does not fit is found also where it came in an earlier part', async () => {
  const changed = remade(4, transcript({ add: ['nobody'] }))
  await imports(changed.slice(0, 4))

  await expect(imports(changed.slice(4), { wakeAt: null })).rejects.toMatchObject({ message: expect.stringContaining('commit 4') })

  await expect(here.command('chat.history', { sessionKey: 's' })).rejects.toMatchObject({ code: 'conflict' })
})

/** The first commit of the conversation, as one of another address. */
const forged = (address: string, change: object = {}): StoredFrame[] => {
  const commit = decode(Buffer.from(frames[0]!.bytes, 'base64')) as Commit
  return [{ seq: 1, bytes: Buffer.from(encode({ ...commit, address, notes: [], ...change })).toString('base64') }]
}

test.each(['config', 'provider'])('an import takes the place of nothing that the nodes keep for themselves (%s)', async (kind) => {
  const importing = here.command('trace.import', { kind, id: 'main', frames: forged(`${kind}/main`), wakeAt: null })

  await expect(importing).rejects.toMatchObject({ code: 'unsupported', field: 'kind', hint: expect.any(String) })
  expect(await partsOf(here).transport.journal.head({ kind, id: 'main' })).toBeUndefined()
  expect(await here.command('config.get', {})).toMatchObject({ config: {} })
})

/** A commit that would stand behind the last one of the conversation here. */
const oneMore = async (): Promise<StoredFrame[]> => {
  const { frames: own } = await here.command<FramePage>('trace.frames', { id: 's' })
  const last = Buffer.from(own.at(-1)!.bytes, 'base64')
  const seq = own.length + 1
  const { create: _, ...commit } = decode(last) as Commit
  const bytes = encode({ ...commit, seq, prev: checksum(last), inputs: [], notes: [] })
  return [{ seq, bytes: Buffer.from(bytes).toString('base64') }]
}

test('an import appends nothing to a conversation that has work to do here', async () => {
  const answering = Promise.withResolvers<{ text: string }>()
  await here.close()
  here = await createRuntime({
    transport: await openMemory({ environment: systemEnvironment(), store, steal: true }),
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': () => answering.promise },
  })
  const run = await here.session('s').send('hello')

  const importing = imports(await oneMore(), { wakeAt: null })

  await expect(importing).rejects.toMatchObject({ code: 'conflict', retryable: true, hint: expect.stringContaining('at rest') })
  answering.resolve({ text: 'still here' })
  expect(await run.result()).toMatchObject({ text: 'still here' })
})

test('a conversation that grew elsewhere is imported back while it is at rest here', async () => {
  await imports(frames.slice(0, 2), { wakeAt: null })

  expect(await imports(frames, { wakeAt: null })).toMatchObject({ seq: frames.length, known: 2 })
})
