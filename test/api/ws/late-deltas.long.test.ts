/** A replaced node publishes late deltas until it notices; no client shows them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import OpenAI from 'openai'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { natsServer } from '../../../scripts/nats-server.ts'
import { startProcess } from '../../cli/processes.ts'
import { aFolder } from '../../cli/run.ts'
import { framesIn } from '../../support/event-stream.ts'
import { natsFetchMs, startNats } from '../../support/nats.ts'
import { repository } from '../../tidy/sources.ts'
import { aSocket } from './a-socket.ts'

beforeAll(() => natsServer(), natsFetchMs)

const token = 'a-token-that-all-nodes-are-given-00'
const app = join(repository, 'test/api/ws/fixtures/two-halves.ts')
const all = Array.from({ length: 200 }, (_, index) => `w${index + 1}`)
const wordsIn = (text: string): string[] => text.match(/\bw\d+\b/g) ?? []
const textIn = (message: { content: { type: string; text?: string }[] } | undefined): string =>
  (message?.content ?? []).map((block) => block.text ?? '').join('')

type Delta = { type: string; attempt: number; index: number }

test('a node that froze in the middle of an answer goes on saying it beside the one that took over: every door shows each word of the new one once, in order', {
  timeout: 180_000,
}, async () => {
  const server = await startNats()
  onTestFinished(() => server.stop())
  const folder = aFolder()
  const node = async (roles: string) => {
    const how = { folder, env: { STATECAST_URL: server.url, STATECAST_TOKEN: token } }
    const running = startProcess(how, 'up', '--port', '0', '--json', '--app', app, '--roles', roles)
    const { url } = JSON.parse(await running.firstLine) as { url: string }
    return { ...running, url }
  }
  const working = 'session,turn,tool'
  const [door, first] = [await node('gateway'), await node(working)]
  const headers = { authorization: `Bearer ${token}` }
  /** All deltas on the bus, from both nodes. */
  const heard: Delta[] = []
  const tap = await connect({ servers: server.url })
  onTestFinished(() => tap.close())
  tap.subscribe('statecast.out.session.main.delta', { callback: (_, message) => void heard.push(message.json<Delta>()) })
  const { event, events, request } = await aSocket(door.url, { auth: { token } })
  await request('chat.subscribe', { sessionKey: 'main' })
  const openai = new OpenAI({ apiKey: token, baseURL: `${door.url}/v1`, maxRetries: 0, defaultHeaders: { 'x-statecast-session': 'main' } })
  const stream = await openai.chat.completions.create({ model: 'main', messages: [{ role: 'user', content: 'story' }], stream: true })
  const completion = (async () => {
    let text = ''
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
    return text
  })()
  await event('chat', ({ message }) => JSON.stringify(message).includes('w100'))
  const page = await fetch(`${door.url}/api/chat/main/stream`, { headers })
  const parts = (async () => {
    let text = ''
    for await (const { data } of framesIn(page)) {
      if (data.type === 'text-delta') text += data.delta
    }
    return text
  })()

  first.kill('SIGSTOP')
  const second = await node(working)
  await expect.poll(() => heard.filter(({ attempt }) => attempt === 2).length, { timeout: 60_000 }).toBeGreaterThan(0)
  await expect.poll(() => textIn(events('chat').at(-1)?.message as never)).toContain('w100')
  writeFileSync(join(folder, 'go'), '')
  first.kill('SIGCONT')
  const { payload: final } = await event('chat', ({ state }) => state === 'final')

  const lateAt = heard.findIndex(({ attempt }, place) => attempt === 1 && heard[place - 1]?.attempt === 2)
  expect(
    heard.slice(lateAt).filter(({ attempt }) => attempt === 2),
    'nothing was late: the test shows nothing',
  ).not.toEqual([])
  expect(lateAt).toBeGreaterThan(0)
  expect(wordsIn(textIn(final.message as never))).toEqual(all)
  const shown = events('chat').map(({ message }) => wordsIn(textIn(message as never)))
  for (const words of shown) expect(words).toEqual(all.slice(0, words.length))
  // The text restarts once, at the take-over.
  expect(shown.filter((words, place) => words.length < (shown[place - 1]?.length ?? 0)).length).toBeLessThanOrEqual(1)
  const [before, ...after] = (await completion).split('\n\n').map(wordsIn)
  expect(before).toEqual(all.slice(0, before?.length))
  expect(after).toEqual([all])
  expect(wordsIn(await parts)).toEqual(all)
  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(wordsIn(messages.at(-1).text)).toEqual(all)
  expect(await Promise.race([second.ended, Promise.resolve('still running')])).toBe('still running')
})
