/** `statecast up`: a real node, and other processes that talk to it. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { aSocket } from '../api/ws/a-socket.ts'
import { aFolder, aNode, rpc, start, statecast, stopNode, testApp, untilFile } from './run.ts'

test('commands of other processes act on the node that runs, with its app and not their own', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)

  const sent = await statecast({ folder }, 'send', '..', 'hello')
  const sessions = await statecast({ folder }, 'sessions')
  const replay = await statecast({ folder }, 'replay', '..')
  const doctor = await statecast({ folder }, 'doctor')

  expect(sent).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  expect(sessions.stdout).toMatch(/^\.\. +awaiting-input/m)
  expect(replay).toMatchObject({ code: 0, stdout: expect.stringMatching(/^identical\n/) })
  expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining(`at ${node.url}`) })
  expect(statSync(node.token).mode & 0o777).toBe(0o600)
})

test('a node says at its start how many calls wait for a person, and which command lists them', async () => {
  const folder = aFolder()
  await statecast({ folder }, 'send', 'bills', 'danger', '--app', testApp)
  await statecast({ folder }, 'send', 'rent', 'danger', '--app', testApp)

  const node = await aNode({ folder }, '--app', testApp)

  // Another command's answer comes after the count of the node, which reads the same journals.
  expect((await statecast({ folder }, 'approvals')).lines).toContain('rent: may danger run with {}?')
  await stopNode(node)
  expect((await node.ended).stderr).toContain('2 approvals wait: statecast approvals\n')
})

/** The app with a deadline of an hour for approvals. */
const withDeadline = (folder: string): string => {
  const [source, app] = ['../../src/index.ts', './fixtures/app.ts'].map((file) => JSON.stringify(join(import.meta.dirname, file)))
  const file = join(folder, 'deadline.config.ts')
  writeFileSync(
    file,
    `import { agent, defineApp } from ${source}\nimport app from ${app}\nconst [main] = app.agents\nexport default defineApp({ ...app, agents: [agent({ name: 'main', model: 'test/echo', tools: main.tools, approval: { timeoutMs: 3_600_000 } })] })\n`,
  )
  return file
}

test('a deadline stands where a person is asked: in the hint of send, and in the list of all that waits', async () => {
  const folder = aFolder()
  const app = withDeadline(folder)

  const sent = await statecast({ folder }, 'send', 'bills', 'danger', '--app', app)
  const listed = await statecast({ folder }, 'approvals', '--app', app)

  expect(sent.stderr).toMatch(/denied in (60|59) min/)
  expect(listed.lines[2]).toMatch(/^ {2}until \d{4}-\S+Z \(denied in (60|59) min\)$/)
})

test('trace --follow shows what happens as it happens, and Ctrl-C ends it', async () => {
  const folder = aFolder()
  await aNode({ folder }, '--app', testApp)
  await statecast({ folder }, 'send', 'main', 'first')
  const trace = start({ folder }, 'trace', 'main', '--follow')
  await trace.firstLine

  await statecast({ folder }, 'send', 'main', 'second')
  await trace.prints('/turn#2')
  trace.signal('SIGINT')

  expect((await trace.ended).code).toBe(130)
})

test('SIGTERM lets the turn that runs end and its client have the answer, answers about it, takes no new work, and exits 0', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  const client = start({ folder }, 'send', 'main', 'wait a')
  await untilFile(join(folder, 'a.started'))

  node.signal('SIGTERM')
  await expect.poll(async () => (await statecast({ folder }, 'send', 'other', 'too late')).stderr).toContain('shutting down [closed]')
  const history = await statecast({ folder }, 'history', 'main')
  writeFileSync(join(folder, 'a.go'), '')

  expect(history).toMatchObject({ code: 0, stdout: expect.stringContaining('wait a') })
  expect(await client.ended).toMatchObject({ code: 0, stdout: 'wait_for_file: {"waited":"a"}\n' })
  expect((await node.ended).code).toBe(0)
  expect(existsSync(join(folder, '.statecast/owner.json'))).toBe(false)
})

