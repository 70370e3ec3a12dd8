/** The messages that a session takes in, how they wait, and what is said of those that need no turn, as pure functions. */

import { definedOf } from '../../contracts/defined.ts'
import type { Admission, DeskReply, IncomingMessage } from '../../contracts/desk.ts'
import { fileLine } from '../../contracts/file.ts'
import { type Profile, queueMax } from '../../contracts/profile.ts'
import type { AcceptedMessage, SessionOutput, SessionRecord } from '../../contracts/session.ts'
import type { Prompt, TurnOutcome, TurnOutput } from '../../contracts/turn.ts'
import { unasked } from '../turn/no-answer.rules.ts'
import { unreadIn } from '../understanding/items.rules.ts'
import { summaryLine } from './collect.rules.ts'
import { wantsOtherTools } from './pending-calls.rules.ts'
import { profileFor } from './record.rules.ts'

/** Messages that were dropped because there were too many: how many, and a line of each as far as they are kept. */
type Dropped = { count: number; lines: string[] }
const noneDropped: Dropped = { count: 0, lines: [] }

export type Queue = {
  /** Accepted messages without a turn, oldest first. */
  queue: AcceptedMessage[]
  dropped: Dropped
  /** No message has come in for as long as its sender wished to wait for more. */
  settled: boolean
  /** They were to be collected, and their answers go to different places: until nothing waits any more, each gets a turn of its own. */
  apart: boolean
}
export const emptyQueue: Queue = { queue: [], dropped: noneDropped, settled: true, apart: false }

/** ms without a new message before those that wait get their turn. */
export const debounceMs = 500

const cap = ({ queueCap = queueMax }: AcceptedMessage['profile']): number => Math.min(queueCap, queueMax)

/** There is no room, and nothing may be dropped for it. */
export const isFull = ({ queue }: Pick<Queue, 'queue'>, profile: AcceptedMessage['profile']): boolean =>
  queue.length >= cap(profile) && (profile.queueDrop ?? 'new') === 'new'

/** Takes one in behind the others. The newest message says how many there may be. */
export const enqueued = (
  { queue, dropped }: Queue,
  message: AcceptedMessage,
): { queue: AcceptedMessage[]; dropped: Dropped; out: AcceptedMessage[] } => {
  const limit = cap(message.profile)
  const out = queue.slice(0, Math.max(0, queue.length + 1 - limit))
  if (out.length === 0) return { queue: [...queue, message], dropped, out }
  const lines = message.profile.queueDrop === 'summarize' ? out.flatMap(({ line }) => line ?? []) : []
  const counts = message.profile.queueDrop === 'summarize'
  return {
    queue: [...queue.slice(out.length), message],
    dropped: counts ? { count: dropped.count + out.length, lines: [...dropped.lines, ...lines].slice(-limit) } : dropped,
    out,
  }
}

/** What the next turn takes: the message that has waited longest; if it asks to be collected, with those behind it that ask the same. */
export const nextMessages = ({ queue, apart }: Pick<Queue, 'queue' | 'apart'>): AcceptedMessage[] => {
  const [first] = queue
  if (first?.gathered !== undefined) {
    const last = queue.findIndex(({ gathered }) => gathered !== first.gathered)
    return queue.slice(0, last === -1 ? queue.length : last)
  }
  // Nothing can be added to a greeting.
  const other = queue.findIndex(
    ({ profile, greeting, toolResults }) =>
      profile.queueMode !== 'collect' || greeting || toolResults || (first && wantsOtherTools(profile, first.profile)),
  )
  const together = queue.slice(0, other === -1 ? queue.length : Math.max(1, other))
  // Answers go to one place.
  return apart || together.some(({ place }) => place !== first?.place) ? queue.slice(0, 1) : together
}

/** Takes the messages of the next turn out of the queue; what was dropped is told with them. */
export const taken = (waiting: Queue): Queue & { messages: AcceptedMessage[]; prompt: Prompt } => {
  const messages = nextMessages(waiting)
  const queue = waiting.queue.slice(messages.length)
  const { profile } = messages[0] ?? {}
  const { dropped } = waiting
  return {
    messages,
    prompt: {
      ids: messages.map(({ id }) => id),
      ...(messages.length > 1 && messages[0]?.gathered !== undefined
        ? { joined: true as const }
        : messages.length > 1 || dropped.count > 0
          ? { collected: true as const }
          : {}),
      ...definedOf({ dropped: dropped.count > 0 ? dropped : undefined }),
    },
    queue,
    dropped: noneDropped,
    settled: waiting.settled,
    apart:
      queue.length > 0 && (waiting.apart || (profile?.queueMode === 'collect' && messages.length === 1 && queue[0]?.profile.queueMode === 'collect')),
  }
}

/** The outcome of a message that will have no turn of its own. */
export const unanswered = ({ id, profile }: AcceptedMessage, transcriptLength: number): TurnOutput => ({
  ...unasked(id, [id], profile.model, transcriptLength),
  status: 'cancelled',
  outcome: 'aborted',
})

/** The settings that hold for a message: what it asks for, else what its session keeps, else what its agent says. */
export const settingsOf = ({ profile, overrides }: Pick<IncomingMessage, 'profile' | 'overrides'>, { toggles }: SessionRecord): Profile =>
  profileFor(profile, toggles, overrides)

/** How it joins the turn that is running. */
export const steering = (message: Admission, record: SessionRecord) => {
  const unread = unreadIn(message, settingsOf(message, record))
  return { type: 'steer' as const, id: message.id, ...definedOf({ unread }) }
}

/** The message as it waits for its turn, whatever is changed meanwhile. */
export const admitted = (message: Admission, record: SessionRecord): AcceptedMessage => {
  const { id, text, files, at, annotations, toolResults, channel, place, gather, note, hint, intro } = message
  const profile = settingsOf(message, record)
  return {
    id,
    profile,
    at,
    ...definedOf({
      annotations,
      toolResults,
      channel,
      place,
      gathered: gather?.by,
      note,
      hint,
      intro,
      unread: unreadIn(message, profile),
      line: profile.queueDrop === 'summarize' ? summaryLine([text, ...(files ?? []).map(fileLine)].join(' ')) : undefined,
      greeting: text === '' && !files ? (true as const) : undefined,
    }),
  }
}

/** What is said of a message that was answered without a turn. */
export const answeredBy = ({ id, profile, text }: Pick<DeskReply, 'id' | 'profile' | 'text'>, transcriptLength: number): SessionOutput[] => {
  const output: TurnOutput = {
    ...unasked(id, [id], profile.model, transcriptLength),
    status: 'completed',
    outcome: text === '' ? 'silent' : 'replied',
    text,
    ...definedOf({ reply: text === '' ? undefined : { text } }),
  }
  return [
    { type: 'final', ...output },
    { type: 'transcript', ended: [outcomeOf(output)] },
  ]
}
export const acceptance = (id: string): SessionOutput => ({ type: 'accepted', id, status: 'answered', runId: id })

/** What is noted of a turn that ended. */
export const outcomeOf = ({ text: _, transcriptLength: __, prompt: ___, ...outcome }: TurnOutput): TurnOutcome => outcome

type Busy = { run: { runId: string } | null; queue: readonly { id: string }[]; asides?: readonly { id: string }[] | undefined }
/** The runs that end when all is stopped: the one that goes on, and those that would have been. */
export const stoppedBy = ({ run, queue, asides = [] }: Busy): string[] => [...(run ? [run.runId] : []), ...[...queue, ...asides].map(({ id }) => id)]
