/** The sessions that are watched through one gateway: one feed each, however many watch. */
import type { Clock } from '../../contracts/environment.ts'
import type { Runtime } from '../../runtime/index.ts'
import { SessionFeed } from './session-feed.ts'
import type { RunSoFar, Watcher } from './watcher.ts'

/** ms for which a session is still followed when nobody watches it any more: a page that is loaded again finds all of the answer that is being written. */
const lingerMs = 30_000

type Kept = { feed: SessionFeed; timer?: unknown }

export class SessionFeeds {
  readonly #runtime: () => Runtime
  readonly #clock: Clock
  readonly #feeds = new Map<string, Kept>()
  #closed = false

  constructor(runtime: () => Runtime, clock: Clock) {
    this.#runtime = runtime
    this.#clock = clock
  }

  /** Resolves when the watcher misses nothing any more. @throws RuntimeError bad_request for what is no key, closed */
  watch(key: string, watcher: Watcher): Promise<RunSoFar> {
    const known = this.#feeds.get(key)
    const kept = known === undefined || known.feed.isOver ? this.#open(key) : known
    this.#clock.clearTimeout(kept.timer)
    return kept.feed.watch(watcher)
  }

  leave(key: string, watcher: Watcher): void {
    this.#feeds.get(key)?.feed.leave(watcher)
  }

  close(): void {
    this.#closed = true
    for (const { feed, timer } of this.#feeds.values()) {
      this.#clock.clearTimeout(timer)
      feed.stop()
    }
    this.#feeds.clear()
  }

  #open(key: string): Kept {
    const kept: Kept = {
      feed: new SessionFeed(this.#runtime(), key, this.#clock, () => {
        this.#clock.clearTimeout(kept.timer)
        // A feed that ends is idle too, and one that ends with its gateway must not keep the process.
        if (this.#closed) return
        if (kept.feed.isOver) return this.#drop(key, kept)
        kept.timer = this.#clock.setTimeout(() => this.#release(key, kept), lingerMs)
      }),
    }
    this.#feeds.set(key, kept)
    return kept
  }

  #release(key: string, kept: Kept): void {
    if (!kept.feed.isIdle) return
    kept.feed.stop()
    this.#drop(key, kept)
  }

  #drop(key: string, kept: Kept): void {
    if (this.#feeds.get(key) === kept) this.#feeds.delete(key)
  }
}
