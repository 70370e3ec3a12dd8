import { inProcessClient } from '../../src/client/index.ts'
import { aNode, clientContract } from './client.contract.ts'

clientContract(async () => {
  const client = inProcessClient(await aNode({ transport: 'memory:' }))
  return { client, close: () => client.close() }
})
