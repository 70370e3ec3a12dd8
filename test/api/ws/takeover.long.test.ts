/** Who may write a conversation, where several nodes could. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { natsServer } from '../../../scripts/nats-server.ts'
import { startProcess } from '../../cli/processes.ts'
import { aFolder } from '../../cli/run.ts'
import { natsFetchMs, startNats } from '../../support/nats.ts'
import { repository } from '../../tidy/sources.ts'
import { aSocket } from './a-socket.ts'

beforeAll(() => natsServer(), natsFetchMs)

const token = 'a-token-that-all-nodes-are-given-00'
const app = join(repository, 'test/web/live/app.ts')

test('[CH-76] a node that froze in the middle of an answer finds another one in its place, and what it writes then is refused', {
  timeout: 180_000,
}, async () => {
  const server = await startNats()
  onTestFinished(() => server.stop())
  const folder = aFolder()
  const node = async (roles: string) => {
    const how = { folder, env: { STATECAST_URL: server.url, STATECAST_TOKEN: token } }
    const running = startProcess(how, 'up', '--port', '0', '--json', '--app', app, '--roles', roles)
    const { url, node: id } = JSON.parse(await running.firstLine) as { url: string; node: string }
    return { ...running, url, id }
  }
  const working = 'session,turn,tool'
  const [door, first] = [await node('gateway'), await node(working)]
  const { request, event } = await aSocket(door.url, { auth: { token } })
  await request('chat.send', { sessionKey: 'main', message: 'story', idempotencyKey: 'k1' })
  await event('chat', ({ message }) => JSON.stringify(message).includes('w100'))

  first.kill('SIGSTOP')
  const second = await node(working)
  writeFileSync(join(folder, 'go'), '')
  const { payload: final } = await event('chat', ({ state }) => state !== 'delta')
  // It goes on where it was stopped: in the middle of an answer whose end it has by now, too.
  first.kill('SIGCONT')
  await expect
    .poll(async () => (await request('nodes.list')).payload.nodes.map(({ id }: { id: string }) => id), { timeout: 60_000 })
    .toContain(first.id)
  await request('chat.send', { sessionKey: 'main', message: 'and now?', idempotencyKey: 'k2' })
  await event('chat', ({ runId, state }) => runId === 'k2' && state === 'final')

  expect(final).toMatchObject({ state: 'final', runId: 'k1' })
  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  expect(messages[1].text.match(/\bw\d+\b/g)).toEqual(Array.from({ length: 200 }, (_, index) => `w${index + 1}`))
  const epochs = (await request('trace.read', { id: 'main' })).payload.entries.map(({ epoch }: { epoch: number }) => epoch)
  expect(epochs).toEqual(epochs.toSorted((a: number, b: number) => a - b))
  expect(new Set(epochs).size).toBeGreaterThan(1)
  expect((await request('trace.replay', { id: 'main' })).payload).toMatchObject({ verdict: 'identical' })
  expect(await Promise.race([second.ended, Promise.resolve('still running')])).toBe('still running')
})
