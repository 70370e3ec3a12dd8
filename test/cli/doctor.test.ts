/** `statecast doctor`: what is wrong with a folder, an app and its models, and what to do about it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { type OpenAiServer, type OpenAiServerOptions, startOpenAiServer } from '../support/openai-server.ts'
import { repository } from '../tidy/sources.ts'
import { aFolder, aNode, changedApp, statecast, stopNode, tell, testApp } from './run.ts'

const undurableApp = join(repository, 'test/cli/fixtures/undurable.ts')

const servers: OpenAiServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))
const aServer = async (options: OpenAiServerOptions = {}) => {
  const server = await startOpenAiServer(options)
  servers.push(server)
  return { server, env: { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'sk-secret-value', OPENAI_MODEL: 'small' } }
}

test('[INV-18] doctor finds nothing wrong with a folder in order, and names keys without their values', async () => {
  const folder = aFolder()
  await statecast({ folder }, 'send', 'main', '1+1')

  const { code, stdout } = await statecast({ folder, env: { ANTHROPIC_API_KEY: 'sk-secret-value' } }, 'doctor', '--offline')

  expect(stdout).not.toMatch(/^BAD/m)
  expect(code).toBe(0)
  expect(stdout).toContain('set: ANTHROPIC_API_KEY')
  expect(stdout).not.toContain('sk-secret-value')
})

test('[CH-98] doctor prints the limits of commands as a table, and as JSON', async () => {
  const folder = aFolder()

  const { stdout } = await statecast({ folder }, 'doctor', '--offline')
  const json = await statecast({ folder }, 'doctor', '--offline', '--json')

  expect(stdout).toMatch(/^ +limit +value +enforcement +by$/m)
  expect(stdout).toMatch(/^ +fileBytes +536870912 +(?:kernel|none) +\S/m)
  const findings = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(findings.find(({ check }) => check === 'sandbox limits').rows).toContainEqual(
    expect.objectContaining({ limit: 'memoryBytes', value: 1024 ** 3 }),
  )
})

test('doctor says what is broken and what to do about it, with exit code 1', async () => {
  const folder = aFolder()
  await statecast({ folder }, 'send', 'main', '1+1')
  writeFileSync(join(folder, '.statecast/statecast.db'), 'this is no database'.repeat(1000))
  writeFileSync(join(folder, 'statecast.config.json'), '{"agentss":[]}')

  const { code, stdout } = await statecast({ folder }, 'doctor')

  expect(code).toBe(1)
  expect(stdout).toMatch(/^BAD {3}app: .*no option 'agentss'\n +→ did you mean 'agents'\?$/m)
  expect(stdout).toMatch(/^BAD {3}store: .*\n +→ \S/m)
})

test('an app that no node would start is found, with why, and so is an address that is none', async () => {
  const folder = aFolder()
  const { code, stdout } = await statecast({ folder }, 'doctor', '--offline', '--app', undurableApp)
  const address = await statecast({ folder }, 'doctor', '--offline', '--url', '127.0.0.1:4222')

  expect(code).toBe(1)
  expect(stdout).toMatch(/^BAD {3}app: machine 'odd' cannot be made durable: .*\n +→ \S/m)
  expect(stdout).not.toMatch(/^ok {4}app/m)
  expect(address).toMatchObject({ code: 1, stdout: expect.stringMatching(/^BAD {3}data: .*\n +→ write nats:\/\/127\.0\.0\.1:4222/m) })
})

test('the model is really asked: one tiny request, with what answered and how long it took', async () => {
  const { server, env } = await aServer({ script: () => ({ text: 'ok' }) })

  const { code, stdout } = await statecast({ folder: aFolder(), env }, 'doctor')

  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^ok {4}model: openai-compatible\/small answered a tiny request in \d+ ms \(first word after \d+ ms\), as openai-compatible\/small-served$/m,
  )
  expect(server.requests).toHaveLength(1)
  expect(JSON.stringify(server.requests[0]?.body)).toContain('"max_tokens":16')
})

test('with --offline no model is asked', async () => {
  const { server, env } = await aServer()

  const { code, stdout } = await statecast({ folder: aFolder(), env }, 'doctor', '--offline')

  expect({ code, asked: server.requests.length }).toEqual({ code: 0, asked: 0 })
  expect(stdout).toContain('ok    model: openai-compatible/small: not tried (--offline)')
})

test('[INV-18] a key that is refused is reported by its typed error with a hint, and the key is not repeated', async () => {
  const { env } = await aServer({ faults: [{ kind: 'status', status: 401, error: { message: 'Incorrect API key provided: sk-secret-value' } }] })

  const { code, stdout } = await statecast({ folder: aFolder(), env }, 'doctor')

  expect(code).toBe(1)
  expect(stdout).toMatch(/^BAD {3}model: openai-compatible\/small did not answer a tiny request: .*\[provider_auth\], after \d+ ms\n +→ \S/m)
  expect(stdout).not.toContain('sk-secret-value')
})

test('a model that says nothing is not waited for until it does', async () => {
  const { env } = await aServer({ faults: [{ kind: 'hang' }] })

  const { code, stdout } = await statecast({ folder: aFolder(), env }, 'doctor')

  expect(code).toBe(0)
  expect(stdout).toMatch(/^warn {2}model: .*\[provider_timeout\], after \d+ ms\n +→ .*try again$/m)
})

test.each([
  ['localhost:8080', /^BAD {3}OPENAI_BASE_URL: is not an http address\n +→ for example/m],
  ['http://127.0.0.1:9/v1/chat/completions', /^BAD {3}OPENAI_BASE_URL: .*one endpoint.*\n +→ write http:\/\/127\.0\.0\.1:9\/v1$/m],
  ['http://127.0.0.1:9', /^warn {2}OPENAI_BASE_URL: .*does not end with a version.*\n +→ .*write http:\/\/127\.0\.0\.1:9\/v1$/m],
  ['http://127.0.0.1:9/v1?key=1', /^BAD {3}OPENAI_BASE_URL: .*\n +→ write http:\/\/127\.0\.0\.1:9\/v1$/m],
  ['http://me:hidden@127.0.0.1:9/v1', /^BAD {3}OPENAI_BASE_URL: holds a user or password/m],
  ['http://127.0.0.1:9/v1/', /^ok {4}OPENAI_BASE_URL: http:\/\/127\.0\.0\.1:9\/v1\/$/m],
])('the address %s of a server is looked at before anything is asked', async (url, finding) => {
  const { stdout } = await statecast({ folder: aFolder(), env: { OPENAI_BASE_URL: url } }, 'doctor', '--offline')

  expect(stdout).toMatch(finding)
  expect(stdout).not.toContain('hidden')
})

/** Spoils the last commit of a session, and takes away the snapshot that would save it. */
const tear = (folder: string, id: string): void => {
  const database = new DatabaseSync(join(folder, '.statecast/statecast.db'))
  const { root } = database.prepare('SELECT root FROM roots WHERE id = ?').get(id) as { root: number }
  database.prepare('UPDATE frames SET bytes = zeroblob(20) WHERE root = ? AND seq = (SELECT max(seq) FROM frames WHERE root = ?)').run(root, root)
  database.prepare('DELETE FROM snapshots WHERE root = ?').run(root)
  database.close()
}

