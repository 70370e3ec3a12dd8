/** The names that the chart in turn.machine.ts uses: its guards, delays, actions and actors. */

import { assign, type DoneActorEvent, type ErrorActorEvent, emit, enqueueActions, fromCallback, fromPromise, sendParent, sendTo, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { PublisherEvent, PublisherInput, PublisherOutput } from '../../contracts/publisher.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { LaneInput, LoopOutput, TurnInput, TurnOutput, TurnStatus } from '../../contracts/turn.ts'
import type { UnderstandingReport } from '../../contracts/understanding.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import type { LoopEvent, LoopReport } from '../loop/loop.setup.ts'
import { isPaused, pausedMs, timerOf, workPauses } from '../loop/work-time.rules.ts'
import type { ToolEvent } from '../tool-call/tool.context.ts'
import { understandingMachine } from '../understanding/understanding.machine.ts'
import { flushDue } from './memory-flush.rules.ts'
import type { Publisher, PublisherLogic } from './publisher.setup.ts'
import {
  deadlines,
  ending,
  flushMessage,
  lastReport,
  output,
  promptItems,
  publisherInput,
  runTimeout,
  type TurnContext,
  understood,
  usageOf,
} from './turn.context.ts'

type TurnEvent =
  | { type: 'lane.granted'; waitedMs: number }
  | Extract<LoopEvent, { type: 'steer' }>
  | { type: 'cancel' }
  | Extract<LoopEvent, { type: 'forget' }>
  | UnderstandingReport
  | Extract<PublisherEvent, { type: 'configure' }>
  | Extract<ToolEvent, { type: 'approve' }>
  | LoopReport
  | DoneActorEvent<LoopOutput, 'loop' | 'flush'>
  | DoneActorEvent<PublisherOutput, 'publisher'>
  | ErrorActorEvent<unknown, 'publisher'>

/** What a turn tells its session while it runs. */
export type TurnReport =
  | Extract<LoopReport, { type: 'tool.waiting' | 'tool.decided' | 'compaction.started' | 'compaction.ended' }>
  /** All is said: what comes now is for the next turn. */
  | { type: 'turn.delivering' }

/** The timer of the limit of work, which is set again when a person has decided. */
const wallTimer = timerOf('wallTime', 'turn.running') as never as { type: 'cancel' }

const turnParts = setup({
  types: {
    input: {} as TurnInput,
    output: {} as TurnOutput,
    context: {} as TurnContext,
    events: {} as TurnEvent,
    emitted: {} as SessionOutput,
    tags: {} as 'waiting',
  },
  actors: {
    loop: loopMachine,
    understanding: understandingMachine,
    /** Not started, unless somebody says whom it follows. */
    publisher: fromPromise<PublisherOutput, PublisherInput>(notProvided) as PublisherLogic,
    lane: fromCallback<{ type: string }, LaneInput>(() => undefined),
  },
  guards: {
    isFollowed: ({ context }) => context.followed,
    needsRoom: ({ context }) => context.profile.lane !== undefined,
    flushDue: ({ context: { profile, facts } }) => flushDue(profile, facts),
    wasStopped: (_, { flush }: { flush: LoopOutput }) => flush.status === 'cancelled',
    nobodyWaits: ({ context }) => context.waiting.length === 0,
    hasFailed: (_, { answer }: { answer: LoopOutput | null }) => answer?.status === 'failed',
    /** A turn that was stopped before it began has no answer. */
    wasCancelled: ({ context }, { answer }: { answer: LoopOutput | null }) => (answer === null ? !context.spoken : answer.status === 'cancelled'),
    hasUnread: ({ context: { unread = [] } }) => unread.length > 0,
    wasSpoken: ({ context }) => context.spoken && context.prompt.ids.length === 1,
  },
  delays: {
    wallTime: ({ context: { profile } }) => profile.turnTimeMs ?? (profile.wallTimeMs as number),
    runTimeout,
  },
  actions: {
    expire: enqueueActions(({ context, enqueue }, { why }: { why: keyof typeof deadlines }) => {
      if (isPaused(context)) enqueue.raise(wallTimer, { id: wallTimer.type, delay: pausedMs })
      else enqueue.sendTo('loop', { type: 'expire' as const, error: deadlines[why] })
    }),
  },
})

/** What of a turn depends on who stands behind it: `provide` puts these in the place of the ones without a publisher. */
export const publishing = ({ follows, conclude }: Pick<Publisher, 'follows' | 'conclude'>) => ({
  openPublisher: turnParts.enqueueActions(({ context, enqueue }) => {
    if (!follows(context)) return
    enqueue.spawnChild('publisher', { id: 'publisher', input: publisherInput(context) })
    enqueue.assign({ followed: true })
  }),
  takeAnswer: turnParts.enqueueActions(({ context, event, enqueue }) => {
    if (event.type !== 'xstate.done.actor.loop') return
    const answer = event.output
    enqueue.assign({ answer, waiting: [], published: context.followed ? context.published : conclude(context, answer) })
    for (const event of usageOf(context, context.runId, answer)) enqueue.emit(event)
  }),
})

export const turnSetup = turnParts.extend({
  actions: {
    ...publishing({ follows: () => false, conclude: () => ({}) }),
    admit: emit(({ context }) => ({ type: 'transcript' as const, add: promptItems(context) })),
    enterLane: turnParts.enqueueActions(({ context: { session, runId, profile }, enqueue }) => {
      enqueue.spawnChild('lane', { id: 'lane', input: { session, runId, lane: profile.lane ?? '' } })
    }),
    sayInside: sendTo('lane', { type: 'inside' }),
    /** The agent is told to take notes; nobody else hears of it. */
    askForNotes: emit(({ context }) => ({ type: 'transcript' as const, add: [flushMessage(context)] })),
    takeNotes: turnParts.enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'xstate.done.actor.flush') return
      const flush = event.output
      enqueue.assign({ flush, transcriptLength: flush.transcriptLength, facts: { ...context.facts, tokens: flush.tokens } })
      enqueue.emit({ type: 'flushed', runId: context.runId, ...definedOf({ error: flush.error ?? undefined }) })
      for (const event of usageOf(context, `${context.runId}:flush`, flush)) enqueue.emit(event)
    }),
    joinPrompt: assign({
      // What gets a turn of its own comes early enough with that.
      prompt: ({ context: { prompt }, event }) => (event.type === 'steer' && !event.again ? { ...prompt, ids: [...prompt.ids, event.id] } : prompt),
      unread: ({ context: { unread = [] }, event }) => (event.type === 'steer' && event.unread ? [...unread, event.unread] : unread),
    }),
    takeUnderstood: assign(({ context, event }) => (event.type === 'understood' ? understood(context, event) : {})),
    tellFlush: sendTo('flush', ({ event }) => event as { type: 'cancel' }),
    tellLoop: sendTo('loop', ({ event }) => event as { type: 'cancel' }),
    tellSession: sendParent(({ event }) => event),
    expireFlush: sendTo('flush', (_, { why }: { why: keyof typeof deadlines }) => ({ type: 'expire' as const, error: deadlines[why] })),
    keepWaiting: assign(({ context, event, self }) =>
      event.type === 'tool.waiting'
        ? { waiting: [...context.waiting, event.approval.callId], ...workPauses(context, context.profile, self, wallTimer) }
        : {},
    ),
    endWaiting: turnParts.enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'tool.decided') return
      const waiting = context.waiting.filter((id) => id !== event.callId)
      const { workLeftMs: delay } = context
      const goesOn = waiting.length === 0 && typeof delay === 'number'
      enqueue.assign({ waiting, ...(goesOn && { workLeftMs: null }) })
      if (!goesOn) return
      enqueue.cancel(wallTimer.type)
      enqueue.raise(wallTimer, { id: wallTimer.type, delay })
    }),
    tellPublisher: turnParts.enqueueActions(({ context, event, enqueue }) => {
      if (context.followed) enqueue.sendTo('publisher', event)
    }),
    stopPublisher: sendTo('publisher', { type: 'turn.stopped' } satisfies PublisherEvent),
    sayDelivering: sendParent({ type: 'turn.delivering' } satisfies TurnReport),
    endPublisher: sendTo('publisher', ({ context }) => lastReport(context)),
    takePublished: assign(({ event }) => ({
      followed: false,
      ...definedOf({ published: event.type === 'xstate.done.actor.publisher' ? event.output : undefined }),
    })),
    announceEnd: emit(({ context }, { status }: { status: TurnStatus }) => ending(output(context, status))),
  },
})
