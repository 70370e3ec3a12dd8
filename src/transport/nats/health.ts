/** Whether the server answers and accepts writes, and how much space it says is free. */
import type { JetStreamAccountStats, StreamInfo } from '@nats-io/jetstream'
import type { TransportHealth } from '../../contracts/transport.ts'
import { fromNats } from './errors.ts'
import { type Link, payloadMax } from './link.ts'
import { type Names, ownKeys } from './names.ts'

/** Bytes that the account or a stream may still take, whichever is less; undefined where neither has a limit: then only the server knows. */
export const freeBytesOf = (account: JetStreamAccountStats, streams: StreamInfo[], replicas: number): number | undefined => {
  const { storage, limits } = account.tiers?.[`R${replicas}`] ?? account
  const free = [
    ...(limits.max_storage > 0 ? [limits.max_storage - storage] : []),
    ...streams.flatMap(({ config, state }) => (config.max_bytes > 0 ? [config.max_bytes - state.bytes] : [])),
  ]
  return free.length === 0 ? undefined : Math.max(0, Math.min(...free))
}

export const natsHealth = async (link: Link, names: Names): Promise<TransportHealth> => {
  try {
    const [account, ...streams] = await Promise.all([
      link.jsm.getAccountInfo(),
      ...[names.streams.journal, names.streams.inbox].map((stream) => link.jsm.streams.info(stream)),
    ])
    const replicas = streams[0]?.config.num_replicas ?? 1
    const durability = `JetStream, ${replicas === 1 ? 'one copy' : `${replicas} copies`}`
    const freeBytes = freeBytesOf(account, streams, replicas)
    const write = () => link.publish(`$KV.${names.bucket}.${ownKeys}capacity`, new Uint8Array(), { headers: { 'Nats-TTL': '1s' } })
    const lack = await link.capacity.lack(write)
    if (lack !== undefined) return { writable: false, freeBytes, durability, detail: `${lack.message}: ${lack.hint}` }
    const needed = payloadMax(link.nc)
    if (freeBytes !== undefined && freeBytes < needed)
      return { writable: false, freeBytes, durability, detail: `${freeBytes} bytes are free on JetStream, ${needed} are needed` }
    return { writable: true, freeBytes, durability }
  } catch (error) {
    return { writable: false, freeBytes: undefined, durability: 'JetStream', detail: fromNats(error, 'asking JetStream').message }
  }
}
