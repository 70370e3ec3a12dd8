/** The names that the chart in session.machine.ts uses: its guards, actions and actors. */

import { and, assign, emit, enqueueActions, fromPromise, sendTo, setup, stateIn, stopChild } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import { deliveryMachine } from '../../chat/delivery/delivery.machine.ts'
import { compactedText, newSessionText, notCompactedText, obeyed, stoppedText, unsetText } from '../../chat/directives/replies.rules.ts'
import {
  acceptance,
  admitted,
  answeredBy,
  directivesOf,
  isMuted,
  isRepeated,
  isStale,
  isUnmentioned,
  type Message,
  type Saying,
  saidOf,
  sayings,
  saysFirst,
  settingsOf,
  wishesOf,
} from '../../chat/inbound/admission.rules.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { Message as TranscriptMessage } from '../../contracts/message.ts'
import { queueMax } from '../../contracts/profile.ts'
import type { SessionEvent, SessionOutput, SkipReason } from '../../contracts/session.ts'
import type { Approval, SummaryInput, SummaryOutput, TurnOutput } from '../../contracts/turn.ts'
import { turnMachine } from '../turn/turn.machine.ts'
import type { TurnReport } from '../turn/turn.setup.ts'
import { enqueued, isFull, unanswered } from './queue.rules.ts'
import { begunAnew, configured, noted, summarised, touched, withToggles } from './record.rules.ts'
import { beginTurn, drop, endApproval, endTurn, outcomeOf, questionOf, type Refusal, type SessionContext, summaryUsage } from './session.context.ts'

type Decision = Extract<SessionEvent, { type: 'approve' }>
/** A message again, as what it turned out to be. */
type Raised = Omit<Message, 'type'> & { type: 'admit' | 'stop' | 'anew' | 'shorten' }
type Event = SessionEvent | Raised | TurnReport | Saying | { type: 'debounced' } | { type: 'order.done'; text: string }

/** ms without a new message before those that wait get their turn. */
const debounceMs = 500

const message = (event: Event): Message => event as unknown as Message
const modeOf = (event: Event, { record }: SessionContext) => settingsOf(message(event), record).queueMode

type Enqueue = { raise: (event: Saying) => void; emit: (event: SessionOutput) => void }
/** The session itself answers a message. */
const reply = (enqueue: Enqueue, context: SessionContext, to: Message, text: string): void => {
  for (const saying of sayings(context.key, to, 'answer', text)) enqueue.raise(saying)
  for (const said of [acceptance(to.id), ...saidOf(answeredBy(to, context, text))]) enqueue.emit(said)
}

