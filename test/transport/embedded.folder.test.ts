import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { ErrorBody } from '../../src/contracts/errors.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { folders } from './folder.ts'
import { anEnvironment } from './harness.ts'

const aFolder = folders()
const open = (folder: string) => openEmbedded({ folder, environment: anEnvironment() })

const madeBy = (make: (folder: string) => string): string => {
  const folder = aFolder()
  mkdirSync(folder)
  return make(folder)
}
const withFile = (name: string, below = '') => madeBy((folder) => (writeFileSync(join(folder, name), 'text'), join(folder, below)))
const withFolder = (name: string) => madeBy((folder) => (mkdirSync(join(folder, name)), folder))
const aLoop = (below = '') =>
  madeBy((folder) => {
    symlinkSync(join(folder, 'there'), join(folder, 'here'))
    symlinkSync(join(folder, 'here'), join(folder, 'there'))
    return join(folder, 'here', below)
  })

test.each([
  ['a file', () => withFile('file', 'file'), 'log_unavailable', 'a file where a folder'],
  ['below a file', () => withFile('file', 'file/folder'), 'log_unavailable', 'a file where a folder'],
  ['a loop of symbolic links', () => aLoop(), 'log_unavailable', 'symbolic link'],
  ['below a loop of symbolic links', () => aLoop('folder'), 'log_unavailable', 'symbolic link'],
  ['with a NUL character', () => `${aFolder()}\0x`, 'bad_request', 'remove it from the path'],
  ['with a very long name', () => join(aFolder(), 'x'.repeat(300)), 'log_unavailable', 'shorter path'],
  ['with a path longer than SQLite takes', () => join(aFolder(), ...Array<string>(3).fill('x'.repeat(200))), 'bad_request', 'shorter path'],
  ['with an endless path', () => join(aFolder(), 'x/'.repeat(50_000)), 'bad_request', 'shorter path'],
  ['where the blobs are a file', () => withFile('blobs'), 'log_unavailable', 'a file where a folder'],
  ['where the database is a folder', () => withFolder('statecast.db'), 'log_unavailable', 'look at'],
  ['where the lock is a folder', () => withFolder('lock.db'), 'log_unavailable', 'look at'],
  ['where the note of the owner is a folder', () => withFolder('owner.json'), 'log_unavailable', 'move it away'],
])('a data folder %s is refused with what to do', async (_, make, code, hint) => {
  const folder = make()

  const opened = open(folder)

  await expect(opened).rejects.toMatchObject({ code, hint: expect.stringContaining(hint), message: expect.not.stringContaining('\0') })
  await expect(opened).rejects.toSatisfy(({ message }: Error) => message.length < 1_500)
})

test('a refused owner note leaves the folder unlocked and nothing half written', async () => {
  const folder = withFolder('owner.json')

  await expect(open(folder)).rejects.toMatchObject({ code: 'log_unavailable' })

  await expect(open(folder)).rejects.toMatchObject({ code: 'log_unavailable' })
  expect(readdirSync(folder).filter((name) => name.startsWith('owner'))).toEqual(['owner.json'])
})

test('the longest path that is not refused works', async () => {
  const base = mkdtempSync(join(tmpdir(), 'statecast-long-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const refusal = await open(`/${'x'.repeat(2_000)}`).then(() => '', String)
  const limit = Number(/(\d+) are possible/.exec(refusal)?.[1])
  const short = 'x'.repeat(100)
  const folder = join(base, short, short, short, 'y'.repeat(limit - Buffer.byteLength(join(base, short, short, short, '/'))))

  const transport = await open(folder)

  expect(Buffer.byteLength(folder)).toBe(limit)
  expect(await transport.registry.put('key', 'value')).toBeDefined()
  await transport.close()
})

/** What an ordinary user is told, for root may do everything. Skips the test where there is none, or one who may not run our code. */
const openedByOrdinaryUser = (folder: string, skip: (note: string) => void): ErrorBody | undefined => {
  const program = fileURLToPath(new URL('./fixtures/opener.ts', import.meta.url))
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  try {
    return JSON.parse(
      execFileSync(process.execPath, [program, folder], { ...user, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    ) as ErrorBody
  } catch {
    skip('another user cannot run this code here')
  }
}

/** A folder that belongs to the ordinary user, with a store in it that was used. */
const aFolderOfOrdinaryUser = async (): Promise<string> => {
  const base = mkdtempSync(join(tmpdir(), 'statecast-user-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const folder = join(base, 'data')
  await (await open(folder)).close()
  if (process.getuid?.() === 0)
    for (const name of ['', 'data', ...readdirSync(folder, { recursive: true }).map((entry) => join('data', String(entry)))])
      chownSync(join(base, name), 65_534, 65_534)
  return folder
}

test.for([
  ['the folder may only be read', '', 0o500],
  ['the database may only be read', 'statecast.db', 0o400],
  ['the lock may only be read', 'lock.db', 0o400],
  ['the folder of the blobs may only be read', 'blobs', 0o500],
  ['the database may not be read', 'statecast.db', 0],
  ['the lock may not be read', 'lock.db', 0],
] as const)('when %s, opening is refused with what to do, and nothing is written', async ([, name, mode], { skip }) => {
  const folder = await aFolderOfOrdinaryUser()
  const before = readFileSync(join(folder, 'statecast.db'))
  chmodSync(join(folder, name), mode)

  const answer = openedByOrdinaryUser(folder, skip)

  chmodSync(join(folder, name), 0o700)
  expect(answer).toMatchObject({ code: 'log_unavailable', hint: expect.stringContaining('writable for the user who runs this') })
  expect(readFileSync(join(folder, 'statecast.db')).equals(before)).toBe(true)
})

test('a folder that cannot be made for lack of permissions is refused with what to do', async ({ skip }) => {
  const folder = await aFolderOfOrdinaryUser()
  chmodSync(folder, 0o500)

  const answer = openedByOrdinaryUser(join(folder, 'another'), skip)

  expect(answer).toMatchObject({ code: 'log_unavailable', hint: expect.stringContaining('writable for the user who runs this') })
  expect(existsSync(join(folder, 'another'))).toBe(false)
})

test('a folder on a disk that is mounted read-only is refused with what to do', async ({ skip }) => {
  const disk = aFolder()
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    skip('mounting a disk is not allowed here')
  }
  onTestFinished(() => void execFileSync('umount', [disk]))
  const used = join(disk, 'used')
  await (await open(used)).close()
  execFileSync('mount', ['-o', 'remount,ro', disk])

  for (const folder of [used, join(disk, 'new')])
    await expect(open(folder)).rejects.toMatchObject({ code: 'log_unavailable', hint: expect.stringContaining('mounted read-only') })
})
