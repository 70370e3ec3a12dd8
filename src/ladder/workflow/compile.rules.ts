/**
 * A workflow as a statechart of its author's own steps: each is a state by its name, and what may come next is an arrow. What a step decides in code (whether
 * it is tried again, where it leads) comes back as its result, stands in the journal, and is read by guards.
 */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, emit, setup } from 'xstate'
import type { AskReport } from '../../index.ts'
import { wrapActions, wrapGuards } from '../around/wrapped.compile.rules.ts'
import { workActions, workGuards } from '../calling/work.compile.rules.ts'
import { keptCalls, paused, workWithRun } from '../calling/work.context.ts'
import { endActions, type WhenEnded } from '../ending.ts'
import { errorBody, type LadderErrorBody, wordsOf } from '../errors.ts'
import { type AnyRunEnd, reportFor, rootOf } from '../run.rules.ts'
import { reportOf } from './report.rules.ts'
import { chartOf, type WorkflowShape } from './workflow.chart.rules.ts'
import { begun, cutOff, entered, isToCome, type RunContext, type RunInput, type StepEnd, settled } from './workflow.context.ts'

type RunEvent = { type: 'execute' } | { type: 'resume' } | { type: 'cancel'; reason?: string } | { type: 'approve' } | AskReport

/** What the machine is handed: code by the name of its step, what makes the output of a run, what a run inside of another one begins with, and the time. */
type WorkflowParts = { actors: Readonly<Record<string, AnyActorLogic>>; begin: { state: unknown }; now: () => number; ended: WhenEnded }

type Params = { step: string }
type Done = EventObject & { output: StepEnd; error?: unknown }
type Told = { type: string } & Record<string, unknown>

const endOf = (event: EventObject): StepEnd => (event as Done).output
const onwardOf = (event: EventObject) => {
  const end = endOf(event)
  return end.ended === 'asks' ? undefined : end.onward
}

/** A step that was entered this often is told as one that may go round in circles. */
const loopWarning = 5

const outputFailed = (name: string, thrown: unknown): LadderErrorBody =>
  errorBody('WORKFLOW_FAILED', `the output of '${name}' could not be made: ${wordsOf(thrown)}`, { cause: thrown })

const codeFailed = (step: string, error: unknown): StepEnd => ({
  ended: 'failed',
  error: errorBody('STEP_FAILED', `the step '${step}' gave what cannot be stored: ${wordsOf(error)}`, {
    hint: 'return plain data, and keep plain data in the state: JSON, dates and bytes',
    context: { step },
    cause: error,
  }),
})

