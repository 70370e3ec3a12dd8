/** Runs that an author's code calls while it works: each an actor of its own, by a name that is the same when that code begins again after a crash. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { AnyActorRef } from 'xstate'
import { type AnyEvent, effect, now } from '../../index.ts'
import type { Caller } from '../binding.ts'
import type { LadderEvent, Report, Result } from '../envelope.ts'
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import { shown } from '../given.ts'
import type { HistoryMessage } from '../history.rules.ts'
import { type ApartReport, type Awaited, type Chain, type RunInput, type RunWait, rootOf, statusOf, timesOf, waitReport } from '../run.rules.ts'
import { refusedCall, type Streamed } from '../streamed.ts'
import { together } from '../usage.rules.ts'
import { requireNoCircle, type Waiter } from './waits.ts'

/** Where such a run stands, and who wants it. */
export type CallPlace = {
  runId: string
  inside: NonNullable<RunInput['inside']>
  /** Aborts when nobody wants it any more. */
  signal: AbortSignal
  hear: (event: LadderEvent) => void
  caller: Caller
  /** Of the work that wants it. */
  key: string
  /** Its parent knows of it before it begins. @param kind what runs @throws RuntimeError cancelled, closed … where that is not written down any more */
  begins: (kind: string) => Promise<void>
}
type CallOptions = { history?: readonly HistoryMessage[]; placeholders?: object }
type Callable<Input, Data, Options> = {
  readonly name: string
  called(input: Input, place: CallPlace, options?: Options): Streamed<Result<Data>>
}

/** A piece of work whose code calls. @property key the same in every attempt at it */
type WorkPlace = Pick<CallPlace, 'runId' | 'signal' | 'hear' | 'caller' | 'key'> & {
  rootRunId: string
  chain: Chain
  begins: (kind: string, runId: string) => Promise<void>
  /** @returns once it is written down */
  waits: (ask: string, awaited: Awaited) => Promise<RunWait>
}

/** What the code is at work for that runs now: what it executes hangs below that. */
const calling = new AsyncLocalStorage<Calls | undefined>()
/** Undefined for code that is no such work, and once that has ended. */
export const atWork = (): Calls | undefined => {
  const calls = calling.getStore()
  return calls?.isOver ? undefined : calls
}

export class Calls {
  /** Its work has ended: what is executed later is no part of it. */
  isOver = false
  readonly #place: WorkPlace
  readonly #reports: (Report | undefined)[] = []
  readonly #under = new Set<Promise<unknown>>()
  readonly #counts = new Map<string, number>()

  constructor(place: WorkPlace) {
    this.#place = place
  }

