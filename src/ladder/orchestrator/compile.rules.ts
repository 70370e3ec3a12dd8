/** What the names in the chart of a session mean. */
import { type AnyActorLogic, type AnyStateMachine, type EventObject, setup } from 'xstate'
import { codeMaxMs } from '../in-time.ts'
import type { RunEnd } from '../run.rules.ts'
import { sessionActions } from './actions.rules.ts'
import { reportActions } from './beside.actions.rules.ts'
import { phasesChartOf } from './beside.chart.rules.ts'
import { queueGuards } from './queue.rules.ts'
import { chartOf } from './session.chart.rules.ts'
import { type Answer, type Held, hasDrifted, isForeign, nextTryMs, opened, type Plan, type SessionRun } from './session.context.ts'
import { type Cancel, endedOf, errorOf, madeOf, outputOf } from './session.events.rules.ts'

/** @property ended called on the node of a session when a turn of it has its answer */
export type SessionParts = {
  actors: Readonly<Record<string, AnyActorLogic>>
  now: () => number
  ended: (sessionId: string, answer: Answer) => void
}
type Word = { type: string } & Record<string, unknown>

/** ms between two looks at a lock. */
const momentMs = 100
/** ms that an agent is given to end when it has taken too long. */
const graceMs = 1_000

const isUnderWay = ({ turn }: SessionRun, event: EventObject): boolean => {
  const { request } = event as Cancel
  return request === undefined || request === turn?.request.id
}

/** What the names mean in the phases of a turn. */
const phases = (name: string, { actors, now, ended }: SessionParts) =>
  setup({
    types: { context: {} as SessionRun, input: {} as never, emitted: {} as Word },
    actors: actors as Record<string, never>,
    actions: { ...sessionActions(name, now, ended), ...reportActions },
    guards: {
      ...queueGuards,
      'is under way': ({ context, event }) => isUnderWay(context, event),
      'has requests': ({ context }) => context.queue.length > 0,
      'has failed': ({ event }) => errorOf(event) !== undefined,
      'is held': ({ event }) => (madeOf<Plan | Held>(event) as Partial<Held>).isHeld === true,
      'has waited enough': ({ context }) => now() >= (context.turn?.lockWait?.until ?? 0),
      'holds a lock': ({ context }) => context.turn?.lease !== undefined,
      'is renewed': ({ event }) => errorOf(event) === undefined && madeOf<boolean>(event),
      'is lost': ({ context, event }) => errorOf(event) === undefined || now() >= (context.turn?.lease?.until ?? 0),
      'has lost its lock': ({ context }) => context.turn?.error?.code === 'ORCHESTRATOR_LOCK_LOST',
      'was settled': ({ context }) => context.turn?.isSettled === true,
      'has drifted': ({ context }) => hasDrifted(context) && context.turn?.request.force !== true,
      'is locked': ({ context }) => (context.turn?.plan?.lockedUntil ?? 0) > now(),
      'is locked still': ({ context, event }) => {
        const ended = endedOf<number | null>(event)
        return ended.ended === 'completed' && (ended.value ?? 0) > now() && now() < (context.turn?.waitUntil ?? 0)
      },
      'is to compact': ({ context }) => context.turn?.request.wants === 'compaction' && context.turn.plan?.range !== undefined,
      'has nothing to compact': ({ context }) => context.turn?.request.wants === 'compaction',
      recalls: ({ context }) => context.turn?.plan?.recalls === true,
      'is of another request': ({ context, event }) => isForeign(context, outputOf<RunEnd>(event)),
      'turn has failed': ({ event }) => outputOf<RunEnd>(event).error !== undefined,
      'asks whether it is over': ({ context }) => context.turn?.plan?.asksEnd === true,
      'has something to compact': ({ context }) => context.turn?.persisted?.range !== undefined,
      'is locked by others': ({ event }) => madeOf<boolean>(event) === false,
      'asks an agent': ({ context }) => context.turn?.plan?.asksSummarizer === true,
      'summary has failed': ({ event }) => outputOf<RunEnd>(event).error !== undefined,
      'is a command': ({ context }) => context.turn?.request.wants === 'compaction',
      'is a failed command': ({ context }) => context.turn?.request.wants === 'compaction' && context.turn.error !== undefined,
      'was applied': ({ event }) => madeOf<boolean>(event),
      'is over': ({ context }) => context.turn?.request.wants === 'compaction' || context.turn?.persisted?.isOver === true,
      'was cancelled': ({ context }) => context.turn?.error?.category === 'cancelled',
    },
    delays: {
      'a moment': ({ context }) => Math.max(0, Math.min(momentMs, (context.turn?.waitUntil ?? 0) - now())),
      'until the next try': ({ context }) => nextTryMs(context, now()),
      'a part of the lease': ({ context }) => Math.ceil((context.turn?.lease?.ttlMs ?? 0) / 3),
      'longest code': codeMaxMs,
      'longest compaction': ({ context }) => context.turn?.plan?.lockMaxMs ?? 0,
      'a little longer': ({ context }) => (context.turn?.plan?.lockMaxMs ?? 0) + graceMs,
    },
  })

export const sessionMachine = (name: string, parts: SessionParts): AnyStateMachine =>
  phases(name, parts).createMachine({
    ...chartOf(name),
    context: ({ input }: { input: { sessionId: string } }) => opened(input.sessionId),
  } as never) as unknown as AnyStateMachine

/** Of a turn beside others. */
export const phasesMachine = (name: string, parts: SessionParts): AnyStateMachine =>
  phases(name, parts).createMachine({
    ...phasesChartOf(name),
    context: ({ input }: { input: SessionRun }) => input,
    output: ({ context }: { context: SessionRun }) => context.answers.at(-1),
  } as never) as unknown as AnyStateMachine
