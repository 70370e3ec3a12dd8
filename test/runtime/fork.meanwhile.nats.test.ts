/** A key that somebody looks at, or sends to, while a fork is made there: the fork runs on, and the message reaches it. The same in every store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { agent, createRuntime, type Runtime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()
const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-fork-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
const stores: [string, () => string][] = [
  ['memory', () => 'memory:'],
  ['embedded', () => `embedded:${aFolder()}`],
  ['nats', () => server.url],
]

const aNode = async (transport: string): Promise<Runtime> => {
  const runtime = await createRuntime({
    transport,
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': () => ({ text: 'I hear you' }) },
  })
  onTestFinished(() => runtime.close())
  await (await runtime.session('main').send('first')).result()
  return runtime
}

/** In the middle of its turn: only who runs on gets its answer. */
const fork = (runtime: Runtime, as: string) => runtime.command('trace.fork', { id: 'main', as, at: 1 })
const said = async (runtime: Runtime, key: string): Promise<string[]> =>
  (await runtime.session(key).history()).map(({ role, ...message }) => `${role}: ${'text' in message ? message.text : ''}`)

test.each(stores)('%s: a message that was on its way when the fork was made is answered by the fork', async (_, transport) => {
  const runtime = await aNode(transport())
  const { journal } = partsOf(runtime).transport
  const [arrived, letThrough] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const append = journal.append.bind(journal)
  vi.spyOn(journal, 'append').mockImplementation(async (address, ...rest) => {
    if (address.id === 'sent') {
      arrived.resolve()
      await letThrough.promise
    }
    return append(address, ...rest)
  })
  const sent = runtime.session('sent').send('me first')
  await arrived.promise
  await fork(runtime, 'sent')

  letThrough.resolve()

  expect(await (await sent).result()).toMatchObject({ text: 'I hear you' })
  await vi.waitFor(async () =>
    expect(await said(runtime, 'sent')).toEqual(['user: first', 'assistant: I hear you', 'user: me first', 'assistant: I hear you']),
  )
  expect(await runtime.command('trace.replay', { id: 'sent' })).toMatchObject({ verdict: 'identical' })
})

test.each(stores)('%s: a key that was looked at before the fork was made runs on, though nobody says anything', async (_, transport) => {
  const runtime = await aNode(transport())
  await expect(runtime.session('seen').view()).rejects.toMatchObject({ code: 'not_found' })

  await fork(runtime, 'seen')

  await vi.waitFor(async () => expect((await partsOf(runtime).transport.journal.head({ kind: 'session', id: 'seen' }))?.wakeAt).toBeNull(), 15_000)
  expect(await said(runtime, 'seen')).toEqual(['user: first', 'assistant: I hear you'])
})