  /** Its code is about to wait for what goes its own way. @throws LadderError SUPERVISOR_DISPATCH_CYCLE where that waits for it */
  async waitFor(awaited: Awaited, waiterOf: (kind: string) => Waiter | undefined): Promise<void> {
    const ask = `${this.#place.runId}/${awaited.kind}:${awaited.request ?? awaited.id}`
    await requireNoCircle(await this.#place.waits(ask, awaited), waiterOf)
  }

  /** The same run for the same call, also after a crash; calls that are alike are counted. */
  stream<Input, Data, Options extends CallOptions>(
    executable: Callable<Input, Data, Options>,
    input: Input,
    options?: Options,
  ): Streamed<Result<Data>> {
    const { runId, rootRunId, key, chain, waits: _, ...place } = this.#place
    const refusal = notCallable(executable) ?? this.#refusal(executable.name)
    if (refusal) return refusedCall(refusal)
    const { name } = executable
    const calledId = `${runId}/${this.#named(name, fingerprint(key, input, options?.history, ...(options?.placeholders ? [options.placeholders] : [])))}`
    const called: CallPlace = {
      ...place,
      key,
      runId: calledId,
      begins: (kind) => place.begins(kind, calledId),
      inside: { rootRunId, parentRunId: runId, chain: [...chain, name], isRoot: true as const },
    }
    // What the runtime does for it is no part of this code.
    const streamed = calling.run(undefined, () => executable.called(input, called, options))
    this.#keep(streamed.result.then(({ report }) => report))
    return streamed
  }

  /** Code of the same author as a node of its own below this. @throws LadderError SUPERVISOR_DISPATCH_CYCLE */
  async enter<Data>(name: string, work: (calls: Calls) => Promise<Data>, broken: (thrown: unknown) => LadderError): Promise<Result<Data>> {
    const { runId: parentRunId, rootRunId, key, chain } = this.#place
    const entry = `${chain.at(-1)?.split('.')[0]}.${name}`
    const refusal = this.#refusal(entry)
    if (refusal) throw refusal
    const runId = `${parentRunId}/${this.#named(name, '')}`
    const inner = new Calls({ ...this.#place, runId, key: `${key} ${runId}`, chain: [...chain, entry] })
    const startedAt = now()
    const ended = (children: Report[], error?: LadderErrorBody): Report => ({
      type: 'callback',
      name,
      runId,
      parentRunId,
      rootRunId,
      status: statusOf(error),
      ...(error && { error }),
      ...timesOf(startedAt, now()),
      attempts: 1,
      usage: together(...children.map(({ usage }) => usage)),
      children,
    })
    const run = calling
      .run(inner, () => work(inner))
      .then(
        async (data) => ({ data, report: ended(await inner.end()) }),
        async (thrown: unknown) => {
          const error = broken(thrown)
          return { error, report: ended(await inner.end(), error.toJSON()) }
        },
      )
    this.#keep(run.then(({ report }) => report))
    const { report, ...result } = await run
    if ('error' in result && result.error.code === 'SUPERVISOR_DISPATCH_CYCLE') throw result.error
    return { ...result, usage: report.usage, report }
  }

  /** Waits for those that nobody has waited for. @returns what they came to, in the order in which they were called */
  async end(): Promise<Report[]> {
    while (this.#under.size > 0) await Promise.allSettled(this.#under)
    this.isOver = true
    return this.#reports.filter((report) => report !== undefined)
  }

  #keep(report: Promise<Report>): void {
    const index = this.#reports.push(undefined) - 1
    const kept: Promise<unknown> = report
      .then(
        (ended) => {
          this.#reports[index] = ended
        },
        () => undefined,
      )
      .finally(() => this.#under.delete(kept))
    this.#under.add(kept)
  }

  #named(name: string, print: string): string {
    const base = print === '' ? name : `${name}-${print}`
    const count = (this.#counts.get(base) ?? 0) + 1
    this.#counts.set(base, count)
    return count === 1 && print !== '' ? base : `${base}-${count}`
  }

  #refusal(name: string): LadderError | undefined {
    const { chain } = this.#place
    if (this.isOver)
      return new LadderError('LADDER_CONFIG', `'${name}' is called by work that has ended`, { hint: 'wait for what is called before it returns' })
    if (!chain.includes(name)) return undefined
    const all = [...chain, name]
    return new LadderError('SUPERVISOR_DISPATCH_CYCLE', `${all.join(' → ')}: '${name}' would run inside of itself`, {
      context: { chain: all },
      hint: 'begin it with start() and do not wait; a supervisor may choose it in another iteration',
    })
  }
}

type Scope = { self: AnyActorRef; signal: AbortSignal; emit: (event: AnyEvent) => void }

/** Does work whose code may call. @param name of the executable whose work it is @returns what it came to, with what it has called */
export const withCalls = async <End extends object>(
  run: RunInput,
  { name, work, self, signal, emit }: Scope & { name: string; work: string },
  doing: (calls: Calls) => Promise<End>,
): Promise<End & { called?: readonly Report[] }> => {
  const { key, leaves, waits, report } = effect(self)
  let wanted: AbortController | undefined
  /** Most code calls nobody. */
  const wantedBy = (): AbortController => {
    const made = new AbortController()
    const stop = (): void => void (leaves() || made.abort('who called it was stopped'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    return made
  }
  const calls = new Calls({
    runId: `${run.runId}/${work}`,
    rootRunId: rootOf(run),
    key,
    chain: [...(run.inside?.chain ?? [name]), `${name}.${work}`],
    get signal() {
      wanted ??= wantedBy()
      return wanted.signal
    },
    hear: emit,
    caller: { stopped: signal, waits },
    begins: (kind, calledId) =>
      report({ type: 'ask.reported', conversation: calledId, report: { type: 'run.apart', kind, by: run.runId, work, key } } satisfies ApartReport),
    waits: async (ask, awaited) => {
      const wait: RunWait = { ask, waits: { ...awaited, by: run.runId, work, key } }
      await report(waitReport(wait))
      return wait
    },
  })
  const end = await calling.run(calls, () => doing(calls))
  const called = await calls.end()
  return called.length > 0 ? { ...end, called } : end
}

const notCallable = (given: unknown): LadderError | undefined => {
  const { called, execute } = (given ?? {}) as { called?: unknown; execute?: unknown }
  if (typeof called === 'function') return undefined
  return new LadderError('LADDER_CONFIG', `run() was given ${shown(given)}, which is nothing that it can run`, {
    hint:
      typeof execute === 'function'
        ? 'call execute(input, { sessionId, history }) of an orchestrator itself: a turn belongs to its session'
        : 'give what agent(), workflow() or the like returned; dispatch() takes the name of an intent',
  })
}

/** 53 bits of what is called by whom: what is alike has the same. */
const fingerprint = (...parts: readonly unknown[]): string => {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (const character of textOf(parts)) {
    const code = character.codePointAt(0) as number
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36)
}

const textOf = (values: readonly unknown[]): string => {
  try {
    return JSON.stringify(values)
  } catch {
    return values.map(wordsOf).join(' ')
  }
}
