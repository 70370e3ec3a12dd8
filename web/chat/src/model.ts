/**
 * What the page shows and what can be done on it. The page knows nothing else of the world: whoever mounts it brings a `ChatModel`. Names and values are those
 * of `src/contracts/gateway.ts` wherever it has them.
 *
 * A view is read only, and whatever has not changed in the next one is the same object there, which is how the page knows what to draw again.
 */
import type { ErrorBody } from '../../../src/contracts/errors.ts'
import type { FileRef } from '../../../src/contracts/file.ts'
import type { ChatBlock, StateEvent, ToolEvent } from '../../../src/contracts/gateway.ts'
import type { Usage } from '../../../src/contracts/message.ts'
import type { ThinkingLevel } from '../../../src/contracts/settings.ts'
import type { Approval } from '../../../src/contracts/turn.ts'

export type { ErrorBody, FileRef, ThinkingLevel }

/** Times are ms since the epoch, by this machine's clock. */
export type ChatView = {
  connection: Connection
  /** Newest first. */
  conversations: readonly Conversation[]
  current: Current
  models: readonly ModelChoice[]
  /** Of the agent that answers in a new conversation, where that is known. */
  tools?: readonly string[]
  thinkingLevels: readonly ThinkingLevel[]
}

/** `leaving`: the node has said that it shuts down. `lost`: it tries again by itself. `refused`: it does not, since it would be in vain. */
export type Connection =
  | { state: 'connecting' }
  | { state: 'connected'; node?: string; leaving?: boolean }
  | { state: 'lost'; retryAt?: number }
  | { state: 'refused'; error: ErrorBody }

export type Conversation = {
  key: string
  title: string
  /** The last thing that was said, plain. */
  words?: string
  at?: number
  /** As `session.state` says it; left out while it is not known. */
  state?: StateEvent['state']
  /** Something waits for a person: a tool call to allow, or one in doubt. */
  needsYou?: boolean
  unread?: boolean
}

/** The conversation that is open. One that is new has a key before anything was said in it. */
export type Current = {
  key: string
  title: string
  /** Its history is being read; there may be entries all the same. */
  loading: boolean
  state?: StateEvent['state']
  stateSince?: number
  /** What the run does, in words, such as why the model is asked again. */
  doing?: string
  /** A run is going on: Stop makes sense, and a message joins or waits. */
  running: boolean
  /** Somebody has said stop, and it has not stopped yet. */
  stopping: boolean
  entries: readonly Entry[]
  /** Said while it was running and not taken in yet, in their order. */
  waiting: readonly Waiting[]
  /** Said beside it, oldest first, until it is dismissed. */
  asides?: readonly Aside[]
  /** There is more before the first entry, and how much where it is known. */
  earlier?: { count?: number; loading: boolean }
  model?: string
  /** Left out: the default of the agent. */
  thinking?: ThinkingLevel
  tokens?: number
  window?: number
  costUsd?: number
}

/** What stands in the log, in its order. Ids are unique in a conversation and never change. */
export type Entry = Said | Answer | Notice | Summary

/**
 * Characters of the whole stand in `cut` where only the beginning is here: `readAll` has the rest.
 * `sending` until the server has it; `unsent` while there is no connection to send it by.
 */
export type Said = {
  kind: 'said'
  id: string
  text: string
  files?: readonly FileRef[]
  at?: number
  cut?: number
  state: 'sending' | 'unsent' | 'sent'
}

/** What came of a run. */
export type Answer = {
  kind: 'answer'
  /** The run's. */
  id: string
  at?: number
  blocks: readonly Block[]
  /** `aborted`: stopped, what was said so far is kept. */
  state: 'running' | 'final' | 'aborted' | 'error'
  model?: string
  usage?: Usage
  costUsd?: number
  durationMs?: number
  stopReason?: string
  error?: ErrorBody
  /** No model has said it: it was put in. `label` says where it comes from. */
  injected?: true
  label?: string
}

/** Something the runtime says for itself, outside any answer. */
export type Notice = { kind: 'notice'; id: string; text: string; at?: number }

/** Said beside the conversation, which has nothing of it. `asked`: the answer is on its way; `failed`: `text` says why there is none. */
export type Aside = { id: string; state: 'asked' | 'told' | 'failed'; question?: string; text?: string }

/** What stands for everything before it that was put away to make room. */
export type Summary = { kind: 'summary'; id: string; text: string; at?: number }

