/**
 * Follows a tree of actors for those who look at it: folds what stands in its journal, and in those of the actors elsewhere that belong to it, and tells each
 * commit. It reads journals only, so it is never in the way of a commit; what it has not told yet waits there and not in memory.
 */
import { setImmediate as pause } from 'node:timers/promises'
import { commitMessages, commitOf, Fold, type Registration, type ToldAs, treeMessages } from '../../actors/index.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { RemoteAt, ToldCommit } from '../../contracts/inspection.ts'
import type { InspectionMessage } from '../../contracts/inspection-protocol.ts'
import { type Address, formatAddress, parseAddress } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import type { Growth } from '../growth.ts'

/** Characters of one text, and, about, of all that one actor holds, or of one event. */
const textMax = 4_000
const sizeMax = 64_000
/** Commits that are told one by one; who is further behind is told the tree as it is. */
const behindMax = 500
/** Journals of one tree. */
const journalsMax = 32

export type FollowerParts = {
  journal: Journal
  /** @throws RuntimeError not_found */
  registration: (kind: string) => Registration
  growth: Pick<Growth, 'watch'>
}

type FollowerOptions = {
  /** What one commit did, or the tree as it stands. More is folded when it has been taken. */
  tell: (messages: InspectionMessage[]) => void | Promise<void>
  /** Whether it is told what machines were asked and what they decided. Default true. */
  decisions?: boolean
  /** It cannot go on: the journal is damaged, or other machines wrote it. Called once, and nothing after it. */
  failed: (error: unknown) => void
}

/** The journal of one root. */
type Followed = {
  address: Address
  as: ToldAs
  fold: Fold
  /** The last commit that was told, and the last one that was heard of. */
  told: number
  newest: number
  /** What is told next, once its turn among the journals has come. */
  next: ToldCommit | undefined
  /** The commit as of which the whole tree is to be told first. */
  show: number | undefined
  /** Nobody in the tree stands for it any more. */
  isLeft: boolean
  /** It was said to be shorter than it was: deleted perhaps, and begun anew, or somebody was late to say it. */
  isDoubted: boolean
  stop: () => void
}

export class TreeFollower {
  readonly #parts: FollowerParts
  readonly #options: FollowerOptions
  readonly #root: string
  /** The root of the tree first, then in the order in which they were found. */
  readonly #followed = new Map<string, Followed>()
  #isRunning = false
  #stopped = false

  /** @throws RuntimeError not_found for a kind that there is not */
  constructor(parts: FollowerParts, address: Address, options: FollowerOptions) {
    this.#parts = parts
    this.#options = options
    this.#root = formatAddress(address)
    this.#follow(address, undefined)
  }

  /** Tells the tree as it stood after a commit, and then each later one, as far as it is said to have grown. @param seq 0 where there was none yet */
  start(seq: number): void {
    this.#show(this.#followed.get(this.#root), seq)
  }

  /** The journal of the root of the tree has come to a commit; 0: it was deleted. */
  grew(seq: number): void {
    this.#grew(this.#root, seq)
  }

  stop(): void {
    this.#stopped = true
    for (const { stop } of this.#followed.values()) stop()
    this.#followed.clear()
  }

  #follow(address: Address, parentId: string | undefined): Followed {
    const name = formatAddress(address)
    const { machine } = this.#parts.registration(address.kind)
    const as = { address: name, rootId: this.#root, parentId, machine }
    const stop = parentId === undefined ? () => undefined : this.#parts.growth.watch(address, (seq) => this.#grew(name, seq))
    const unread = { told: 0, newest: 0, next: undefined, show: undefined, isLeft: false, isDoubted: false }
    const followed = { address, as, stop, fold: this.#foldOf(address), ...unread }
    this.#followed.set(name, followed)
    return followed
  }

  #foldOf(address: Address): Fold {
    return new Fold({
      address: formatAddress(address),
      registration: this.#parts.registration(address.kind),
      frames: (from, limit) => this.#parts.journal.read(address, from, { limit }),
      textMax,
      sizeMax,
      keeps: false,
      ...definedOf({ decisions: this.#options.decisions }),
      pause: () => pause(),
    })
  }

  #grew(name: string, seq: number): void {
    const followed = this.#followed.get(name)
    if (followed === undefined) return
    if (seq < followed.told) followed.isDoubted = true
    else followed.newest = Math.max(seq, followed.newest)
    this.#wake()
  }

  #show(followed: Followed | undefined, seq: number): void {
    if (followed === undefined) return
    followed.show = seq
    this.#wake()
  }

  #wake(): void {
    if (this.#isRunning || this.#stopped) return
    this.#isRunning = true
    void this.#run()
  }

  async #run(): Promise<void> {
    for (;;) {
      const next = await this.#next()
      // Without a wait in between, or what comes in that moment would be nobody's.
      if (next === undefined || this.#stopped) {
        this.#isRunning = false
        return
      }
      if (next.show !== undefined) await this.#guarded(next, () => this.#tellTree(next, next.show as number))
      else await this.#guarded(next, () => this.#tellCommit(next, next.next as ToldCommit))
      // Others have their turn: nobody waits for us.
      await pause()
    }
  }

