/** Pieces of an author's code that are under way in a run, by name; inside of each an executable may run. Pure. */
import type { Placeholders } from '../../index.ts'
import type { Report } from '../envelope.ts'
import { type HistoryReader, type RunHistory, readBy } from '../history.rules.ts'
import { type Kept, keep, kept } from '../kept.rules.ts'
import { apartIn, below, isWithin, type RunApart, type RunEnd, type RunInput, type RunState, waitsIn } from '../run.rules.ts'

/**
 * When it began, its attempts, how long it pauses before the next one; the run inside of it, once its code has said what that is given; and names of all runs that
 * have ended inside of it.
 */
type Going = { startedAt: number; attempts: number; pauseMs: number; asks?: Asks; answer?: RunEnd; runs?: readonly string[] }
type Asks = { input: unknown; state: unknown; runId: string; history?: RunHistory | undefined; placeholders?: Placeholders }

export type WorkState = RunState & {
  going: Record<string, Going>
  /** Runs inside of work that have ended, failed attempts among them, by the name of the work. */
  nested: Kept<readonly Report[]>
}

/** Its code wants a run inside of it. `state` as it has left it by then; `history` where that is not what those inside are told anyway. */
export type WorkAsks = { ended: 'asks'; input: unknown; state: unknown; history?: RunHistory; placeholders?: Placeholders } & Called

/** Runs that its code has called. */
export type Called = { called?: readonly Report[] }
type WorkCalls = Pick<WorkState, 'runId' | 'going' | 'nested' | 'waiting'>

export const attempted = ({ going }: WorkState, work: string, at: number): Partial<WorkState> => {
  const before = going[work]
  return { going: { ...going, [work]: { startedAt: before?.startedAt ?? at, attempts: (before?.attempts ?? 0) + 1, pauseMs: 0 } } }
}

/** The run that is wanted has a name that no other has. */
export const asking = (run: WorkState, work: string, { input, state, history, placeholders, called }: WorkAsks): Partial<WorkState> => {
  const { runId, going, nested } = run
  const before = going[work]
  if (!before) return {}
  const number = (kept(nested, work)?.length ?? 0) + (called?.length ?? 0) + 1
  const withCalls = keptCalls(run, work, called)
  return {
    ...withCalls,
    going: {
      ...going,
      [work]: {
        ...before,
        ...withCalls.going?.[work],
        asks: { input, state, runId: `${runId}/${work}/${number}`, ...(history && { history }), ...(placeholders && { placeholders }) },
      },
    },
  }
}

export const answered = (run: WorkState, work: string, answer: RunEnd): Partial<WorkState> => {
  const { going, nested, waiting } = run
  const before = going[work]
  if (!before) return {}
  return {
    going: { ...going, [work]: { ...before, answer, runs: [...(before.runs ?? []), answer.report.runId] } },
    nested: keep(nested, work, [...(kept(nested, work) ?? []), answer.report]),
    waiting: waiting.filter(({ ask }) => !isInWork(ask, run, work)),
  }
}

/** Work in which a run has begun and not ended. */
export const workWithRun = ({ going }: WorkState): string[] => Object.keys(going).filter((work) => going[work]?.asks && !going[work].answer)

/** Nothing is known of the run inside of it. */
export const dropped = ({ going }: WorkState, work: string): Partial<WorkState> => {
  const { [work]: _, ...rest } = going
  return { going: rest }
}

/** Runs that code of its own has called, and that have not ended; of one piece of work, or of all. */
export const calledBy = ({ runId, waiting }: Pick<WorkState, 'runId' | 'waiting'>, work?: string): RunApart[] =>
  apartIn({ waiting }).filter(({ apart }) => apart.by === runId && (work === undefined || apart.work === work))

/** Its code has ended: what that has called stands below it. */
export const keptCalls = (run: WorkCalls, work: string, called: readonly Report[] = []): Partial<Omit<WorkCalls, 'runId'>> => {
  const { runId, going, nested, waiting } = run
  const before = going[work]
  const over = [...calledBy(run, work), ...waitsIn(run).filter(({ waits }) => waits.by === runId && waits.work === work)]
  const left = over.length > 0 && { waiting: waiting.filter((one) => !over.some(({ ask }) => ask === one.ask)) }
  if (called.length === 0) return { ...left }
  return {
    ...left,
    nested: keep(nested, work, [...(kept(nested, work) ?? []), ...called]),
    ...(before && { going: { ...going, [work]: { ...before, runs: [...(before.runs ?? []), ...called.map(({ runId }) => runId)] } } }),
  }
}

/** They are told that nobody wants them any more. */
export const leaving = ({ waiting }: WorkState, called: readonly RunApart[]): Partial<WorkState> => ({
  waiting: waiting.map((one) => ('apart' in one && called.includes(one) ? { ...one, apart: { ...one.apart, isLeft: true as const } } : one)),
})

/** A run that its code has called has ended, as it was told to. */
export const leftCall = (run: WorkState, { ask, apart: { work } }: RunApart, end: RunEnd | null): Partial<WorkState> => ({
  ...keptCalls({ ...run, waiting: [] }, work, end ? [end.report] : []),
  waiting: run.waiting.filter((one) => one.ask !== ask),
})

/** What a run inside of it is given. */
export const nestedInput = (run: WorkState, work: string, reader: HistoryReader = 'agents'): RunInput => {
  const asks: Omit<Asks, 'state'> = run.going[work]?.asks ?? { runId: `${run.runId}/${work}`, input: undefined }
  const { runId, input, history: own, placeholders } = asks
  const told = readBy(run.history, reader)
  const history = own ?? (told.length > 0 ? { agents: told } : undefined)
  return { runId, input, inside: below(run, `${run.runId}/${work}`), ...(history && { history }), ...(placeholders && { placeholders }) }
}

export const paused = ({ going }: WorkState, work: string, pauseMs: number): Partial<WorkState> => {
  const before = going[work]
  return before ? { going: { ...going, [work]: { ...before, pauseMs } } } : {}
}

/** Whether a conversation is one of the run inside of it. */
export const isInWork = (ask: string, { going }: WorkState, work: string): boolean => {
  const inner = going[work]?.asks?.runId
  return inner !== undefined && isWithin(ask, inner)
}