test('SIGTERM does not wait for a person: the page hears that the node stops, and the call that waits is asked for again by the next node', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  const page = await aSocket(node.url, { auth: { token: readFileSync(node.token, 'utf8').trim() } })
  await page.request('sessions.subscribe', { sessionKey: 'main' })
  await page.request('chat.send', { sessionKey: 'main', message: 'danger', idempotencyKey: 'k' })
  await page.event('approval.requested')

  const asked = performance.now()
  node.signal('SIGTERM')
  await page.event('shutdown')
  const end = await node.ended

  expect(end.code).toBe(0)
  // It may take 30 s where a turn works.
  expect(performance.now() - asked).toBeLessThan(15_000)
  await aNode({ folder }, '--app', testApp)
  expect((await statecast({ folder }, 'approvals')).stdout).toContain('danger')
})

test('without --json up says its pid, the inspector, and the address of the chat last', async () => {
  const folder = aFolder()
  const node = start({ folder }, 'up', '--port', '0', '--app', testApp)
  await node.prints('/#token=')
  node.signal('SIGTERM')
  const { stdout } = await node.ended

  expect(stdout).toMatch(
    /^statecast is up\n {2}data {4}\S+statecast\n {2}pid {5}\d+; Ctrl-C or kill \d+ stops it\n {2}inspect http:\S+\/inspector#token=[\w-]{43}\n {2}chat {4}http:\S+\/#token=[\w-]{43}\n$/,
  )
})

test('a node that shuts down says so: on the socket at once, to doctor, and to a second node, which is not told to kill it', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  const page = await aSocket(node.url, { auth: { token: readFileSync(node.token, 'utf8').trim() } })
  await rpc(node, 'chat.send', { sessionKey: 'main', message: 'wait d', idempotencyKey: 'd' })
  await untilFile(join(folder, 'd.started'))

  node.signal('SIGTERM')
  await page.event('shutdown')
  const doctor = await statecast({ folder }, 'doctor')
  const second = await statecast({ folder }, 'up', '--port', '0', '--app', testApp)
  writeFileSync(join(folder, 'd.go'), '')
  const end = await node.ended

  expect(doctor.stdout).toMatch(/warn +node: shutting down/)
  expect(doctor.stdout).not.toMatch(/BAD +store/)
  expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining(`process ${node.pid} has it and is shutting down`) })
  expect(second.stderr).not.toContain('(kill')
  expect(end.code).toBe(0)
  expect(page.events('shutdown')).toHaveLength(1)
})

test('a second node on the same folder is refused, naming the first', async () => {
  const folder = aFolder()
  const node = await aNode({ folder })

  const second = await statecast({ folder }, 'up', '--port', '0')

  expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining(node.url) })
  expect(second.stderr).toMatch(
    new RegExp(`hint: a node or a command .* runs there, and other commands talk to it by themselves; .*kill ${node.pid}`),
  )
})

test('a command beside a program that serves nobody is told whom to stop, and that commands talk to what was started with statecast', async () => {
  const folder = aFolder()
  await using _ = await createRuntime({ transport: `embedded:${join(folder, '.statecast')}` })

  const second = await statecast({ folder }, 'sessions')

  expect(second.code).toBe(3)
  expect(second.stderr).toMatch(
    new RegExp(
      `\\[locked\\]\nhint: another program has this folder open and takes no commands: .*started with statecast; else stop process ${process.pid} \\(kill`,
    ),
  )
})

test('a port in use, and a host beyond this machine without a token of one’s own, are refused with what to do', async () => {
  const folder = aFolder()
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo

  const taken = await statecast({ folder }, 'up', '--port', String(port))
  const exposed = await statecast({ folder }, 'up', '--port', '0', '--host', '0.0.0.0')
  server.close()

  expect(taken).toMatchObject({ code: 1, stderr: expect.stringMatching(/port \d+ .*in use \[conflict\]\nhint: .*--port/) })
  expect(exposed).toMatchObject({ code: 3, stderr: expect.stringMatching(/\[forbidden\]\nhint: .*STATECAST_TOKEN/) })
})

test('[BAD-JSON] what is not JSON is answered by a typed error, and the node goes on', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  const headers = { authorization: `Bearer ${readFileSync(node.token, 'utf8').trim()}` }

  const broken = await fetch(`${node.url}/rpc/chat.send`, { method: 'POST', headers, body: '{"sessionKey":' })
  const after = await fetch(`${node.url}/rpc/chat.send`, { method: 'POST', headers, body: '{"sessionKey":"main","message":"hi"}' })

  expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: 'bad_request', hint: expect.any(String) } }])
  expect([after.status, await after.json()]).toMatchObject([200, { status: 'started' }])
})
