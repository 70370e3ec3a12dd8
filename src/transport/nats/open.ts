/** Opens the NATS backend: connects, makes or checks the streams, and reports what the server promises. */
import type { ConnectionOptions } from '@nats-io/transport-node'
import type { Environment } from '../../contracts/environment.ts'
import type { Transport } from '../../contracts/transport.ts'
import { closable } from '../closable.ts'
import { natsBlobs } from './blobs.ts'
import { natsBus } from './bus.ts'
import { connectTo, reportStatus, requireServer } from './connect.ts'
import { shown } from './credentials.ts'
import { fromNats } from './errors.ts'
import { natsHealth } from './health.ts'
import { natsHighWater } from './high-water.ts'
import { natsInbox } from './inbox.ts'
import { natsJournal } from './journal.ts'
import { openLink } from './link.ts'
import { namesOf } from './names.ts'
import { requirePermissions } from './permissions.ts'
import { natsRegistry } from './registry.ts'
import { ensureStreams, patiently } from './streams.ts'
import { openWakes } from './wakes.ts'
import { withMalformedMessages } from './workarounds/malformed-messages.ts'

export type NatsOptions = {
  /** See {@link connectionTo}. */
  url: string
  environment: Pick<Environment, 'clock' | 'failPoints' | 'log'>
  prefix?: string | undefined
  /** Copies of each stream that is made. Default: 3 on a cluster of three servers or more, else 1. */
  replicas?: number | undefined
  inboxMax?: number | undefined
  /** Other options of the client, such as an authenticator or certificates; they win over the address. */
  connection?: ConnectionOptions | undefined
}

/** With three copies, one server of three may be lost. */
const copiesMax = 3

/** @throws RuntimeError log_unavailable (no server), unauthorised, unsupported (too old, no JetStream), forbidden, conflict, corrupt_at */
export const openNats = async ({
  url,
  environment,
  prefix = 'statecast',
  replicas: asked,
  inboxMax,
  connection = {},
}: NatsOptions): Promise<Transport> => {
  const { log } = environment
  const nc = await connectTo(url, connection)
  try {
    requireServer(nc, url)
    reportStatus(nc, log)
    const names = namesOf(prefix)
    const replicas = asked ?? ((nc.info?.connect_urls?.length ?? 0) >= copiesMax ? copiesMax : 1)
    await requirePermissions(nc, names)
    const link = await openLink(nc).catch((error: unknown) => {
      throw fromNats(error, `opening ${shown(url)}`)
    })
    const registry = await patiently(environment.clock, () => natsRegistry(link, names, { replicas, log }))
    await ensureStreams(link.jsm, names, registry, environment, { replicas, asIs: asked === undefined, inboxMax })
    const mark = await natsHighWater(link, names, registry, environment)
    const wakes = await openWakes(link, names, environment)
    const blobs = natsBlobs(link, names)
    const inbox = withMalformedMessages(natsInbox(link, names, blobs, environment), { link, names, blobs, environment })
    const journal = natsJournal({ link, names, wakes, blobs, mark, environment })
    return closable({
      name: shown(url),
      capabilities: { durable: true, sharedByNodes: true },
      journal,
      bus: natsBus(nc, log),
      inbox,
      registry,
      blobs,
      health: () => natsHealth(link, names),
      async close() {
        await Promise.all([inbox.stop(), journal.idle()])
        await mark.stop()
        await Promise.all([wakes.stop(), registry.stop()])
        await link.close()
      },
    })
  } catch (error) {
    await nc.close().catch(() => undefined)
    throw error
  }
}
