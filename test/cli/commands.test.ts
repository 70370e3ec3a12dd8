/** The smaller commands, and what the command line says to those who get it wrong. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { machines } from '../../src/all-machines.ts'
import { aFolder, statecast, testApp } from './run.ts'

test('--version and --help answer on stdout with exit code 0', async () => {
  const folder = aFolder()

  expect(await statecast({ folder }, '--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' })
  expect(await statecast({ folder }, '--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('doctor'), stderr: '' })
})

test('without a command the help is printed: that is no mistake', async () => {
  const folder = aFolder()

  const none = await statecast({ folder })

  expect(none).toMatchObject({ code: 0, stdout: (await statecast({ folder }, '--help')).stdout, stderr: '' })
})

test.each([
  ['histroy', 'history'],
  ['aprove', 'approve'],
  ['approval', 'approvals'],
  ['actor', 'actors'],
])('the unknown command %s is answered with %s', async (typed, meant) => {
  expect((await statecast({ folder: aFolder() }, typed)).stderr).toContain(`hint: did you mean ${meant}?`)
})

test.each([
  ['an unknown command', ['sendd'], /^error: unknown command 'sendd'\nhint: did you mean send\?\n$/],
  ['an unknown option', ['sessions', '--alll'], /^error: unknown option '--alll'\nhint: \S/],
  ['a missing argument', ['send', 'main'], /^error: missing required argument 'text'\nhint: see statecast send --help$/m],
  ['a number that is none', ['replay', 'main', '--to', '1x'], /^error: .*whole number.*\nhint: \S/],
  ['a transport that does not exist', ['sessions', '--url', 'pigeon:coop'], /^error: .*pigeon.*\nhint: \S/],
  [
    'an address with one slash',
    ['sessions', '--url', 'nats:/u:secret@host'],
    /^error: .*'nats:' needs two slashes .*\nhint: write nats:\/\/host:port\n$/,
  ],
  ['a port that there is not', ['sessions', '--url', 'nats://127.0.0.1:99999'], /^error: .*no such port.*\[bad_request\]\nhint: \S/],
  ['an address without a scheme', ['up', '--url', '127.0.0.1:4222'], /^error: .*\nhint: write nats:\/\/127\.0\.0\.1:4222 /],
  ['the same for a node', ['up', '--url', 'tls:/host'], /^error: .*'tls:' .*two slashes .*\nhint: \S/],
  ['an app file that is not there', ['chat', '--app', 'nowhere.ts'], /^error: .*nowhere\.ts does not exist.*\nhint: \S/],
])('%s is wrong usage: exit code 2, the message and what to do on stderr, no stack', async (_, args, message) => {
  const { code, stdout, stderr } = await statecast({ folder: aFolder() }, ...args)

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr).not.toMatch(/^\s+at /m)
})

test.each([
  ['trace', 'nobody'],
  ['replay', 'nobody'],
  ['replay', 'unheard-of/x'],
  ['machines', 'toool'],
])('%s of what is not there ends with exit code 4 and a hint, and makes no folder', async (...args) => {
  const folder = aFolder()

  const { code, stderr } = await statecast({ folder }, ...args)

  expect(code).toBe(4)
  expect(stderr).toMatch(/\[not_found\]\nhint: \S/)
  expect(existsSync(join(folder, '.statecast'))).toBe(false)
})

test('[BAD-ID-DOT, BAD-ID-WILDCARD, BAD-ID-PROTO] odd keys are sessions like any other, each its own', async () => {
  const folder = aFolder()
  const keys = ['a.b', '*', '>', '__proto__', 'ü/é', '..']

  for (const key of keys)
    expect(await statecast({ folder }, 'send', key, `hi ${key}`, '--app', testApp)).toMatchObject({ stdout: `echo hi ${key}\n` })

  const { lines } = await statecast({ folder }, 'sessions', '--json')
  expect(lines.map((line) => (JSON.parse(line) as { key: string }).key).sort()).toEqual([...keys].sort())
})

test('[BAD-ID-EMPTY, BAD-ID-LONG] an empty key and one of 5,000 characters are refused with their own errors', async () => {
  const folder = aFolder()

  expect(await statecast({ folder }, 'send', '', 'hi')).toMatchObject({ code: 2, stderr: expect.stringContaining('[bad_request]') })
  expect(await statecast({ folder }, 'send', 'x'.repeat(5000), 'hi')).toMatchObject({ code: 2, stderr: expect.stringContaining('[too_large]') })
})

test('sessions, trace and replay show what has happened, without setting anything going', async () => {
  const folder = aFolder()
  await statecast({ folder }, 'send', 'main', '1+1')
  const stored = await statecast({ folder }, 'send', 'later', '2+2', '--no-wait')

  const sessions = await statecast({ folder }, 'sessions')
  const trace = await statecast({ folder }, 'trace', 'main', '--from', '2')
  const replay = await statecast({ folder }, 'replay', 'session/main')
  const earlier = await statecast({ folder }, 'replay', 'main', '--to', '1')

  expect(sessions.stdout).toMatch(/^KEY {2,}STATE.*\n/)
  expect(sessions.stdout).toMatch(/^main +awaiting-input +4 /m)
  expect(stored).toMatchObject({ code: 0, stderr: expect.stringContaining('answered when one runs next') })
  expect(sessions.stdout).not.toContain('later')
  expect(trace.lines[0]).toMatch(/^2 \d{4}-\d\d-\d\dT\S+Z \/turn#1\/loop#1\/model#1 \S+/)
  expect(trace.lines.at(-1)).toMatch(/^4 .*→ .*\/: awaiting-input/)
  expect(replay).toMatchObject({ code: 0, lines: ['identical', '4 commits, 4 inputs', '/: awaiting-input'] })
  expect(earlier.lines.slice(0, 3)).toEqual(['identical', '1 commits, 1 inputs', '/: running.answering'])
})

test('machines draws ours and those of the app', async () => {
  const folder = aFolder()

  const list = await statecast({ folder }, 'machines', '--app', testApp)
  const mermaid = await statecast({ folder }, 'machines', 'tool')
  const json = await statecast({ folder }, 'machines', 'light', '--format', 'json', '--app', testApp)
  const drawing = await statecast({ folder }, 'machines', 'light', '--format', 'svg', '--app', testApp)
  const both = await statecast({ folder }, 'machines', 'light', '--format', 'svg', '--json', '--app', testApp)
  const several = await statecast({ folder }, 'machines', '--format', 'svg')

  expect(list.lines.map((line) => line.split(' ')[0])).toEqual([...Object.keys(machines), 'light', 'tally'])
  expect(mermaid.stdout).toMatch(/^stateDiagram-v2\n/)
  expect(JSON.parse(json.stdout)).toMatchObject({ id: 'light', initial: 'off' })
  expect(drawing.stdout).toMatch(/^<svg xmlns=.*<\/svg>\n$/s)
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--json') })
  expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining('SVG shows one machine') })
})

test('the app file of the working directory is taken without being asked for, in JSON too', async () => {
  const folder = aFolder()
  writeFileSync(join(folder, 'statecast.config.json'), '{"agents":[{"name":"sums","tools":["calculate"]}]}')

  const sum = await statecast({ folder }, 'send', 'main', '2*3')
  const time = await statecast({ folder }, 'send', 'main', 'what time is it?')

  expect([sum.stdout, time.stdout]).toEqual(['2*3 = 6\n', 'For this I would need the tool now, which this agent does not have.\n'])
  writeFileSync(join(folder, 'statecast.config.json'), '{"agents":[{"name":"sums"}],"chat":{"agents":{"sums":{"verbose":"on"},"other":{}}}}')
  expect((await statecast({ folder }, 'send', 'main', 'hi')).stderr).toContain("chat() has settings of an agent 'other' that is not there")
})

test("an app file in TypeScript gets 'statecast' from whoever runs it, wherever it lies", async () => {
  const folder = aFolder()
  const app = `import { agent, defineApp } from 'statecast'
    export default defineApp({ agents: [agent({ name: 'main', model: 'my/own' })], models: { 'my/own': [{ text: 'from the script' as string }] } })`
  writeFileSync(join(folder, 'statecast.config.ts'), app)

  expect(await statecast({ folder }, 'send', 'main', 'hi')).toMatchObject({ code: 0, stdout: 'from the script\n' })
})

test('with STATECAST_DEBUG=1 an error shows where it comes from', async () => {
  const folder = aFolder()
  appendFileSync(join(folder, 'app.ts'), "throw new Error('from the app')\n")

  const { code, stderr } = await statecast({ folder, env: { STATECAST_DEBUG: '1' } }, 'chat', '--app', 'app.ts')

  expect(code).toBe(2)
  expect(stderr).toMatch(/from the app/)
  expect(stderr).toMatch(/^\s+at /m)
})

test.each([
  ['a file', 'embedded:./afile'],
  ['something below a file', 'embedded:./afile/data'],
  ['nothing', 'embedded:'],
  ['a name that is too long', `embedded:./${'x'.repeat(300)}`],
])('looking at a folder that is %s is an error, not an empty folder', async (_, url) => {
  const folder = aFolder()
  writeFileSync(join(folder, 'afile'), '')

  const { code, stdout, stderr } = await statecast({ folder }, 'sessions', '--url', url)

  expect({ failed: code !== 0, stdout }).toEqual({ failed: true, stdout: '' })
  expect(stderr).toMatch(/^error: .*\[\w+\]\nhint: \S/)
  expect(stderr).not.toContain('[internal]')
})

test('a level of logging that is none is wrong usage, with those that there are', async () => {
  expect(await statecast({ folder: aFolder(), env: { STATECAST_LOG: 'banana' } }, 'sessions')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error: 'banana' is not a log level \[bad_request\]\nhint: .*debug.*silent/),
  })
})

test('an app file in JSON says what an agent may do with files and commands, and tools shows why the rest is missing', async () => {
  const folder = aFolder()
  const app = { agents: [{ name: 'coder', bench: { files: 'rw', sandbox: { access: 'ro' } }, toolPolicy: { deny: ['now'] } }] }
  writeFileSync(join(folder, 'statecast.config.json'), JSON.stringify(app))

  const { stdout } = await statecast({ folder }, 'tools')

  expect(stdout).toMatch(/^search_files +files +bench +coder +retry +never/m)
  expect(stdout).toMatch(/^NOT THERE +CATEGORY +AGENT +RULE +WHY$/m)
  expect(stdout).toMatch(/^now +basic +coder +agent +the rule agent denies now$/m)
  expect(stdout).toMatch(/^write_file +files +coder +sandbox +the sandbox has access: ro$/m)
  expect(stdout).toMatch(/^run_command +shell +coder +agent +the bench has no shell; shell: true adds it$/m)
})

test.each([
  [{ bench: { files: 'wr' } }, 'bench'],
  [{ bench: { shell: { env: { OPENAI_API_KEY: 'sk' } } } }, 'bench'],
  [{ toolPolicy: { denny: ['x'] } }, 'toolPolicy'],
  [{ tools: ['write_file'], bench: { files: 'ro' } }, "there is no built-in tool 'write_file': the bench has files: 'ro'"],
])('what a bench or a policy does not know is refused: %j', async (part, expected) => {
  const folder = aFolder()
  writeFileSync(join(folder, 'statecast.config.json'), JSON.stringify({ agents: [{ name: 'coder', ...part }] }))

  const { code, stderr } = await statecast({ folder }, 'tools')

  expect(code).not.toBe(0)
  expect(stderr).toContain(expected)
})

test('tools lists those of the app, with what becomes of a call that a crash cut off', async () => {
  const { code, stdout } = await statecast({ folder: aFolder() }, 'tools', '--app', testApp)

  expect(code).toBe(0)
  expect(stdout).toMatch(/^danger +plugin +app +main +once +always +- +Needs a person\.\n/m)
  expect(stdout).toMatch(/^wait_for_file +plugin +app +main +retry +never +- /m)
})

test('chat takes its conversation as an argument, as the other commands do, or as an option', async () => {
  const folder = aFolder()

  await statecast({ folder, input: 'one\n' }, 'chat', 'a', '--app', testApp)
  await statecast({ folder, input: 'two\n' }, 'chat', '--session', 'b', '--app', testApp)
  const { lines } = await statecast({ folder }, 'sessions', '--json')

  expect(lines.map((line) => (JSON.parse(line) as { key: string }).key).sort()).toEqual(['a', 'b'])
  expect((await statecast({ folder }, 'chat', '--help')).stdout).toMatch(/^Usage: statecast chat \[options\] \[key\]/)
})
