/** The tool calls of one step of the agent loop, as pure functions over what the loop knows. */

import type { PendingCall } from '../../contracts/client-tools.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import type { ToolMessage } from '../../contracts/message.ts'
import type { PublisherEvent } from '../../contracts/publisher.ts'
import type { ToolCall } from '../../contracts/tool.ts'
import type { ToolInput } from '../../contracts/tool-call.ts'
import type { TranscriptItem } from '../../contracts/turn.ts'
import type { ToolEvent, ToolReport } from '../tool-call/tool.context.ts'
import type { LoopContext } from './loop.context.ts'
import { nothingSeen, seenMore, verdictOf, type Watch } from './repetition.rules.ts'

type Decision = Extract<ToolEvent, { type: 'approve' }>

export const toolName = (index: number): string => `tool-${index}`

/** Places of the calls that run or wait for a person. */
export const live = ({ step: { launched, results } }: LoopContext): number[] =>
  results.flatMap((result, index) => (result === null && index < launched ? [index] : []))

/** Calls to launch now: all side by side, or one when the one before has ended. */
export const launchable = (context: LoopContext): number[] => {
  const { calls, launched } = context.step
  const places = [...calls.keys()]
  if (context.input.profile.toolExecution === 'parallel') return places.slice(launched)
  return live(context).length === 0 ? places.slice(launched, launched + 1) : []
}

/** No call runs, and none will: all have run, or what has not been launched was overtaken by a newer message or a stop. */
export const isStepOver = (context: LoopContext): boolean =>
  live(context).length === 0 && (context.step.launched === context.step.calls.length || context.steers.length > 0 || context.cancelled)

/** The step is over and the last one: the client has the word, or all calls went well and were silent. */
export const isLastStep = (context: LoopContext): boolean => isStepOver(context) && (context.step.client !== undefined || wasSilent(context))

const wasSilent = ({ step: { calls, results } }: LoopContext): boolean =>
  calls.length > 0 &&
  calls.every(({ silent }, index) => {
    const result = results[index]
    return silent === true && typeof result === 'object' && result !== null && 'isError' in result && !result.isError
  })

/** What a call has to know of who may agree to it, and who runs it. */
export const permissions = ({
  input: { profile, allowed, unattended: alone, delegates },
  allowed: since,
}: LoopContext): Partial<ToolInput> & Pick<ToolInput, 'inDoubt'> => {
  const { approval, heartbeat, turnTimeMs } = profile
  // Profiles of earlier builds have a `wallTimeMs` in its place.
  const pauses = turnTimeMs === undefined ? undefined : (true as const)
  const unattended = alone || heartbeat ? (true as const) : undefined
  return {
    // No person can look, so the model gets the doubt as a result.
    inDoubt: pauses && unattended ? 'report' : profile.inDoubt,
    ...definedOf({ approval, pauses, delegates, allowed: since ?? allowed, unattended }),
  }
}

/** From now on the tool of that call needs no further yes in this session. */
export const allowedSince = ({ input, step, allowed = input.allowed ?? [] }: LoopContext, { callId, remember }: Decision): Partial<LoopContext> => {
  const name = step.calls.find(({ id }) => id === callId)?.name
  return remember && name !== undefined && !allowed.includes(name) ? { allowed: [...allowed, name] } : {}
}

const annotationsMax = 200
export const finished = (
  context: LoopContext,
  { callId, status, result, output }: Extract<ToolReport, { type: 'tool.finished' }>,
): Partial<LoopContext> => {
  const { step, said } = context
  const { name = '', annotations: own } = step.calls.find(({ id }) => id === callId) ?? {}
  const failure = typeof result === 'object' && 'role' in result && result.role === 'tool' ? result.output : undefined
  const { error } = (failure as { error?: ErrorBody } | undefined) ?? {}
  return {
    ...definedOf({ watch: watched(context, callId, output ?? failure) }),
    step: { ...step, results: step.results.map((other, index) => (step.calls[index]?.id === callId ? result : other)) },
    said: {
      ...said,
      ...definedOf({
        toolError: status === 'failed' ? { name, code: error?.code ?? 'tool_failed' } : status === 'completed' ? null : undefined,
        annotations: status === 'completed' && own ? [...said.annotations, own].slice(-annotationsMax) : undefined,
      }),
    },
  }
}

const watched = ({ input, step, watch = nothingSeen }: LoopContext, callId: string, output: unknown): Watch | undefined => {
  const { loopDetection } = input.profile
  const call = step.calls.find(({ id }) => id === callId)
  return loopDetection && call && seenMore(watch, call, output, loopDetection)
}

/** The calls as they are launched, each with what is said of it for being a repetition. One that is blocked has a problem, and does not run. */
export const judged = ({ input, step, watch = nothingSeen }: LoopContext, index: number): { call: ToolCall; warning?: string } => {
  const call = step.calls[index] as ToolCall
  const { loopDetection } = input.profile
  const verdict = loopDetection && call.problem === undefined ? verdictOf(watch, call, loopDetection) : undefined
  if (verdict === undefined) return { call }
  if (verdict.level === 'warning') return { call, warning: verdict.message }
  return { call: { ...call, problem: { code: 'tool_loop', message: verdict.message } } }
}

export const endedReport = (
  { step }: LoopContext,
  { callId, status, result, output, artifacts }: Extract<ToolReport, { type: 'tool.finished' }>,
): Extract<PublisherEvent, { type: 'tool.ended' }> => ({
  type: 'tool.ended',
  callId,
  name: step.calls.find(({ id }) => id === callId)?.name ?? '',
  status,
  output: output ?? (typeof result === 'object' && 'role' in result && result.role === 'tool' ? result.output : undefined),
  ...(artifacts && { artifacts }),
})

/** What the client has to run, once nothing of its own runs any more. */
export const handedOver = ({ step: { client = [] } }: LoopContext): PendingCall[] =>
  client.map(({ id, callId, name, input }) => ({ callId: id, modelCallId: callId, name, input }))

type Unfinished = { call: ToolCall; status: 'skipped' | 'cancelled'; message: ToolMessage }

/** What the model reads for the calls of a step that came to no end of their own. Every call needs a result, or providers refuse the conversation. */
export const unfinished = ({ step: { calls, results, launched, client = [] }, cancelled, error }: LoopContext): Unfinished[] =>
  [...calls, ...client].flatMap((call, index) => {
    if (results[index]) return []
    const why = error?.message ?? (cancelled ? 'somebody stopped the turn' : 'a newer message came first')
    const reason = {
      code: error?.code ?? (cancelled ? 'cancelled' : 'tool_skipped'),
      message: index < launched && index < calls.length ? `stopped in its work: ${why}` : `not run: ${why}`,
    }
    const message: ToolMessage = { role: 'tool', callId: call.callId, name: call.name, output: { error: reason }, isError: true }
    return [{ call, status: index < launched && index < calls.length ? ('cancelled' as const) : ('skipped' as const), message }]
  })

/** All results of the step in the order of its calls. */
export const resultsOf = (context: LoopContext): TranscriptItem[] => {
  const rest = unfinished(context)
  const { calls, results, client } = context.step
  const own = results.map((result, index) => result ?? (rest.find(({ call }) => call === calls[index]) as Unfinished).message)
  return [...own, ...(client ?? []).flatMap((call) => rest.find((one) => one.call === call)?.message ?? [])]
}
