/** Extensions that are named by the path of a module, and what callers see of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chat } from '../../../src/chat.ts'
import { createRuntime } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

type Counts = { evaluated: number; made: number; started: string[]; stopped: string[] }
const counts = globalThis as { pluginCounts?: Counts | undefined }

/** A module that counts what is done with it. */
const moduleText = (version: string, name = 'counter', extra = '') => `
globalThis.pluginCounts.evaluated++
export default () => {
  globalThis.pluginCounts.made++
  return { name: '${name}', ${extra} async start() { globalThis.pluginCounts.started.push('${version}'); return () => { globalThis.pluginCounts.stopped.push('${version}') } } }
}`

const aModule = (text = moduleText('one')) => {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-'))
  const path = join(folder, 'plugin.mjs')
  writeFileSync(path, text)
  counts.pluginCounts = { evaluated: 0, made: 0, started: [], stopped: [] }
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
    counts.pluginCounts = undefined
  })
  return { path, write: (next: string) => writeFileSync(path, next), seen: counts.pluginCounts }
}

test('[CH-95] ten start-up requests at once, and the plugin has been loaded, made and started once', async () => {
  const { path, seen } = aModule()
  const { gateway } = await aGateway({}, { extensions: [chat(), path] })
  const { request } = await aSocket(gateway.url)

  const asked = [
    'health',
    'models.list',
    'agents.list',
    'sessions.list',
    'tools.list',
    'extensions.list',
    'nodes.list',
    'health',
    'models.list',
    'extensions.list',
  ]
  const answers = await Promise.all(asked.map((method) => request(method)))

  expect(answers.every(({ ok }) => ok)).toBe(true)
  expect(seen).toEqual({ evaluated: 1, made: 1, started: ['one'], stopped: [] })
  expect(answers[9]?.payload.extensions).toEqual([
    { name: 'chat', state: 'running', starts: 1, startMs: expect.any(Number) },
    { name: 'counter', module: path, state: 'running', starts: 1, startMs: expect.any(Number) },
  ])
})

test('[CH-95] runtimes that start at once share the load of a module, and each has its own extension', async () => {
  const { path, seen } = aModule()

  const runtimes = await Promise.all([1, 2, 3].map(() => createRuntime({ transport: 'memory:', extensions: [path] })))
  await Promise.all(runtimes.map((runtime) => runtime.close()))

  expect(seen).toEqual({ evaluated: 1, made: 3, started: ['one', 'one', 'one'], stopped: ['one', 'one', 'one'] })
})

test('[CH-95] a reload is explicit, and those who ask for it at once share it', async () => {
  const { path, write, seen } = aModule()
  const { gateway } = await aGateway({}, { extensions: [chat(), path] })
  const { request } = await aSocket(gateway.url)
  write(moduleText('two'))
  await request('health')
  const before = [...seen.started]

  const answers = await Promise.all(Array.from({ length: 10 }, () => request('extensions.reload', { name: 'counter' })))

  expect(before).toEqual(['one'])
  expect(seen).toEqual({ evaluated: 2, made: 2, started: ['one', 'two'], stopped: ['one'] })
  expect(answers.map(({ payload }) => payload.extension.starts)).toEqual(Array.from({ length: 10 }, () => 2))
})

test.each([
  ['cannot be read', 'export default {', 'bad_request'],
  ['exports nothing', 'export const a = 1', 'bad_request'],
  ['has another name', moduleText('two', 'another'), 'conflict'],
  ['has a field that there is not', moduleText('two', 'counter', 'handlers: 1,'), 'bad_request'],
  ['stands in front of sessions', moduleText('two', 'counter', 'session: () => ({}),'), 'unsupported'],
])('[CH-95] a module that %s leaves the old one running', async (_, text, code) => {
  const { path, write, seen } = aModule()
  const { gateway } = await aGateway({}, { extensions: [chat(), path] })
  const { request } = await aSocket(gateway.url)
  write(text)

  const answer = await request('extensions.reload', { name: 'counter' })

  expect(answer).toMatchObject({ ok: false, error: { code, hint: expect.any(String) } })
  expect([seen.started, seen.stopped]).toEqual([['one'], []])
})

test('[CH-95] who may not administer may not reload', async () => {
  const { gateway } = await aGateway()
  const { request } = await aSocket(gateway.url, { scopes: ['write'] })

  expect(await request('extensions.list')).toMatchObject({ ok: true, payload: { extensions: [{ name: 'chat' }] } })
  expect(await request('extensions.reload', { name: 'chat' })).toMatchObject({ ok: false, error: { code: 'forbidden' } })
})

test.each([
  ['no path', 'my-plugin', 'not the path of a module'],
  ['not there', './no-such-plugin.mjs', 'cannot be loaded'],
])('an extension whose path is %s keeps the runtime from starting, and is named', async (_, named, words) => {
  await expect(createRuntime({ transport: 'memory:', extensions: [named] })).rejects.toMatchObject({
    code: 'bad_request',
    field: 'extensions',
    message: expect.stringContaining(words),
    hint: expect.any(String),
  })
})
