/** docs/reference/http.md is true: what it shows is sent to a node, and the answers have the shape that it shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMachine } from 'xstate'
import { z } from 'zod'
import { commands } from '../../src/contracts/commands.ts'
import { gatewayApp } from '../../src/gateway/app.ts'
import { type Gateway, serveGateway } from '../../src/gateway/serve.ts'
import { agent, createRuntime, type Runtime, tool } from '../../src/index.ts'
import { repository } from '../tidy/sources.ts'

const page = readFileSync(join(repository, 'docs/reference/http.md'), 'utf8')
const token = 'a-token-of-thirty-two-characters'

let runtime: Runtime
let gateway: Gateway
beforeEach(async () => {
  const refund = tool({
    name: 'refund',
    description: 'pays money back',
    input: z.object({ amount: z.number() }),
    approval: ({ amount }) => amount > 100,
    execute: ({ amount }) => `refunded ${amount}`,
  })
  const order = createMachine({
    id: 'order',
    initial: 'new',
    context: ({ input }: { input: { item: string } }) => input,
    states: { new: { on: { place: 'placed' } }, placed: {} },
  })
  runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', instructions: 'Be brief.', model: 'scripted/offline', tools: [refund] })],
    machines: { order },
  })
  gateway = await serveGateway({ runtime, host: '127.0.0.1', port: 0, tokens: [token] })
})
afterEach(async () => {
  await gateway.close()
  await runtime.close()
})

type Shown = { line: string; path: string; headers: Record<string, string>; body?: string; answer?: unknown }

/** The curl lines of the page, as a shell would read them, each with the answer that stands below it. */
const shown: Shown[] = [...page.matchAll(/```sh\n([^`]*)```(?:\n```json\n([^`]*)```)?/g)].flatMap(([, lines = '', json]) =>
  lines
    .split('\n')
    .filter((line) => line.startsWith('curl '))
    .map((line) => {
      const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '')
      const after = (option: string) => words.flatMap((word, index) => (word === option ? [words[index + 1] ?? ''] : []))
      const headers = after('-H').map((header) => (header === '$AUTH' ? ['authorization', `Bearer ${token}`] : header.split(': ')))
      const [body] = after('-d')
      const path = words.find((word) => word.startsWith('$URL'))?.slice('$URL'.length) ?? ''
      return {
        line,
        path,
        headers: Object.fromEntries(headers) as Record<string, string>,
        ...(body === undefined ? {} : { body }),
        ...(json === undefined ? {} : { answer: JSON.parse(json) as unknown }),
      }
    }),
)
const send = ({ path, headers, body }: Shown, signal?: AbortSignal): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { headers, ...(body === undefined ? {} : { method: 'POST', body }), ...(signal ? { signal } : {}) })

const rpc = async (command: string, input: object): Promise<any> => {
  const response = await send({ line: '', path: `/rpc/${command}`, headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(input) })
  return response.json()
}

/** Where an answer has another shape than the page says: keys and types, but not values. What the page leaves empty is not looked into. */
const differences = (said: unknown, real: unknown, path = ''): string[] => {
  if (typeof said !== 'object' || said === null)
    return typeof said === typeof real && (said === null) === (real === null) ? [] : [`${path} is ${JSON.stringify(real)}`]
  if (typeof real !== 'object' || real === null || Array.isArray(said) !== Array.isArray(real)) return [`${path} is ${JSON.stringify(real)}`]
  const [wanted, found] = [Object.entries(said), real as Record<string, unknown>]
  const extra = Array.isArray(said) || wanted.length === 0 ? [] : Object.keys(found).filter((key) => !(key in said))
  return [
    ...extra.map((key) => `${path}.${key} is not on the page`),
    ...wanted.flatMap(([key, value]) => (key in found ? differences(value, found[key], `${path}.${key}`) : [`${path}.${key} is missing`])),
  ]
}

/** What has to have happened before an example, where it does not follow from those before it. */
const before: Record<string, () => Promise<unknown>> = {
  'chat.abort': () => rpc('chat.send', { sessionKey: 'main', message: 'tell me a long story', idempotencyKey: 'k3' }),
  'approvals.list': async () => {
    await rpc('agent.wait', { sessionKey: 'main', runId: 'k3' })
    await rpc('chat.send', { sessionKey: 'main', message: 'refund {"amount":500}', idempotencyKey: 'k2' })
    await expect.poll(async () => (await rpc('sessions.get', { sessionKey: 'main' })).approvals).toHaveLength(1)
  },
  'sessions.list': () => rpc('agent.wait', { sessionKey: 'main', runId: 'k2' }),
  'sessions.reset': () =>
    expect.poll(async () => (await rpc('sessions.get', { sessionKey: 'main' })).state, { timeout: 5000 }).toBe('awaiting-input'),
}

test('every example can be sent as it stands, one after another, and is answered in the shape that the page shows', async () => {
  const asked = shown.filter(({ answer }) => answer !== undefined)
  expect(asked.length).toBe(Object.keys(commands).length + 1)
  for (const example of asked) {
    await before[example.path.slice('/rpc/'.length)]?.()

    const response = await send(example)
    const real = await response.json()

    const refused = example.path === '/rpc/chat.send' && response.status === 400
    expect([example.line, response.status]).toEqual([example.line, refused ? 400 : 200])
    expect([example.line, differences(example.answer, real)]).toEqual([example.line, []])
  }
})

const namesIn = (pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, name = '']) => name).sort()

test('the page names every route and every command, and none that is not there', () => {
  const app = gatewayApp({
    runtime,
    tokens: [token],
    host: '127.0.0.1',
    draining: new AbortController().signal,
    closing: new AbortController().signal,
  })
  const routes = new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))

  expect(namesIn(/^\| `([A-Z]+ \/\S*)` \|/gm)).toEqual([...routes].sort())
  expect(namesIn(/^### `(\S+)`$/gm)).toEqual(Object.keys(commands).sort())
})

test('the stream of events begins, names and resumes as the page says', async () => {
  const [live, resumed] = shown.filter(({ path }) => path.endsWith('/events'))
  const stop = new AbortController()
  const listening = await send(live as Shown, stop.signal)
  await rpc('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  await rpc('agent.wait', { sessionKey: 'main', runId: 'k1' })
  const again = await send(resumed as Shown, stop.signal)

  const all = await readUntil(listening, /event: final\n[\s\S]*\n\n/)
  const rest = await readUntil(again, /event: final\n[\s\S]*\n\n/)
  stop.abort()

  const sample = /```\n(: listening[\s\S]*?)```/.exec(page)?.[1] ?? ''
  expect(all.split('\n\n')[0]).toBe(sample.split('\n\n')[0])
  for (const type of ['accepted', 'delta']) expect([type, differences(dataOf(sample, type), dataOf(all, type))]).toEqual([type, []])
  expect(all).toContain('id: 1.0\n')
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
