/** What the names in the chart of a supervisor mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, emit, enqueueActions, setup } from 'xstate'
import { outcomeOf, wrapActions, wrapGuards } from '../around/wrapped.compile.rules.ts'
import { timeOf } from '../calling/work.chart.rules.ts'
import { workActions, workGuards } from '../calling/work.compile.rules.ts'
import { endActions, type WhenEnded } from '../ending.ts'
import { errorBody, type LadderErrorBody, wordsOf } from '../errors.ts'
import { type RunEnd, rootOf } from '../run.rules.ts'
import { reportOf } from './report.rules.ts'
import { chartOf, classifyActor, mergeActor, routeActor, type SupervisorShape } from './supervisor.chart.rules.ts'
import {
  acknowledged,
  ackWork,
  advised,
  artifactsOf,
  type BranchEnd,
  begun,
  branched,
  type Chosen,
  classified,
  decided,
  failedIn,
  firstErrorIn,
  leftBehind,
  type Merged,
  merged,
  type SupervisorInput,
  type SupervisorRun,
  type TerminatedBy,
} from './supervisor.context.ts'

/** `begin` is what a run inside of another one begins with. */
type SupervisorParts = {
  actors: Readonly<Record<string, AnyActorLogic>>
  begin: Pick<SupervisorInput, 'state' | 'directive' | 'history'>
  now: () => number
  ended: WhenEnded
}
type Params = { step: string }
type Done = EventObject & { output?: unknown; error?: unknown }
type Word = { type: string } & Record<string, unknown>
type Ended = Chosen | BranchEnd | Merged

const endOf = <End extends Ended>(event: EventObject): End => (event as Done).output as End
const errorIn = (event: EventObject): LadderErrorBody | undefined => {
  const end = endOf(event) as Ended | undefined
  return end?.ended === 'failed' ? end.error : undefined
}

const unstorable = (what: string, thrown: unknown): LadderErrorBody =>
  errorBody('SUPERVISOR_FAILED', `${what} gave what cannot be stored: ${wordsOf(thrown)}`, {
    hint: 'return plain data: JSON, dates and bytes',
    cause: thrown,
  })

/** What recovers it takes away that it ended by an error. */
const aroundSupervisor = (name: string, now: () => number): Record<string, never> =>
  ({
    ...wrapActions(name, 'SUPERVISOR_FAILED', now),
    takeOutcome: assign(({ context, event }: { context: SupervisorRun; event: EventObject }) => {
      const outcome = outcomeOf(event)
      const terminatedBy = outcome.error ? ('error' as const) : context.error ? undefined : context.terminatedBy
      return { ...outcome, terminatedBy, endedAt: now() }
    }),
  }) as Record<string, unknown> as Record<string, never>

