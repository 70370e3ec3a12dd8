/** Writes what was applied to the journal: one commit at a time, and nothing more once its root was let go. */
import { type Instant, instantOf, isWithin, pause } from '../../contracts/environment.ts'
import type { RuntimeError } from '../../contracts/errors.ts'
import type { Commit } from '../../contracts/journal.ts'
import { appendCommit, isUnbegun, lastOf, longer, overtaken } from '../journal/append.ts'
import { checksum, commitOf, encode } from '../journal/codec.ts'
import { advance, isBeginning } from '../journal/ledger.ts'
import type { Replica } from '../replica/replica.ts'
import type { Output } from '../replica/sink.ts'
import type { EffectRunner } from './effect-runner.ts'
import type { RootHandle, RootHost } from './root-host.ts'
import type { Applied, State } from './state.ts'
import { isDeleted } from './view.ts'

/** Whether inputs are applied that do not stand in the journal yet, and who waits for the moment at which none is. */
export class Uncommitted {
  #pending = false
  #waiting: (() => void)[] = []

  get pending(): boolean {
    return this.#pending
  }

  begin(): void {
    this.#pending = true
  }

  end(): void {
    this.#pending = false
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Resolves at the next end; by then another batch may have begun. */
  settled(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }
}

type CommitterOptions = {
  root: RootHandle
  host: RootHost
  state: State
  effects: EffectRunner
  /** Throws when the root was let go; asked after every wait. */
  alive(): void
}

export class Committer {
  readonly #options: CommitterOptions
  /** Why appends do not get through at the moment. */
  stalled: RuntimeError | undefined

  constructor(options: CommitterOptions) {
    this.#options = options
  }

  /** A commit without inputs, as of now; the one of a birth is as of the birth. */
  note(said: Partial<Commit>): Promise<Commit> {
    const { state, host } = this.#options
    state.tick(host.environment.clock.now())
    return this.commit([], [], said)
  }

  /**
   * Resolves when what was applied stands in the journal.
   * @param outputs that are still to come, of which the head has to know
   * @throws RuntimeError fenced, corrupt_at, log_full, log_unavailable, closed, too_large
   */
  async commit(applied: Applied[], outputs: Output[], said: Partial<Commit>): Promise<Commit> {
    const { root, host, state, effects, alive } = this.#options
    alive()
    const inputs = applied.map(({ waiting }) => waiting.input)
    const extra = effects.hasPending ? { ...said, owed: effects.pendingSince } : said
    const commit = state.draft(host.writer, inputs, outputs, extra)
    const bytes = encode(commit)
    const { log } = host.environment
    const before = host.reached(root, 'received', commit)
    if (before) await before
    alive()
    // One to be removed wants to be found, also where this process ends before it is.
    const replica = state.present()
    const wakeAt =
      replica.status === 'done' && isDeleted(root.registration, replica) ? 0 : wakeAtOf(replica, [...state.initialOutputs, ...outputs], extra)
    const head = { wakeAt, at: state.ledger.at }
    const began = instantOf(host.environment.clock)
    // What effects have done must not be lost, nor they be started twice, because a store was full for a moment. Those of an earlier life wait anyway.
    const patient = (root.begun && effects.running) || inputs.some((input) => 'from' in input)
    await appendCommit({
      journal: host.journal,
      clock: host.environment.clock,
      address: root.address,
      expected: state.ledger.seq,
      birth: state.ledger.birth,
      bytes,
      head,
      patienceMs: patient ? host.limits.patienceMs : 0,
      stalled: (error) => {
        alive()
        if (!this.stalled) log.error({ actor: root.name, error: error.toJSON() }, 'the journal takes no writes; the write is retried')
        this.stalled = error
      },
    })
    if (this.stalled) log.info({ actor: root.name }, 'the journal takes writes again')
    this.stalled = undefined
    if (commit.claim && !isBeginning(state.ledger, commit)) this.#tellTakeover(commit)
    advance(state.ledger, commit, checksum(bytes))
    state.claimed = true
    state.wakeAt = head.wakeAt
    const between = host.reached(root, 'appended', commit)
    if (between) await between
    alive()
    if (!this.#isSure(began)) await this.confirm(began)
    return commit
  }

  /** Before the ledger names us: the one whose actors these were is in the log, since an operator looks for what became of them. */
  #tellTakeover({ epoch, seq }: Commit): void {
    const { root, host, state } = this.#options
    const unfinished = state.replica?.effects.size ?? 0
    const facts = { actor: root.name, from: state.ledger.writer, epoch, seq, unfinished }
    host.environment.log[unfinished > 0 ? 'info' : 'debug'](facts, 'this host took over an actor')
  }

  /** Whether nobody else can have taken over since. @param asked whether the journal said so, then */
  #isSure(since: Instant, asked = false): boolean {
    const { clock } = this.#options.host.environment
    const { limits, sure } = this.#options.host
    // An answer that took long says little by itself: with a good lease it is enough, or a slow journal would be asked for ever.
    return isWithin(clock, since, limits.takeoverMs) ? asked || sure() !== false : asked && sure() === true
  }

  /**
   * Makes sure that nobody else has taken over since a moment, where that could be: a process that was frozen, or starved, does not know that it was
   * away. Asks the journal only when some time has passed, or when a node could not renew its word, so it costs nothing in the ordinary case.
   * @throws RuntimeError fenced, corrupt_at, closed
   */
  async confirm(since: Instant): Promise<void> {
    const { root, host, alive } = this.#options
    const { clock } = host.environment
    let known = since
    let asked = false
    for (let pauseMs = 0; !this.#isSure(known, asked); ) {
      // An answer counts from when it was asked for: the process may have been frozen on the way back.
      const now = instantOf(clock)
      // Read before the journal is asked: an effect asks beside the commit loop, whose next commit may stand before the answer is here.
      const { seq, birth } = this.#options.state.ledger
      const last = await lastOf(host.journal, root.address)
      alive()
      if (last === 'unknown') {
        pauseMs = longer(pauseMs)
        await pause(clock, pauseMs)
      } else if (!last || last.seq < seq || commitOf(last, root.address).writer !== host.writer) {
        throw await overtaken({ journal: host.journal, address: root.address, seq, birth }, last?.seq ?? 0, isUnbegun(last))
      } else {
        known = now
        asked = true
      }
    }
  }
}

/** When a root wants to be woken though nobody writes to it. @param outputs that are still to come @returns ms since the epoch, 0 for at once, null for never */
const wakeAtOf = ({ effects, timers }: Replica, outputs: readonly Output[], { quarantine, owed }: Partial<Commit>): number | null => {
  if (quarantine) return null
  return effects.size > 0 || owed || outputs.some(({ kind }) => kind === 'action') ? 0 : timers.nextDue()
}
