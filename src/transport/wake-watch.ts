/** Who wants to hear of wake times that are set, and how they are told. */
import type { Address } from '../contracts/subjects.ts'
import { beingImported, type Journal } from '../contracts/transport.ts'

type Listener = Parameters<Journal['watchWakes']>[0]

export type WakeWatch = { watch: Journal['watchWakes']; tell(address: Address, wakeAt: number | null): void }

export const wakeWatch = (): WakeWatch => {
  const listeners = new Set<Listener>()
  return {
    watch(listener) {
      // One of its own for each call, so that each unsubscriber takes back its own.
      const mine: Listener = (...wake) => listener(...wake)
      listeners.add(mine)
      return () => void listeners.delete(mine)
    },
    tell(address, wakeAt) {
      if (wakeAt === null || wakeAt === beingImported) return
      for (const listener of listeners) listener(address, wakeAt)
    },
  }
}
