/** A conversation as a page draws it, and the facts of which that is made. */
import type { ErrorBody } from '../../contracts/errors.ts'
import type { FileRef } from '../../contracts/file.ts'
import type { ChatBlock, ChatEvent, MessageEvent, StateEvent, ToolEvent } from '../../contracts/gateway.ts'
import type { Message, Usage } from '../../contracts/message.ts'
import { escapeToken } from '../../contracts/subjects.ts'
import type { Approval } from '../../contracts/turn.ts'
import type { Heard } from './listeners.ts'

/** Characters that a part of a message has in all, by its part, where it was cut. */
type Cut = Readonly<Record<string, number>>

/** As `chat.history` has it: with the time, in ms since the epoch, and what an answer has used, where that is known. */
export type HistoryMessage = Message & { at?: number; usage?: Usage; model?: string; costUsd?: number; durationMs?: number; cut?: Cut }

/** How a run ended, as `chat.history` has it with `details`. */
export type HistoryRun = {
  runId: string
  ids: readonly string[]
  status: 'completed' | 'failed' | 'cancelled'
  model?: string
  usage?: Usage
  costUsd?: number
  durationMs?: number
  error?: ErrorBody
}

// ---- what is drawn. An entry or a block that has not changed is the same object as before; `key` is its own as long as it is there.

/** `called`: the model has asked for it, and no more is known. */
export type ToolCard = {
  type: 'tool'
  key: string
  callId: string
  name: string
  state: ToolEvent['state'] | 'called'
  input?: unknown
  progress?: unknown
  output?: unknown
  /** Characters of the whole output, where only its beginning is here: `chat.output` has the rest. */
  cut?: number
  message?: string
}
/** @property cut characters of the whole, where only its beginning is here: `chat.message` has the rest */
export type ViewBlock =
  | { type: 'thinking'; key: string; id: string; thinking: string; cut?: number }
  | { type: 'text'; key: string; id: string; text: string; cut?: number }
  | { type: 'joined'; key: string; id: string; text: string; files?: readonly FileRef[]; cut?: number }
  | ToolCard

/** What is known of the end of an answer. */
export type AnswerEnd = Pick<
  ChatEvent,
  'model' | 'usage' | 'costUsd' | 'durationMs' | 'steps' | 'stopReason' | 'error' | 'errorKind' | 'injected' | 'label'
>
export type AnswerEntry = {
  type: 'answer'
  key: string
  runId: string
  state: 'running' | 'completed' | 'stopped' | 'failed'
  blocks: readonly ViewBlock[]
  at?: number
} & AnswerEnd
export type UserEntry = {
  type: 'user'
  key: string
  id: string
  status: 'said' | 'sending'
  text?: string
  files?: readonly FileRef[]
  at?: number
  cut?: number
}
export type NoticeEntry = { type: 'notice'; key: string; text: string; at: number; id?: string }
export type SummaryEntry = { type: 'summary'; key: string; text: string }
export type ViewEntry = UserEntry | AnswerEntry | NoticeEntry | SummaryEntry

/** Said beside the conversation. `asked`: the answer is on its way; `failed`: `text` says why there is none. `at` in ms since the epoch. */
export type SideResult = { key: string; runId: string; at: number; state: 'asked' | 'told' | 'failed'; question?: string; text?: string }
/** How a side question ended that is asked once more, as `chat.send` answers it. */
export type SideOutcome = { side?: true; status: 'completed' | 'failed' | 'cancelled'; text: string; error?: ErrorBody }

/**
 * A message that is not part of the conversation yet. `unsent`: there was no connection; `refused`: its text is given back; the others the session has,
 * and takes in later. One that somebody else has sent may have no text.
 */
export type WaitingMessage = {
  id: string
  status: 'queued' | 'collected' | 'steered' | 'sending' | 'unsent' | 'refused'
  text?: string
  files?: readonly FileRef[]
  error?: unknown
}