export const supervisorMachine = (shape: SupervisorShape, { actors, begin, now, ended }: SupervisorParts): AnyStateMachine => {
  const { name, maxIterations, intents } = shape
  const chooser: TerminatedBy = shape.choosesOnce ? 'classifier' : shape.router === undefined ? 'route' : 'router'
  const word = (type: string, run: SupervisorRun, more: object = {}): Word => ({
    type: `supervisor.${type}`,
    runId: run.runId,
    rootRunId: rootOf(run),
    supervisor: name,
    iteration: run.iterations.length,
    ...more,
  })
  const failing = (error: LadderErrorBody | undefined) => ({ error, terminatedBy: 'error' as const })
  return setup({
    types: { context: {} as SupervisorRun, input: {} as SupervisorInput, emitted: {} as Word, output: {} as RunEnd },
    actors: actors as Record<string, never>,
    actions: {
      ...workActions(now),
      begin: emit(({ context }) => word('starting', context)),
      tellIteration: emit(({ context }) => word('iteration.starting', context)),
      tellDeciding: emit(({ context }) => word('router.deciding', context)),
      tellDecided: emit(({ context: run }) => word('router.decided', run, { decision: run.now.decision })),
      follow: assign(({ context }) => (context.directive ? decided(context, context.directive) : {})),
      /** Of what chose, of a branch, or of what they came to. */
      settle: assign(({ context, event }, { step }: Params) => {
        const end = endOf(event)
        if (step === ackWork) return acknowledged(context, end as BranchEnd, now())
        if (step !== routeActor && step !== mergeActor && step !== classifyActor) return branched(context, step, end as BranchEnd, now())
        const run = advised(context, step, end.called)
        if (end.ended !== 'completed') return run
        if (step === classifyActor) return { ...run, ...classified(run, end as Extract<Chosen, { ended: 'completed' }>) }
        if (step === routeActor) return { ...run, ...decided(run, (end as Extract<Chosen, { ended: 'completed' }>).output) }
        return { ...run, ...merged(run, end as Extract<Merged, { ended: 'completed' }>, now()) }
      }),
      tellSettled: enqueueActions(({ context, event, enqueue }, { step }: Params) => {
        const end = endOf(event) as Ended | undefined
        if (step === routeActor) return
        if (step === classifyActor || step === ackWork) {
          const failure = errorIn(event) ?? (step === ackWork ? context.ack?.error : undefined)
          const what = step === ackWork ? 'ack' : 'classifier'
          const decision = step === classifyActor ? { decision: context.now.decision } : {}
          enqueue.emit(failure ? word(`${what}.failed`, context, { error: failure }) : word(`${what}.completed`, context, decision))
          return
        }
        if (step !== mergeActor) {
          const branch = context.now.branches[step]
          enqueue.emit(word(`agent.${branch?.status ?? 'failed'}`, context, { agent: step, ...(branch?.error && { error: branch.error }) }))
          return
        }
        if (end?.ended !== 'completed') return
        const { verdict, conflicts, directive: _, ...__ } = end as Extract<Merged, { ended: 'completed' }>
        const before = { ...context, iterations: context.iterations.slice(0, -1) }
        if (conflicts.length > 0) enqueue.emit(word('merge.conflict', before, { keys: conflicts }))
        if (verdict) enqueue.emit(word('evaluate.verdict', before, { verdict }))
        enqueue.emit(word('iteration.completed', before))
      }),
      tellClassifying: emit(({ context }) => word('classifier.starting', context)),
      endClassified: assign({ terminatedBy: 'classifier' as const }),
      beginAck: enqueueActions(({ context, enqueue }) => {
        enqueue.assign({ ack: { status: 'running', startedAt: now(), endedAt: now() } })
        enqueue.emit(word('ack.starting', context))
      }),
      breakAck: assign(({ context, event }) =>
        acknowledged(context, { ended: 'failed', error: unstorable('the acknowledgement', (event as Done).error) }, now()),
      ),
      leaveAck: enqueueActions(({ context, enqueue }) => {
        if (context.ack?.status !== 'running') return
        const left = leftBehind(context, now())
        enqueue.assign(left)
        enqueue.emit(word('ack.dropped', context, { error: left.ack?.error }))
      }),
      tellBranch: emit(({ context }, { step }: Params) => word('agent.starting', context, { agent: step })),
      breakBranch: assign(({ context, event }, { step }: Params) =>
        branched(context, step, { ended: 'failed', error: unstorable(`the intent '${step}'`, (event as Done).error) }, now()),
      ),
      expire: assign(({ context }, { step }: Params) => {
        const ms = intents.find((one) => one.name === step)?.timeoutMs
        const error: LadderErrorBody = errorBody('STEP_TIMEOUT', `the intent '${step}' has not ended within ${ms} ms`, {
          context: { intent: step, timeoutMs: ms },
        })
        return branched(context, step, { ended: 'failed', error }, now())
      }),
      fail: assign(({ event }) => failing(errorIn(event))),
      breakDown: assign(({ event }) => failing(unstorable(`code of '${name}'`, (event as Done).error))),
      wearOut: assign(({ context }) => {
        const failed = failedIn(context.iterations.at(-1)?.branches)
        return {
          terminatedBy: 'max-iterations' as const,
          error: errorBody('SUPERVISOR_MAX_ITERATIONS', `'${name}' has gone through ${maxIterations} iterations and would go on`, {
            context: { maxIterations, ...(failed.length > 0 && { failed: failed.map(([intent]) => intent) }) },
            ...(failed[0] && { hint: `in the last one ${failed[0][0]} failed: ${failed[0][1]}; report.iterations says it of each` }),
          }),
        }
      }),
      endByChoice: assign(({ context }) => {
        const source = context.now.decision?.source
        return { terminatedBy: source === 'intent.next' || source === 'evaluate' || source === 'classifier' ? source : chooser }
      }),
      /** Of one dispatch that was all there was to be. */
      endSingle: assign(({ context }) => {
        const source = context.iterations.at(-1)?.decision.source
        return { terminatedBy: source === 'intent.next' || source === 'evaluate' ? source : chooser }
      }),
      failAsBranch: assign(({ context }) => failing(firstErrorIn(context.iterations.at(-1)?.branches))),
      endSatisfied: assign({ terminatedBy: 'evaluate' as const }),
      complete: assign(({ event }) => ({ data: (endOf(event) as unknown as { data: unknown }).data })),
      end: assign({ endedAt: () => now() }),
      cancel: assign(({ context, event }) => ({
        terminatedBy: 'cancelled' as const,
        error: errorBody('SUPERVISOR_CANCELLED', `'${name}' was cancelled`, {
          context: { cancelledAt: context.iterations.length, reason: (event as { reason?: string }).reason ?? null },
        }),
      })),
      conclude: assign({ isConcluding: true }),
      mend: assign({ error: undefined, terminatedBy: undefined, going: {}, waiting: [], now: () => ({ startedAt: now(), branches: {} }) }),
      ...endActions(ended, word, ({ terminatedBy }) => ({ terminatedBy })),
      ...(shape.wraps && aroundSupervisor(name, now)),
    },
    guards: {
      ...workGuards,
      ...(shape.wraps && wrapGuards),
      'has failed': ({ event }) => errorIn(event) !== undefined,
      'chose nobody': ({ event }) => endOf<Extract<Chosen, { ended: 'completed' }>>(event).output.next.length === 0,
      'is chosen': ({ context }, { step }: Params) => context.now.decision?.next.includes(step) === true,
      'all have ended': ({ context: { now } }) => now.decision?.next.every((intent) => Object.hasOwn(now.branches, intent)) === true,
      'is going': ({ context }, { step }: Params) => context.going[step] !== undefined,
      'is directed': ({ context }) => context.directive !== undefined,
      'leads nowhere': ({ context }) => context.directive?.next.length === 0,
      'is the first': ({ context }) => context.iterations.length === 0,
      'was acknowledged': ({ context }) => context.ack !== undefined,
      'was left behind': ({ context }) => context.ack?.status === 'late',
      'is satisfied': ({ event }) => endOf<Extract<Merged, { ended: 'completed' }>>(event).verdict?.satisfied === true,
      'came to nothing': ({ context }) => firstErrorIn(context.now.branches) !== undefined,
      'too many iterations': ({ context }) => context.iterations.length >= maxIterations && context.directive?.next.length !== 0,
      'has its data': ({ context }) => context.isMade === true,
      'was concluding': ({ context }) => context.isConcluding === true,
    },
    delays: Object.fromEntries(intents.map(({ name: intent, timeoutMs = 0 }) => [timeOf(intent), timeoutMs])),
  }).createMachine({
    ...chartOf(shape),
    context: ({ input }: { input: SupervisorInput }) => begun({ ...begin, ...input }, now()),
    output: ({ context }: { context: SupervisorRun }): RunEnd => {
      const artifacts = artifactsOf(context)
      return {
        ...(context.error ? { error: context.error } : { data: context.data }),
        report: reportOf(shape, context),
        ...(artifacts && { artifacts }),
      }
    },
  } as never) as unknown as AnyStateMachine
}
