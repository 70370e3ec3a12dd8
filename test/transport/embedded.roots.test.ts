/** Journals of which the whole root is gone from the file: the store counts its roots, and tells at the start. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Address } from '../../src/contracts/subjects.ts'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { folders } from './folder.ts'
import { anEnvironment, awake, bytesOf } from './harness.ts'

const aFolder = folders()
const open = (folder: string): Promise<Transport> => openEmbedded({ folder, environment: anEnvironment() })
const one: Address = { kind: 'session', id: 'one' }
const two: Address = { kind: 'session', id: 'two' }
const fork: Address = { kind: 'session', id: 'fork' }
const append = ({ journal }: Transport, address: Address, seq: number) => journal.append(address, seq, bytesOf(`${address.id} ${seq + 1}`), awake)

const within = async (folder: string, work: (transport: Transport) => Promise<unknown>): Promise<void> => {
  const transport = await open(folder)
  try {
    await work(transport)
  } finally {
    await transport.close()
  }
}
const change = (folder: string, text: string): void => {
  const database = new DatabaseSync(join(folder, 'statecast.db'))
  database.exec(text)
  database.close()
}

/** Two roots, a fork, and one that was removed. */
const aStore = async (): Promise<string> => {
  const folder = aFolder()
  await within(folder, async (transport) => {
    for (const seq of [0, 1, 2]) await append(transport, one, seq)
    await append(transport, two, 0)
    await transport.journal.fork(one, 2, fork, { answers: 'recorded' }, awake)
    await append(transport, { kind: 'session', id: 'gone' }, 0)
    await transport.journal.remove({ kind: 'session', id: 'gone' })
  })
  return folder
}

test.each([
  ['its row alone', 'DELETE FROM roots WHERE root = 2'],
  ['all that was in it', 'DELETE FROM roots WHERE root = 2; DELETE FROM frames WHERE root = 2; DELETE FROM places WHERE root = 2'],
  ['the newest of all', 'DELETE FROM roots WHERE root = 3; DELETE FROM forks WHERE root = 3'],
  ['one in place of another', 'UPDATE roots SET root = 9 WHERE root = 2'],
])('[INV-20] a root that is gone without having been removed is told at the start (%s)', async (_, text) => {
  const folder = await aStore()
  change(folder, text)

  const opening = open(folder)

  await expect(opening).rejects.toMatchObject({ code: 'corrupt_at', hint: expect.stringContaining('backup'), data: { table: 'roots' } })
})

test('[INV-20] roots that were removed, forked or cut off in between are counted', async () => {
  const folder = await aStore()
  await within(folder, async (transport) => {
    await transport.journal.remove(one)
    for (const seq of [2, 3]) await append(transport, fork, seq)
    await append(transport, one, 0)
  })

  await within(folder, async ({ journal }) => {
    expect((await journal.list()).map(({ address, seq }) => `${address.id} ${seq}`)).toEqual(['fork 4', 'one 1', 'two 1'])
    expect(await journal.read(fork, 1)).toHaveLength(4)
  })
})

test('an operator who wants the store as it is clears the count, as the hint says', async () => {
  const folder = await aStore()
  change(folder, 'DELETE FROM roots WHERE root = 2')
  const { hint } = await open(folder).then(
    () => ({ hint: '' }),
    (error: { hint: string }) => error,
  )
  change(folder, /'(UPDATE [^']+)'/.exec(hint)?.[1] ?? '')

  await within(folder, async ({ journal }) => expect(await journal.list()).toHaveLength(2))
  await within(folder, async (transport) => expect(await append(transport, two, 0)).toEqual({ outcome: 'ok' }))
  await within(folder, async ({ journal }) => expect(await journal.list()).toHaveLength(3))
})
