import { expect, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { aGateway } from './a-gateway.ts'
import { clientContract } from './client.contract.ts'

clientContract(async () => {
  const gateway = await aGateway()
  const client = await connect(gateway.url, gateway)
  const close = async () => {
    await client.close()
    await gateway.close()
  }
  return { client, close }
})

test('a wrong token, and an address where no node answers, are told when connecting', async () => {
  const gateway = await aGateway()

  await expect(connect(gateway.url, { token: 'another-token-of-thirty-characters' })).rejects.toMatchObject({ code: 'unauthorised' })
  await gateway.close()
  await expect(connect(gateway.url, gateway)).rejects.toMatchObject({ code: 'log_unavailable', retryable: true })
})

test.each(['memory:', 'ftp://host', '127.0.0.1:4111', 'htp://x', '', 'x', undefined, 5, null, 'embedded:', 'nats-context:', 'file:./x'])(
  '%s is no address of a node',
  async (url) => {
    await expect(connect(url as string)).rejects.toMatchObject({ code: 'bad_request', field: 'url', hint: expect.stringContaining('http://') })
  },
)

test('a folder that no node holds is an address at which none answers', async () => {
  await expect(connect('embedded:./there-is-no-such-folder')).rejects.toMatchObject({ code: 'log_unavailable', field: 'url' })
})
