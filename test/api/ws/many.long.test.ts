/** A thousand people at one node, all of whom are answered at the same time. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { GatewayEvents } from '../../../src/contracts/gateway.ts'
import { aNodeProcess } from '../../cli/processes.ts'
import { aFolder } from '../../cli/run.ts'
import { repository } from '../../tidy/sources.ts'
import { aSocket } from './a-socket.ts'

const people = 1_000
/** A node lets so many of one address in that have not shown a token yet. */
const atOnce = 100

const story = Array.from({ length: 41 }, (_, index) => `w${index + 1}`).join(' ')
const textOf = ({ message }: GatewayEvents['chat']): string => message?.content.map((block) => ('text' in block ? block.text : '')).join('') ?? ''

test('[CH-01, CH-34, CH-64] a thousand sockets hear their answers at once: no event is missing, no word is lost or doubled', {
  timeout: 240_000,
}, async () => {
  const folder = aFolder()
  const node = await aNodeProcess({ folder }, '--app', join(repository, 'test/api/ws/fixtures/story.app.ts'))
  const token = readFileSync(node.token, 'utf8').trim()
  const sockets: Awaited<ReturnType<typeof aSocket>>[] = []
  while (sockets.length < people) sockets.push(...(await Promise.all(Array.from({ length: atOnce }, () => aSocket(node.url, { auth: { token } })))))

  const sent = await Promise.all(
    sockets.map(({ request }, index) => request('chat.send', { sessionKey: `s${index}`, message: 'story', idempotencyKey: `k${index}` })),
  )
  await Promise.all(sockets.map(({ event }) => event('chat', (payload) => textOf(payload).startsWith('w1'))))
  // Each of them is in the middle of its answer now.
  writeFileSync(join(folder, 'go'), '')
  await Promise.all(sockets.map(({ event }) => event('chat', ({ state }) => state !== 'delta')))

  expect(sent.filter(({ ok }) => !ok)).toEqual([])
  for (const [index, { events }] of sockets.entries()) {
    const heard = events('chat')
    expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, place) => place + 1))
    expect(new Set(heard.map(({ runId }) => runId))).toEqual(new Set([`k${index}`]))
    expect(heard.map(textOf).every((text) => story.startsWith(text))).toBe(true)
    expect(heard.at(-1)).toMatchObject({ state: 'final' })
    expect(textOf(heard.at(-1) as GatewayEvents['chat'])).toBe(story)
  }
})
