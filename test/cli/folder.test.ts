import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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

test.each([
  ['deleted', (data: string) => rmSync(data, { recursive: true })],
  ['moved away', (data: string) => renameSync(data, `${data}.away`)],
])('a node whose data folder was %s accepts nothing more, says so, and ends when told to', async (_, lose) => {
  const folder = aFolder()
  const data = join(folder, '.statecast')
  const { url, token, pid, ended } = await aNode({ folder }, '--app', testApp)
  const remote = { folder, env: { STATECAST_TOKEN: readFileSync(token, 'utf8').trim() } }
  const before = await statecast(remote, 'send', 'main', 'hello', '--url', url)
  lose(data)

  const after = await statecast(remote, 'send', 'main', 'hello again', '--url', url)
  const another = await statecast(remote, 'send', 'other', 'hello', '--url', url)
  process.kill(pid, 'SIGTERM')

  expect(before).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  for (const { code, stdout, stderr } of [after, another]) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('[log_unavailable]')
    expect(stderr).toContain('restore the data folder')
  }
  expect((await ended).code).toBe(0)
  expect(existsSync(data)).toBe(false)
})
