/** What a run of an agent remembers, and how each thing that happens changes it. Pure. */
import type { AskInput, AskOutput, AskReport } from '../../index.ts'
import type { LadderUsage, Report, ReportStatus } from '../envelope.ts'
import { errorBody, type LadderErrorBody } from '../errors.ts'
import { toldBefore } from '../history.rules.ts'
import {
  type Artifacts,
  began,
  type Decided,
  type DecisionEvent,
  decidedSince,
  isUnattended,
  type RunEnd,
  type RunInput,
  type RunState,
  rootOf,
  waitingSince,
} from '../run.rules.ts'
import { noUsage, type Prices, spentBy, together } from '../usage.rules.ts'
import { type Around, stepSince } from './around.context.ts'
import { errorOf } from './failures.rules.ts'

/** A call of a tool; times are ms since the epoch. */
type CallRecord = {
  callId: string
  name: string
  status: ReportStatus
  startedAt: number
  endedAt: number
  error?: LadderErrorBody
  run?: InnerRun
  /** What a person has said about it. */
  decision?: Omit<Decided, 'callId' | 'id' | 'attempt'>
}
/** A run inside of the call, as its actor is called; `report` when it has ended, `isOver` where it has none: nobody waits for it any more. */
type InnerRun = { id: string; runId: string; report?: Report; isOver?: true }

export type AgentRun = RunState & {
  /** What the caller wants its answer to be, in the place of what the agent says: as JSON Schema, where its library says it. */
  asked?: { schema: unknown; isLenient?: true }
  /** What the model is told, and told to be besides its instructions. */
  told?: Told
  /** Messages in the conversation; there is none before it is asked for the first time. */
  length?: number
  /** What the model is told next, where that is not the beginning. */
  next?: string | undefined
  /** Answers of the model, and how many there may be. */
  trips: number
  tripsMax: number
  repairs: number
  calls: readonly CallRecord[]
  usage: LadderUsage
  /** Who answered last. */
  model?: string
  /** Models that failed before one answered. */
  attempts: AskOutput['attempts']
  text?: string
  stopped?: { reason: string | null } | undefined
  around?: Around
  artifacts?: Artifacts
}

/** What the code of its author makes of an input, and what its calls cost by then: a price that changes later does not change what was spent. */
export type Told = { text: string; intro?: string; format?: AskInput['format']; prices?: Prices }

export const begun = (input: RunInput, tripsMax: number, at: number, around?: Around): AgentRun => ({
  ...began(input, at),
  trips: 0,
  tripsMax,
  repairs: 0,
  calls: [],
  usage: noUsage,
  attempts: [],
  ...(around && { around }),
})

/** The conversation is called as its run. */
export const askInput = (agent: string, run: AgentRun): AskInput => {
  const { runId, told, next, length, trips, tripsMax, placeholders } = run
  const text = next ?? (length === undefined ? told?.text : undefined)
  const before = toldBefore(runId, run.history)
  const intro = [...(told?.intro === undefined ? [] : [told.intro]), ...before.intro]
  return {
    agent,
    conversation: runId,
    session: rootOf(run),
    ...(text !== undefined && { text }),
    ...(before.messages.length > 0 && { history: before.messages }),
    ...(intro.length > 0 && { intro: intro.join('\n\n') }),
    ...(told?.format && { format: told.format }),
    ...(placeholders && { placeholders }),
    ...(length !== undefined && { after: length }),
    stepMax: Math.max(1, tripsMax - trips),
    reports: true,
    ...(isUnattended(run) && { unattended: true as const }),
  }
}

/** @param run before it was asked */
export const answered = (run: AgentRun, answer: AskOutput): Partial<AgentRun> => ({
  length: answer.length,
  usage: together(run.usage, spentBy(answer, run.told?.prices)),
  attempts: [...run.attempts, ...answer.attempts],
  model: answer.model,
  text: answer.text,
  next: undefined,
  waiting: [],
  error: answer.error === null ? undefined : errorOf(answer.error, answer),
  ...(run.around && { around: { ...run.around, spending: noUsage } }),
})

/** What its agent says while it works. */
export const reported = (run: AgentRun, said: AskReport, at: number): Partial<AgentRun> => {
  // Of a run inside of it.
  if (said.conversation !== run.runId) return { waiting: waitingSince(run, said) }
  const around = stepSince(run, said)
  return { ...(around && { around }), ...callsSince(run, said, at) }
}