export const workflowMachine = (shape: WorkflowShape, { actors, begin, now, ended }: WorkflowParts): AnyStateMachine => {
  const { name, maxSteps } = shape
  const told = (type: string, run: RunContext, more: object = {}): Told => ({
    type: `workflow.${type}`,
    runId: run.runId,
    rootRunId: rootOf(run),
    workflow: name,
    ...more,
  })
  const isChild = new Set(shape.steps.flatMap(({ children }) => children))

  return setup({
    types: { context: {} as RunContext, events: {} as RunEvent, input: {} as RunInput, emitted: {} as Told },
    actors: actors as Record<string, never>,
    actions: {
      ...workActions(now, (run: RunContext, work, at) => cutOff(shape, run, work, at)),
      begin: emit(({ context }) => told('starting', context)),
      enter: assign(({ context }, { step }: Params) => entered(context, step)),
      tell: emit(({ context }, { step }: Params) => told('step.starting', context, { step })),
      warn: emit(({ context }, { step }: Params) => told('loop.warning', context, { step, visits: context.visits })),
      restFor: assign(({ context }, { step, ms }: Params & { ms: number }) => paused(context, step, ms)),
      restUntil: assign(({ context, event }, { step }: Params) => paused(context, step, Math.max(0, Number((event as Done).output) - now()))),
      take: assign(({ context, event }, { step }: Params) => ({ given: { ...context.given, [step]: saidIn(event) } })),
      keep: assign(({ context, event }, { step }: Params) => ({ early: { ...context.early, [step]: saidIn(event) } })),
      takeKept: assign(({ context }, { step }: Params) => {
        const { [step]: given, ...early } = context.early ?? {}
        return { given: { ...context.given, [step]: given }, early }
      }),
      retry: assign(({ context, event }, { step }: Params) => {
        const end = endOf(event)
        if (end.ended !== 'failed' || !end.again) return {}
        const kept = keptCalls(context, step, end.called)
        return { ...kept, ...paused({ ...context, ...kept }, step, end.again.pauseMs) }
      }),
      tellRetry: emit(({ context, event }, { step }: Params) =>
        told('step.retrying', context, { step, attempt: context.going[step]?.attempts, error: errorIn(event) }),
      ),
      settle: assign(({ context, event }, { step }: Params) => settled(context, step, endOf(event), now(), isChild.has(step))),
      tellSettled: emit(({ context, event }, { step }: Params) => {
        const error = errorIn(event)
        return told(`step.${endOf(event).ended}`, context, { step, ...(error && { error }) })
      }),
      break: assign(({ context, event }, { step }: Params) => {
        const end = codeFailed(step, (event as Done).error)
        return { ...settled(context, step, end, now(), isChild.has(step)), error: end.ended === 'failed' ? end.error : undefined }
      }),
      fail: assign(({ event }) => ({ error: errorIn(event), endedAt: now() })),
      wearOut: assign(({ context }) => ({
        endedAt: now(),
        error: errorBody('WORKFLOW_MAX_STEPS', `'${name}' has entered ${context.visited - 1} steps and would go on`, {
          context: { maxSteps, step: context.next },
        }),
      })),
      end: assign({ endedAt: () => now() }),
      complete: assign(({ event }) => ({ data: (event as Done).output })),
      failToConclude: assign(({ event }) => ({ endedAt: now(), error: outputFailed(name, (event as Done).error) })),
      cancel: assign(({ context, event }) => ({
        endedAt: now(),
        error: errorBody('WORKFLOW_CANCELLED', `'${name}' was cancelled`, {
          context: { cancelledAt: context.next ?? null, reason: (event as { reason?: string }).reason ?? null },
        }),
      })),
      leaveSteps: assign({ next: undefined }),
      mend: assign({ error: undefined, going: {}, waiting: [] }),
      ...endActions(ended, told),
      ...(shape.wraps && wrapActions(name, 'WORKFLOW_FAILED', now)),
    },
    guards: {
      ...workGuards,
      ...(shape.wraps && wrapGuards),
      'is reckoned': ({ event }) => typeof (event as Done).output === 'number',
      'too many steps': ({ context }) => context.visited > maxSteps,
      'often entered': ({ context }) => context.visits === loopWarning,
      'tries again': ({ event }) => {
        const end = endOf(event)
        return end.ended === 'failed' && end.again !== undefined
      },
      'has failed': ({ event }) => endOf(event).ended === 'failed' && onwardOf(event) === undefined,
      ends: ({ event }) => 'end' in (onwardOf(event) ?? {}),
      'leads to': ({ event }, { step }: Params) => (onwardOf(event) as { goto?: string } | undefined)?.goto === step,
      'is still to come': ({ context, event }, { step, inside = [] }: Params & { inside?: readonly string[] }) =>
        !isDecision(event) && isToCome(context, step) && !workWithRun(context).some((work) => inside.includes(work)),
      'was told before': ({ context }, { step }: Params) => Object.hasOwn(context.early ?? {}, step),
      'is a decision': ({ event }) => isDecision(event),
      'stopped at': ({ context }, { step }: Params) => context.next === step,
    },
    delays: Object.fromEntries(
      Object.keys(actors).flatMap((step) =>
        ['pause', 'rest'].map((what) => [`${what} of ${step}`, ({ context }: { context: RunContext }) => context.going[step]?.pauseMs ?? 0]),
      ),
    ),
  }).createMachine({
    ...chartOf(shape),
    context: ({ input }: { input: RunInput }) => begun({ ...begin, ...input }, now()),
    output: ({ context }: { context: RunContext }): AnyRunEnd => ({
      ...(context.error ? { error: context.error } : { data: context.data }),
      ...reportFor(context, () => reportOf(shape, context)),
      ...(context.artifacts && { artifacts: context.artifacts }),
    }),
  } as never) as unknown as AnyStateMachine
}

/** About a call, and not an event that an author has called `approve`. */
const isDecision = (event: EventObject): boolean => event.type === 'approve' && 'ask' in event

/** What somebody has sent, apart from its type. */
const saidIn = ({ type: _, ...said }: EventObject): object => said

const errorIn = (event: EventObject): LadderErrorBody | undefined => {
  const end = endOf(event)
  return end?.ended === 'failed' ? end.error : undefined
}
