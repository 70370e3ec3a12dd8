/** The sessions that a connection watches, and what it was shown of their runs. */
import { RuntimeError } from '../../contracts/errors.ts'
import type { ChatBlock, ChatEvent } from '../../contracts/gateway.ts'
import { patchOf, type RunSoFar, type SessionFeeds, type Watcher } from '../chat/index.ts'

export class Watching {
  readonly #keys = new Set<string>()
  readonly #feeds: SessionFeeds
  readonly #watcher: Watcher
  readonly #max: number

  /** By run, the blocks that it was shown last. */
  readonly #shown = new Map<string, readonly ChatBlock[]>()

  constructor(feeds: SessionFeeds, watcher: Watcher, max: number) {
    this.#feeds = feeds
    this.#watcher = watcher
    this.#max = max
  }

  /** Whether it does not watch the session yet, and may. */
  mayAdd(key: string): boolean {
    return !this.#keys.has(key) && this.#keys.size < this.#max
  }

  /** @throws RuntimeError rate_limited */
  async watch(key: string): Promise<RunSoFar> {
    if (!this.#keys.has(key) && this.#keys.size >= this.#max)
      throw new RuntimeError('rate_limited', `this connection watches ${this.#keys.size} sessions`, {
        hint: 'chat.unsubscribe those that nobody looks at',
      })
    this.#keys.add(key)
    try {
      return await this.#feeds.watch(key, this.#watcher)
    } catch (error) {
      this.#keys.delete(key)
      throw error
    }
  }

  shows({ runId, message }: ChatEvent): void {
    this.#shown.set(runId, message?.content ?? [])
  }

  /** Only what is new since the event before. */
  patched(event: ChatEvent): ChatEvent {
    const shown = this.#shown.get(event.runId) ?? []
    if (event.state === 'delta') this.shows(event)
    else this.#shown.delete(event.runId)
    return patchOf(event, shown)
  }

  leave(key: string): void {
    this.#keys.delete(key)
    this.#feeds.leave(key, this.#watcher)
  }

  leaveAll(): void {
    for (const key of this.#keys) this.#feeds.leave(key, this.#watcher)
    this.#keys.clear()
  }

  /** They have ended by themselves. */
  forget(): void {
    this.#keys.clear()
  }
}
