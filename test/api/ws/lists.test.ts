/** The list of sessions as pages keep it: told when it is another one, and cheap to ask for. */
import { expect, test } from 'vitest'
import { partsOf } from '../../../src/runtime/index.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

const list = async ({ request }: Awaited<ReturnType<typeof aSocket>>) =>
  (await request('sessions.list', { details: true })).payload.sessions as { key: string; last?: string }[]

test('a page that watches another conversation hears that the list has changed, and of no key', async () => {
  const { gateway, rpc } = await aGateway()
  const page = await aSocket(gateway.url)

  const { runId } = (await rpc('chat.send', { sessionKey: 'elsewhere', message: 'hello' })).json
  const { payload, ...frame } = await page.event('sessions.changed')
  await rpc('agent.wait', { sessionKey: 'elsewhere', runId })

  expect(frame).not.toHaveProperty('seq')
  expect(payload).toEqual({ timestamp: expect.any(Number) })
  expect(await list(page)).toMatchObject([{ key: 'elsewhere', last: 'echo hello' }])
})

test('however much happens, it is told at once and then no more than once a second; a session that is gone is a change', async () => {
  const clock = virtualClock()
  const { gateway, rpc } = await aGateway({ clock })
  const page = await aSocket(gateway.url)
  const say = async (sessionKey: string) => {
    const { runId } = (await rpc('chat.send', { sessionKey, message: 'hello' })).json
    await rpc('agent.wait', { sessionKey, runId })
  }
  for (const key of ['a', 'b', 'c']) await say(key)
  await page.request('health')
  expect(page.events('sessions.changed')).toHaveLength(1)

  await clock.advance(1_000)
  await page.request('health')
  expect(page.events('sessions.changed')).toHaveLength(2)

  await clock.advance(10_000)
  await page.request('health')
  expect(page.events('sessions.changed')).toHaveLength(2)
  await rpc('sessions.delete', { sessionKey: 'b' })
  await page.request('health')
  expect(page.events('sessions.changed')).toHaveLength(3)
  expect((await list(page)).map(({ key }) => key).toSorted()).toEqual(['a', 'c'])
})

test('a token of some sessions hears nothing of others', async () => {
  const clock = virtualClock()
  const { gateway, rpc } = await aGateway({ clock })
  const { token } = (await rpc('tokens.create', { name: 'one', scopes: ['read'], sessions: ['mine:*'] })).json
  const [limited, page] = [await aSocket(gateway.url, { auth: { token } }), await aSocket(gateway.url)]

  const { runId } = (await rpc('chat.send', { sessionKey: 'theirs', message: 'hello' })).json
  await rpc('agent.wait', { sessionKey: 'theirs', runId })
  await page.event('sessions.changed')
  await limited.request('sessions.list', {})
  expect(limited.events('sessions.changed')).toEqual([])
  await clock.advance(2_000)

  await rpc('chat.send', { sessionKey: 'mine:1', message: 'hello' })
  await limited.event('sessions.changed')
})

test('of sessions that have not changed since, a list reads nothing; ten pages that ask together read each once', async () => {
  const { runtime, gateway, rpc } = await aGateway()
  for (let count = 0; count < 12; count++) {
    const { runId } = (await rpc('chat.send', { sessionKey: `s${count}`, message: 'hello' })).json
    await rpc('agent.wait', { sessionKey: `s${count}`, runId })
  }
  await runtime.settled(1_000)
  const { journal } = partsOf(runtime).transport
  const read: string[] = []
  const reading = journal.read.bind(journal)
  journal.read = (address, ...rest) => {
    read.push(address.id)
    return reading(address, ...rest)
  }
  const pages = await Promise.all(Array.from({ length: 10 }, () => aSocket(gateway.url)))
  await Promise.all(pages.map(list))
  const first = read.length
  await Promise.all(pages.map(list))
  expect(read).toHaveLength(first)
  expect(new Set(read).size).toBe(12)
  // A list for one page reads as much.
  expect(first).toBeLessThanOrEqual(12 * 4)

  await rpc('sessions.configure', { sessionKey: 's3', toggles: { title: 'Breakfast' } })
  await runtime.settled(1_000)
  read.splice(0)
  expect(await list(pages[0] as (typeof pages)[number])).toContainEqual(expect.objectContaining({ key: 's3', title: 'Breakfast' }))
  expect(new Set(read)).toEqual(new Set(['s3']))
})
