/** The NATS backend as the suite takes it. */
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { Transport } from '../../src/contracts/transport.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import type { Backend, OpenOptions } from './transport.contract.ts'

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

export const natsBackend = (name: string, url: () => string, replicas: number): Backend => {
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