  /** Whose turn it is: trees that are to be shown, then commits in the order of their times. */
  async #next(): Promise<Followed | undefined> {
    for (const doubted of [...this.#followed.values()].filter(({ isDoubted }) => isDoubted))
      await this.#guarded(doubted, () => this.#lookAgain(doubted))
    for (const followed of this.#followed.values()) {
      if (followed.newest - followed.told > behindMax) followed.show ??= followed.newest
      if (followed.show !== undefined) return followed
    }
    let earliest: Followed | undefined
    for (const followed of this.#followed.values()) {
      await this.#guarded(followed, async () => {
        if (followed.next === undefined && followed.told < followed.newest) followed.next = await followed.fold.told(followed.told + 1)
      })
      if (followed.show !== undefined) return followed
      if (!this.#isPresent(followed) || followed.next === undefined) continue
      if (earliest?.next === undefined || followed.next.at < earliest.next.at) earliest = followed
    }
    return earliest
  }

  async #lookAgain(followed: Followed): Promise<void> {
    followed.isDoubted = false
    const newest = (await this.#parts.journal.head(followed.address))?.seq ?? 0
    if (newest >= followed.told || !this.#isPresent(followed)) return
    // Whatever is being read of it belongs to its life before.
    const again = { ...followed, fold: this.#foldOf(followed.address), told: 0, newest, next: undefined, show: undefined }
    this.#followed.set(followed.as.address, again)
  }

  async #tellTree(followed: Followed, seq: number): Promise<void> {
    const { fold, as } = followed
    if (seq > 0) {
      const moment = await fold.moment(seq)
      const remotes = await fold.remotes(seq)
      if (!this.#isPresent(followed)) return
      await this.#options.tell(treeMessages(as, moment))
      if (!this.#isPresent(followed)) return
      await this.#meet(followed, remotes, undefined)
    }
    Object.assign(followed, { told: seq, newest: Math.max(seq, followed.newest), next: undefined, show: undefined })
  }

  async #tellCommit(followed: Followed, commit: ToldCommit): Promise<void> {
    Object.assign(followed, { told: commit.seq, next: undefined })
    await this.#options.tell(commitMessages(followed.as, commit))
    if (!this.#isPresent(followed)) return
    await this.#meet(followed, commit.remotes, commit.at)
    if (followed.isLeft && followed.told >= followed.newest) this.#leave(followed)
  }

  /** Follows the actors elsewhere that have come into the tree, and those no more that have left it. @param at of the commit that brought them */
  async #meet({ as }: Followed, remotes: readonly RemoteAt[], at: number | undefined): Promise<void> {
    for (const { path, address } of remotes) {
      if (this.#stopped || this.#followed.has(formatAddress(address)) || this.#followed.size >= journalsMax) continue
      // Of a kind that this node does not have it can only be said that it is there.
      const child = this.#attempt(() => this.#follow(address, `${as.address}${path}`))
      if (child) await this.#guarded(child, () => this.#begin(child, at))
    }
    const present = new Set(remotes.map(({ path }) => `${as.address}${path}`))
    for (const other of this.#followed.values()) {
      const { parentId } = other.as
      if (parentId === undefined || other.isLeft || !parentId.startsWith(`${as.address}/`) || present.has(parentId)) continue
      other.isLeft = true
      // It has said its last words before, of which we may not have heard yet.
      other.newest = Math.max(other.newest, (await this.#parts.journal.head(other.address))?.seq ?? 0)
      if (other.told >= other.newest) this.#leave(other)
    }
  }

  /** One that this tree has begun is told from its first commit on, one that was there before as it is. */
  async #begin(child: Followed, at: number | undefined): Promise<void> {
    const { journal } = this.#parts
    const head = await journal.head(child.address)
    if (head === undefined) return
    child.newest = Math.max(child.newest, head.seq)
    const [first] = await journal.read(child.address, 1, { limit: 1 })
    const isYoung = at !== undefined && first?.seq === 1 && commitOf(first, parseAddress(child.as.address)).at >= at
    if (!isYoung) child.show = child.newest
  }

  #leave({ as, stop }: Followed): void {
    stop()
    this.#followed.delete(as.address)
  }

  #isPresent(followed: Followed): boolean {
    return this.#followed.get(followed.as.address) === followed
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch {
      return undefined
    }
  }

  /** What cannot be read any more is followed no more; without its root there is no tree. */
  async #guarded(followed: Followed, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (this.#stopped || !this.#isPresent(followed)) return
      if (followed.as.address !== this.#root) return this.#leave(followed)
      this.stop()
      this.#options.failed(error)
    }
  }
}
