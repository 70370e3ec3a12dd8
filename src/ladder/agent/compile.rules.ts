/** What the names in the chart of an agent mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, emit, enqueueActions, sendTo, setup } from 'xstate'
import type { AskOutput, AskReport } from '../../index.ts'
import { askAgent, askAgentByStep } from '../../index.ts'
import { toldInside } from '../awaited.ts'
import { endActions, type WhenEnded } from '../ending.ts'
import { errorBody, type LadderErrorBody, ladderHints, wordsOf } from '../errors.ts'
import { actorIn } from '../events.rules.ts'
import { below, type DecisionEvent, hasParent, isAboutWaiting, isWithin, type RunEnd, type RunInput, rootOf, runActor } from '../run.rules.ts'
import { type AgentShape, chartOf, checkActor, promptActor } from './agent.chart.rules.ts'
import {
  type AgentRun,
  answered,
  begun,
  callPath,
  decisionIn,
  isAtWork,
  judged,
  leftInside,
  ranInside,
  reported,
  running,
  runsInside,
  type Told,
  type TripUsage,
  tripUsage,
} from './agent.context.ts'
import { isPaced } from './around.chart.rules.ts'
import { aroundActions, aroundGuards } from './around.compile.rules.ts'
import { type Around, mended, nothingAround } from './around.context.ts'
import { cancelledError, finishError } from './failures.rules.ts'
import { reportOf } from './report.rules.ts'

type AgentEvent = { type: 'execute' } | { type: 'resume' } | { type: 'cancel'; reason?: string } | { type: 'approve' } | AskReport
/** What became of its answer. */
export type Verdict = { data: unknown } | { error: LadderErrorBody }

type AgentParts = {
  prompt: AnyActorLogic
  check: AnyActorLogic
  /** Executables that run inside of it, and code that stands around it. */
  runs: Readonly<Record<string, AnyActorLogic>>
  /** What runs begin with where something stands around them. */
  states: Around['states']
  now: () => number
  ended: WhenEnded
  tell: Tell
}
/** Called when what it is about is written down. */
type Tell = { usage?: ((trip: TripUsage) => void) | undefined; unpriced: (runId: string) => void }
type Word = { type: string } & Record<string, unknown>
type Done = EventObject & { output?: unknown; error?: unknown }

const answerIn = (event: EventObject): AskOutput => (event as Done).output as AskOutput
const verdictIn = (event: EventObject): Verdict => (event as Done).output as Verdict

const broken = (name: string, what: string, thrown: unknown): LadderErrorBody =>
  errorBody('AGENT_EXEC_FAILED', `${what} of '${name}' failed: ${wordsOf(thrown)}`, { context: { agent: name }, cause: thrown })

/** What the model reads that has called it. What is advised about a code in general is for authors. */
const toolFailure = ({ code, message, hint }: LadderErrorBody) => ({
  code: 'tool_failed' as const,
  message: `${code}: ${message}`,
  retryable: false,
  ...(hint !== ladderHints[code] && { hint }),
})

/** What a model is told whose answer does not fit. */
const correction = ({ message }: LadderErrorBody): string =>
  `Your answer cannot be used: ${message}\nAnswer again, with JSON that fits the schema and nothing else.`

/** What it said last may be half a sentence. */
const interruption = 'You were interrupted. Go on with your task.'

