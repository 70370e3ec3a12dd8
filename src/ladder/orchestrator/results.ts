/** What became of turns, as their callers and observers get it: put together of the actors that they were. */
import { LadderError, wordsOf } from '../errors.ts'
import { observed, observersFor } from '../observers.ts'
import type { CheckpointStore } from '../stores/store.ts'
import type { HostBinding } from './binding.ts'
import type { CheckedOrchestrator } from './definition.ts'
import type { TurnResult } from './options.ts'
import { recordOf, reportOf } from './report.rules.ts'
import type { Answer } from './session.context.ts'
import { childOf, Turns } from './turns.ts'

type Parts = { signature: string; binding: HostBinding; store: () => Promise<CheckpointStore> }

export class Results<Data> {
  readonly #checked: CheckedOrchestrator
  readonly #parts: Parts
  readonly #turns: Turns

  constructor(checked: CheckedOrchestrator, parts: Parts) {
    this.#checked = checked
    this.#parts = parts
    this.#turns = new Turns(checked.turnKind)
  }

  async of(sessionId: string, answer: Answer): Promise<TurnResult<Data>> {
    const { signature, binding, store } = this.#parts
    const { runtime } = binding
    const { name, summaryKind, keepRows: keep } = this.#checked
    const { error, compaction, turnIndex = 0 } = answer
    const ended = answer.turnRunId === undefined ? undefined : await this.#turns.read(runtime, answer.turnRunId)
    const current = ended && recordOf(turnIndex, ended.input, ended.report)
    const before = ended ? await this.#turns.before(runtime, { store: await store(), name, sessionId, turnIndex, keep }) : []
    if (current && !error) this.#turns.note(sessionId, current)
    const report = reportOf({
      name,
      sessionId,
      signature,
      answer,
      children: [...(ended ? [ended.report] : []), ...(await childOf(runtime, summaryKind, answer.summaryRunId))],
      turns: [...before, ...(current ? [current] : [])],
    })
    return {
      sessionId,
      turnIndex,
      ...(error ? { error: LadderError.from(error) } : { data: ended?.data as Data }),
      ...(compaction && { compaction }),
      usage: report.usage,
      report,
    }
  }

  /** Once for each turn, on the node of its session. */
  observe(sessionId: string, answer: Answer): void {
    const observers = observersFor(this.#checked.definition.observe, answer.inside !== undefined)
    if (observers.length === 0) return
    const { binding } = this.#parts
    const read = binding.when().then(() => this.of(sessionId, answer))
    read.then(
      ({ report }) => observed(observers, report, binding.warn),
      (thrown: unknown) => binding.warn({ session: sessionId, error: wordsOf(thrown) }, 'the report of a turn could not be read for its observers'),
    )
  }

  forget(sessionId: string): void {
    this.#turns.forget(sessionId)
  }
}
