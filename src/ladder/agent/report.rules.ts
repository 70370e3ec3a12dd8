/** What a run of an agent comes to: the agent, and below it the tools that it called. */
import type { Report } from '../envelope.ts'
import type { LadderErrorBody } from '../errors.ts'
import { placeOf, rootOf, statusOf, timesOf } from '../run.rules.ts'
import { noUsage } from '../usage.rules.ts'
import type { AgentShape } from './agent.chart.rules.ts'
import { type AgentRun, callPath } from './agent.context.ts'

export const reportOf = ({ name, version }: Pick<AgentShape, 'name' | 'version'>, run: AgentRun): Report => {
  const { runId, error, usage, calls, trips, model, attempts, around } = run
  return {
    ...placeOf(run),
    type: 'agent',
    name,
    ...(version !== undefined && { version }),
    status: statusOf(error),
    ...(error && { error }),
    attempts: 1,
    trips,
    ...(model !== undefined && model !== '' && { model }),
    ...(attempts.length > 0 && { failovers: attempts.map(({ model: tried, reason }) => ({ model: tried, reason })) }),
    ...(around?.cached && { cached: true as const }),
    usage,
    children: calls.map((call, index) => ({
      type: 'tool' as const,
      name: call.name,
      runId: callPath(run, index),
      parentRunId: runId,
      rootRunId: rootOf(run),
      status: call.status,
      ...(call.error && { error: { ...call.error, ...causeOf(call.run?.report) } }),
      ...(call.decision && { decision: call.decision }),
      ...timesOf(call.startedAt, call.endedAt),
      attempts: 1,
      usage: call.run?.report?.usage ?? noUsage,
      children: call.run?.report ? [call.run.report] : [],
    })),
  }
}

/** Of a call that an executable has failed. */
const causeOf = (report: Report | undefined): Pick<LadderErrorBody, 'cause'> => (report?.error ? { cause: report.error.message } : {})
