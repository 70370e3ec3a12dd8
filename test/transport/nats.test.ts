import { describe } from 'vitest'
import { natsForAll } from '../support/nats.ts'
import { natsBackend } from './nats.backend.ts'
import { describeTransport } from './transport.contract.ts'

describe('one server', () => {
  const server = natsForAll()

  describeTransport(natsBackend('NATS, one server', () => server.url, 1))
})
