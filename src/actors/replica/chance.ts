/** What a transition may know of time and chance: the same again whenever it is replayed. */
import { sha256 } from '../native.ts'
import type { Timers } from './timers.ts'

type Moment = {
  /** ms since the epoch of the commit that the transition belongs to. */
  now(): number
  /** 32 bytes that nobody can guess, others at every call. */
  draw(): Uint8Array
  /** Whether XState is setting a delay just now, and no author's code runs. */
  scheduling(): boolean
}

let present: Moment | undefined

/** The moment of the transition that is running, if one is: transitions never wait, so there is at most one. */
export const presentMoment = (): Moment | undefined => present

export const during = <T>(moment: Moment, work: () => T): T => {
  const before = present
  present = moment
  try {
    return work()
  } finally {
    present = before
  }
}

type Tree = { readonly timers: Pick<Timers, 'now' | 'setting'>; readonly chance: Chance }

/** That of a tree. */
export class TreeMoment implements Moment {
  readonly #tree: Tree

  constructor(tree: Tree) {
    this.#tree = tree
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
