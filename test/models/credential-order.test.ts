/** Where the key of a provider is looked for, and that the trace says where it was found and never what it is. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { agent } from '../../src/index.ts'
import { aGateway } from '../api/http/harness.ts'
import { aSocket } from '../api/ws/a-socket.ts'

/** A server of OpenAI's wire format that keeps the keys it is shown. */
const aServer = async () => {
  const keys: string[] = []
  const server = createServer((request, response) => {
    keys.push(String(request.headers.authorization).replace('Bearer ', ''))
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { keys, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}
const aStore = (content: object, mode = 0o600): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'statecast-')), 'credentials.json')
  writeFileSync(file, JSON.stringify(content), { mode })
  return file
}
const one = (value: string) => ({ 'openai-compatible': [{ id: 'work', type: 'key' as const, value }] })

test('[CH-28] configuration, environment, store: each is used where those before it have none, and no trace has a key', async () => {
  const { keys, url } = await aServer()
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('OPENAI_BASE_URL', url)
  vi.stubEnv('OPENAI_API_KEY', 'key-of-the-environment')
  const store = aStore(one('key-of-the-store'))
  const app = { agents: [agent({ name: 'main', model: 'openai-compatible/m' })], models: {}, credentialStore: store }
  const asked = async (more: object): Promise<string> => {
    const { gateway } = await aGateway({}, { ...app, ...more })
    const { request, event } = await aSocket(gateway.url)
    await request('chat.send', { sessionKey: 's', message: 'hello', idempotencyKey: 'm1' })
    await event('chat', ({ state }) => state === 'final')
    const { payload: trace } = await request('trace.read', { id: 's' })
    expect(JSON.stringify(trace)).not.toMatch(/key-of-the/)
    return trace.entries.find(({ detail }: any) => detail?.data?.chosen).detail.data.chosen.credential
  }

  const found = [await asked({ credentials: one('key-of-the-config') }), await asked({}), await asked({ credentialOrder: ['store', 'environment'] })]
  vi.stubEnv('OPENAI_API_KEY', '')
  found.push(await asked({}))

  expect(found).toEqual(['config', 'environment', 'store', 'store'])
  expect(keys).toEqual(['key-of-the-config', 'key-of-the-environment', 'key-of-the-store', 'key-of-the-store'])
})

test('a store that others may read is refused, and one that is broken is told without what is in it', async () => {
  await expect(aGateway({}, { credentialStore: aStore(one('key-of-the-store'), 0o644) })).rejects.toMatchObject({
    code: 'forbidden',
    hint: expect.stringContaining('chmod 600'),
  })
  const broken = aStore({})
  writeFileSync(broken, '{"openai": "sk-secret-one"')
  await expect(aGateway({}, { credentialStore: broken })).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.not.stringContaining('secret'),
  })
})
