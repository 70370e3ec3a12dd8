import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, aNode, statecast, testApp } from './run.ts'

const blocked = {
  'a file': (place: string) => writeFileSync(place, 'text'),
  'a loop of symbolic links': (place: string) => symlinkSync(place, place),
}

test.each(
  Object.entries(blocked).flatMap(([what, make]) => [
    [what, 'send', ['send', 'main', 'hello', '--app', testApp], make] as const,
    [what, 'up', ['up', '--port', '0', '--app', testApp], make] as const,
  ]),
)('where %s stands in place of the data folder, %s says what to do', async (_, __, args, make) => {
  const folder = aFolder()
  make(join(folder, '.statecast'))

  const { code, stdout, stderr } = await statecast({ folder }, ...args)

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('[log_unavailable]')
  expect(stderr).toContain('give another folder')
  expect(stderr).not.toMatch(/^\s+at /m)
})

test('a path that is too long is wrong usage, and the answer is short', async () => {
  const { code, stderr } = await statecast({ folder: aFolder() }, 'send', 'main', 'hi', '--app', testApp, '--url', `embedded:./${'x'.repeat(5_000)}`)

  expect(code).toBe(2)
  expect(stderr).toContain('shorter path')
  expect(stderr.length).toBeLessThan(1_000)
})

test('a folder that all users share, as /tmp is, is not taken for data, and stays open to them', async () => {
  const shared = join(aFolder(), 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)

  const { code, stderr } = await statecast({ folder: aFolder() }, 'send', 'main', 'hi', '--app', testApp, '--url', `embedded:${shared}`)

  expect(code).toBe(3)
  expect(stderr).toContain(join(shared, 'statecast'))
  expect(statSync(shared).mode & 0o7777).toBe(0o1777)
})

test.each([
  ['deleted', (data: string) => rmSync(data, { recursive: true })],
  ['moved away', (data: string) => renameSync(data, `${data}.away`)],
])('a node whose data folder was %s accepts nothing more, says so, and ends when told to', async (_, lose) => {
  const folder = aFolder()
  const data = join(folder, '.statecast')
  const node = await aNode({ folder }, '--app', testApp)
  const remote = { folder, env: { STATECAST_TOKEN: readFileSync(node.token, 'utf8').trim() } }
  const before = await statecast(remote, 'send', 'main', 'hello', '--url', node.url)
  lose(data)

  const after = await statecast(remote, 'send', 'main', 'hello again', '--url', node.url)
  const another = await statecast(remote, 'send', 'other', 'hello', '--url', node.url)
  node.signal('SIGTERM')

  expect(before).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  for (const { code, stdout, stderr } of [after, another]) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('[log_unavailable]')
    expect(stderr).toContain('restore the data folder')
  }
  expect((await node.ended).code).toBe(0)
  expect(existsSync(data)).toBe(false)
})

/** A folder of data that others may use: for all, where nothing else is said. */
const anOpenFolder = (mode = 0o777): { folder: string; data: string } => {
  const folder = aFolder()
  const data = join(folder, '.statecast')
  mkdirSync(data)
  chmodSync(data, mode)
  return { folder, data }
}

test.each([0o777, 0o755, 0o701])('a data folder that everybody may use (%o) is closed to others when it is opened', async (mode) => {
  const { folder, data } = anOpenFolder(mode)

  expect(await statecast({ folder }, 'send', 'main', 'hello', '--app', testApp)).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  expect(statSync(data).mode & 0o777).toBe(0o700)
})

test.runIf(process.getuid?.() === 0)('one that belongs to somebody else is not used', async () => {
  const { folder, data } = anOpenFolder()
  chownSync(data, 12_345, 12_345)

  expect(await statecast({ folder }, 'send', 'main', 'hello', '--app', testApp)).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/every user may write .*\[forbidden\]\nhint: .*chmod go-w/),
  })
})

test('a node does not start with a token that could be guessed', async () => {
  const folder = aFolder()

  const { code, stderr } = await statecast({ folder, env: { STATECAST_TOKEN: 'changeme' } }, 'up', '--port', '0', '--app', testApp)

  expect({ code, hint: /hint: .*openssl rand/.test(stderr), told: stderr.includes('changeme') }).toEqual({ code: 2, hint: true, told: false })
  expect(existsSync(join(folder, '.statecast'))).toBe(false)
})
