/** What every run remembers, whatever its rung, and how one run stands in another. Pure. */
import type { AskReport, Placeholders } from '../index.ts'
import type { Report } from './envelope.ts'
import { LadderError, type LadderErrorBody } from './errors.ts'
import type { RunHistory } from './history.rules.ts'

/** Names of those that have called each other, for a run that code has called: none of them is called again below. */
export type Chain = readonly string[]

/** A run inside of another one is an actor of that one's actor: it begins by itself, and its report stands in the other's. */
export type RunInput = {
  runId: string
  input: unknown
  /** Where its caller has named the run: what it was given, so that another input under the same name is told. */
  inputHash?: string
  /** What was said before, cut for those who read it. */
  history?: RunHistory | undefined
  /** What `{{name}}` in the instructions of its agent stands for. */
  placeholders?: Placeholders
  /** A schedule has begun it: no person is there who could agree to anything. */
  unattended?: true
  /**
   * Left out where it is the root. `isRoot`: its actor is one all the same, and has a journal of its own. `caller`: the run above it that code has called,
   * where one has been.
   */
  inside?: { rootRunId: string; parentRunId: string; chain?: Chain; caller?: string; isRoot?: true; unattended?: true }
}

/** The actor that is an executable of that name, as machines call it in which it runs. */
export const runActor = (executable: string): string => `run(${executable})`

/** Whether a conversation is one of this run, or of one inside of it. */
export const isWithin = (ask: string, runId: string): boolean => ask === runId || ask.startsWith(`${runId}/`)

/** Whether it is the run inside of a piece of work itself, and none that is deeper. */
export const isRunOf = (runId: string, within: string, work: string): boolean => {
  const place = `${within}/${work}/`
  return runId.startsWith(place) && !runId.includes('/', place.length)
}

/** `ask` is the conversation of the agent that wants to make the call. */
export type WaitingCall = { ask: string; approval: Extract<AskReport['report'], { type: 'tool.waiting' }>['approval'] }

/**
 * A run with a journal of its own, `ask` its name: it is asked itself which calls wait in it. Code of the run `by` has called it, in a piece of work that stands
 * in an effect of that key: a fork of the run has another one. `isLeft`: it was told to end.
 */
export type RunApart = { ask: string; apart: { kind: string; by: string; work: string; key: string; isLeft?: true } }
/** Its word to those that it is called by. */
export type ApartReport = { type: 'ask.reported'; conversation: string; report: { type: 'run.apart' } & RunApart['apart'] }

/** A run by its name, or the turn of a session `id` that is that request: an actor that goes its own way. */
export type Awaited = { kind: string; id: string; request?: string }
/** Code of the run `by` waits for one, or a call of a tool does. `ask` stands below the run; `work` and `key` as those of {@link RunApart}. */
export type RunWait = { ask: string; waits: Awaited & { by: string; work: string; key: string } }
type WaitReport = { type: 'ask.reported'; conversation: string; report: { type: 'run.waits' } & RunWait['waits'] }
export const waitReport = ({ ask, waits }: RunWait): WaitReport => ({
  type: 'ask.reported',
  conversation: ask,
  report: { type: 'run.waits', ...waits },
})

export type RunState = RunInput & {
  /** ms since the epoch */
  startedAt: number
  endedAt: number
  /** Calls that wait for a person, and runs apart and turns in which some may. */
  waiting: readonly (WaitingCall | RunApart | RunWait)[]
  /** What people have decided of calls in it, and in runs inside of it. */
  decided?: readonly Decided[]
  error?: LadderErrorBody | undefined
  data?: unknown
}

/** ms that runs inside may take to end when all are cancelled; a model that does not hand over what it has said takes one second. */
export const runsEndMs = 10_000

/** What a run inside of another one comes to. */
export type RunEnd = { data?: unknown; error?: LadderErrorBody; report: Report; artifacts?: Artifacts }
/** One that is in no other ends without its report: whoever asks for that makes it of what the run remembers, which is not kept twice. */
export type AnyRunEnd = Omit<RunEnd, 'report'> & { report?: Report }
/** What tools of an agent gave beside their answers, by name; of two the later one counts. */
export type Artifacts = Readonly<Record<string, unknown>>

export const rootOf = ({ runId, inside }: RunInput): string => inside?.rootRunId ?? runId

/** Whether an actor above it waits for what it says. */
export const hasParent = ({ inside }: Pick<RunInput, 'inside'>): boolean => inside !== undefined && inside.isRoot !== true

/** What of a report goes into what a run ends with, see {@link AnyRunEnd}. */
export const reportFor = ({ inside }: Pick<RunInput, 'inside'>, made: () => Report): Pick<AnyRunEnd, 'report'> => (inside ? { report: made() } : {})

