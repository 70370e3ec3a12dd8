/** Journals that were damaged behind the runtime's back: what is whole can be read, nothing is made up, and deleting is the way out. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, createRuntime, type Runtime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import type { TracePage } from '../../src/runtime/trace.ts'
import { natsForAll } from '../support/nats.ts'
import { folders } from '../transport/folder.ts'
import { acceptNats, cutEmbedded, cutNats } from '../transport/shorten.ts'

const aFolder = folders()
const server = natsForAll()
const address = { kind: 'session', id: 'main' }

const open = async (transport: string, prefix?: string): Promise<Runtime> => {
  const runtime = await createRuntime({
    transport,
    ...(prefix === undefined ? {} : { prefix }),
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': ({ messages }) => ({ text: `answer ${messages.filter(({ role }) => role === 'user').length}` }) },
  })
  onTestFinished(() => runtime.close())
  return runtime
}
const say = async (runtime: Runtime, text: string, key = 'main') => (await (await runtime.session(key).send(text)).result()).text
const talk = async (runtime: Runtime, key = 'main') => {
  for (const text of ['one', 'two', 'three']) await say(runtime, text, key)
}
const lengthOf = async (runtime: Runtime) => (await partsOf(runtime).transport.journal.head(address))?.seq ?? 0

let count = 0
/** `accept` where the store as a whole is refused after some cuts. */
type Place = { open(): Promise<Runtime>; cut(to: number): Promise<void>; accept?(): Promise<void> }
const places: [string, () => Place][] = [
  [
    'a folder',
    () => {
      const folder = aFolder()
      return { open: () => open(`embedded:${folder}`), cut: async (to) => cutEmbedded(folder, address, to) }
    },
  ],
  [
    'a NATS server',
    () => {
      const prefix = `damage-${++count}`
      return {
        open: () => open(server.url, prefix),
        cut: (to) => cutNats(server.url, address, to, prefix),
        accept: () => acceptNats(server.url, prefix),
      }
    },
  ],
]

describe.each(places)('on %s', (name, make) => {
  test.each([3, 0])('[INV-20] a running node whose journal loses its end (%i commits left) takes nothing more into it, others go on', async (to) => {
    const place = make()
    const runtime = await place.open()
    await talk(runtime, 'other')
    await talk(runtime)
    const known = await lengthOf(runtime)

    await place.cut(to)

    for (let again = 0; again < 2; again++)
      await expect(say(runtime, 'four')).rejects.toMatchObject({
        code: 'corrupt_at',
        retryable: false,
        message: expect.stringContaining('has lost its end'),
        data: { found: to, known },
      })
    expect(await say(runtime, 'four', 'other')).toBe('answer 4')
    await runtime.command('sessions.delete', { sessionKey: 'main' })
    expect(await say(runtime, 'anew')).toBe('answer 1')
  })

  test.each(name === 'a folder' ? [3] : [3, 0])(
    '[INV-20] a node that starts after the loss (%i commits left) notices by the snapshot',
    async (to) => {
      const place = make()
      const before = await place.open()
      await talk(before)
      await before.close()
      await place.cut(to)
      if (to > 0 && place.accept) {
        await expect(place.open()).rejects.toMatchObject({ code: 'corrupt_at', hint: expect.stringContaining('_backend/journal') })
        await place.accept()
      }

      const runtime = await place.open()

      for (let again = 0; again < 2; again++) await expect(say(runtime, 'four')).rejects.toMatchObject({ code: 'corrupt_at', data: { found: to } })
      expect(await lengthOf(runtime)).toBe(to)
      await runtime.command('sessions.delete', { sessionKey: 'main' })
      expect(await say(runtime, 'anew')).toBe('answer 1')
    },
  )

  test('a session that was deleted begins anew, also after a restart', async () => {
    const place = make()
    const before = await place.open()
    await talk(before)
    await before.command('sessions.delete', { sessionKey: 'main' })
    await before.close()

    const runtime = await place.open()

    expect(await say(runtime, 'anew')).toBe('answer 1')
    await runtime.command('sessions.delete', { sessionKey: 'main' })
    expect(await say(runtime, 'and again')).toBe('answer 1')
  })

  test('what stands before the loss can be read and replayed', async () => {
    const place = make()
    const runtime = await place.open()
    await talk(runtime)
    await place.cut(3)

    const page = await runtime.command<TracePage>('trace.read', { id: 'main' })

    expect(page).toMatchObject({ next: null, seq: 3, damage: { seq: 4, error: { code: 'corrupt_at' } } })
    expect(page.entries.at(-1)?.seq).toBe(3)
    expect(await runtime.command('trace.replay', { id: 'main', to: 3 })).toMatchObject({ verdict: 'identical', commits: 3 })
    await expect(runtime.command('trace.replay', { id: 'main' })).rejects.toMatchObject({ code: 'corrupt_at' })
  })
})

test('commits before a damaged one are read and replayed; the trace says where the damage begins', async () => {
  const folder = aFolder()
  const before = await open(`embedded:${folder}`)
  await talk(before)
  await before.close()
  const database = new DatabaseSync(join(folder, 'statecast.db'))
  database.prepare('UPDATE frames SET bytes = zeroblob(20) WHERE seq = 6').run()
  database.close()

  const runtime = await open(`embedded:${folder}`)
  const page = await runtime.command<TracePage>('trace.read', { id: 'main' })
  const told: number[] = []
  const telling = (async () => {
    for await (const { seq } of runtime.trace(address)) told.push(seq)
  })()

  await expect(telling).rejects.toMatchObject({ code: 'corrupt_at', data: { seq: 6 } })
  expect(new Set(told)).toEqual(new Set([1, 2, 3, 4, 5]))
  expect(page).toMatchObject({ next: null, damage: { seq: 6, error: { code: 'corrupt_at' } } })
  expect(page.entries.at(-1)?.seq).toBe(5)
  expect(await runtime.command('trace.replay', { id: 'main', to: 4 })).toMatchObject({ verdict: 'identical', commits: 4 })
  expect(await runtime.command('trace.replay', { id: 'main', to: 5 })).toMatchObject({ verdict: 'identical', commits: 5 })
  await expect(runtime.command('trace.replay', { id: 'main', to: 6 })).rejects.toMatchObject({ code: 'corrupt_at' })
})

test('a snapshot message copied onto the subject of another session changes nothing there [INV-13]', async () => {
  const prefix = `damage-${++count}`
  const before = await open(server.url, prefix)
  await talk(before)
  await talk(before, 'victim')
  await say(before, 'four', 'victim')
  await before.close()
  const nc = await connect({ servers: server.url })
  const { streams } = await jetstreamManager(nc)
  const stolen = await streams.getMessage(`DAMAGE-${count}_SNAPSHOTS`, { last_by_subj: `${prefix}.snapshot.session.main` })
  stolen!.header.delete('Nats-Expected-Last-Subject-Sequence')
  await jetstream(nc).publish(`${prefix}.snapshot.session.victim`, stolen!.data, { headers: stolen!.header })
  await nc.close()

  const runtime = await open(server.url, prefix)

  expect(await say(runtime, 'five', 'victim')).toBe('answer 5')
  expect(await runtime.replay({ kind: 'session', id: 'victim' })).toMatchObject({ verdict: 'identical' })
})