const callsSince = (run: AgentRun, said: AskReport, at: number): Partial<AgentRun> => {
  const { report } = said
  switch (report.type) {
    case 'model.ended':
      return { trips: run.trips + 1 }
    case 'tool.started':
      // What never ends was cut off.
      return { calls: [...run.calls, { callId: report.callId, name: report.name, status: 'cancelled', startedAt: at, endedAt: at }] }
    case 'tool.ended': {
      const status = report.status === 'completed' || report.status === 'cancelled' ? report.status : 'failed'
      const error = status === 'failed' ? toolError(report) : undefined
      return {
        ...(report.artifacts && { artifacts: { ...run.artifacts, ...report.artifacts } }),
        calls: run.calls.map((call) => (call.callId === report.callId ? { ...call, status, endedAt: at, ...(error && { error }) } : call)),
      }
    }
    case 'tool.waiting':
    case 'tool.decided':
      return { waiting: waitingSince(run, said) }
    default:
      return {}
  }
}

/** A person has decided about a call, of its own or of a run inside of it. */
export const judged = (run: AgentRun, event: DecisionEvent): Partial<AgentRun> => {
  const decided = decidedSince(run, event)
  if (decided === run.decided || decided.length === (run.decided?.length ?? 0)) return {}
  const { callId, id: _, attempt: __, ...decision } = decided.at(-1) as Decided
  return { decided, calls: run.calls.map((call) => (call.callId === callId ? { ...call, decision } : call)) }
}

/** How that went, where anybody has said anything. */
export const decisionIn = ({ calls }: AgentRun, callId: string): CallRecord['decision'] | undefined =>
  calls.find((call) => call.callId === callId)?.decision

/** Where the runs inside of it stand in the tree. */
export const callPath = ({ runId }: AgentRun, index: number): string => `${runId}/tool-${index + 1}`

/** A call is run inside of the run. */
export const running = (run: AgentRun, callId: string): Partial<AgentRun> => ({
  calls: run.calls.map((call, index) =>
    call.callId === callId ? { ...call, run: { id: `tool-${index + 1}`, runId: `${callPath(run, index)}/1` } } : call,
  ),
})

export const isAtWork = (run: InnerRun | undefined): run is InnerRun => run !== undefined && run.report === undefined && !run.isOver

/** Nobody waits for runs inside of it any more. @param id of one actor that came to nothing; default: all */
export const leftInside = ({ calls }: Pick<AgentRun, 'calls'>, id?: string): Pick<AgentRun, 'calls'> => ({
  calls: calls.map((call) => (isAtWork(call.run) && (id ?? call.run.id) === call.run.id ? { ...call, run: { ...call.run, isOver: true } } : call)),
})

export const runsInside = ({ calls }: AgentRun): boolean => calls.some(({ run }) => isAtWork(run))

/** @param id of the actor that has ended */
export const ranInside = (run: AgentRun, id: string, { report, artifacts }: RunEnd): Partial<AgentRun> => ({
  ...(artifacts && { artifacts: { ...run.artifacts, ...artifacts } }),
  calls: run.calls.map((call) => (call.run?.id === id ? { ...call, run: { ...call.run, report } } : call)),
  usage: together(run.usage, report.usage),
})

/** What the model was given in the place of a result. */
const toolError = ({ name, status, output }: Extract<AskReport['report'], { type: 'tool.ended' }>): LadderErrorBody => {
  const { code, message } = (output as { error?: { code?: string; message?: string } } | null | undefined)?.error ?? {}
  return errorBody('TOOL_EXEC_FAILED', message ?? `the tool '${name}' came to nothing: ${status}`, {
    context: { tool: name, ...(code !== undefined && { code }) },
  })
}

/** What one answer of the model has used. */
export type TripUsage = { runId: string; rootRunId: string; trip: number; model: string; usage: LadderUsage }

/** @param run after it was counted */
export const tripUsage = (run: AgentRun, { report }: AskReport): TripUsage | undefined => {
  if (report.type !== 'model.ended' || !report.spent) return undefined
  const { model, usage, costUsd = null } = report.spent
  const spent = spentBy({ usage, shares: { [model]: usage }, costUsd }, run.told?.prices)
  return { runId: run.runId, rootRunId: rootOf(run), trip: run.trips, model, usage: spent }
}
