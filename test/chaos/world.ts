/** Servers, nodes and what is done to them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { openTransport } from '../../src/transport/open.ts'
import { type Nats, startCluster, startNats } from '../support/nats.ts'
import { ask, prefix } from './client.ts'
import { aSlot, type Slot } from './nodes.ts'
import type { Fault } from './plan.ts'
import type { Harm } from './traces.ts'

export type World = {
  folder: string
  effects: string
  nc: NatsConnection
  urls: readonly string[]
  servers: readonly Nats[]
  slots: readonly Slot[]
  harms: Harm[]
  strike(slot: Slot, fault: Fault): Promise<void>
  strikeServer(downMs: number): Promise<void>
  /** Resolves when all nodes are there and share all partitions. */
  whole(): Promise<void>
  close(): Promise<void>
}

const partitions = 64
const wholeMs = 60_000
const lostMs = 15_000

export const aWorld = async ({ nodes, servers: size }: { nodes: number; servers: number }): Promise<World> => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-chaos-'))
  const effects = join(folder, 'effects.jsonl')
  const harms: Harm[] = []
  const servers = size === 1 ? [await startNats()] : (await startCluster(size)).servers
  const urls = servers.map(({ port }) => `127.0.0.1:${port}`)
  // Nodes cannot be told how many copies to keep, so the streams are there before them.
  if (size > 1) await (await openTransport(`nats://${urls.join(',')}`, { environment: systemEnvironment(), prefix, replicas: size })).close()
  const nc = await connect({ servers: urls, maxReconnectAttempts: -1, reconnectTimeWait: 100, pingInterval: 2_000, ignoreClusterUpdates: true })
  const slots = await Promise.all(
    Array.from({ length: nodes }, (_, index) => aSlot({ name: `node${index + 1}`, folder, ports: servers.map(({ port }) => port), effects, harms })),
  )

  const idOf = async (pid: number): Promise<string | undefined> =>
    (await ask<{ nodes: { id: string; pid: number }[] }>(nc, 'nodes.list', {})).nodes.find((node) => node.pid === pid)?.id

  /** Its network is as it was, however long it was not. */
  const weather = async (slot: Slot, what: string, forMs: number, change: (proxy: Slot['proxies'][number]) => void): Promise<void> => {
    const from = Date.now()
    for (const proxy of slot.proxies) change(proxy)
    await sleep(forMs)
    for (const proxy of slot.proxies) proxy.heal()
    harms.push({ what, pid: slot.pid, from, to: Date.now() })
  }

  const strike = async (slot: Slot, fault: Fault): Promise<void> => {
    switch (fault.what) {
      case 'kill':
        await slot.signal('SIGKILL')
        await sleep(fault.downMs)
        return slot.start()
      case 'freeze': {
        const thaw = slot.freeze()
        await sleep(fault.forMs)
        return thaw()
      }
      case 'term':
        await slot.signal('SIGTERM')
        return slot.start()
      case 'drain': {
        const id = await idOf(slot.pid).catch(() => undefined)
        const from = Date.now()
        // Where it cannot be asked, its operator falls back on the signal.
        const asked =
          id !== undefined &&
          (await ask(nc, 'nodes.drain', { node: id }).then(
            () => true,
            () => false,
          ))
        if (!asked) await slot.signal('SIGTERM')
        else {
          await slot.ended()
          harms.push({ what: 'drain', pid: slot.pid, from, to: Date.now() })
        }
        return slot.start()
      }
      case 'cut':
        return weather(slot, 'cut', fault.forMs, (proxy) => proxy.cut())
      case 'delay':
        return weather(slot, 'delay', fault.forMs, (proxy) => proxy.delay(fault.delayMs))
      case 'lose': {
        const from = Date.now()
        const lost = Promise.race(
          slot.proxies.map((proxy) => proxy.dropResponsesOnce(`"stream":"${prefix.toUpperCase()}_JOURNAL"`, { keep: fault.keep })),
        )
        const struck = await Promise.race([lost.then(() => true), sleep(lostMs, false)])
        if (struck) harms.push({ what: fault.keep ? 'lost ack' : 'lost ack and link', pid: slot.pid, from, to: Date.now() })
        return
      }
      case 'server':
    }
  }

  const leader = async (): Promise<Nats> => {
    if (servers.length === 1) return servers[0]!
    const info = await (await jetstreamManager(nc)).streams.info(`${prefix.toUpperCase()}_JOURNAL`)
    return servers.find(({ name }) => name === info.cluster?.leader) ?? servers[0]!
  }

  return {
    folder,
    effects,
    nc,
    urls,
    servers,
    slots,
    harms,
    strike,
    async strikeServer(downMs) {
      const server = await leader().catch(() => servers[0]!)
      const from = Date.now()
      await server.kill()
      await sleep(downMs)
      await server.restart()
      harms.push({ what: servers.length === 1 ? 'server' : 'leader', pid: 0, from, to: Date.now() })
    },
    async whole() {
      for (const until = Date.now() + wholeMs; ; await sleep(200)) {
        const { nodes: found } = await ask<{ nodes: { partitions: number; pid: number }[] }>(nc, 'nodes.list', {}).catch(() => ({ nodes: [] }))
        const there = slots.every(({ pid }) => found.some((node) => node.pid === pid && node.partitions > 0))
        if (there && found.length === nodes && found.reduce((sum, one) => sum + one.partitions, 0) === partitions) return
        if (Date.now() > until) throw new Error(`the nodes do not share all partitions: ${JSON.stringify(found)}; see ${folder}`)
      }
    },
    async close() {
      await nc.close()
      await Promise.all(slots.map((slot) => slot.close()))
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

export const removeFolder = ({ folder }: World): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
