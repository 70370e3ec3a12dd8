/** A reader who comes back, and finds another conversation where the old one was. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { httpClient } from '../../../src/client/http-client.ts'
import { aGateway, eventsOf, token } from './harness.ts'

type World = Awaited<ReturnType<typeof aGateway>>
const say = async ({ runtime }: World, text: string) => (await runtime.session('main').send(text)).result()

/** Types and texts of what is heard up to the final that says `last`, with the ids. */
const heardUntil = async (stream: Awaited<ReturnType<typeof eventsOf>>, last: string) => {
  const heard: { event: string; id?: string; text?: string }[] = []
  for await (const { event, id, data } of stream.events) {
    heard.push({ event, ...(id === undefined ? {} : { id }), ...(data.text === undefined ? {} : { text: data.text }) })
    if (event === 'final' && data.text === last) break
  }
  stream.stop()
  return heard
}

/** The id of the newest event of the conversation. */
const lastId = async (world: World): Promise<string> => {
  const stream = await eventsOf(world.gateway.url, 'main')
  await say(world, 'where are we')
  const heard = await heardUntil(stream, 'echo where are we')
  return heard.at(-1)?.id ?? ''
}

test.each(['99.0', '3.7'])('a place that the journal does not have, such as %s, is answered with restart and all there is', async (place) => {
  const world = await aGateway()
  await say(world, 'one')

  const heard = await heardUntil(await eventsOf(world.gateway.url, 'main', { 'last-event-id': place }), 'echo one')

  expect(heard.map(({ event }) => event)).toEqual(['restart', 'accepted', 'started', 'final'])
  // An EventSource that is cut off now comes back with this id, and is at the beginning.
  expect(heard[0]?.id).toMatch(/^0\.0\.\w+$/)
})

test('so is one that is ahead in the life that the journal is in, as after a backup was restored', async () => {
  const world = await aGateway()
  const [seq, part, birth] = (await lastId(world)).split('.')

  const ahead = await heardUntil(
    await eventsOf(world.gateway.url, 'main', { 'last-event-id': `${Number(seq) + 1}.${part}.${birth}` }),
    'echo where are we',
  )

  expect(ahead.map(({ event }) => event)).toEqual(['restart', 'accepted', 'started', 'final'])
})

test('a reader that resumes in a conversation that was deleted and begun anew is told so, though its place is there again', async () => {
  const world = await aGateway()
  const before = await lastId(world)
  await world.rpc('sessions.delete', { sessionKey: 'main' })
  await say(world, 'anew')
  await say(world, 'and on')

  const heard = await heardUntil(await eventsOf(world.gateway.url, 'main', { 'last-event-id': before }), 'echo and on')

  expect(before).toMatch(/^2\.\d+\.\w+$/)
  expect(heard.map(({ event }) => event)).toEqual(['restart', 'accepted', 'started', 'final', 'accepted', 'started', 'final'])
  expect(heard.slice(1).every(({ id }) => id?.endsWith(`.${heard[0]?.id?.split('.')[2]}`))).toBe(true)
})

test('a reader that resumes in a conversation that was deleted gets restart, and then what begins there', async () => {
  const world = await aGateway()
  const before = await lastId(world)
  await world.rpc('sessions.delete', { sessionKey: 'main' })
  const stream = await eventsOf(world.gateway.url, 'main', { 'last-event-id': before })
  await say(world, 'anew')

  expect((await heardUntil(stream, 'echo anew')).map(({ event }) => event).filter((event) => event !== 'delta')).toEqual([
    'restart',
    'accepted',
    'started',
    'final',
  ])
})

test('one that resumes where it was is not told of a restart, with or without the name of its life', async () => {
  const world = await aGateway()
  const before = await lastId(world)
  await say(world, 'next')

  for (const place of [before, before.split('.').slice(0, 2).join('.')]) {
    const heard = await heardUntil(await eventsOf(world.gateway.url, 'main', { 'last-event-id': place }), 'echo next')
    expect(heard.map(({ event }) => event)).toEqual(['accepted', 'started', 'final'])
  }
})

test('the client of the command line that was too slow comes back with the last id it has seen', async () => {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined)
    if (asked.length === 1) response.end('event: final\ndata: {"type":"final"}\nid: 7.0.abc\n\nevent: gap\ndata: {"type":"gap"}\n\n')
    else response.end('event: aborted\ndata: {"type":"aborted"}\nid: 9.0.abc\n\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = httpClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token })

  const types: string[] = []
  for await (const { type } of (await client.events('main')).events) types.push(type)
  await client.close()
  server.close()

  expect(types).toEqual(['final', 'aborted'])
  expect(asked).toEqual([undefined, '7.0.abc'])
})
