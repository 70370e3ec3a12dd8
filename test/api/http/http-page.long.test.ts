/** docs/reference/http.md is true: what it shows is sent to a node, and the answers have the shape that it shows. */

import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { statusOf } from '../../../src/api/error-status.ts'
import { gatewayApp } from '../../../src/api/http/app.ts'
import { gatewayLimits } from '../../../src/api/http/limits.ts'
import { Throttle } from '../../../src/api/http/throttle.ts'
import { commands } from '../../../src/contracts/commands.ts'
import type { ErrorBody } from '../../../src/contracts/errors.ts'
import { createRuntime } from '../../../src/index.ts'
import { partsOf, systemClock } from '../../../src/runtime/index.ts'
import { aNodeProcess } from '../../cli/processes.ts'
import { aFolder, type Node } from '../../cli/run.ts'
import { repository } from '../../tidy/sources.ts'

const page = readFileSync(join(repository, 'docs/reference/http.md'), 'utf8')
const guide = readFileSync(join(repository, 'docs/guides/app.md'), 'utf8')

let node: Node
let token = ''
/** The node of the page: with the app of the guide, as it stands there. */
beforeEach(async () => {
  const folder = aFolder()
  const app = /```ts\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''
  writeFileSync(join(folder, 'statecast.config.mts'), app)
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  node = await aNodeProcess({ folder })
  token = readFileSync(node.token, 'utf8').trim()
})

type Shown = { line: string; path: string; headers: Record<string, string>; body?: string; answer?: unknown }

/** The lines of the page that do something, as a shell would read them; the last of a block with the answer that stands below it. */
const shown = (): Shown[] =>
  [...page.matchAll(/```sh\n([^`]*)```(?:\n```json\n([^`]*)```)?/g)].flatMap(([, block = '', json]) => {
    const lines = block.split('\n').filter((line) => /^(curl|sleep) /.test(line))
    return lines.map((line, index) => {
      const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '')
      const after = (option: string) => words.flatMap((word, at) => (word === option ? [words[at + 1] ?? ''] : []))
      const headers = after('-H').map((header) => (header === '$AUTH' ? ['authorization', `Bearer ${token}`] : header.split(': ')))
      const [body] = after('-d')
      const path = words.find((word) => word.startsWith('$URL'))?.slice('$URL'.length) ?? ''
      return {
        line,
        path,
        headers: Object.fromEntries(headers) as Record<string, string>,
        ...(body === undefined ? {} : { body }),
        ...(json === undefined || index < lines.length - 1 ? {} : { answer: JSON.parse(json) as unknown }),
      }
    })
  })
const send = ({ path, headers, body }: Shown, signal?: AbortSignal): Promise<Response> =>
  fetch(`${node.url}${path}`, { headers, ...(body === undefined ? {} : { method: 'POST', body }), ...(signal ? { signal } : {}) })

const rpc = async (command: string, input: object): Promise<any> => {
  const response = await send({ line: '', path: `/rpc/${command}`, headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(input) })
  return response.json()
}

/** What is another one each time. */
const passing = new Set(['at', 'birth', 'durability', 'root', 'sessionId'])

/** Where an answer is another one than the page says: keys, and values but for numbers. What the page leaves empty or cuts short is not looked into. */
const differences = (said: unknown, real: unknown, path = ''): string[] => {
  if (typeof said !== 'object' || said === null) {
    const same = typeof said === 'number' || passing.has(path.split('.').at(-1) ?? '') ? typeof said === typeof real : agree(said, real)
    return same ? [] : [`${path} is ${JSON.stringify(real)}`]
  }
  if (typeof real !== 'object' || real === null || Array.isArray(said) !== Array.isArray(real)) return [`${path} is ${JSON.stringify(real)}`]
  const [wanted, found] = [Object.entries(said), real as Record<string, unknown>]
  const extra = Array.isArray(said) || wanted.length === 0 ? [] : Object.keys(found).filter((key) => !(key in said))
  return [
    ...extra.map((key) => `${path}.${key} is not on the page`),
    ...wanted.flatMap(([key, value]) => (key in found ? differences(value, found[key], `${path}.${key}`) : [`${path}.${key} is missing`])),
  ]
}
const agree = (said: unknown, real: unknown): boolean =>
  said === real || (typeof said === 'string' && typeof real === 'string' && said.endsWith('…') && real.startsWith(said.slice(0, -1)))

test('every example can be sent as it stands, one after another, and is answered as the page shows', async () => {
  const asked = shown().filter(({ path }) => path.startsWith('/rpc/') || path === '')
  expect(asked.filter(({ answer }) => answer !== undefined).length).toBe(Object.keys(commands).length + 1)
  const wrong: unknown[] = []
  for (const example of asked) {
    if (example.line.startsWith('sleep ')) {
      await pause(1000)
      continue
    }
    const response = await send(example)
    const real = await response.json()

    const { error } = (example.answer ?? {}) as { error?: ErrorBody }
    const status = error ? statusOf(error) : 200
    if (response.status !== status) wrong.push([example.line, response.status, real])
    else if (example.answer !== undefined) wrong.push(...differences(example.answer, real).map((difference) => [example.line, difference]))
  }
  expect(wrong).toEqual([])
})

const namesIn = (pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, name = '']) => name).sort()

test('the page names every route and every command, and none that is not there', async () => {
  await using runtime = await createRuntime({ transport: 'memory:' })
  const app = gatewayApp({
    runtime: () => runtime,
    log: partsOf(runtime).environment.log,
    tokens: [token],
    host: '127.0.0.1',
    draining: new AbortController().signal,
    closing: new AbortController().signal,
    throttle: new Throttle(gatewayLimits, systemClock, () => undefined),
  })
  const routes = new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))

  expect(namesIn(/^\| `([A-Z]+ \/\S*)` \|/gm)).toEqual([...routes].sort())
  expect(namesIn(/^### `(\S+)`$/gm)).toEqual(Object.keys(commands).sort())
})

test('the stream of events begins, names and resumes as the page says', async () => {
  const [live, resumed] = shown().filter(({ path }) => path.endsWith('/events'))
  const stop = new AbortController()
  const listening = await send(live as Shown, stop.signal)
  await rpc('chat.send', { sessionKey: 'main', message: 'refund {"amount":7}', idempotencyKey: 'k1' })
  await rpc('agent.wait', { sessionKey: 'main', runId: 'k1' })
  const again = await send(resumed as Shown, stop.signal)

  const all = await readUntil(listening, /event: final\n[\s\S]*\n\n/)
  const rest = await readUntil(again, /event: final\n[\s\S]*\n\n/)
  stop.abort()

  const sample = /```\n(: listening[\s\S]*?)```/.exec(page)?.[1] ?? ''
  expect(all.split('\n\n')[0]).toBe(sample.split('\n\n')[0])
  for (const type of ['accepted', 'delta']) expect([type, differences(dataOf(sample, type), dataOf(all, type))]).toEqual([type, []])
  expect(all).toMatch(/^id: 1\.0\.\w+$/m)
  expect(rest).not.toContain('event: accepted')
  expect(dataOf(rest, 'final')).toEqual(dataOf(all, 'final'))
})

const dataOf = (stream: string, type: string): unknown => JSON.parse(new RegExp(`event: ${type}\\ndata: (.*)`).exec(stream)?.[1] ?? 'null')

const readUntil = async (response: Response, end: RegExp): Promise<string> => {
  let text = ''
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (end.test(text)) break
  }
  return text
}
