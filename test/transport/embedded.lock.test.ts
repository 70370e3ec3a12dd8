import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEmbedded, readOwner, writeOwner } from '../../src/transport/embedded/open.ts'
import { aChild, folders } from './folder.ts'
import { anEnvironment, aSession, textOf } from './harness.ts'

const aFolder = folders()
const open = (folder: string, owner?: Record<string, string>) =>
  openEmbedded({ folder, environment: anEnvironment(), ...(owner === undefined ? {} : { owner }) })

test('a second runtime in the same process is refused and told who is first', async () => {
  const folder = aFolder()
  const first = await open(folder, { url: 'http://127.0.0.1:1' })

  await expect(open(folder)).rejects.toMatchObject({
    code: 'locked',
    hint: expect.stringContaining(String(process.pid)),
    data: { owner: { pid: process.pid } },
  })
  await first.close()

  await (await open(folder)).close()
})

test('a second process is refused while the first lives, and let in after kill -9, with all that was acknowledged', async () => {
  const folder = aFolder()
  const holder = aChild('holder', folder)
  expect((await holder.lines.next()).value).toBe('ok')

  await expect(open(folder)).rejects.toMatchObject({ code: 'locked', hint: expect.stringContaining(String(holder.process.pid)) })
  const owner = readOwner(folder)
  await holder.kill()
  const ownerAfter = readOwner(folder)
  const transport = await open(folder)

  expect(owner).toEqual({ pid: holder.process.pid, url: 'http://127.0.0.1:4711' })
  expect(ownerAfter).toBeUndefined()
  expect(textOf((await transport.journal.last(aSession()))?.bytes)).toBe('held')
  await transport.close()
})

test('looking at a folder, and trying in vain to open it again, does not loosen the lock', async () => {
  const folder = aFolder()
  const transport = await open(folder)

  await expect(open(folder)).rejects.toMatchObject({ code: 'locked' })
  expect(readOwner(folder)).toEqual({ pid: process.pid })
  const intruder = aChild('holder', folder)

  expect((await intruder.lines.next()).value).toBe('locked')
  expect(await intruder.ended).toBe(1)
  await transport.close()
})

test('a process that has nothing left to do may end without closing', async () => {
  const holder = aChild('holder', aFolder(), 'idle')

  expect((await holder.lines.next()).value).toBe('ok')
  expect(await holder.ended).toBe(0)
})

test('the owner of a folder can say more about itself later, and says nothing after it has closed', async () => {
  const folder = aFolder()
  const before = readOwner(folder)
  const transport = await open(folder, { note: 'starting' })
  const atStart = readOwner(folder)

  writeOwner(folder, { url: 'http://127.0.0.1:2' })
  const later = readOwner(folder)
  await transport.close()

  expect([before, atStart, later, readOwner(folder)]).toEqual([
    undefined,
    { pid: process.pid, note: 'starting' },
    { pid: process.pid, url: 'http://127.0.0.1:2' },
    undefined,
  ])
})

test('a runtime that failed to open leaves the folder unlocked and no thread behind', async () => {
  const folder = aFolder()
  mkdirSync(folder)
  writeFileSync(join(folder, 'statecast.db'), 'garbage that is no database'.repeat(100))

  await expect(open(folder)).rejects.toMatchObject({ code: 'corrupt_at' })

  await expect(open(folder)).rejects.toMatchObject({ code: 'corrupt_at' })
  expect(readOwner(folder)).toBeUndefined()
})

test('only the user can look into the folder', async () => {
  const folder = aFolder()
  const transport = await open(folder)
  const hash = await transport.blobs.put(new Uint8Array(3))
  const modes = ['', 'statecast.db', 'statecast.db-wal', 'lock.db', 'owner.json', 'blobs', join('blobs', hash.slice(0, 2), hash)].map((name) => {
    const file = join(folder, name)
    return `${name} ${existsSync(file) ? (statSync(file).mode & 0o077).toString(8) : 'missing'}`
  })
  await transport.close()

  for (const mode of modes) expect(mode).toMatch(/ 0$/)
})
