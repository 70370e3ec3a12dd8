/** A node with a gateway on loopback, for clients over HTTP. */
import { gatewayOn, token } from '../api/gateway-on.ts'
import { aNode } from './client.contract.ts'

export const aGateway = async () => {
  const runtime = await aNode({ transport: 'memory:' })
  const gateway = await gatewayOn(runtime)
  const close = async () => {
    await gateway.close()
    await runtime.close()
  }
  return { url: gateway.url, token, close }
}
