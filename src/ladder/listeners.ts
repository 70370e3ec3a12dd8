/** Who hears what runs tell: handlers of the definition, then those that were added to the executable, then those of the call. */
import { type LadderEvent, wordOf } from './envelope.ts'
import { wordsOf } from './errors.ts'

/** By type, or `*` for all. What one of them gives back is of no use, and one that throws disturbs nobody. */
export type Handlers = Readonly<Record<string, (event: LadderEvent) => unknown>>

/** Where it is said that code of listeners failed: the log of the runtime. */
export type Warn = (facts: Record<string, unknown>, message: string) => void
export const silent: Warn = () => undefined

export class Listeners {
  readonly #first: Handlers | undefined
  readonly #added = new Set<Handlers>()
  readonly #warned = new Set<string>()

  constructor(first?: Handlers) {
    this.#first = first
  }

  add(handlers: Handlers): () => void {
    this.#added.add(handlers)
    return () => this.remove(handlers)
  }

  remove(handlers: Handlers): void {
    this.#added.delete(handlers)
  }

  tell(event: LadderEvent, warn: Warn): void {
    for (const handlers of [...(this.#first ? [this.#first] : []), ...this.#added])
      tellTo(handlers, event, (thrown) => this.failed(event, thrown, warn))
  }

  /** Said once for each type of event. */
  failed({ type, runId }: LadderEvent, thrown: unknown, warn: Warn): void {
    if (this.#warned.has(type)) return
    this.#warned.add(type)
    warn({ event: type, runId, error: wordsOf(thrown) }, `a handler of '${type}' failed; further ones are not told`)
  }
}

/** The same event for each of them. One that promises something is not waited for. */
export const tellTo = (handlers: Handlers, event: LadderEvent, failed: (thrown: unknown) => void): void => {
  for (const key of [event.type, '*']) if (Object.hasOwn(handlers, key)) isolated(() => handlers[key]?.(event), failed)
}

/** Code of somebody else, whose failures are their own. */
export const isolated = (call: () => unknown, failed: (thrown: unknown) => void): void => {
  try {
    const said = call()
    if (said instanceof Promise) said.catch(failed)
  } catch (thrown) {
    failed(thrown)
  }
}

/** Which executable tells an event, by the words in it; deltas of an agent are told under its run alone. */
export class Tellers {
  readonly #names = new Map<string, string>()

  /** @returns `agent writer` and the like */
  of(event: LadderEvent): string | undefined {
    const said = wordOf(event)
    if (said !== undefined) this.#names.set(event.runId, said)
    return said ?? this.#names.get(event.runId)
  }
}
