/** The names that the chart in desk.machine.ts uses: its guards, actions and actors. */

import { assign, type DoneActorEvent, enqueueActions, sendParent, setup, stopChild } from 'xstate'
import { definedOf } from '../../contracts/defined.ts'
import type { DeskAnswer, DeskInput, DeskRequest, IncomingMessage, Remarks, SessionFacts } from '../../contracts/desk.ts'
import type { DeskRecord, SessionOutput, SkipReason } from '../../contracts/session.ts'
import type { Finish } from '../delivery/delivery.context.ts'
import { deliveryMachine } from '../delivery/delivery.machine.ts'
import {
  applied,
  asideText,
  compactedText,
  newSessionText,
  notCompactedText,
  questionsIn,
  stoppedText,
  unsetText,
} from '../directives/replies.rules.ts'
import {
  admission,
  asideIn,
  cannotCompact,
  directivesOf,
  forgotten,
  isMuted,
  isOrder,
  isOutside,
  isRepeated,
  isStale,
  isUnmentioned,
  replyTo,
  saysFirst,
  settingsIn,
  taken,
} from './admission.rules.ts'
import { annotationsOf } from './annotations.rules.ts'
import type { Activation } from './group-intro.rules.ts'
import { type Saying, sayings } from './sayings.rules.ts'

/** @property activation that the model was told, or is to be told next */
export type DeskContext = { key: string; record: DeskRecord; activation: Activation }

type Event = DeskRequest | DoneActorEvent

type Request = { message: IncomingMessage; session: SessionFacts }
const asked = (event: Event): Request => event as Request
const messageIn = (event: Event): IncomingMessage => asked(event).message

type Enqueue = {
  spawnChild(src: 'delivery', options: { id: string; input: Saying['input'] }): void
  sendTo(id: string, event: Finish): void
}
/** It goes to where the message came from, in the same way as the answer of a turn. */
const say = (enqueue: Enqueue, ...parts: Parameters<typeof sayings>): void => {
  for (const { id, input, text } of sayings(...parts)) {
    enqueue.spawnChild('delivery', { id, input })
    enqueue.sendTo(id, { type: 'delivery.finish', leading: [], payloads: [{ text }], trailing: [] })
  }
}
/** Of a message that asks something of us and also says something to the model. */
const remarksOn = (message: IncomingMessage, session: SessionFacts): { remarks?: Remarks } => {
  const always = questionsIn(message, session)
  const settings = settingsIn(directivesOf(message))
  const ifSteered = Object.keys(settings).length === 0 ? {} : { ifSteered: unsetText(settings) }
  return always === '' && !ifSteered.ifSteered ? {} : { remarks: { ...definedOf({ always: always || undefined }), ...ifSteered } }
}

