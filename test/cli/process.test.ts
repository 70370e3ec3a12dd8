/** `bin/statecast.js` as a process: what it loads at its start, how it exits, signals, pipes and kill -9. All else about commands is shown in process. */
import { EventEmitter, once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { endsWithTest } from './folders.ts'
import { aNodeProcess, runProcess, startProcess } from './processes.ts'
import { aFolder, aNode, rpc, start, statecast, testApp, untilFile } from './run.ts'

test('--version and wrong usage are answered without loading the runtime', async () => {
  const folder = aFolder()

  const version = await runProcess({ folder, env: { NODE_V8_COVERAGE: folder } }, '--version')
  const wrong = await runProcess({ folder, env: { NODE_V8_COVERAGE: folder } }, 'sessions', '--nope')

  expect([version, wrong]).toMatchObject([
    { code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' },
    { code: 2, stdout: '', stderr: expect.stringMatching(/^error: unknown option '--nope'\nhint: \S/) },
  ])
  const loaded = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
  expect(loaded.map((files) => [files.includes('/src/cli/main.ts'), files.includes('/src/runtime/index.ts')])).toEqual([
    [true, false],
    [true, false],
  ])
})

test.each([
  ['waits', 'await new Promise(() => undefined)\nexport default {}\n'],
  ['promises an app', 'export default new Promise(() => undefined)\n'],
])('reports an app file that %s for ever', async (_, text) => {
  const folder = aFolder()
  writeFileSync(join(folder, 'app.mjs'), text)

  const ended = await runProcess({ folder }, 'machines', '--app', 'app.mjs', '--json')

  expect(ended).toMatchObject({ code: 2, stderr: expect.not.stringContaining('Warning') })
  const { error } = JSON.parse(ended.stdout) as { error: object }
  expect(error).toMatchObject({ code: 'bad_request', message: expect.stringContaining('never finishes loading'), field: 'app' })
})

test('a command for one conversation does not take up the work of another, whose tool it would leave in the middle', async () => {
  const folder = aFolder()
  const cut = startProcess({ folder }, 'send', 'A', 'once a', '--app', testApp)
  await untilFile(join(folder, 'a.started'))
  cut.kill()
  await cut.ended
  const before = (await statecast({ folder }, 'trace', 'A')).stdout

  const other = await statecast({ folder }, 'send', 'B', 'hello', '--app', testApp)
  const chat = await statecast({ folder, input: 'hello\n' }, 'chat', '--session', 'C', '--app', testApp)
  await statecast({ folder }, 'send', 'D', 'once d', '--no-wait', '--app', testApp)

  expect([other.stdout, chat.stdout]).toEqual(['echo hello\n', 'echo hello\n'])
  expect((await statecast({ folder }, 'trace', 'A')).stdout).toBe(before)
  expect(readFileSync(join(folder, 'a.started'), 'utf8')).toBe('1\n')
  expect(existsSync(join(folder, 'd.started'))).toBe(false)
})

test('a reader that has enough ends the chat without a complaint', async () => {
  const chat = startProcess({ folder: aFolder(), keepStdinOpen: true }, 'chat', '--app', testApp)
  chat.stdin.write('one\n')
  await chat.firstLine
  chat.stdout.destroy()
  await once(chat.stdout, 'close')

  chat.stdin.end('two\nthree\n')

  expect(await chat.ended).toMatchObject({ code: 0, stderr: '' })
})

test('Ctrl-C stops the turn and leaves with 130', async () => {
  const chat = startProcess({ folder: aFolder(), keepStdinOpen: true }, 'chat', '--json', '--app', testApp)
  chat.stdin.write('wait forever\n')
  await chat.firstLine

  chat.signal('SIGINT')

  expect((await chat.ended).code).toBe(130)
})

test('a timer that an app has left running does not keep a node that was stopped', async () => {
  const folder = aFolder()
  writeFileSync(join(folder, 'app.mjs'), 'setInterval(() => undefined, 1000)\nexport default {}')
  const node = await aNodeProcess({ folder }, '--app', 'app.mjs')

  node.signal('SIGTERM')

  expect((await node.ended).code).toBe(0)
})

test('after kill -9 in the middle of a tool the next node finishes the turn, and a client with the same key gets the answer', async () => {
  const folder = aFolder()
  const node = await aNodeProcess({ folder }, '--app', testApp)
  const client = start({ folder }, 'send', 'main', 'wait b', '--idempotency-key', 'k')
  await untilFile(join(folder, 'b.started'))
  node.kill()
  expect(await client.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/does not answer.*\nhint: \S/) })

  writeFileSync(join(folder, 'b.go'), '')
  await aNode({ folder }, '--app', testApp)
  const again = await statecast({ folder }, 'send', 'main', 'wait b', '--idempotency-key', 'k')

  expect(again).toMatchObject({ code: 0, stdout: 'wait_for_file: {"waited":"b"}\n' })
  expect(readFileSync(join(folder, 'b.started'), 'utf8').trim().split('\n')).toHaveLength(2)
  expect((await statecast({ folder }, 'replay', 'main')).code).toBe(0)
})

