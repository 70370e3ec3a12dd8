import { afterAll, beforeAll, describe } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { type NatsCluster, natsFetchMs, natsForAll, startCluster } from '../support/nats.ts'
import { natsBackend } from './nats.backend.ts'
import { describeTransport } from './transport.contract.ts'

describe('one server', () => {
  const server = natsForAll()

  describeTransport(natsBackend('NATS, one server', () => server.url, 1))
})

describe('a cluster of three', () => {
  let cluster: NatsCluster
  beforeAll(async () => {
    await natsServer()
    cluster = await startCluster(3)
  }, natsFetchMs)
  afterAll(() => cluster.stop())

  describeTransport(natsBackend('NATS, three servers, three copies', () => cluster.urls.join(','), 3))
})