/** Where runs inside of a run stand. */
export const below = (run: RunInput, parentRunId: string) => ({
  rootRunId: rootOf(run),
  parentRunId,
  ...(run.inside?.chain && { chain: run.inside.chain, caller: callerOf(run) }),
  ...(isUnattended(run) && { unattended: true as const }),
})

/** Whether a schedule has begun it, or the run that it is inside of. */
export const isUnattended = ({ unattended, inside }: Pick<RunInput, 'unattended' | 'inside'>): boolean => (unattended ?? inside?.unattended) === true

/** By which name its caller has brought along a context: that of the nearest run that was called, itself or above it. */
export const callerOf = (run: RunInput): string => run.inside?.caller ?? (run.inside?.chain ? run.runId : rootOf(run))

/** @throws LadderError LADDER_CONFIG for a run that only an event would begin: whoever sent that is told, and no run is there */
export const began = <Input extends RunInput>(input: Input, at: number) => {
  if (typeof (input as Partial<Input> | undefined)?.runId !== 'string')
    throw new LadderError('LADDER_CONFIG', 'this run was not begun', {
      hint: 'begin it with execute() or start() of its executable, which say what it is given; send it events after that',
    })
  return { ...input, startedAt: at, endedAt: at, waiting: [] }
}

type Said = AskReport | ApartReport | WaitReport
const aboutWaiting = ['tool.waiting', 'tool.decided', 'run.apart', 'run.waits']
export const isAboutWaiting = ({ report }: Said): boolean => aboutWaiting.includes(report.type)

/** What an agent has reported of the calls that wait, and code of the runs that it calls. */
export const waitingSince = ({ waiting }: Pick<RunState, 'waiting'>, { conversation, report }: Said): RunState['waiting'] => {
  switch (report.type) {
    case 'tool.waiting':
      return [...waiting, { ask: conversation, approval: report.approval }]
    case 'tool.decided':
      return waiting.filter((one) => !('approval' in one) || one.approval.callId !== report.callId)
    case 'run.apart': {
      const { type: _, ...apart } = report
      // Code that a crash has cut off says it again.
      return waiting.some(({ ask }) => ask === conversation) ? waiting : [...waiting, { ask: conversation, apart }]
    }
    case 'run.waits': {
      const { type: _, ...waits } = report
      return waiting.some(({ ask }) => ask === conversation) ? waiting : [...waiting, { ask: conversation, waits }]
    }
    default:
      return waiting
  }
}

export const callsIn = ({ waiting }: Pick<RunState, 'waiting'>): WaitingCall[] => waiting.filter((one) => 'approval' in one)
export const apartIn = ({ waiting }: Pick<RunState, 'waiting'>): RunApart[] => waiting.filter((one) => 'apart' in one)
export const waitsIn = ({ waiting }: Pick<RunState, 'waiting'>): RunWait[] => waiting.filter((one) => 'waits' in one)

/** About one attempt of a call. `id` tells it apart from others about the same, which came too late. */
export type Decided = { callId: string; attempt: number; id: string; decision: 'approve' | 'deny' | 'edit'; by?: string; note?: string }
export type DecisionEvent = Omit<Decided, 'decision'> & {
  type: 'approve'
  ask: string
  decision: 'approve' | 'deny'
  edited?: { input: unknown; inputHash: string }
}

/** The first one counts, where the call waits for one. */
export const decidedSince = ({ waiting, decided = [] }: Pick<RunState, 'waiting' | 'decided'>, event: DecisionEvent): readonly Decided[] => {
  const { callId, attempt, id, by, note, edited } = event
  const isOpen = callsIn({ waiting }).some(({ approval }) => approval.callId === callId && approval.attempt === attempt)
  if (!isOpen || decided.some((one) => one.callId === callId && one.attempt === attempt)) return decided
  const decision = edited ? ('edit' as const) : event.decision
  return [...decided, { callId, attempt, id, decision, ...(by !== undefined && { by }), ...(note !== undefined && { note }) }]
}

/** Where a report of a run stands in the tree, and when it was. */
export const placeOf = (run: RunInput & Pick<RunState, 'startedAt' | 'endedAt'>) => ({
  ...(run.inside ? { parentRunId: run.inside.parentRunId } : { schemaVersion: 1 as const }),
  runId: run.runId,
  rootRunId: rootOf(run),
  ...timesOf(run.startedAt, run.endedAt),
})

/** ms since the epoch, and between them. */
export const timesOf = (startedAt: number, endedAt: number) => ({ startedAt, endedAt, duration: endedAt - startedAt })

export const statusOf = (error: LadderErrorBody | undefined) =>
  error === undefined ? ('completed' as const) : error.category === 'cancelled' ? ('cancelled' as const) : ('failed' as const)
