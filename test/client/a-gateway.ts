/** A node with a gateway on loopback, for clients over HTTP. */
import { serveGateway } from '../../src/api/http/index.ts'
import { aNode } from './client.contract.ts'

export const aGateway = async () => {
  const token = 'a-token-of-thirty-two-characters'
  const runtime = await aNode({ transport: 'memory:' })
  const gateway = await serveGateway({ runtime: () => runtime, log: runtime.log, host: '127.0.0.1', port: 0, tokens: [token] })
  const close = async () => {
    await gateway.close()
    await runtime.close()
  }
  return { url: gateway.url, token, close }
}