/** What the session is doing, as its chart says it, where that is known. */
export type RunningRun = { runId: string; state?: string; detail?: string }

export type ChatView = {
  readonly sessionKey: string
  readonly entries: readonly ViewEntry[]
  readonly waiting: readonly WaitingMessage[]
  /** Said beside it, oldest first, until it is dismissed. */
  readonly asides: readonly SideResult[]
  /** Tool calls that wait for a person. */
  readonly approvals: readonly Approval[]
  readonly run: RunningRun | null
  /** A run is going on, or a message of ours is on its way. */
  readonly busy: boolean
  readonly connected: boolean
  /** Something was missed of the run that is going on: subscribe again. */
  readonly stale: boolean
  /** `wanted`: ask for `chat.history`, and hand it over with the `life` that is here when it is asked for. */
  readonly history: 'wanted' | 'read'
  /** What was heard before it belongs to another life: a new one begins where something may have been missed. */
  readonly life: number
  /** Why the session cannot be listened to. */
  readonly error: unknown
  readonly facts: Facts
}

// ---- what it is made of

type Known<Value> = { value: Value; rank: number }
/** What has been heard of a tool call; of two that say something the one of the higher rank is right. */
export type ToolFacts = {
  name?: Known<string>
  state?: Known<ToolEvent['state']>
  input?: Known<unknown>
  progress?: Known<unknown>
  output?: Known<unknown>
  message?: Known<string>
}

export type LiveRun = {
  runId: string
  /** The life in which it was last heard of. */
  life: number
  /** ms since the epoch of the first that is known of it. */
  at: number
  content: readonly ChatBlock[]
  /** The event that `content` is of. */
  seq: number
  /** Events before it that have not come; if one does, `content` was built on something else. */
  missing: readonly (readonly [from: number, to: number])[]
  /** `content` is not what it should be until all of it has come with this event or a later one; 0 where it is. */
  brokenTo: number
  state: AnswerEntry['state']
  end: AnswerEnd
  ids: readonly string[]
  tools: ReadonlyMap<string, ToolFacts>
}

export type LiveUser = {
  id: string
  life: number
  /** What this page wanted to send. */
  own?: { text: string; files?: readonly FileRef[] | undefined; at: number; state: 'sending' | 'unsent' | 'refused'; error?: unknown }
  /** What `chat.send` has answered. */
  answer?: { status: string; runId?: string }
  event?: MessageEvent
  entry: UserEntry
}

export type PastMessage = Extract<HistoryMessage, { role: 'assistant' }>
export type PastPart =
  | { type: 'message'; message: PastMessage; results: readonly (PastResult | undefined)[] }
  | { type: 'joined'; id: string; text: string; files?: readonly FileRef[] | undefined; cut?: number | undefined }
export type PastResult = Extract<HistoryMessage, { role: 'tool' }>
/** @property end how it ended, where the history says so; without parts it ended before the model had said anything */
export type PastRun = { runId: string; at?: number; parts: readonly PastPart[]; end?: HistoryRun }
export type PastItem = { at?: number } & ({ type: 'entry'; id: string; entry: UserEntry | SummaryEntry } | { type: 'run'; runId: string })
/** The history that was read last. @property said ids of all messages of people in it */
export type Past = { items: readonly PastItem[]; runs: ReadonlyMap<string, PastRun>; said: ReadonlyMap<string, UserEntry | undefined> }

/** How a question was answered, and when: ms since the epoch. `by: 'timeout'`: nobody has. */
export type Decided = { decision: 'approve' | 'deny'; at: number; remember?: 'session'; by?: string }

