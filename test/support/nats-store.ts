/** A NATS server as the store of a test runtime: virtual time stands still for as long as something is on its way there or back. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Transport } from '../../src/contracts/transport.ts'
import type { TestStore } from '../../src/testing/index.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { wipe } from './nats.ts'

/** ms of real time after which what is still on its way is held by the test itself, unless that says otherwise. */
const usualPatienceMs = 5_000
/** Turns of the event loop without anything new, twice, after which nothing will come of what was said. */
const quietTurns = 12

/** @property pending when each of those that wait for an answer was asked */
type Traffic = { pending: Set<{ since: number }>; count: number }

const isBusy = ({ pending }: Traffic, patienceMs: number): boolean => {
  const now = performance.now()
  return [...pending].some(({ since }) => now - since < patienceMs)
}

/** Counts what is asked of the server and what has been answered. */
const counted = <T extends object>(part: T, traffic: Traffic): T =>
  new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...values: unknown[]) => {
        traffic.count++
        const result: unknown = value.apply(target, values)
        if (result instanceof Promise) {
          const question = { since: performance.now() }
          traffic.pending.add(question)
          const arrived = () => void traffic.pending.delete(question)
          void result.then(arrived, arrived)
        }
        return result
      }
    },
  })

export type NatsStore = TestStore & {
  /** Resolves when nothing is on its way any more. */
  outside(): Promise<void>
  /** Takes everything away from the server that was stored. */
  wipe(): Promise<void>
}

/**
 * @param options.alone as a store of one process: no node has to say again and again that it is there, so days pass quickly
 * @param options.patienceMs of real time that virtual time waits for the server, which takes long on a busy machine
 */
export const natsStore = (
  url: string,
  prefix: string,
  { alone, patienceMs = usualPatienceMs }: { alone: boolean; patienceMs?: number },
): NatsStore => {
  const traffic: Traffic = { pending: new Set(), count: 0 }
  let open: { transport: Transport; echo(): Promise<void> } | undefined

  /** What one says to oneself comes back behind all that the server had to say before. */
  const echoOn = ({ bus }: Transport) => {
    const waiting: (() => void)[] = []
    bus.subscribe(`${prefix}.echo`, () => waiting.shift()?.())
    return () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve)
        bus.publish(`${prefix}.echo`, new Uint8Array())
      })
  }

  return {
    async open(environment) {
      traffic.pending.clear()
      const transport = await openNats({ url, environment, prefix })
      open = { transport, echo: echoOn(transport) }
      const { journal, inbox, registry, blobs, capabilities } = transport
      return {
        ...transport,
        capabilities: alone ? { ...capabilities, sharedByNodes: false } : capabilities,
        journal: counted(journal, traffic),
        inbox: counted(inbox, traffic),
        registry: counted(registry, traffic),
        blobs: counted(blobs, traffic),
      }
    },
    async crash() {
      const transport = open?.transport
      open = undefined
      if (!transport) return
      // Whoever is next need not wait until the word of the dead has expired.
      for (const { key } of await transport.registry.list('nodes/').catch(() => [])) await transport.registry.delete(key)
      await transport.close()
    },
    async outside() {
      for (let quiet = 0, seen = traffic.count; open && quiet < 2; seen = traffic.count) {
        await open.echo()
        for (let turn = 0; turn < quietTurns; turn++) await nextTurn()
        quiet = seen === traffic.count && !isBusy(traffic, patienceMs) ? quiet + 1 : 0
      }
    },
    wipe: () => wipe(url, prefix.toUpperCase()),
  }
}
