/** The list of sessions, and of other actors where somebody wants them; read again when something has changed. */
import type { SocketClient } from '../../../../src/client/socket/index.ts'
import type { Listed } from '../model.ts'
import { listedActor, listedSession } from '../rules/list.rules.ts'
import type { Subject } from '../viewing/viewing.context.ts'
import type { ActorsPage, SessionListed } from './commands.ts'

/** ms after which it is read again in any case while the page is looked at: a node says only of its own sessions that they have changed. */
const listMs = 30_000

/** What stands first among the sessions, and whether there is nothing at all, of any kind. */
type Known = { first: Subject | undefined; isEmpty: boolean }

export class Listing {
  sessions: readonly Listed[] | undefined
  others: readonly Listed[] | undefined
  readonly #client: SocketClient
  readonly #changed: (known: Known | undefined) => void
  #wanted = false
  #asked = 0
  #shown = 0
  #othersAsked = 0
  #othersShown = 0

  constructor(client: SocketClient, changed: (known: Known | undefined) => void) {
    this.#client = client
    this.#changed = changed
    const isLookedAt = (): boolean => document.visibilityState === 'visible' && client.status === 'ready'
    const readAll = (): void => {
      if (isLookedAt()) this.read()
    }
    client.on('sessions.changed', () => {
      if (isLookedAt()) void this.#readSessions()
    })
    // A node says nothing of actors of other kinds.
    document.addEventListener('visibilitychange', readAll)
    setInterval(readAll, listMs)
  }

  connected(): void {
    this.read()
  }

  wantOthers(): void {
    if (this.#wanted) return
    this.#wanted = true
    void this.#readOthers()
  }

  read(): void {
    void this.#readSessions()
    if (this.#wanted) void this.#readOthers()
  }

  async #readSessions(): Promise<void> {
    const reading = ++this.#asked
    try {
      const { sessions } = await this.#client.call<{ sessions: SessionListed[] }>('sessions.list', { details: true })
      // Answers come in any order.
      if (reading < this.#shown) return
      this.#shown = reading
      this.sessions = sessions.map(listedSession)
      if (sessions.length === 0) this.wantOthers()
      this.#changed(this.#known())
    } catch {
      // It is read again soon, and the connection says for itself that it is gone.
    }
  }

  async #readOthers(): Promise<void> {
    const reading = ++this.#othersAsked
    try {
      const found: Listed[] = []
      for (let after: string | null = null; ; ) {
        const page: ActorsPage = await this.#client.call<ActorsPage>('actors.list', { limit: 200, ...(after === null ? {} : { after }) })
        found.push(...page.actors.filter(({ kind }) => kind !== 'session').map(listedActor))
        after = page.next
        if (after === null || found.length > 1_000) break
      }
      if (reading < this.#othersShown) return
      this.#othersShown = reading
      this.others = found.sort((a, b) => b.at - a.at)
      this.#changed(this.#known())
    } catch {
      // As above.
    }
  }

  #known(): Known | undefined {
    const [first] = this.sessions ?? []
    if (first) return { first: { kind: first.kind, id: first.id }, isEmpty: false }
    // As long as nobody knows of others, there are none.
    return this.sessions && { first: undefined, isEmpty: (this.others ?? []).length === 0 }
  }
}