export type Block =
  | (Extract<ChatBlock, { type: 'thinking' }> & { durationMs?: number; cut?: number })
  /** `lines`: not written by a model, so that each line of it is one. */
  | (Extract<ChatBlock, { type: 'text' }> & { cut?: number; lines?: true })
  | (Omit<Extract<ChatBlock, { type: 'joined' }>, 'files'> & { files?: readonly FileRef[]; at?: number; cut?: number })
  | ToolBlock
  | AskBlock
  /** The run went on after the process that ran it had ended. */
  | { type: 'resumed'; id: string; at?: number; awayMs?: number }

/** A tool call. `waiting`: announced and not begun, for example since a person is asked first. */
export type ToolBlock = {
  type: 'tool'
  callId: string
  name: string
  state: 'waiting' | ToolEvent['state']
  input?: unknown
  progress?: unknown
  output?: unknown
  /** Characters of the whole output, where only its beginning is here. */
  cut?: number
  /** Why it failed or was skipped. */
  message?: string
  startedAt?: number
  durationMs?: number
}

/** A person is asked about a tool call. It stands where the card of that call stands or would stand. */
export type AskBlock = {
  type: 'ask'
  approval: Approval
  /** When it was asked. */
  since?: number
  /** The answer is on its way. */
  deciding?: Decision
  /** `remember`: also for all further calls of this tool in the conversation. `by: 'timeout'`: nobody has answered. */
  decided?: { decision: Decision; by?: string; at?: number; remember?: 'session' }
}

/** What was cut: a part of a message, or what a tool has answered. */
export type CutPart = { messageId: string; role: 'user' | 'assistant'; part: 'text' | 'reasoning' } | { callId: string }

export type Decision = 'approve' | 'deny'

/** `steer` joins the running turn at its next step, `followup` waits for its end. */
export type SendMode = 'steer' | 'followup'

export type Waiting = { id: string; text: string; files?: readonly FileRef[]; mode: SendMode; at?: number; withdrawing?: boolean }

export type ModelChoice = {
  /** As `setModel` takes it. */
  id: string
  /** Whose it is, what it costs, how much it reads: a few words. */
  detail?: string
  /** Why it cannot be had now. */
  unavailable?: string
}

/**
 * Where the page gets its view from and where what a person does goes to. Promises reject with something that has an `ErrorBody`'s `code`, `message` and
 * `hint`; the page shows it where it happened and keeps what was typed.
 */
export type ChatModel = {
  view(): ChatView
  /** Called after each change of the view; answers how to end it. */
  subscribe(changed: () => void): () => void

  /** Resolves once the server has it or it is kept to be sent later; the draft is cleared then and not before. `mode` counts only while a run goes on. */
  send(text: string, options: { mode: SendMode; files?: readonly FileRef[] }): Promise<void>
  /** Keeps a file for a message; left out where files cannot be sent. The signal ends it. */
  upload?(file: File, signal: AbortSignal): Promise<FileRef>
  /** What is in a file of a conversation. */
  download?(key: string, file: FileRef): Promise<Blob>
  /** Ends the run; what it said is kept, and so is what waits. */
  stop(): Promise<void>
  /** The note is told to the model with a refusal. `remember`: a yes counts for all further calls of this tool in the conversation. */
  decide(approval: Approval, decision: Decision, note?: string, remember?: 'session'): Promise<void>
  /** Reads all of what was cut, in pieces: `onText` is given everything that has been read so far. */
  readAll(key: string, what: CutPart, onText: (text: string) => void, signal: AbortSignal): Promise<void>
  /** `too-late`: it was taken in before. */
  withdraw(id: string): Promise<'withdrawn' | 'too-late'>

  open(key: string): void
  newConversation(): void
  rename(key: string, title: string): Promise<void>
  remove(key: string): Promise<void>
  /** From the next turn on. Null: the default of the agent. */
  setModel(id: string | null): Promise<void>
  setThinking(level: ThinkingLevel | null): Promise<void>
  loadEarlier(): void
  /** What was said beside the conversation is shown no more. */
  dismissAside(id: string): void
  /** Does not wait for the next attempt to connect. */
  reconnect(): void

  /** The address where a conversation, or one run of it, can be looked into; left out where nothing is served there. */
  inspector?(key: string, runId?: string): string
}
