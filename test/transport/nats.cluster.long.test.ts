/** The suite on three servers that keep three copies and sync each write. */
import { afterAll, beforeAll, describe } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { type NatsCluster, natsFetchMs, startCluster } from '../support/nats.ts'
import { natsBackend } from './nats.backend.ts'
import { describeTransport } from './transport.contract.ts'

describe('a cluster of three', () => {
  let cluster: NatsCluster
  beforeAll(async () => {
    await natsServer()
    cluster = await startCluster(3)
  }, natsFetchMs)
  afterAll(() => cluster.stop())

  describeTransport(natsBackend('NATS, three servers, three copies', () => cluster.urls.join(','), 3))
})