/** A conversation whose process died by kill -9 in the middle of its turn. */
const killedInATurn = async (message: string, file: string): Promise<string> => {
  const folder = aFolder()
  const cut = startProcess({ folder }, 'send', 'main', message, '--app', testApp)
  await untilFile(join(folder, `${file}.started`))
  cut.kill()
  await cut.ended
  writeFileSync(join(folder, `${file}.go`), '')
  return folder
}

/** The command on a terminal: `sees` waits for what its person reads. */
const onTerminal = (folder: string, ...args: string[]) => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true })
  const [stdin, stdout, stderr] = [terminal(), terminal(), new PassThrough()]
  let shown = ''
  for (const output of [stdout, stderr])
    output.on('data', (chunk: Buffer) => {
      shown += stripVTControlCharacters(chunk.toString())
    })
  const ended = main([...args, '--app', testApp], { stdin, stdout, stderr }, Object.assign(new EventEmitter(), { env: {}, cwd: () => folder }))
  endsWithTest(ended, async () => {
    stdin.write('/quit\r')
    await ended
  })
  return { stdin, ended, sees: (part: string | RegExp) => expect.poll(() => shown, { interval: 10, timeout: 10_000 }).toMatch(part) }
}

test('a chat in a terminal goes on by itself with the turn that kill -9 cut off', async () => {
  const folder = await killedInATurn('wait e', 'e')

  const { stdin, ended, sees } = onTerminal(folder, 'chat')

  await sees('a turn is running')
  await sees('wait_for_file: {"waited":"e"}')
  stdin.write('/quit\r')
  expect(await ended).toBe(0)
  expect(readFileSync(join(folder, 'e.started'), 'utf8').trim().split('\n')).toHaveLength(2)
})

test('a second chat goes on with its own cut turn in the process of the first chat', async () => {
  const folder = await killedInATurn('wait f', 'f')
  const first = startProcess({ folder, keepStdinOpen: true }, 'chat', '--session', 'other', '--app', testApp)
  first.stdin.write('hi\n')
  await first.firstLine

  const { sees } = onTerminal(folder, 'chat')

  await sees(/'main' at http/)
  await sees('wait_for_file: {"waited":"f"}')
})

test('a chat through a pipe prints the rest of the turn that kill -9 cut off', async () => {
  const folder = await killedInATurn('wait g', 'g')

  expect(await statecast({ folder, input: '' }, 'chat', '--app', testApp)).toMatchObject({ code: 0, stdout: 'wait_for_file: {"waited":"g"}\n' })
})

test('a message to a conversation that kill -9 cut off is answered with the rest of its turn', async () => {
  const folder = await killedInATurn('wait h', 'h')

  const sent = await statecast({ folder }, 'send', 'main', 'and now?', '--app', testApp)

  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('echo and now?') })
  expect((await statecast({ folder }, 'history', 'main', '--app', testApp)).stdout).toContain('"waited":"h"')
})

test('commands that only look start no turn that kill -9 cut off', async () => {
  const folder = await killedInATurn('wait i', 'i')
  const before = (await statecast({ folder }, 'trace', 'main', '--app', testApp)).stdout

  for (const look of [['sessions'], ['actors'], ['approvals'], ['history', 'main'], ['replay', 'main'], ['export', 'main']])
    expect(await statecast({ folder }, ...look, '--app', testApp)).toMatchObject({ code: 0 })

  expect(readFileSync(join(folder, 'i.started'), 'utf8')).toBe('1\n')
  expect((await statecast({ folder }, 'trace', 'main', '--app', testApp)).stdout).toBe(before)
})

test('with --no-resume a node takes up nothing that was cut off, but whoever is sent to', async () => {
  const folder = aFolder()
  const first = await aNodeProcess({ folder }, '--app', testApp)
  await rpc(first, 'chat.send', { sessionKey: 'main', message: 'wait c' })
  await untilFile(join(folder, 'c.started'))
  first.kill()
  await first.ended

  await aNode({ folder }, '--app', testApp, '--no-resume')
  const other = await statecast({ folder }, 'send', 'other', 'hello')

  expect(other).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  expect(readFileSync(join(folder, 'c.started'), 'utf8')).toBe('1\n')
})

test('a chat that is killed leaves nothing behind that keeps others away', async () => {
  const folder = aFolder()
  const chat = startProcess({ folder, keepStdinOpen: true }, 'chat', '--app', testApp)
  chat.stdin.write('hi\n')
  await chat.firstLine
  // It serves other commands by then.
  await statecast({ folder }, 'sessions')
  chat.kill()
  await chat.ended

  expect(await statecast({ folder }, 'history', 'main', '--app', testApp)).toMatchObject({ code: 0, stdout: expect.stringContaining('echo hi') })
})