export const agentMachine = (shape: AgentShape, { prompt, check, runs, states, now, ended, tell }: AgentParts): AnyStateMachine => {
  const { name, maxTrips, repair, inner, around } = shape
  const word = (type: string, run: AgentRun, more: object = {}): Word => ({
    type: `agent.${type}`,
    runId: run.runId,
    rootRunId: rootOf(run),
    agent: name,
    ...more,
  })
  const heard = (run: AgentRun, { report }: AskReport): Word | undefined => {
    switch (report.type) {
      case 'model.started':
        return word('trip.started', run, { trip: run.trips + 1, model: report.model })
      case 'model.ended':
        return word('trip.completed', run, { trip: run.trips, text: report.text, ...tripUsage(run, { report } as AskReport) })
      case 'tool.started':
        return word('tool.calling', run, { callId: report.callId, tool: report.name, input: report.input })
      case 'tool.ended':
        return word(report.status === 'completed' ? 'tool.called' : 'tool.failed', run, {
          callId: report.callId,
          tool: report.name,
          status: report.status,
          output: report.output,
        })
      case 'tool.waiting': {
        const { callId, name: tool, input } = report.approval
        return word('approval.requested', run, { callId, tool, input })
      }
      case 'tool.decided':
        return word('approval.decided', run, { callId: report.callId, ...decisionIn(run, report.callId) })
      default:
        return undefined
    }
  }
  return setup({
    types: { context: {} as AgentRun, events: {} as AgentEvent, input: {} as RunInput, emitted: {} as Word, output: {} as RunEnd },
    actors: {
      ask: around && isPaced(around) ? askAgentByStep : askAgent,
      [promptActor]: prompt as never,
      [checkActor]: check as never,
      ...(runs as Record<string, never>),
    },
    actions: {
      ...(around &&
        aroundActions({ name, isChecked: shape.isChecked, now, word, unpriced: tell.unpriced, ...(around.budget && { budget: around.budget }) })),
      callOnUsage: (_, trip: TripUsage) => tell.usage?.(trip),
      tellStarting: emit(({ context }) => word('starting', context)),
      takeTold: assign({ told: ({ event }) => (event as Done).output as Told }),
      hear: assign(({ context, event }) => (event.type === 'ask.reported' ? reported(context, event, now()) : {})),
      tellHeard: enqueueActions(({ context, event, enqueue }) => {
        // A run inside of it speaks for itself.
        const said = event.type === 'ask.reported' && event.conversation === context.runId ? heard(context, event) : undefined
        if (said) enqueue.emit(said)
        const trip = said && tell.usage ? tripUsage(context, event as AskReport) : undefined
        if (trip) enqueue({ type: 'callOnUsage', params: trip } as never)
      }),
      /** Whoever holds this run has to know who waits for a person. */
      passReport: enqueueActions(({ context, event, enqueue }) => {
        if (hasParent(context) && event.type === 'ask.reported' && isAboutWaiting(event)) enqueue.sendParent(event)
      }),
      /** It goes to whoever wants to make the call. */
      decide: enqueueActions(({ context, event, enqueue }) => {
        const { ask } = event as { ask?: string }
        const inner = context.calls.find(({ run }) => run && ask !== undefined && isWithin(ask, run.runId))?.run
        enqueue.assign(judged(context, event as unknown as DecisionEvent))
        enqueue.sendTo(inner?.id ?? 'ask', event)
      }),
      run: enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'ask.reported' || event.conversation !== context.runId || event.report.type !== 'tool.delegated') return
        const { callId, name: tool, input } = event.report
        const { executable, isText } = inner[tool] ?? { executable: '', isText: false }
        const after = { ...context, ...running(context, callId) }
        const index = after.calls.findIndex((call) => call.callId === callId)
        const given: RunInput = {
          runId: after.calls[index]?.run?.runId ?? '',
          input: isText ? (input as { text: string }).text : input,
          inside: below(context, callPath(context, index)),
        }
        enqueue.assign({ calls: after.calls })
        enqueue.spawnChild(runActor(executable) as never, { id: after.calls[index]?.run?.id as never, input: given as never })
      }),
      /** What was called is wanted no more: it was cancelled, or has taken too long. It says what it has used. */
      leaveRun: enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'ask.reported' || event.report.type !== 'tool.ended') return
        const { callId } = event.report
        const run = context.calls.find((call) => call.callId === callId)?.run
        if (isAtWork(run)) enqueue.sendTo(run.id, { type: 'cancel', reason: 'its call has ended' })
      }),
      passDown: enqueueActions(({ context, event, enqueue }) => {
        for (const { run } of context.calls) if (isAtWork(run)) for (const one of toldInside(event)) enqueue.sendTo(run.id, one)
      }),
      cancelRuns: enqueueActions(({ context, event, enqueue }) => {
        for (const { run } of context.calls) if (isAtWork(run)) enqueue.sendTo(run.id, event)
      }),
      /** The question that they were for has ended without them. */
      leaveRuns: enqueueActions(({ context, enqueue }) => {
        const reason = context.error?.message ?? 'nobody waits for it'
        for (const { run } of context.calls) if (isAtWork(run)) enqueue.sendTo(run.id, { type: 'cancel', reason })
      }),
      /** Nobody waits for them any more. */
      stopRuns: enqueueActions(({ context, enqueue }) => {
        for (const { run } of context.calls) if (isAtWork(run)) enqueue.stopChild(run.id)
        enqueue.assign(leftInside(context))
      }),
      dropRun: enqueueActions(({ context, event, enqueue }) => {
        enqueue.assign(leftInside(context, actorIn(event)))
      }),
      takeRun: enqueueActions(({ context, event, enqueue }) => {
        enqueue.assign(ranInside(context, actorIn(event), (event as Done).output as RunEnd))
        // Nothing is kept of it but its report.
        enqueue.stopChild(actorIn(event))
      }),
      answerCall: enqueueActions(({ context, event, enqueue }) => {
        const callId = context.calls.find(({ run }) => run?.id === actorIn(event))?.callId
        const { data, error } = (event as Done).output as RunEnd
        if (context.stopped && !runsInside(context)) enqueue.sendTo('ask', { type: 'cancel' })
        else if (callId !== undefined && !context.stopped)
          enqueue.sendTo('ask', { type: 'answer', callId, ...(error ? { error: toolFailure(error) } : { output: data ?? null }) })
      }),
      breakRun: enqueueActions(({ context, event, enqueue }) => {
        const callId = context.calls.find(({ run }) => run?.id === actorIn(event))?.callId
        const error = toolFailure(broken(name, 'a run', (event as Done).error))
        enqueue.assign(leftInside(context, actorIn(event)))
        if (context.stopped) enqueue.sendTo('ask', { type: 'cancel' })
        else if (callId !== undefined) enqueue.sendTo('ask', { type: 'answer', callId, error })
      }),
      stop: assign({ stopped: ({ event }) => ({ reason: (event as { reason?: string }).reason ?? null }) }),
      tellAskToStop: sendTo('ask', { type: 'cancel' }),
      takeAnswer: assign(({ context, event }) => answered(context, answerIn(event))),
      takeText: assign({ data: ({ event }) => answerIn(event).text }),
      takeData: assign({ data: ({ event }) => (verdictIn(event) as { data: unknown }).data }),
      askAgain: assign(({ context, event }) => ({
        repairs: context.repairs + 1,
        // Of an answer that was kept from before there is no conversation yet.
        next: context.length === undefined ? undefined : correction((verdictIn(event) as { error: LadderErrorBody }).error),
      })),
      tellRepair: emit(({ context, event }) =>
        word('repairing', context, { attempt: context.repairs, error: (verdictIn(event) as { error: LadderErrorBody }).error }),
      ),
      failUnfit: assign(({ event }) => {
        const { error } = verdictIn(event) as { error: LadderErrorBody }
        return { error, next: correction(error) }
      }),
      failKeptBack: assign({ error: ({ event }) => finishError(answerIn(event).finish) }),
      failToTell: assign({ error: ({ event }) => broken(name, 'prompt', (event as Done).error) }),
      failToAsk: assign({ error: ({ event }) => broken(name, 'a question', (event as Done).error) }),
      markCancelled: assign({
        error: ({ context }) => cancelledError(name, context.stopped?.reason ?? null, context.trips),
        next: ({ context }) => (context.length === undefined ? undefined : interruption),
      }),
      mend: assign(({ context }) => {
        const after = mended(context, now())
        return { error: undefined, stopped: undefined, repairs: 0, tripsMax: context.trips + maxTrips, ...(after && { around: after }) }
      }),
      end: assign({ endedAt: () => now() }),
      /** Nobody will read its conversation any more. */
      close: emit(({ context }) => ({ type: 'transcript', conversation: context.runId, closed: true })),
      ...endActions(ended, word),
    },
    guards: {
      'has its data': ({ context }) => context.data !== undefined,
      ...(around && aroundGuards),
      'is inside': ({ context }) => context.inside !== undefined,
      'runs inside': ({ context }) => runsInside(context) && context.stopped === undefined,
      'nothing runs inside': ({ context }) => !runsInside(context),
      'nothing runs inside, and was cancelled': ({ context }) => !runsInside(context) && context.stopped !== undefined,
      'was stopped': ({ context }) => context.stopped !== undefined,
      'was cancelled': ({ context, event }) => answerIn(event).status === 'cancelled' || context.stopped !== undefined,
      'has failed': ({ event }) => answerIn(event).status === 'failed',
      'has failed, and runs inside': ({ context, event }) => answerIn(event).status === 'failed' && runsInside(context),
      'was kept back': ({ event }) => finishError(answerIn(event).finish) !== undefined,
      fits: ({ event }) => 'data' in verdictIn(event),
      'may be repaired': ({ context }) => context.repairs < repair && context.trips < context.tripsMax,
      'was asked': ({ context }) => context.length !== undefined,
    },
  }).createMachine({
    ...chartOf(shape),
    context: ({ input }: { input: RunInput }) => begun(input, maxTrips, now(), around && nothingAround(states, now(), around.opens)),
    output: ({ context }: { context: AgentRun }) => ({
      ...(context.error ? { error: context.error } : { data: context.data }),
      report: reportOf(shape, context),
      ...(context.artifacts && { artifacts: context.artifacts }),
    }),
  } as never) as unknown as AnyStateMachine
}