test('who cannot be woken is named with the reason, and who waits for a person is counted, on a folder and on a node', async () => {
  const folder = aFolder()
  await statecast({ folder }, 'send', 'bills', 'danger', '--app', testApp)
  await statecast({ folder }, 'send', 'torn', 'hi', '--app', testApp)
  const first = await aNode({ folder }, '--app', testApp)
  await tell(first, 'light', 'hall', { type: 'toggle' })
  await stopNode(first)
  tear(folder, 'torn')

  const changed = await statecast({ folder }, 'doctor', '--offline', '--app', changedApp)
  const without = await statecast({ folder }, 'doctor', '--offline')
  await aNode({ folder }, '--app', changedApp)
  const warm = await statecast({ folder }, 'doctor', '--offline')

  for (const { code, stdout } of [changed, warm]) {
    expect(code).toBe(1)
    expect(stdout).toMatch(/^BAD {3}actor: light\/hall cannot be woken: .*\[drift\]\n +→ .*onDrift/m)
    expect(stdout).toMatch(/^warn {2}approvals: 1 tool call waits for a person\n +→ statecast approvals/m)
  }
  expect(changed.stdout).toMatch(/^BAD {3}journal: session\/torn is damaged/m)
  expect(changed.stdout).not.toMatch(/actor: session\/torn/)
  expect(warm.stdout).toMatch(/^BAD {3}actor: session\/torn cannot be woken: .*\[corrupt_at\]/m)
  expect(without.stdout).toMatch(/^BAD {3}actor: light\/hall cannot be woken: no machine is registered as 'light'.*\n +→ register a machine/m)
})
