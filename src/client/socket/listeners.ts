/** Who wants to hear what a gateway says. */
import type { EventFrame, GatewayEventName, Subscribed, Welcome } from '../../contracts/gateway.ts'
import type { EventGap } from './run-sequence.ts'

/** What is heard about a session; the actions of its view are the same. */
export type Heard =
  /** The run that is going on, as far as it has come: what follows builds on it. */
  { type: 'subscribed'; answer: Subscribed } | { type: 'subscribe.failed'; sessionKey: string; error: unknown } | { type: 'event'; frame: EventFrame }

type Listener = (payload: never) => void

export class Listeners {
  readonly #byName = new Map<string, Set<Listener>>()
  readonly #bySession = new Map<string, Set<Listener>>()
  readonly #ofStatus = new Set<Listener>()

  on(event: GatewayEventName | 'reconnected' | 'gap', listener: Listener): () => void {
    const off = join(this.#byName, event, listener)
    return () => void off()
  }

  /** @returns takes it away, and says whether it was the last one of its session */
  onSession(sessionKey: string, listener: (heard: Heard) => void): () => boolean {
    return join(this.#bySession, sessionKey, listener)
  }

  onStatus(listener: (status: never) => void): () => void {
    // The same function may be given twice.
    const own: Listener = (status) => listener(status)
    this.#ofStatus.add(own)
    return () => void this.#ofStatus.delete(own)
  }

  sessions(): string[] {
    return [...this.#bySession.keys()]
  }

  tell(frame: EventFrame): void {
    call(this.#byName.get(frame.event), frame.payload)
    const { sessionKey } = (frame.payload ?? {}) as { sessionKey?: unknown }
    if (typeof sessionKey === 'string') this.tellSession(sessionKey, { type: 'event', frame })
  }

  tellSession(sessionKey: string, heard: Heard): void {
    call(this.#bySession.get(sessionKey), heard)
  }

  tellReconnected(welcome: Welcome): void {
    call(this.#byName.get('reconnected'), welcome)
  }

  tellGap(gap: EventGap): void {
    call(this.#byName.get('gap'), gap)
  }

  tellStatus(status: string): void {
    call(this.#ofStatus, status)
  }
}

const join = (all: Map<string, Set<Listener>>, name: string, listener: (payload: never) => void): (() => boolean) => {
  const own: Listener = (payload) => listener(payload)
  const set = all.get(name) ?? new Set()
  all.set(name, set.add(own))
  return () => {
    const wasLast = set.delete(own) && set.size === 0
    if (wasLast) all.delete(name)
    return wasLast
  }
}

/** A listener that fails is a mistake of its writer, who is told of it; the others hear it all the same. */
const call = (listeners: ReadonlySet<Listener> | undefined, payload: unknown): void => {
  for (const listener of listeners ?? [])
    try {
      listener(payload as never)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
}
