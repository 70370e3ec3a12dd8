/** Hears which sessions of this node have changed, and passes it on at most once a second. */
import type { Clock } from '../../contracts/environment.ts'
import type { Runtime } from '../../runtime/index.ts'

const pauseMs = 1_000

export class ListChanges {
  readonly #clock: Clock
  readonly #tell: (keys: ReadonlySet<string>) => void
  #runtime: Runtime | undefined
  #off: () => void = () => undefined
  #changed = new Set<string>()
  /** While it runs, something was told less than a second ago. */
  #pause: unknown

  /** @param tell called at once for the first change, and with all that came meanwhile at the end of each pause */
  constructor(clock: Clock, tell: (keys: ReadonlySet<string>) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  /** Safe to call again and again. */
  follow(runtime: Runtime): void {
    if (this.#runtime === runtime) return
    this.#off()
    this.#runtime = runtime
    this.#off = runtime.onSessionChange((key) => {
      this.#changed.add(key)
      if (this.#pause === undefined) this.#flush()
    })
  }

  #flush(): void {
    this.#pause = undefined
    if (this.#changed.size === 0) return
    const keys = this.#changed
    this.#changed = new Set()
    this.#pause = this.#clock.setTimeout(() => this.#flush(), pauseMs)
    this.#tell(keys)
  }

  stop(): void {
    this.#off()
    this.#clock.clearTimeout(this.#pause)
  }
}
