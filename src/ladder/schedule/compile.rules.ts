/** What the names in the chart of a schedule mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, emit, enqueueActions, setup } from 'xstate'
import { errorBody, type LadderErrorBody } from '../errors.ts'
import { scheduleChart } from './schedule.chart.rules.ts'
import {
  type Beginning,
  begun,
  dropped,
  type Fallen,
  type FiringRecord,
  missedOf,
  type Plan,
  pauseOf,
  reckoned,
  type ScheduleState,
  settled,
  skippedTo,
  started,
  startedAgain,
  triggered,
} from './schedule.context.ts'

type ScheduleEvent =
  | { type: 'plan'; plan: Plan }
  | { type: 'trigger'; runId: string }
  | { type: 'start' }
  | { type: 'stop' }
  | { type: 'pause' }
  | { type: 'resume' }
type ScheduleParts = { name: string; description?: string | undefined; actors: Readonly<Record<string, AnyActorLogic>>; now: () => number }
type Told = { type: string } & Record<string, unknown>
type Scope = { context: ScheduleState; event: EventObject }

const planOf = (event: EventObject): Plan => (event as unknown as { plan: Plan }).plan
const outputOf = <Output>(event: EventObject): Output => (event as unknown as { output: Output }).output
const errorOf = (name: string, event: EventObject): LadderErrorBody =>
  outputOf<Beginning | undefined>(event)?.error ??
  errorBody('SCHEDULE_FAILED', `the schedule '${name}' could not begin a run: ${String((event as unknown as { error?: unknown }).error)}`)

export const scheduleMachine = ({ name, description, actors, now }: ScheduleParts): AnyStateMachine => {
  const told = (type: string, more: object = {}): Told => ({ type: `schedule.${type}`, schedule: name, ...more })
  const firstOf = ({ queue: [first] }: ScheduleState) => first && { runId: first.runId, due: first.due, by: first.by }
  /** Of the one that has just been settled. */
  const lastOf = ({ firings }: ScheduleState): Partial<FiringRecord> => firings.at(-1) ?? {}
  const settle = (end: (scope: Scope) => Omit<Parameters<typeof settled>[1], 'at'>) =>
    assign((scope: Scope) => settled(scope.context, { ...end(scope), at: now() }))

  return setup({
    types: { context: {} as ScheduleState, events: {} as ScheduleEvent, emitted: {} as Told },
    actors: actors as Record<string, never>,
    actions: {
      begin: assign(({ event }) => started(planOf(event), now())),
      beginAgain: assign(({ context }) => startedAgain(context, now())),
      adopt: assign(({ event }) => ({ plan: planOf(event) })),
      lookAtTime: assign(() => ({ reckonedAt: now() })),
      reckon: assign(({ context, event }) => reckoned(context, outputOf<Fallen>(event))),
      skipToNow: assign(({ context }) => skippedTo(context, now())),
      drop: assign(({ context }) => dropped(context)),
      takeTrigger: assign(({ context, event }) => triggered(context, (event as { runId: string }).runId, now())),
      attempt: assign(({ context }) => ({ attempts: context.attempts + 1 })),
      keep: settle(() => ({ status: 'begun' })) as never,
      skip: settle(() => ({ status: 'skipped', reason: 'the run before it is under way' })) as never,
      giveUp: settle(() => ({ status: 'skipped', reason: 'it was stopped' })) as never,
      fail: settle(({ event }) => ({ status: 'failed', error: errorOf(name, event) })) as never,
      tellPlanned: emit(({ context }) => told('planned', { when: context.plan.text })),
      tellPaused: emit(() => told('paused')),
      tellResumed: emit(() => told('resumed')),
      tellStopped: emit(() => told('stopped')),
      tellMissed: enqueueActions(({ context, event, enqueue }) => {
        const count = missedOf(context, outputOf<Fallen>(event))
        if (count > 0) enqueue.emit(told('missed', { count }))
      }),
      tellLost: emit(({ event }) => told('lost', { reason: String((event as unknown as { error?: unknown }).error) })),
      tellQueued: emit(({ context }) => told('queued', firstOf(context))),
      tellSkipped: emit(({ context }) => told('skipped', lastOf(context))),
      tellFired: emit(({ context }) => told('fired', lastOf(context))),
      tellFailed: emit(({ context }) => told('failed', lastOf(context))),
    },
    guards: {
      'is another time': ({ context, event }) => planOf(event).text !== context.plan.text,
      'is due again': ({ event }) => outputOf<Fallen>(event).next !== null,
      'is begun at once': ({ context: { queue, plan, last } }) => queue.length > 0 && (plan.overlap === 'allow' || last === undefined),
      'is to be begun': ({ context: { queue } }) => queue.length > 0,
      'was dropped': ({ context: { queue } }) => queue.length === 0,
      'has ended': ({ event }) => outputOf<{ ended: boolean }>(event).ended,
      skips: ({ context }) => context.plan.overlap !== 'queue',
      'tries again': ({ event }) => outputOf<Beginning>(event).again === true,
      'has failed': ({ event }) => outputOf<Beginning>(event).error !== undefined,
    },
    delays: {
      'until it is due': ({ context }) => Math.max(0, (context.next ?? 0) - now()),
      'pause before it is tried again': ({ context }) => pauseOf(context),
    },
  }).createMachine({
    ...scheduleChart(name),
    ...(description !== undefined && { description }),
    context: () => begun(name),
  } as never) as unknown as AnyStateMachine
}
