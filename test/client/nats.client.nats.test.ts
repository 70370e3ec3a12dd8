import { expect, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { natsForAll } from '../support/nats.ts'
import { aNode, clientContract } from './client.contract.ts'

const server = natsForAll()

clientContract(async () => {
  const runtime = await aNode({ transport: server.url })
  const client = await connect(server.url)
  const close = async () => {
    await client.close()
    await runtime.close()
  }
  return { client, close }
})

test('a server without a node is told when connecting', async () => {
  await expect(connect(server.url)).rejects.toMatchObject({ code: 'log_unavailable', retryable: true, hint: expect.stringContaining('statecast up') })
})