export const sessionSetup = setup({
  types: {
    input: {} as { key: string },
    context: {} as SessionContext,
    events: {} as Event,
    emitted: {} as SessionOutput,
  },
  actors: {
    turn: turnMachine,
    /** What another session has said. */
    fork: fromPromise<TranscriptMessage[], { parent: string }>(notProvided),
    /** For what the session itself says, beside its turns. */
    stream: deliveryMachine,
    summarise: fromPromise<SummaryOutput, SummaryInput>(notProvided),
  },
  guards: {
    isRepeated: ({ context, event }) => isRepeated(message(event), context),
    saysStop: ({ event }) => saysFirst(message(event), 'stop'),
    saysReset: ({ event }) => saysFirst(message(event), 'reset'),
    saysCompact: ({ event }) => saysFirst(message(event), 'compact'),
    isOrder: ({ event }) => message(event).text === '',
    isIgnored: ({ event }) => message(event).ignored === true,
    isUnmentioned: ({ context, event }) => isUnmentioned(message(event), context.record),
    /** What the session wants goes before what its operator says. */
    isMuted: ({ context, event }) => isMuted(message(event), context.record),
    /** Its answer, a greeting at least, would be one of the model. */
    wantsMutedReset: ({ context, event }) => saysFirst(message(event), 'reset') && isMuted(message(event), context.record),
    wantsFork: ({ context, event }) => message(event).parent !== undefined && context.turns === 0 && context.transcriptLength === 0,
    wantsMore: ({ event }) => message(event).gatherMs !== undefined,
    isLateOrder: ({ context, event }) =>
      message(event).text === '' && context.run === null && context.queue.length === 0 && isStale(message(event), context.record),
    isStale: ({ context, event }) => isStale(message(event), context.record),
    hasQueue: ({ context }) => context.queue.length > 0,
    isReady: ({ context }) => context.queue.length > 0 && context.settled,
    queueFull: ({ context, event }) => isFull(context, settingsOf(message(event), context.record)),
    /** A turn that has taken in its fill leaves the rest to the next one. */
    wantsSteer: ({ context, event }) => modeOf(event, context) === 'steer' && (context.run?.ids.length ?? queueMax) < queueMax,
    wantsBacklog: ({ context, event }) => modeOf(event, context) === 'steer-backlog' && !isFull(context, settingsOf(message(event), context.record)),
    wantsInterrupt: ({ context, event }) => modeOf(event, context) === 'interrupt',
    /** The conversation itself cannot be used any more. */
    isBroken: (_, { output }: { output: TurnOutput }) => output.outcome === 'reset',
    namesNoRun: ({ event }) => event.type === 'cancel' && event.runId === undefined,
    isThisRun: ({ context, event }) => event.type === 'cancel' && context.run?.ids.includes(event.runId ?? '') === true,
    isQueued: ({ context, event }) => event.type === 'cancel' && context.queue.some(({ id }) => id === event.runId),
    isWaiting: ({ context, event }) =>
      event.type === 'approve' &&
      context.approvals.some(
        ({ callId, inputHash, attempt }) => callId === event.callId && inputHash === event.inputHash && attempt === event.attempt,
      ),
    isOtherInput: ({ context, event }) => event.type === 'approve' && context.approvals.some(({ callId }) => callId === event.callId),
    wasDecided: ({ context, event }) => event.type === 'approve' && context.decided.includes(questionOf(event)),
    isResetting: stateIn({ running: 'resetting' }),
    isYielding: and([stateIn({ running: 'yielding' }), ({ context }) => context.order !== null]),
    hasTranscript: ({ context }) => context.transcriptLength > 1,
  },
  actions: {
    raiseAs: enqueueActions(({ event, enqueue }, { type }: { type: Raised['type'] }) => enqueue.raise({ ...message(event), type })),
    /** It is next, without waiting for more: at once, or when the turn that is running has ended. */
    acceptNext: enqueueActions(({ context, event, enqueue }, { status }: { status: 'started' | 'queued' }) => {
      const accepted = admitted(message(event), context.record)
      enqueue.assign({ queue: [...context.queue, accepted], settled: true, record: touched(context.record, context.key, message(event)) })
      enqueue.emit({ type: 'accepted', id: accepted.id, status, runId: status === 'started' ? accepted.id : '' })
    }),
    acceptLater: enqueueActions(({ context, event, enqueue }) => {
      const accepted = admitted(message(event), context.record)
      const { out, ...change } = enqueued(context, accepted)
      enqueue.assign({ ...change, record: touched(context.record, context.key, message(event)) })
      enqueue.emit({ type: 'accepted', id: accepted.id, status: accepted.profile.queueMode === 'collect' ? 'collected' : 'queued', runId: '' })
      if (out.length === 0) return
      const outputs = out.map((dropped) => unanswered(dropped, context.transcriptLength))
      if (context.run) enqueue.sendTo('turn', { type: 'forget', ids: out.map(({ id }) => id) })
      for (const output of outputs) enqueue.emit({ type: 'aborted', ...output })
      enqueue.emit({ type: 'transcript', ended: outputs.map(outcomeOf) })
    }),
    /** Each message that has to wait begins the pause anew. */
    awaitMore: enqueueActions(({ context, event, enqueue }) => {
      const profile = settingsOf(message(event), context.record)
      enqueue.cancel('debounce')
      const delay = context.run ? (profile.debounceMs ?? debounceMs) : (message(event).gatherMs ?? profile.debounceMs ?? debounceMs)
      enqueue.assign({ settled: delay === 0 })
      enqueue.raise({ type: 'debounced' }, { id: 'debounce', delay })
    }),
    announceCleared: emit(({ context }) => ({ type: 'cleared' as const, followups: context.queue.length, dropped: context.dropped.count, lane: 0 })),
    settle: assign({ settled: true }),
    /** What the session itself says goes to where the message came from, in the same way as the answer of a turn. */
    deliver: enqueueActions(({ event, enqueue }) => {
      const { input, text } = event as Saying
      const id = `saying-${input.runId}`
      enqueue.spawnChild('stream', { id, input })
      enqueue.sendTo(id, { type: 'delivery.finish', leading: [], payloads: [{ text }], trailing: [] })
    }),
    endSaying: stopChild(({ event }) => (event as unknown as { actorId: string }).actorId),
    skip: enqueueActions(({ context, event, enqueue }, { reason }: { reason: SkipReason }) => {
      enqueue.emit({ type: 'skipped', id: message(event).id, reason })
      for (const said of saidOf(answeredBy(message(event), context, ''))) enqueue.emit(said)
    }),
    /** The session itself says something in return. */
    answer: enqueueActions(({ context, event, enqueue }, { text }: { text: string }) => {
      enqueue.assign({ record: touched(context.record, context.key, message(event)) })
      reply(enqueue, context, message(event), text)
    }),
    obey: enqueueActions(({ context, event, enqueue }) => {
      // What was said before goes first.
      if (context.queue.length > 0 && !context.run) enqueue.raise({ type: 'debounced' })
      const { toggles, text, note } = obeyed(message(event), context)
      const record = touched(withToggles(context.record, toggles), context.key, message(event))
      enqueue.assign({ record: note === undefined ? record : noted(record, message(event).at, note) })
      if (context.run) enqueue.sendTo('turn', { type: 'configure', ...(toggles.verbose ? { verbose: toggles.verbose } : {}) })
      reply(enqueue, context, message(event), text)
    }),
    /** Of a message that also says something to the model. */
    answerQuestions: enqueueActions(({ context, event, enqueue }) => {
      if (!message(event).directives) return
      const { text } = obeyed(message(event), context, false)
      if (text !== '') enqueue.emit({ type: 'notice', id: message(event).id, text })
      for (const saying of sayings(context.key, message(event), 'report', text)) enqueue.raise(saying)
    }),
    answerStop: enqueueActions(({ context, event, enqueue }) => {
      enqueue.assign({ record: touched(context.record, context.key, message(event)) })
      const text = stoppedText(context, message(event).text)
      reply(enqueue, context, message(event), text)
    }),
    announceNew: enqueueActions(({ context, event, enqueue }) => {
      const { model, credential } = wishesOf(directivesOf(message(event)))
      const { record } = context
      if (model !== undefined) enqueue.assign({ record: withToggles(record, configured(record.toggles, { model, credential: credential ?? null })) })
      const text = newSessionText(message(event), context)
      enqueue.emit({ type: 'notice', id: message(event).id, text })
      for (const saying of sayings(context.key, message(event), 'notice', text)) enqueue.raise(saying)
    }),
    configure: enqueueActions(({ context: { record, run }, event, enqueue }) => {
      if (event.type !== 'configure') return
      const toggles = configured(record.toggles, event.toggles)
      enqueue.assign({ record: withToggles(record, toggles) })
      if (run) enqueue.sendTo('turn', { type: 'configure', ...(toggles.verbose ? { verbose: toggles.verbose } : {}) })
    }),
    keepNote: assign(({ context: { record }, event }) => (event.type === 'note' ? { record: noted(record, event.at, event.text) } : {})),
    steerTurn: enqueueActions(({ context: { run, record, key }, event, enqueue }) => {
      const { id } = message(event)
      enqueue.sendTo('turn', { type: 'steer', id })
      enqueue.assign({ record: touched(record, key, message(event)), ...(run ? { run: { ...run, ids: [...run.ids, id] } } : {}) })
      enqueue.emit({ type: 'accepted', id, status: 'steered', runId: run?.runId ?? '' })
      const wishes = wishesOf(directivesOf(message(event)))
      if (Object.keys(wishes).length === 0) return
      const text = unsetText(wishes)
      enqueue.emit({ type: 'notice', id, text })
      for (const saying of sayings(key, message(event), 'notice', text)) enqueue.raise(saying)
    }),
    /** The turn is shown a message that will have one of its own. */
    steerOnly: sendTo('turn', ({ event }) => ({ type: 'steer' as const, id: message(event).id, again: true as const })),
    beginTurn: enqueueActions(({ context, enqueue }) => {
      const change = beginTurn(context)
      enqueue.assign(change)
      if (change.queue?.length === 0) enqueue.cancel('debounce')
    }),
    announceStart: emit(({ context: { run } }) => ({
      type: 'started' as const,
      runId: run?.runId ?? '',
      ids: run?.ids ?? [],
      model: run?.profile.model ?? '',
    })),
    endTurn: enqueueActions(({ context, enqueue }, { output }: { output: TurnOutput }) => {
      enqueue.assign(endTurn(context, output))
      enqueue.emit({ type: 'transcript', ended: [outcomeOf(output)] })
    }),
    stopTurn: enqueueActions(({ context: { record }, enqueue }) => {
      enqueue.sendTo('turn', { type: 'cancel' })
      enqueue.assign({ record: { ...record, abortedLastRun: true } })
    }),
    /** All that wait, or the one that is named. */
    dropQueue: enqueueActions(({ context, event, enqueue }) => {
      const { change, outputs } = drop(context, event.type === 'cancel' ? event.runId : undefined)
      if (outputs.length === 0) return
      enqueue.assign(change)
      if (change.queue?.length === 0) enqueue.cancel('debounce')
      if (context.run) enqueue.sendTo('turn', { type: 'forget', ids: outputs.flatMap(({ ids }) => ids) })
      for (const output of outputs) enqueue.emit({ type: 'aborted', ...output })
      enqueue.emit({ type: 'transcript', ended: outputs.map(outcomeOf) })
    }),
    keepApproval: enqueueActions(({ context, event, enqueue }) => {
      const { approval } = event as { approval: Approval }
      enqueue.assign({ approvals: [...context.approvals, approval] })
      enqueue.emit({ type: 'approval', ...approval })
    }),
    endApproval: assign(({ context, event }) => (event.type === 'tool.decided' ? endApproval(context, event.callId) : {})),
    passDecision: enqueueActions(({ context, event, enqueue }) => {
      const { callId, decision, by } = event as Decision
      enqueue.sendTo('turn', event)
      enqueue.emit({ type: 'decided', runId: context.run?.runId ?? '', callId, decision, ...(by ? { by } : {}) })
    }),
    refuse: enqueueActions(({ event, enqueue }, refusal: Refusal) => {
      enqueue.emit({ type: 'refused', ...refusal })
      if (event.type === 'message' || event.type === 'admit') enqueue.emit({ type: 'transcript', drop: [event.id] })
    }),
    takeHistory: enqueueActions(({ enqueue }, { history }: { history: TranscriptMessage[] }) => {
      if (history.length === 0) return
      enqueue.emit({ type: 'transcript', add: history })
      enqueue.assign({ transcriptLength: history.length })
    }),
    keepReason: assign({ resetReason: ({ event }) => (event.type === 'reset' ? (event.reason ?? null) : null) }),
    beginAnew: enqueueActions(({ context, event, enqueue }, { reason }: { reason: string }) => {
      const at = 'at' in event ? event.at : context.record.updatedAt
      enqueue.assign({ transcriptLength: 0, resetReason: null, record: begunAnew(context.record, context.key, at) })
      enqueue.emit({ type: 'transcript', clear: true })
      enqueue.emit({ type: 'reset', reason: (event.type === 'reset' ? event.reason : context.resetReason) ?? reason })
    }),
    keepOrder: enqueueActions(({ context, event, enqueue }) => {
      const { id, profile, origin, delivery } = admitted(message(event), context.record)
      const [first] = directivesOf(message(event))
      const instructions = first?.name === 'compact' ? first.value : undefined
      enqueue.assign({
        order: {
          id,
          profile,
          ...(instructions === undefined ? {} : { instructions }),
          ...(origin ? { origin } : {}),
          ...(delivery ? { delivery } : {}),
        },
        record: touched(context.record, context.key, message(event)),
      })
      enqueue.emit(acceptance(id))
    }),
    takeSummary: enqueueActions(({ context, enqueue }, { summary }: { summary: SummaryOutput }) => {
      const { id, keep } = summary
      enqueue.assign({ transcriptLength: keep + 1, record: summarised(context.record, summary) })
      enqueue.emit({ type: 'transcript', compact: { keep, summary: id } })
      enqueue.emit({ type: 'compacted', keep })
      for (const said of summaryUsage(context, summary)) enqueue.emit(said)
      if (context.order) enqueue.raise({ type: 'order.done', text: compactedText(summary, context.record) })
    }),
    announceTrouble: enqueueActions(({ context, enqueue }, { error }: { error: unknown }) => {
      const body = errorBody(error)
      enqueue.emit({ type: 'refused', code: body.code, message: body.message, hint: 'the conversation is unchanged; try again later' })
      if (context.order) enqueue.raise({ type: 'order.done', text: notCompactedText(body) })
    }),
    leaveOrder: enqueueActions(({ context, enqueue }) => {
      if (context.order) enqueue.raise({ type: 'order.done', text: notCompactedText() })
    }),
    answerOrder: enqueueActions(({ context, event, enqueue }) => {
      const { order } = context
      if (!order || event.type !== 'order.done') return
      for (const saying of sayings(context.key, order, 'answer', event.text)) enqueue.raise(saying)
      for (const said of saidOf(answeredBy(order, context, event.text))) enqueue.emit(said)
      enqueue.assign({ order: null })
    }),
  },
})
