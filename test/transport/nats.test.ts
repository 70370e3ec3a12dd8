import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import type { Transport } from '../../src/contracts/transport.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { type NatsCluster, natsFetchMs, natsForAll, startCluster } from '../support/nats.ts'
import { type Backend, describeTransport, type OpenOptions } from './transport.contract.ts'

const skip = {
  'a subject is wanted as long as somebody listens to it': 'only the server knows who listens',
  'an id is remembered for two minutes after its message is done, and not for ever': "the clock is the server's",
}

const wipe = async (url: string): Promise<void> => {
  const nc = await connect({ servers: url })
  const { streams } = await jetstreamManager(nc)
  for await (const { config } of streams.list()) await streams.delete(config.name)
  await nc.close()
}

const backend = (name: string, url: () => string, replicas: number): Backend => {
  const openHere = ({ environment, inboxMax }: OpenOptions): Promise<Transport> => openNats({ url: url(), environment, inboxMax, replicas })
  return {
    name,
    skip,
    open: async (options) => {
      await wipe(url())
      return openHere(options)
    },
    reopen: async (transport, options) => {
      await transport.close()
      return openHere(options)
    },
  }
}

describe('one server', () => {
  const server = natsForAll()

  describeTransport(backend('NATS, one server', () => server.url, 1))
})

describe('a cluster of three', () => {
  let cluster: NatsCluster
  beforeAll(async () => {
    await natsServer()
    cluster = await startCluster(3)
  }, natsFetchMs)
  afterAll(() => cluster.stop())

  describeTransport(backend('NATS, three servers, three copies', () => cluster.urls.join(','), 3))
})
