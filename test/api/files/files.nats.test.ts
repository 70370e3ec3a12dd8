/** A file that came in at one node, on another. */
import { expect, test } from 'vitest'
import { agent, createRuntime, type ModelRequest, type Runtime } from '../../../src/index.ts'
import { natsForAll } from '../../support/nats.ts'

const server = natsForAll()

test('[CH-10] a file that one node has taken in is there on the others, also when that one is gone', async () => {
  const asked: ModelRequest[] = []
  const node = (): Promise<Runtime> =>
    createRuntime({
      transport: server.url,
      prefix: 'files',
      agents: [agent({ name: 'main', model: 'test/sees' })],
      models: {
        'test/sees': (request) => {
          asked.push(request)
          return { text: 'seen' }
        },
      },
    })
  // More than one message of the server holds.
  const picture = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(2_000_000, 7)])
  const first = await node()
  const sent = await first.command<{ runId: string }>('chat.send', {
    sessionKey: 'main',
    message: 'look',
    attachments: [{ fileName: 'big.png', content: picture.toString('base64') }],
  })
  await first.command('agent.wait', { sessionKey: 'main', runId: sent.runId })
  await first.drain()
  await using second = await node()

  const again = await second.command<{ runId: string }>('chat.send', { sessionKey: 'main', message: 'and now?' })
  await second.command('agent.wait', { sessionKey: 'main', runId: again.runId })
  const { files } = await second.command<{ files: { id: string }[] }>('files.list', { sessionKey: 'main' })
  const got = await second.command<{ content: string }>('files.get', { sessionKey: 'main', id: files[0]?.id })

  const [shown] = asked.at(-1)?.messages.flatMap((message) => (message.role === 'user' ? (message.files ?? []) : [])) ?? []
  expect(Buffer.compare(shown?.data ?? new Uint8Array(), picture)).toBe(0)
  expect(got.content).toBe(picture.toString('base64'))

  await second.command('sessions.delete', { sessionKey: 'main' })
  await expect(second.command('files.get', { sessionKey: 'main', id: files[0]?.id })).rejects.toMatchObject({ code: 'not_found' })
})
