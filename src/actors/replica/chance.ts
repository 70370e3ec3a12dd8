/** What a transition may know of time and chance: the same again whenever it is replayed. */

import type { Moment } from '../../contracts/environment.ts'
import type { ActorPath } from '../../contracts/journal.ts'
import { sha256 } from '../native.ts'
import type { Timers } from './timers.ts'

type Tree = { readonly timers: Pick<Timers, 'now' | 'setting' | 'leftOf'>; readonly chance: Chance }

/** That of a tree. */
export class TreeMoment implements Moment {
  readonly #tree: Tree
  readonly #pathOf: (actor: object) => ActorPath

  constructor(tree: Tree, pathOf: (actor: object) => ActorPath) {
    this.#tree = tree
    this.#pathOf = pathOf
  }

  now(): number {
    return this.#tree.timers.now
  }
  draw(): Uint8Array {
    return this.#tree.chance.draw()
  }
  scheduling(): boolean {
    return this.#tree.timers.setting
  }
  leftOf(actor: object, id: string): number | undefined {
    return this.#tree.timers.leftOf(this.#pathOf(actor), id)
  }
}

/** How often a tree has drawn, and from what; a tree that never has, has none. */
export type PersistedChance = { seed: string; drawn: number }

/** Chance that is drawn once, as a seed that the journal keeps; all else follows from that and from counting. */
export class Chance {
  /** It has been made here, and no commit says so yet. */
  #fresh = false
  #seed: string | undefined
  #drawn: number
  readonly #make: () => string | undefined

  /** @param make a new seed; nothing where a journal is only looked at */
  constructor(make: () => string | undefined, known?: { seed?: string | undefined; drawn?: number }) {
    this.#make = make
    this.#seed = known?.seed
    this.#drawn = known?.drawn ?? 0
  }

  draw(): Uint8Array {
    if (this.#seed === undefined) {
      this.#seed = this.#make()
      this.#fresh = this.#seed !== undefined
    }
    return sha256(`${this.#seed ?? ''} ${++this.#drawn}`)
  }

  get drawn(): number {
    return this.#drawn
  }

  get seed(): string | undefined {
    return this.#seed
  }

  /** The seed that the next commit has to name. */
  takeFresh(): string | undefined {
    const fresh = this.#fresh ? this.#seed : undefined
    this.#fresh = false
    return fresh
  }

  /** A commit names it. */
  recorded(seed: string | undefined): void {
    this.#seed ??= seed
  }

  persisted(): PersistedChance {
    return { seed: this.#seed ?? '', drawn: this.#drawn }
  }
}
