/** Several credentials for one provider, with the real packages against local servers. */
import { afterEach, describe, expect, test } from 'vitest'
import { noFailPoints } from '../../src/contracts/environment.ts'
import type { Credential } from '../../src/models/credentials.ts'
import { createModels, type ModelsOptions } from '../../src/models/models.ts'
import { systemClock } from '../../src/models/sleep.ts'
import { startAnthropicServer } from '../support/anthropic-server.ts'
import { startOpenAiServer } from '../support/openai-server.ts'
import { start } from './fixtures.ts'

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const environment = { clock: systemClock, random: { next: () => 0.5 }, failPoints: noFailPoints, log }
const models = (options: Partial<ModelsOptions> = {}) => createModels({ environment, env: {}, ...options })
const secretWork = 'word-that-nobody-may-see'
const work: Credential = { id: 'work', type: 'key', value: secretWork }
const home: Credential = { id: 'home', type: 'oauth', value: 'another-word-to-hide' }
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

describe('the credentials of a model', () => {
  const credentials = { anthropic: [work, home], mine: [work] }
  const custom = { 'my/model': [], 'mine/model': [], 'anthropic/own': [] }

  test.each([
    [
      'anthropic/claude-x',
      [
        { id: 'work', type: 'key' },
        { id: 'home', type: 'oauth' },
      ],
    ],
    ['openai/gpt-x', [{ id: 'default', type: 'key' }]],
    ['openai-compatible/x', [{ id: 'default', type: 'key' }]],
    ['mine/model', [{ id: 'work', type: 'key' }]],
    ['my/model', []],
    ['scripted/offline', []],
    ['nobody/knows', []],
    ['constructor/x', []],
    ['', []],
  ])('of %s are listed without what is secret in them', (ref, expected) => {
    expect(
      models({ credentials, custom })
        .profiles?.(ref)
        .map(({ source: _, ...one }) => one),
    ).toEqual(expected)
  })

  test('take the place of the variable: the provider is there, and is the default', async () => {
    const registry = models({ credentials: { anthropic: [work] } })

    expect(registry.defaultRef).toMatch(/^anthropic\//)
    expect(registry.list()).toContainEqual({ ref: registry.defaultRef, available: true })
    await expect(registry.get('anthropic/claude-x')).resolves.toMatchObject({ ref: 'anthropic/claude-x' })
    expect(models({ credentials: { openai: [work] } }).defaultRef).toMatch(/^openai\//)
  })

  test('open a model each, and it is kept; without a word it is the first in order', async () => {
    const registry = models({ credentials })

    const [byWork, byHome] = await Promise.all([registry.get('anthropic/c', 'work'), registry.get('anthropic/c', 'home')])

    expect(byWork).not.toBe(byHome)
    expect(await registry.get('anthropic/c', 'work')).toBe(byWork)
    expect(await registry.get('anthropic/c')).toBe(byHome)
  })

  test('the variable of a provider is one by the name of `default`', async () => {
    const registry = models({ env: { OPENAI_API_KEY: 'k' } })

    expect(registry.get('openai/gpt-x', 'default')).toBe(registry.get('openai/gpt-x'))
    await expect(models().get('openai/gpt-x', 'default')).rejects.toMatchObject({ code: 'provider_auth', hint: 'set OPENAI_API_KEY' })
  })

  test.each([
    ['anthropic/claude-x', 'wrok', 'there are: work, home'],
    ['anthropic/claude-x', 'default', 'there are: work, home'],
    ['openai/gpt-x', 'work', 'there are: default'],
    ['anthropic/claude-x', 'toString', 'there are: work, home'],
  ])('one of %s that does not exist is refused: %s', async (ref, profile, hint) => {
    await expect(models({ credentials, env: { OPENAI_API_KEY: 'k' } }).get(ref, profile)).rejects.toMatchObject({ code: 'provider_auth', hint })
  })

  test.each<[string, unknown, string]>([
    ['two with one id', { openai: [work, { ...home, id: 'work' }] }, 'credentials.openai'],
    ['an unknown type', { openai: [{ ...work, type: 'password' }] }, 'credentials.openai.0.type'],
    ['a line break', { openai: [work, { ...home, value: `${secretWork}\n${secretWork}` }] }, 'credentials.openai.1.value'],
    ['nothing', { openai: [{ ...work, value: ' \n' }] }, 'credentials.openai.0.value'],
    ['no id', { openai: [{ type: 'key', value: secretWork }] }, 'credentials.openai.0.id'],
    ['no list', { openai: secretWork }, 'credentials.openai'],
  ])('that are none are refused when the models are made, without being shown: %s', (_, credentials, field) => {
    let thrown: unknown
    try {
      models({ credentials: credentials as never })
    } catch (error) {
      thrown = error
    }

    expect(thrown).toMatchObject({ code: 'bad_request', field, hint: expect.any(String) })
    expect(`${JSON.stringify(thrown)} ${String(thrown)}`).not.toContain(secretWork)
  })
})

describe('what a provider is sent', () => {
  test('each model uses its own, pasted spaces left out', async () => {
    const server = await startOpenAiServer({ script: () => ({ text: 'hello' }) })
    open.push(server)
    const credentials = { 'openai-compatible': [{ ...work, value: ` ${secretWork}\n` }, home] }
    const registry = models({ credentials, env: { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'of-the-variable' } })

    for (const profile of ['work', 'home']) await start(await registry.get('openai-compatible/x', profile)).response

    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${secretWork}`, `Bearer ${home.value}`])
  })

  test('Anthropic gets a key in the header of keys, everything else as a bearer token', async () => {
    const server = await startAnthropicServer({ script: [{ text: 'hello' }, { text: 'hello' }] })
    open.push(server)
    const registry = models({
      credentials: { anthropic: [work, home] },
      env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'of-the-variable' },
    })

    for (const profile of ['work', 'home']) await start(await registry.get('anthropic/claude-test', profile)).response

    expect(server.requests.map(({ headers }) => [headers['x-api-key'], headers.authorization])).toEqual([
      [secretWork, undefined],
      [undefined, `Bearer ${home.value}`],
    ])
  })

  test.each(['openai/gpt-test', 'openai-compatible/x', 'anthropic/claude-test'])(
    'is not repeated when %s refuses it, and the hint names the credential',
    async (ref) => {
      const fault = { kind: 'status', status: 401, error: { message: `wrong key: ${secretWork}` } } as const
      const server = await (ref.startsWith('anthropic')
        ? startAnthropicServer({ script: [], faults: [fault] })
        : startOpenAiServer({ script: [], faults: [fault] }))
      open.push(server)
      const provider = ref.slice(0, ref.indexOf('/'))
      const env = { OPENAI_BASE_URL: server.url, ANTHROPIC_BASE_URL: server.url }

      const error = await start(await models({ credentials: { [provider]: [work] }, env }).get(ref, 'work')).error

      expect(error).toMatchObject({ code: 'provider_auth', hint: expect.stringContaining('the credential "work"') })
      expect(JSON.stringify([error, error.stack, String(error.cause)])).not.toContain(secretWork)
    },
  )
})
