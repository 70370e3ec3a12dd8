/** Sessions and runs in the key-value store of a NATS server. */
import { afterAll, expect, test } from 'vitest'
import { openTransport, type Transport } from '../../../src/index.ts'
import { registrySnapshots, registryStore } from '../../../src/ladder/index.ts'
import { natsForAll } from '../../support/nats.ts'
import { aRow } from './a-row.ts'
import { describeCheckpointStore, describeSnapshotStore } from './store.contract.ts'

const server = natsForAll()
let transport: Promise<Transport> | undefined
const opened = (): Promise<Transport> => (transport ??= openTransport(server.url))
const reopened = async (): Promise<Transport> => {
  await (await opened()).close()
  transport = undefined
  return opened()
}
afterAll(async () => (await transport)?.close())

describeCheckpointStore({
  name: 'sessions on a NATS server',
  open: async (clock) => registryStore((await opened()).registry, { clock }),
  reopen: async (clock) => registryStore((await reopened()).registry, { clock }),
})
describeSnapshotStore({
  name: 'runs on a NATS server',
  open: async () => registrySnapshots((await opened()).registry),
  reopen: async () => registrySnapshots((await reopened()).registry),
})

test('[WL-041] a row that is too large for a message of the server is refused by its size, and nothing is stored', async () => {
  const store = registryStore((await opened()).registry)
  // Fewer characters than a registry takes, and more bytes than the server does.
  await expect(store.save(aRow('large', { state: 'ü'.repeat(600_000) }))).rejects.toMatchObject({
    code: 'STORE_FAILED',
    context: { code: 'too_large' },
  })
  expect(await store.load('large', 's')).toBeUndefined()
})

test('[WL-025, WL-043] of two processes that store one turn or take one lock at once, one is first', async () => {
  const other = await openTransport(server.url)
  const stores = [registryStore((await opened()).registry), registryStore(other.registry)]

  const locks = await Promise.all(stores.map((store, index) => store.lock('shared', 's', `process ${index}`, 60_000)))
  const saved = await Promise.allSettled(stores.map((store, index) => store.save(aRow('shared', { state: index }))))

  expect(locks.filter(Boolean)).toHaveLength(1)
  expect(saved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await stores[0]?.rows('shared', 's')).toEqual(await stores[1]?.rows('shared', 's'))
  await other.close()
})
