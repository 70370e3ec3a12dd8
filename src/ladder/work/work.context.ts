/** Pieces of an author's code that are under way in a run, by name; inside of each an executable may run. Pure. */
import type { Report } from '../envelope.ts'
import { type HistoryReader, type RunHistory, readBy } from '../history.rules.ts'
import { type Kept, keep, kept } from '../kept.rules.ts'
import { below, isWithin, type RunEnd, type RunInput, type RunState } from '../run.rules.ts'

/**
 * When it began, its attempts, how long it pauses before the next one; the run inside of it, once its code has said what that is given; and names of all runs that
 * have ended inside of it.
 */
type Going = { startedAt: number; attempts: number; pauseMs: number; asks?: Asks; answer?: RunEnd; runs?: readonly string[] }
type Asks = { input: unknown; state: unknown; runId: string; history?: RunHistory | undefined }

export type WorkState = RunState & {
  going: Record<string, Going>
  /** Runs inside of work that have ended, failed attempts among them, by the name of the work. */
  nested: Kept<readonly Report[]>
}

/** Its code wants a run inside of it. `state` as it has left it by then; `history` where that is not what those inside are told anyway. */
export type WorkAsks = { ended: 'asks'; input: unknown; state: unknown; history?: RunHistory } & Called

/** Runs that its code has called. */
export type Called = { called?: readonly Report[] }

export const attempted = ({ going }: WorkState, work: string, at: number): Partial<WorkState> => {
  const before = going[work]
  return { going: { ...going, [work]: { startedAt: before?.startedAt ?? at, attempts: (before?.attempts ?? 0) + 1, pauseMs: 0 } } }
}

/** The run that is wanted has a name that no other has. */
export const asking = ({ runId, going, nested }: WorkState, work: string, { input, state, history, called }: WorkAsks): Partial<WorkState> => {
  const before = going[work]
  if (!before) return {}
  const number = (kept(nested, work)?.length ?? 0) + (called?.length ?? 0) + 1
  const withCalls = keptCalls({ going, nested }, work, called)
  return {
    ...withCalls,
    going: {
      ...going,
      [work]: { ...before, ...withCalls.going?.[work], asks: { input, state, runId: `${runId}/${work}/${number}`, ...(history && { history }) } },
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

/** What its code has called stands below it. */
export const keptCalls = (
  { going, nested }: Pick<WorkState, 'going' | 'nested'>,
  work: string,
  called: readonly Report[] = [],
): Partial<Pick<WorkState, 'going' | 'nested'>> => {
  const before = going[work]
  if (called.length === 0) return {}
  return {
    nested: keep(nested, work, [...(kept(nested, work) ?? []), ...called]),
    ...(before && { going: { ...going, [work]: { ...before, runs: [...(before.runs ?? []), ...called.map(({ runId }) => runId)] } } }),
  }
}

/** What a run inside of it is given. */
export const nestedInput = (run: WorkState, work: string, reader: HistoryReader = 'agents'): RunInput => {
  const { runId, input, history: own }: Omit<Asks, 'state'> = run.going[work]?.asks ?? { runId: `${run.runId}/${work}`, input: undefined }
  const told = readBy(run.history, reader)
  const history = own ?? (told.length > 0 ? { agents: told } : undefined)
  return { runId, input, inside: below(run, `${run.runId}/${work}`), ...(history && { history }) }
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
