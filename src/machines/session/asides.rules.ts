/** Side questions of a session: each is a child of its own beside the turn, and leaves nothing in the conversation. */
import type { SideInput, SideReport } from '../../contracts/beside.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { DeskRequest, IncomingMessage } from '../../contracts/desk.ts'
import { noUsage } from '../../contracts/message.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import { usageEvents } from '../loop/cost.rules.ts'
import { unansweredText } from '../side/side.rules.ts'
import { unasked } from '../turn/no-answer.rules.ts'
import { outcomeOf, settingsOf } from './queue.rules.ts'
import { spentAside } from './record.rules.ts'
import type { Aside, SessionContext } from './session.context.ts'

/** So many are answered at once. */
export const asidesMax = 3

/** A question, as a command or the desk brings it. */
type AsideRequest = Pick<IncomingMessage, 'id' | 'text' | 'profile' | 'overrides' | 'annotations'> & { model?: string | undefined; channel?: string }

type Enqueue = {
  assign(change: Partial<SessionContext>): void
  emit(output: SessionOutput): void
  spawnChild(src: 'side', options: { id: string; input: SideInput }): void
  sendTo(child: string, event: { type: 'side.stop' } | DeskRequest): void
  stopChild(id: string): void
}
const childOf = (id: string): string => `side-${id}`

export const beginAside = (enqueue: Enqueue, { key, record, asides = [] }: SessionContext, request: AsideRequest): void => {
  const { id, text, model, annotations, channel } = request
  const overrides = { ...request.overrides, ...definedOf({ model }) }
  const profile = settingsOf({ profile: request.profile, overrides }, record)
  enqueue.spawnChild('side', { id: childOf(id), input: { session: key, id, text, profile } })
  enqueue.assign({ asides: [...asides, { id, model: profile.model, ...definedOf({ annotations, channel }) }] })
  enqueue.emit({ type: 'accepted', id, status: 'side', runId: id })
  // Where it came as a message: that is no part of the conversation either.
  enqueue.emit({ type: 'transcript', drop: [id] })
}

const endings = { completed: 'final', failed: 'error', cancelled: 'aborted' } as const

export const endAside = (enqueue: Enqueue, context: SessionContext, report: SideReport): void => {
  const { record, transcriptLength } = context
  const { id, question, status } = report
  const aside = context.asides?.find((one) => one.id === id)
  if (!aside) return
  const left = context.asides?.filter((one) => one !== aside)
  const answer = report.status === 'completed' ? report.answer : undefined
  const error = report.status === 'completed' ? undefined : report.error
  const text = answer?.text ?? (error ? unansweredText(error) : '')
  enqueue.stopChild(childOf(id))
  enqueue.assign({ asides: left?.length ? left : undefined, ...(answer && { record: spentAside(record, answer) }) })
  enqueue.emit({ type: 'side_result', kind: 'btw', runId: id, question, text, isError: error !== undefined })
  const output: TurnOutput = {
    ...unasked(id, [id], aside.model, transcriptLength),
    status,
    outcome: status === 'completed' ? 'replied' : status === 'failed' ? 'failed' : 'aborted',
    side: true,
    usage: answer?.usage ?? noUsage,
    ...definedOf({
      text: answer?.text,
      reply: answer && { text: answer.text },
      costUsd: answer?.costUsd,
      durationMs: answer?.durationMs,
      endedAt: answer?.endedAt,
      error,
    }),
  }
  enqueue.emit({ type: endings[status], ...output })
  enqueue.emit({ type: 'transcript', ended: [outcomeOf(output)] })
  for (const said of answer ? usageOf(context, aside, answer) : []) enqueue.emit(said)
  if (aside.annotations) enqueue.sendTo('desk', { type: 'side.answered', id, annotations: aside.annotations, question, text })
}

const usageOf = (
  { key, record: { sessionId, tokens } }: SessionContext,
  { id, channel }: Aside,
  { model, usage, costUsd, endedAt, durationMs }: Extract<SideReport, { status: 'completed' }>['answer'],
): SessionOutput[] =>
  usageEvents({
    runId: id,
    session: key,
    sessionId,
    channel,
    at: endedAt,
    model,
    usage,
    window: tokens?.window ?? 0,
    tokens: tokens?.total ?? 0,
    costUsd: costUsd ?? null,
    durationMs,
    attempts: 0,
  })

type Ending = { type: string; runId?: string | undefined }
/** All that goes on is to end, or the conversation that they were asked about is forgotten; or this one is named. */
const ends = ({ type, runId }: Ending, { id }: Aside): boolean =>
  type === 'cancel' ? runId === undefined || runId === id : type === 'stop' || type === 'reset' || type === 'startOver' || type === 'stale'

export const endsAside = ({ asides = [] }: SessionContext, event: Ending): boolean => asides.some((aside) => ends(event, aside))

/** Each says for itself that it has ended. */
export const stopAsides = (enqueue: Enqueue, { asides = [] }: SessionContext, event: Ending): void => {
  const ending = asides.filter((aside) => !aside.ending && ends(event, aside))
  if (ending.length === 0) return
  enqueue.assign({ asides: asides.map((aside) => (ending.includes(aside) ? { ...aside, ending: true } : aside)) })
  for (const { id } of ending) enqueue.sendTo(childOf(id), { type: 'side.stop' })
}