export type Facts = {
  past: Past
  runs: ReadonlyMap<string, LiveRun>
  users: ReadonlyMap<string, LiveUser>
  notices: ReadonlyMap<string, NoticeEntry>
  asides: ReadonlyMap<string, SideResult>
  /** What waited when the session was looked at last, in its order. */
  queue: readonly string[]
  /** Of each call that waits for a person the newest question, and when the newest answer was given. */
  asked: ReadonlyMap<string, { approval: Approval; at: number; life: number }>
  decided: ReadonlyMap<string, Decided>
  doing: StateEvent | undefined
  answers: ReadonlyMap<string, AnswerEntry>
}

// ---- what happens

export type ChatAction =
  | Heard
  | { type: 'connected' }
  | { type: 'disconnected' }
  /** The answer of `chat.history`. */
  | { type: 'opened'; sessionKey: string; life: number; messages: readonly HistoryMessage[]; runs?: readonly HistoryRun[] }
  /** The answer of `sessions.get`: what waits, also from before anybody listened. */
  | {
      type: 'looked'
      sessionKey: string
      life: number
      queued: readonly string[]
      run: { runId: string; ids: readonly string[] } | null
      approvals: readonly Approval[]
      /** As the history has it: of what is queued only the id is known, and of what joins the turn nothing. */
      waiting?: readonly { id: string; text: string; files?: readonly FileRef[] }[]
    }
  /** Somebody says something here. `id` becomes its `idempotencyKey`; said again under it, it is sent again. */
  | { type: 'said'; id: string; text: string; files?: readonly FileRef[]; at: number }
  /** The answer of `chat.send`. */
  | { type: 'taken'; id: string; status: string; runId?: string; outcome?: SideOutcome }
  /** It was not accepted, or nobody knows whether it was. */
  | { type: 'refused'; id: string; error: unknown }
  /** Its text was taken back: it is shown no more. */
  | { type: 'withdrawn'; id: string }
  /** What was said beside the conversation is shown no more. */
  | { type: 'dismissed'; key: string }

export const noFacts: Facts = {
  past: { items: [], runs: new Map(), said: new Map() },
  runs: new Map(),
  users: new Map(),
  notices: new Map(),
  asides: new Map(),
  queue: [],
  asked: new Map(),
  decided: new Map(),
  doing: undefined,
  answers: new Map(),
}

/** A conversation of which nothing is known yet. @throws RuntimeError bad_request, too_large for what is no key */
export const emptyView = (sessionKey: string): ChatView => {
  // What it cannot be named by would fail later, in the middle of a run.
  escapeToken(sessionKey)
  return {
    sessionKey,
    entries: [],
    waiting: [],
    asides: [],
    approvals: [],
    run: null,
    busy: false,
    connected: false,
    stale: false,
    history: 'wanted',
    life: 1,
    error: undefined,
    facts: noFacts,
  }
}

// ---- names

/** How a tool call is named by the runtime: `<session>/<message>:<nth>`. */
export const callIdOf = (sessionKey: string, messageId: string, nth: number): string => `${escapeToken(sessionKey)}/${messageId}:${nth}`

/** The message that a call belongs to, and its place there. */
export const placeOfCall = (sessionKey: string, callId: string): { messageId: string; nth: number } | undefined => {
  const prefix = `${escapeToken(sessionKey)}/`
  const [name, nth] = callId.startsWith(prefix) ? splitEnd(callId.slice(prefix.length)) : []
  return name === undefined || nth === undefined ? undefined : { messageId: name, nth }
}

/** The call of the model that gave a message, from 1: `<run>:<n>`. */
export const numberOf = (runId: string, messageId: string): number | undefined => {
  const [name, number] = splitEnd(messageId)
  return name === runId ? number : undefined
}

/** @returns the run of a message; a message of another form stands for itself */
export const runOf = (messageId: string): string => splitEnd(messageId)[0] ?? messageId

const splitEnd = (id: string): [] | [name: string, number: number] => {
  const colon = id.lastIndexOf(':')
  const end = id.slice(colon + 1)
  return colon > 0 && /^\d{1,9}$/.test(end) ? [id.slice(0, colon), Number(end)] : []
}
