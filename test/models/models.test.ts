import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noFailPoints } from '../../src/contracts/environment.ts'
import { createModels, type ModelsOptions } from '../../src/models/models.ts'
import { loadPackage } from '../../src/models/providers.ts'
import { scriptedModel } from '../../src/models/scripted.ts'
import { aRequest, start, virtualClock } from './fixtures.ts'

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const environment = { clock: virtualClock(), random: { next: () => 0.5 }, failPoints: noFailPoints, log }
const models = (options: Partial<ModelsOptions> = {}) => createModels({ environment, env: {}, ...options })

describe('the default model', () => {
  test.each([
    [{}, 'scripted/offline'],
    [{ ANTHROPIC_API_KEY: '' }, 'scripted/offline'],
    [{ ANTHROPIC_API_KEY: ' \n', OPENAI_BASE_URL: '  ' }, 'scripted/offline'],
    [{ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }, /^anthropic\/claude-/],
    [{ ANTHROPIC_API_KEY: 'k', ANTHROPIC_MODEL: 'claude-mine' }, 'anthropic/claude-mine'],
    [{ OPENAI_API_KEY: 'k' }, /^openai\/gpt-/],
    [{ OPENAI_API_KEY: 'k', OPENAI_MODEL: 'mine' }, 'openai/mine'],
    [{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, 'openai-compatible/default'],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_MODEL: 'llama' }, 'openai-compatible/llama'],
    [{ STATECAST_MODEL: 'scripted/demo.yaml', ANTHROPIC_API_KEY: 'k' }, 'scripted/demo.yaml'],
  ])('with %j is %s', (env, expected) => {
    expect(models({ env }).defaultRef).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
  })
})

describe('a reference', () => {
  test.each(['nobody/knows', 'offline', '', '/', 'anthropic/', 'constructor/x', 'toString', 'scripted/'])(
    '"%s" that names nothing is refused with what there is',
    async (ref) => {
      await expect(models().get(ref)).rejects.toMatchObject({ code: 'provider_unknown_model', hint: expect.stringContaining('scripted/offline') })
    },
  )

  test.each([
    ['anthropic/claude-x', {}, { code: 'provider_auth', hint: 'set ANTHROPIC_API_KEY' }],
    ['openai/gpt-x', {}, { code: 'provider_auth', hint: 'set OPENAI_API_KEY' }],
    ['openai-compatible/x', {}, { code: 'provider_unknown_model', hint: expect.stringContaining('OPENAI_BASE_URL') }],
    ['openai-compatible/x', { OPENAI_BASE_URL: 'https://llm.example/v1' }, { code: 'provider_auth' }],
    ['openai-compatible/x', { OPENAI_BASE_URL: 'localhost:1234', OPENAI_API_KEY: 'k' }, { code: 'bad_request', field: 'OPENAI_BASE_URL' }],
  ])('%s with %j says what is missing', async (ref, env, expected) => {
    await expect(models({ env }).get(ref)).rejects.toMatchObject(expected)
  })

  test.each(['http://127.0.0.1:1/v1', 'http://localhost:1/v1', 'http://[::1]:1/v1'])(
    'openai-compatible needs no key at %s',
    async (OPENAI_BASE_URL) => {
      await expect(models({ env: { OPENAI_BASE_URL } }).get('openai-compatible/x')).resolves.toMatchObject({ ref: 'openai-compatible/x' })
    },
  )

  test.each([
    ['localhost:1234', 'OPENAI_BASE_URL=http://localhost:1234/v1'],
    ['box.lan/llm', 'OPENAI_BASE_URL=http://box.lan/llm'],
    ['not a url', 'such as OPENAI_BASE_URL=http://'],
    ['http://', 'such as OPENAI_BASE_URL=http://'],
    ['http:/x', 'such as'],
    ['ftp://host/v1', 'such as'],
    ['http://host:99999/v1', 'such as'],
    ['http://me:secret-word@127.0.0.1:1/v1', 'leave them out'],
  ])('the address %s is refused with what to write instead, key or no key, and the list says so too', async (OPENAI_BASE_URL, hint) => {
    for (const env of [{ OPENAI_BASE_URL }, { OPENAI_BASE_URL, OPENAI_API_KEY: 'k' }])
      for (const ref of ['openai-compatible/x', 'openai/x']) {
        const error = await models({ env })
          .get(ref)
          .catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ code: 'bad_request', field: 'OPENAI_BASE_URL', hint: expect.stringContaining(hint) })
        expect(JSON.stringify(error)).not.toContain('secret-word')
      }
    expect(models({ env: { OPENAI_BASE_URL } }).list()).toContainEqual(
      expect.objectContaining({ ref: 'openai-compatible/default', available: false, why: expect.stringContaining(hint) }),
    )
  })

  test.each(['sk-one\nsk-two-secret', 'sk-\u2026secret'])(
    'a key that no header can carry is refused without being shown: %j',
    async (OPENAI_API_KEY) => {
      const error = await models({ env: { OPENAI_API_KEY } })
        .get('openai/x')
        .catch((thrown: unknown) => thrown)

      expect(error).toMatchObject({ code: 'provider_auth', hint: expect.stringContaining('OPENAI_API_KEY') })
      expect(JSON.stringify(error)).not.toContain('secret')
    },
  )

  test('gives the same model every time, and tries again after a failure', async () => {
    const env: Record<string, string> = {}
    const registry = models({ env })

    expect(registry.get('scripted/offline')).toBe(registry.get('scripted/offline'))
    await expect(registry.get('openai/gpt-x')).rejects.toMatchObject({ code: 'provider_auth' })
    env.OPENAI_API_KEY = 'k'
    await expect(registry.get('openai/gpt-x')).resolves.toMatchObject({ ref: 'openai/gpt-x' })
  })

  test('may name a model, a script or a function of the author, and each passes the fail points', async () => {
    const hits: string[] = []
    const failPoints = { hit: (name: string) => void hits.push(name) }
    const custom = {
      'my/model': scriptedModel([{ text: 'a' }]),
      'my/script': [{ text: 'b' }],
      'my/function': () => ({ text: 'c' }),
      'scripted/offline': [{ text: 'd' }],
    }
    const registry = models({ custom, environment: { ...environment, failPoints } })

    const answers = await Promise.all(Object.keys(custom).map(async (ref) => start(await registry.get(ref)).response))

    expect(answers.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd'])
    expect(hits.filter((name) => name === 'K08')).toHaveLength(4)
  })
})

