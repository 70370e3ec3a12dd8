/** Sessions and runs in the registry of a data folder. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { openTransport, type Transport } from '../../../src/index.ts'
import { registrySnapshots, registryStore } from '../../../src/ladder/index.ts'
import { dieWithUs } from '../../support/guard.ts'
import { folders } from '../../transport/folder.ts'
import { aRow } from './a-row.ts'
import { describeCheckpointStore, describeSnapshotStore } from './store.contract.ts'

const aFolder = folders()
const folder = aFolder()
let transport: Promise<Transport> | undefined
const opened = (): Promise<Transport> => (transport ??= openTransport(`embedded:${folder}`))
const reopened = async (): Promise<Transport> => {
  await (await opened()).close()
  transport = undefined
  return opened()
}
afterAll(async () => (await transport)?.close())

describeCheckpointStore({
  name: 'sessions in the registry of a data folder',
  open: async (clock) => registryStore((await opened()).registry, { clock }),
  reopen: async (clock) => registryStore((await reopened()).registry, { clock }),
})
describeSnapshotStore({
  name: 'runs in the registry of a data folder',
  open: async () => registrySnapshots((await opened()).registry),
  reopen: async () => registrySnapshots((await reopened()).registry),
})

test('[WL-041] a row that is too large for the registry is refused by its size, and nothing is stored', async () => {
  const store = registryStore((await opened()).registry)
  await expect(store.save(aRow('large', { state: 'x'.repeat(1024 * 1024) }))).rejects.toMatchObject({
    code: 'STORE_FAILED',
    context: { code: 'too_large' },
    hint: 'keep large content elsewhere, and its name in the state',
  })
  expect(await store.load('large', 's')).toBeUndefined()
})

test('a registry that is closed is STORE_FAILED', async () => {
  const closed = await openTransport('memory:')
  await closed.close()
  await expect(registryStore(closed.registry).load('desk', 's')).rejects.toMatchObject({ code: 'STORE_FAILED', context: { code: 'closed' } })
})

test('[WL-044] what a process has stored that was killed then is there for the next one', async () => {
  const own = aFolder()
  const program = fileURLToPath(new URL('./fixtures/saver.ts', import.meta.url))
  const child = spawn(process.execPath, [program, own], { stdio: ['ignore', 'pipe', 'inherit'] })
  const release = dieWithUs(child.pid ?? 0)
  const gone = once(child, 'exit')
  expect(String((await once(child.stdout, 'data'))[0])).toBe('saved\n')
  child.kill('SIGKILL')
  await gone
  release()

  const heir = await openTransport(`embedded:${own}`)
  const store = registryStore(heir.registry)
  expect((await store.rows('desk', 's')).map(({ turn_index }) => turn_index)).toEqual([0, 1, 2])
  expect(await store.load('desk', 's')).toMatchObject({ turn_index: 2, summarized_through: 7, lock_expires_at: expect.any(String) })
  expect(await store.lock('desk', 's', 'me', 1)).toBe(false)
  expect(await registrySnapshots(heir.registry).list()).toEqual(['s.v1.3'])
  await heir.close()
})
