/** `main(argv, streams, surroundings)`: a command in a program that goes on, and others beside it. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, aNode, rpc, statecast, testApp, untilFile } from './run.ts'

test.each([
  [0, 'an answer', ['send', 'main', 'hello', '--app', testApp]],
  [1, 'a turn that fails', ['send', 'main', 'fail', '--app', testApp]],
  [2, 'wrong usage', ['send', 'main']],
  [3, 'a refusal', ['up', '--host', '0.0.0.0']],
  [4, 'a conversation that does not exist', ['history', 'main']],
])('main returns exit code %i for %s', async (code, _, args) => {
  expect((await statecast({ folder: aFolder() }, ...args)).code).toBe(code)
})

test('nodes and clients that run at once keep streams, variables, working directories and signals apart', async () => {
  const loud = { folder: aFolder(), env: { STATECAST_URL: 'embedded:./data', STATECAST_LOG: 'debug' } }
  const quiet = { folder: aFolder(), env: { STATECAST_URL: 'embedded:data', STATECAST_LOG: 'silent' } }
  const nodes = await Promise.all([loud, quiet].map((how) => aNode(how, '--app', testApp)))

  const sent = await Promise.all([loud, quiet].map((how, index) => statecast(how, 'send', `s${index}`, `hello ${index}`)))
  const listed = await Promise.all([loud, quiet].map((how) => statecast(how, 'sessions', '--json')))
  nodes[0]?.signal('SIGTERM')
  const first = await nodes[0]?.ended
  const after = await statecast(quiet, 'send', 's1', 'hello again')
  nodes[1]?.signal('SIGTERM')
  const second = await nodes[1]?.ended

  expect(sent).toMatchObject([0, 1].map((index) => ({ code: 0, stdout: `echo hello ${index}\n`, stderr: '' })))
  expect(listed.map(({ lines }) => lines.map((line) => (JSON.parse(line) as { key: string }).key))).toEqual([['s0'], ['s1']])
  expect(after).toMatchObject({ code: 0, stdout: 'echo hello again\n' })
  expect([first, second]).toMatchObject([{ code: 0 }, { code: 0 }])
  expect(first?.stderr).toContain('"actor":"session/s0"')
  expect(first?.stderr).not.toContain('s1')
  expect(second?.stderr).toBe('draining: letting running turns finish, then the node stops; a second signal stops it at once\n')
  expect([loud, quiet].map(({ folder }) => existsSync(join(folder, 'data/statecast.db')))).toEqual([true, true])
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a second %s ends a busy node with exit code %i and frees its folder', async (signal, code) => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  await rpc(node, 'chat.send', { sessionKey: 'main', message: 'wait a' })
  await untilFile(join(folder, 'a.started'))

  node.signal(signal)
  await expect.poll(async () => (await fetch(`${node.url}/readyz`)).status).toBe(503)
  node.signal(signal)

  expect(await node.ended).toMatchObject({ code })
  const next = await aNode({ folder }, '--app', testApp)
  expect(next.url).not.toBe(node.url)
  expect((await statecast({ folder }, 'history', 'main')).stdout).toContain('wait a')
})

test('the path in a variable starts at the working directory of the command', async () => {
  const folder = aFolder()
  writeFileSync(join(folder, 'place'), 'embedded:./elsewhere\n')
  const how = { folder, env: { STATECAST_URL_FILE: './place' } }

  await statecast(how, 'send', 'main', 'hello', '--app', testApp)

  expect(existsSync(join(folder, 'elsewhere/statecast.db'))).toBe(true)
  expect((await statecast(how, 'sessions')).stdout).toMatch(/^main /m)
})

test('import and send read the stdin and the files of their own command', async () => {
  const [from, to] = [{ folder: aFolder() }, { folder: aFolder() }]
  writeFileSync(join(from.folder, 'notes.txt'), 'my notes')
  await statecast(from, 'send', 'main', 'hello', '--file', './notes.txt', '--app', testApp)
  const exported = await statecast(from, 'export', 'main')

  const imported = await statecast({ ...to, input: exported.stdout }, 'import', '-', '--app', testApp)

  expect(imported).toMatchObject({ code: 0, stdout: expect.stringMatching(/^session\/main has \d+ commits/) })
  expect((await statecast(to, 'history', 'main')).stdout).toContain('notes.txt')
})