describe('scripted/FILE', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'statecast-models-'))
    await mkdir(join(folder, 'work'))
    await writeFile(join(folder, 'work', 'demo.yaml'), '- text: from a file\n')
    await writeFile(join(folder, 'secret.yaml'), '- text: secret\n')
    await symlink(join(folder, 'secret.yaml'), join(folder, 'work', 'link.yaml'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('plays a file of the workspace', async () => {
    const model = await models({ folder: join(folder, 'work') }).get('scripted/demo.yaml')

    expect(await start(model, aRequest()).response).toMatchObject({ text: 'from a file', model: 'scripted/demo.yaml' })
  })

  test.each(['../secret.yaml', 'link.yaml', 'missing.yaml', '/etc/passwd'])('does not reach %s', async (file) => {
    await expect(models({ folder: join(folder, 'work') }).get(`scripted/${file}`)).rejects.toMatchObject({ code: 'provider_unknown_model' })
  })
})

test('the list says what is available and why the rest is not', () => {
  expect(models({ env: { OPENAI_API_KEY: 'k' }, custom: { 'my/script': [] } }).list()).toEqual([
    { ref: 'my/script', available: true },
    { ref: 'scripted/offline', available: true },
    { ref: expect.stringMatching(/^anthropic\//), available: false, why: expect.stringContaining('ANTHROPIC_API_KEY') },
    { ref: expect.stringMatching(/^openai\//), available: true },
    { ref: 'openai-compatible/default', available: false, why: expect.stringContaining('OPENAI_BASE_URL') },
  ])
})

test('a package that is not installed is named with the command that installs it', async () => {
  const thrown = Object.assign(new Error("Cannot find package '@ai-sdk/nowhere' imported from providers.ts"), { code: 'ERR_MODULE_NOT_FOUND' })
  const missing = () => Promise.reject(thrown)

  await expect(loadPackage('@ai-sdk/nowhere', missing)).rejects.toMatchObject({ code: 'provider_unknown_model', hint: 'npm install @ai-sdk/nowhere' })
  await expect(loadPackage('@ai-sdk/nowhere', () => Promise.reject(new Error('broken inside')))).rejects.toThrow('broken inside')
})
