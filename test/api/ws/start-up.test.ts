/** What a page asks for when it opens. */
import { expect, test, vi } from 'vitest'
import { providers } from '../../../src/models/providers.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

test('[CH-96] config.get, chat.history and models.list answer over one socket, and no list of models loads a provider', async () => {
  const opens = Object.values(providers).map((provider) => vi.spyOn(provider, 'open'))
  const { gateway, rpc } = await aGateway()
  const { runId } = (await rpc('chat.send', { sessionKey: 'main', message: 'hello' })).json
  await rpc('agent.wait', { sessionKey: 'main', runId })
  const { request } = await aSocket(gateway.url)

  const ask = () =>
    Promise.all([request('config.get'), request('chat.history', { sessionKey: 'main' }), request('models.list'), request('models.list')])
  const answers = [await ask(), await ask()]

  for (const [config, history, models, again] of answers) {
    expect(config).toMatchObject({ ok: true, payload: { hash: expect.any(String) } })
    expect(history?.payload.messages).toHaveLength(2)
    expect(models?.payload.models).toContainEqual({ ref: 'test/echo', available: true })
    expect(again?.payload).toEqual(models?.payload)
  }
  expect(answers[1]?.[2]?.payload).toEqual(answers[0]?.[2]?.payload)
  for (const open of opens) expect(open).not.toHaveBeenCalled()
  vi.restoreAllMocks()
})