export const deskSetup = setup({
  types: {
    input: {} as DeskInput,
    context: {} as DeskContext,
    events: {} as Event,
    emitted: {} as SessionOutput,
  },
  actors: {
    /** For what is said on channels. */
    delivery: deliveryMachine,
  },
  guards: {
    isRepeated: ({ context: { key, record }, event }) => isRepeated(messageIn(event), key, record),
    isIgnored: ({ event }) => annotationsOf(messageIn(event)).ignored === true,
    saysStop: ({ event }) => saysFirst(messageIn(event), 'stop'),
    /** Its answer, a greeting at least, would be one of the model. */
    wantsMutedReset: ({ event }) => saysFirst(messageIn(event), 'reset') && isMuted(messageIn(event), asked(event).session),
    saysReset: ({ event }) => saysFirst(messageIn(event), 'reset'),
    asksAsideMuted: ({ event }) => asideIn(messageIn(event)) !== undefined && isMuted(messageIn(event), asked(event).session),
    asksAside: ({ event }) => asideIn(messageIn(event)) !== undefined,
    cannotCompact: ({ event }) => saysFirst(messageIn(event), 'compact') && cannotCompact(asked(event).session) !== '',
    saysCompact: ({ event }) => saysFirst(messageIn(event), 'compact'),
    isLateOrder: ({ event }) => isOrder(messageIn(event)) && isStale(messageIn(event), asked(event).session),
    isOrder: ({ event }) => isOrder(messageIn(event)),
    isUnmentioned: ({ event }) => isUnmentioned(messageIn(event), asked(event).session),
    isMuted: ({ event }) => isMuted(messageIn(event), asked(event).session),
    isStale: ({ event }) => isStale(messageIn(event), asked(event).session),
  },
  actions: {
    take: assign(({ context: { key, record }, event }) => ({ record: taken(messageIn(event), key, record) })),
    forget: assign(({ context: { key, record }, event }) => (event.type === 'refused' ? { record: forgotten(event, key, record) } : {})),
    skip: enqueueActions(({ event, enqueue }, { reason }: { reason: SkipReason }) => {
      const { id, profile } = messageIn(event)
      enqueue.sendParent({ type: 'skip', id, profile, reason } satisfies DeskAnswer)
    }),
    refuse: sendParent(
      ({ event }): DeskAnswer => ({
        type: 'refuse',
        id: messageIn(event).id,
        code: 'forbidden',
        message: 'this session does not answer',
        hint: 'say /send on to change that',
      }),
    ),
    stop: enqueueActions(({ context, event, enqueue }) => {
      const { message, session } = asked(event)
      const text = stoppedText(session, message.text)
      enqueue.sendParent({ type: 'stop', ...replyTo(message, text) } satisfies DeskAnswer)
      say(enqueue, context.key, message, 'answer', text)
    }),
    startOver: enqueueActions(({ context, event, enqueue }) => {
      const { message, session } = asked(event)
      const { model, credential } = settingsIn(directivesOf(message))
      const changes = model === undefined ? {} : { changes: { model, credential: credential ?? null } }
      enqueue.sendParent({
        type: 'startOver',
        ...admission(message, session.record, context.record.needsIntro),
        ...remarksOn(message, session),
        ...changes,
      } satisfies DeskAnswer)
      const text = newSessionText(message, session)
      enqueue.emit({ type: 'notice', id: message.id, text })
      say(enqueue, context.key, message, 'notice', text)
    }),
    sayWhyNot: enqueueActions(({ context, event, enqueue }) => {
      const { message, session } = asked(event)
      const text = cannotCompact(session)
      enqueue.sendParent({ type: 'say', ...replyTo(message, text) } satisfies DeskAnswer)
      say(enqueue, context.key, message, 'answer', text)
    }),
    compact: enqueueActions(({ context, event, enqueue }) => {
      const { message, session } = asked(event)
      const [first] = directivesOf(message)
      const instructions = first?.name === 'compact' && first.value !== undefined ? { instructions: first.value } : {}
      enqueue.sendParent({ type: 'compact', ...admission(message, session.record, context.record.needsIntro), ...instructions } satisfies DeskAnswer)
    }),
    askAside: sendParent(({ context, event }): DeskAnswer => {
      const { message, session } = asked(event)
      return { type: 'side', ...admission(message, session.record, context.record.needsIntro), text: asideIn(message) ?? '' }
    }),
    sayAside: enqueueActions(({ context, event, enqueue }) => {
      if (event.type === 'side.answered' && isOutside(event)) say(enqueue, context.key, event, 'answer', asideText(event))
    }),
    reportStale: sendParent(({ event }): DeskAnswer => ({ ...messageIn(event), type: 'stale' })),
    apply: enqueueActions(({ context, event, enqueue }) => {
      const { message, session } = asked(event)
      const { text, decision, ...rest } = applied(message, session)
      if (decision) enqueue.sendParent(decision)
      enqueue.sendParent({ type: 'say', ...replyTo(message, text), ...rest } satisfies DeskAnswer)
      say(enqueue, context.key, message, 'answer', text)
    }),
    admit: enqueueActions(({ context: { record, activation: before }, event, enqueue }) => {
      const { message, session } = asked(event)
      const { activation = 'mention' } = session.record.toggles
      // After another rule about groups the model is told of it.
      const needsIntro = record.needsIntro || activation !== before
      if (needsIntro) enqueue.assign({ record: { ...record, needsIntro }, activation })
      const remarks = remarksOn(message, session)
      enqueue.sendParent({ type: 'admit', ...admission(message, session.record, needsIntro), ...remarks } satisfies DeskAnswer)
    }),
    remark: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'accepted') return
      const { always = '', ifSteered } = event.remarks
      const notice = event.steered && ifSteered !== undefined ? ifSteered : ''
      for (const text of [always, notice]) if (text !== '') enqueue.emit({ type: 'notice', id: event.id, text })
      say(enqueue, context.key, event, 'report', always)
      say(enqueue, context.key, event, 'notice', notice)
    }),
    noteIntroduced: assign(({ context: { record, activation }, event }) =>
      event.type === 'introduced' && event.as === activation ? { record: { ...record, needsIntro: false } } : {},
    ),
    answerOrder: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'compaction.ended') return
      const { order, summary, window, error } = event
      const text = summary ? compactedText(summary, window) : notCompactedText(error)
      enqueue.sendParent({ type: 'say', ...replyTo(order, text), accepted: true } satisfies DeskAnswer)
      say(enqueue, context.key, order, 'answer', text)
    }),
    endSaying: stopChild(({ event }) => (event as unknown as { actorId: string }).actorId),
  },
})
