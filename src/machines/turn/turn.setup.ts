/** The names that the chart in turn.machine.ts uses: its guards, delays, actions and actors. */
import { assign, type DoneActorEvent, emit, enqueueActions, fromCallback, sendParent, sendTo, setup } from 'xstate'
import { type StreamOrder, type StreamOutput, streamMachine } from '../../chat/delivery/delivery.machine.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { LoopOutput, TurnInput, TurnOutput, TurnStatus } from '../../contracts/turn.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import type { LoopEvent, LoopReport } from '../loop/loop.setup.ts'
import type { ToolEvent } from '../tool-call/tool.machine.ts'
import { flushDue } from './memory-flush.rules.ts'
import {
  answered,
  deadlines,
  ending,
  flushMessage,
  lastOrder,
  output,
  pipelineInput,
  promptItems,
  runTimeout,
  type TurnContext,
  usageOf,
} from './turn.context.ts'

/** A turn that wants room to run. */
export type LaneInput = { session: string; runId: string; lane: string }

export type TurnEvent =
  | { type: 'lane.granted'; waitedMs: number }
  | Extract<LoopEvent, { type: 'steer' }>
  | { type: 'cancel' }
  | Extract<LoopEvent, { type: 'configure' | 'forget' }>
  | Extract<ToolEvent, { type: 'approve' }>
  | LoopReport
  | DoneActorEvent<StreamOutput, 'stream'>

/** What a turn tells its session while it runs. */
export type TurnReport =
  | Extract<LoopReport, { type: 'tool.waiting' | 'tool.decided' | 'compaction.started' | 'compaction.ended' }>
  /** All is said: what comes now is for the next turn. */
  | { type: 'turn.delivering' }

export const turnSetup = setup({
  types: {
    input: {} as TurnInput,
    output: {} as TurnOutput,
    context: {} as TurnContext,
    events: {} as TurnEvent,
    emitted: {} as SessionOutput,
    tags: {} as 'waiting',
  },
  actors: { loop: loopMachine, stream: streamMachine, lane: fromCallback<{ type: string }, LaneInput>(() => undefined) },
  guards: {
    hasPipeline: ({ context }) => context.facts.delivery !== undefined,
    needsRoom: ({ context }) => context.profile.lane !== undefined,
    flushDue: ({ context: { profile, facts } }) => flushDue(profile, facts),
    wasStopped: (_, { flush }: { flush: LoopOutput }) => flush.status === 'cancelled',
    nobodyWaits: ({ context }) => context.waiting.length === 0,
    hasFailed: ({ context }) => context.answer?.status === 'failed',
    wasCancelled: ({ context }) => context.answer === null || context.answer.status === 'cancelled',
  },
  delays: {
    wallTime: ({ context }) => context.profile.wallTimeMs,
    runTimeout: ({ context }) => runTimeout(context),
  },
  actions: {
    admit: enqueueActions(({ context, enqueue }) => {
      const items = promptItems(context)
      enqueue.emit({ type: 'transcript', add: items })
      enqueue.assign({ transcriptLength: context.transcriptLength + items.length })
    }),
    enterLane: enqueueActions(({ context: { session, runId, profile }, enqueue }) => {
      enqueue.spawnChild('lane', { id: 'lane', input: { session, runId, lane: profile.lane ?? '' } })
    }),
    sayInside: sendTo('lane', { type: 'inside' }),
    /** The agent is told to take notes; nobody else hears of it. */
    askForNotes: enqueueActions(({ context, enqueue }) => {
      enqueue.emit({ type: 'transcript', add: [flushMessage(context)] })
      enqueue.assign({ transcriptLength: context.transcriptLength + 1 })
    }),
    takeNotes: enqueueActions(({ context, enqueue }, { flush }: { flush: LoopOutput }) => {
      enqueue.assign({ flush, transcriptLength: flush.transcriptLength, facts: { ...context.facts, tokens: flush.tokens } })
      enqueue.emit({ type: 'flushed', runId: context.runId, ...(flush.error ? { error: flush.error } : {}) })
      for (const event of usageOf(context, `${context.runId}:flush`, flush)) enqueue.emit(event)
    }),
    joinPrompt: assign({
      // What gets a turn of its own comes early enough with that.
      prompt: ({ context: { prompt }, event }) => (event.type === 'steer' && !event.again ? { ...prompt, ids: [...prompt.ids, event.id] } : prompt),
    }),
    tellFlush: sendTo('flush', ({ event }) => event as { type: 'cancel' }),
    tellLoop: sendTo('loop', ({ event }) => event as { type: 'cancel' }),
    tellSession: sendParent(({ event }) => event),
    expire: sendTo('loop', (_, { why }: { why: keyof typeof deadlines }) => ({ type: 'expire' as const, error: deadlines[why] })),
    expireFlush: sendTo('flush', (_, { why }: { why: keyof typeof deadlines }) => ({ type: 'expire' as const, error: deadlines[why] })),
    keepWaiting: assign(({ context, event }) => (event.type === 'tool.waiting' ? { waiting: [...context.waiting, event.approval.callId] } : {})),
    endWaiting: assign(({ context, event }) =>
      event.type === 'tool.decided' ? { waiting: context.waiting.filter((id) => id !== event.callId) } : {},
    ),
    takeAnswer: enqueueActions(({ context, enqueue }, { answer }: { answer: LoopOutput }) => {
      const change = answered(context, answer)
      enqueue.assign(change)
      for (const event of usageOf(context, context.runId, answer)) enqueue.emit(event)
    }),
    openPipeline: enqueueActions(({ context, enqueue }) => {
      const input = pipelineInput(context)
      if (input) enqueue.spawnChild('stream', { id: 'stream', input })
    }),
    tellPipeline: sendTo('stream', ({ event }) => event as StreamOrder),
    stopPipeline: sendTo('stream', { type: 'stream.abort' } satisfies StreamOrder),
    sayDelivering: sendParent({ type: 'turn.delivering' } satisfies TurnReport),
    finishPipeline: sendTo('stream', ({ context }): StreamOrder => lastOrder(context)),
    noteLost: assign(({ event }) => (event.type === 'xstate.done.actor.stream' ? { lost: event.output.lost } : {})),
    announceEnd: emit(({ context }, { status }: { status: TurnStatus }) => ending(output(context, status))),
  },
})
