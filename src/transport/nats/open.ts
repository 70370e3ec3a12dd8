/** Opens the NATS backend: connects, makes sure of the streams, and says what the server promises. */
import type { ConnectionOptions } from '@nats-io/transport-node'
import type { Environment } from '../../contracts/environment.ts'
import type { Transport } from '../../contracts/transport.ts'
import { closable } from '../closable.ts'
import { natsBlobs } from './blobs.ts'
import { natsBus } from './bus.ts'
import { connectTo, reportStatus, requireServer } from './connect.ts'
import { shown } from './credentials.ts'
import { fromNats } from './errors.ts'
import { natsInbox } from './inbox.ts'
import { natsJournal } from './journal.ts'
import { openLink } from './link.ts'
import { namesOf } from './names.ts'
import { onlyNode } from './only-node.ts'
import { natsRegistry } from './registry.ts'
import { ensureStreams, patiently } from './streams.ts'
import { openWakes } from './wakes.ts'

export type NatsOptions = {
  /** See {@link connectionTo}. */
  url: string
  environment: Pick<Environment, 'clock' | 'failPoints' | 'log'>
  prefix?: string | undefined
  replicas?: number | undefined
  inboxMax?: number | undefined
  /** Given by a node, which is to be the only one; what others may learn of it. */
  owner?: Record<string, string> | undefined
  /** Whatever else the client takes, such as an authenticator or certificates; it wins over what the address says. */
  connection?: ConnectionOptions | undefined
}

/** @throws RuntimeError log_unavailable (no server), unauthorised, unsupported (too old, no JetStream), forbidden, conflict */
export const openNats = async ({
  url,
  environment,
  prefix = 'statecast',
  replicas = 1,
  inboxMax,
  owner,
  connection = {},
}: NatsOptions): Promise<Transport> => {
  const { log } = environment
  const nc = await connectTo(url, connection)
  try {
    requireServer(nc, url)
    reportStatus(nc, log)
    const names = namesOf(prefix)
    const link = await openLink(nc).catch((error: unknown) => {
      throw fromNats(error, `opening ${shown(url)}`)
    })
    const registry = await patiently(environment.clock, () => natsRegistry(link, names, { replicas, log }))
    await ensureStreams(link.jsm, names, registry, environment.clock, { replicas, inboxMax })
    const wakes = await openWakes(link, names, environment)
    let lost = false
    const lease =
      owner &&
      (await onlyNode(registry, environment, owner, () => {
        lost = true
        // Whatever it still begins ends here: nothing more is taken in, and nothing gets out.
        void nc.close()
      }))
    const blobs = natsBlobs(link, names)
    const inbox = natsInbox(link, names, blobs, environment)
    const journal = natsJournal({ link, names, wakes, blobs, environment })
    return closable({
      name: shown(url),
      capabilities: { durable: true, sharedByNodes: true },
      journal,
      bus: natsBus(nc, log),
      inbox,
      registry,
      blobs,
      health: async () => {
        if (lost) return { writable: false, freeBytes: undefined, durability: 'JetStream', detail: 'another node took over' }
        try {
          await Promise.all([names.streams.journal, names.streams.inbox].map((stream) => link.jsm.streams.info(stream)))
          return { writable: true, freeBytes: undefined, durability: `JetStream, ${replicas === 1 ? 'one copy' : `${replicas} copies`}` }
        } catch (error) {
          return { writable: false, freeBytes: undefined, durability: 'JetStream', detail: fromNats(error, 'asking JetStream').message }
        }
      },
      async close() {
        await Promise.all([inbox.stop(), journal.idle()])
        await lease?.release()
        await Promise.all([wakes.stop(), registry.stop()])
        await link.close()
      },
    })
  } catch (error) {
    await nc.close().catch(() => undefined)
    throw error
  }
}
