/** Vectors in the key-value store of a NATS server. */
import { afterAll } from 'vitest'
import { openTransport, type Transport } from '../../../src/index.ts'
import { registryVectors } from '../../../src/ladder/index.ts'
import { natsForAll } from '../../support/nats.ts'
import { describeVectorStore } from './vectors.contract.ts'

const server = natsForAll()
let transport: Promise<Transport> | undefined
const opened = (): Promise<Transport> => (transport ??= openTransport(server.url))
afterAll(async () => (await transport)?.close())

describeVectorStore({
  name: 'vectors on a NATS server',
  open: async () => registryVectors((await opened()).registry),
  async reopen() {
    await (await opened()).close()
    transport = undefined
    return registryVectors((await opened()).registry)
  },
})
