/** How far journals have come, told to those who look at them: of what this node writes, and of what other nodes say that they have written. */
import type { Logger } from '../contracts/environment.ts'
import { errorBody } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'

/** @param seq of the newest commit; 0 where the actor was deleted */
type GrowthListener = (seq: number) => void

/** Hears of the commits that other nodes make of a root: hints, for whoever then reads the journal. @returns the unsubscriber */
export type GrowthElsewhere = (address: Address, hear: GrowthListener) => () => void

type Watched = { listeners: Set<GrowthListener>; stop: () => void }

export class Growth {
  /** By the name of the root. Whoever commits asks first whether anybody is there at all. */
  readonly watched = new Map<string, Watched>()
  readonly #elsewhere: GrowthElsewhere | undefined
  readonly #log: Logger

  constructor(log: Logger, elsewhere?: GrowthElsewhere) {
    this.#log = log
    this.#elsewhere = elsewhere
  }

  /** @returns the unsubscriber; safe twice */
  watch(address: Address, listener: GrowthListener): () => void {
    const name = formatAddress(address)
    const watched = this.watched.get(name) ?? this.#begin(name, address)
    watched.listeners.add(listener)
    return () => {
      if (!watched.listeners.delete(listener) || watched.listeners.size > 0) return
      watched.stop()
      this.watched.delete(name)
    }
  }

  #begin(name: string, address: Address): Watched {
    const stop = this.#elsewhere?.(address, (seq) => this.grew(name, seq)) ?? (() => undefined)
    const watched = { listeners: new Set<GrowthListener>(), stop }
    this.watched.set(name, watched)
    return watched
  }

  /** A listener that throws is logged and never disturbs another one, or the actor. */
  grew(name: string, seq: number): void {
    for (const listener of this.watched.get(name)?.listeners ?? []) {
      try {
        listener(seq)
      } catch (error) {
        this.#log.error({ actor: name, error: errorBody(error) }, 'a listener threw')
      }
    }
  }
}
