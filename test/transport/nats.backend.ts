/** The NATS backend as the suite takes it. */
import type { Transport } from '../../src/contracts/transport.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { wipe } from '../support/nats.ts'
import { cutNats } from './shorten.ts'
import type { Backend, OpenOptions } from './transport.contract.ts'

const skip = {
  'a subject is wanted as long as somebody listens to it': 'only the server knows who listens',
  'an id is remembered for two minutes after its message is done, and not for ever': "the clock is the server's",
}

/** A consumer that a cluster has only just made may answer nobody at first (503), and is made anew 1.5 s later. */
const overtaken = 'at its start it may miss what is overtaken meanwhile'
const skipInCluster = {
  'a watcher hears every later change under its prefix, in order, until it stops': overtaken,
  'a key with a time to live expires, its watchers hear it, and it can be taken again': overtaken,
}

export const natsBackend = (name: string, url: () => string, replicas: number): Backend => {
  const openHere = ({ environment, inboxMax }: OpenOptions): Promise<Transport> => openNats({ url: url(), environment, inboxMax, replicas })
  return {
    name,
    skip: replicas > 1 ? { ...skip, ...skipInCluster } : skip,
    open: async (options) => {
      await wipe(url())
      return openHere(options)
    },
    beside: (_, options) => openHere(options),
    shorten: (_, address, to) => cutNats(url(), address, to),
    reopen: async (transport, options) => {
      await transport.close()
      return openHere(options)
    },
  }
}
