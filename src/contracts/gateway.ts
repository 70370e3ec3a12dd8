/**
 * What goes over the WebSocket of a gateway, `GET /ws`, one JSON text a frame.
 *
 *     server  event connect.challenge                     at once
 *     client  req   connect { … }                          within 10 s, as its first frame
 *     server  res   { protocol, server, policy, scopes }   or an error, and the socket is closed
 *     client  req   any command, chat.subscribe …          answered by its id, in any order
 *     server  event …                                      of what was subscribed to, and what everybody gets
 */
import { z } from 'zod'
import type { PendingCall } from './client-tools.ts'
import type { ErrorBody } from './errors.ts'
import type { FileRef } from './file.ts'
import type { Usage } from './message.ts'
import { Kind, SessionKey } from './trace-commands.ts'
import type { Approval } from './turn.ts'

/** The version of these frames; a client says which it speaks. */
export const gatewayProtocol = 1

/** What a connection may do: look, talk, decide about tool calls, everything. `write` and `approve` imply `read`, `admin` all of them. */
export const gatewayScopes = ['read', 'write', 'approve', 'admin'] as const
export type GatewayScope = (typeof gatewayScopes)[number]

/**
 * What a client can take beside the plain form. `chat.patch`: a delta holds only what has changed of an answer since the one before; without it each
 * holds all of it.
 */
export const gatewayCaps = ['chat.patch'] as const
export type GatewayCap = (typeof gatewayCaps)[number]

const Word = z.string().min(1).max(200)

/** Any frame of a client. */
export const ClientFrame = z.strictObject({
  type: z.literal('req'),
  id: z.string().min(1).max(100).describe('chosen by the client; the answer has the same'),
  method: z.string().min(1).max(100),
  params: z.record(z.string(), z.unknown()).optional(),
})
export type ClientFrame = z.infer<typeof ClientFrame>

/** What the socket takes beside the commands of `commands.ts`. */
export const socketMethods = {
  connect: z.strictObject({
    minProtocol: z.number().int().min(1),
    maxProtocol: z.number().int().min(1),
    client: z.strictObject({ name: Word, version: Word.optional(), platform: Word.optional() }),
    role: z.literal('operator').default('operator'),
    scopes: z.array(z.enum(gatewayScopes)).max(gatewayScopes.length).optional().describe('default: all that the token allows'),
    caps: z.array(z.string().max(100)).max(50).default([]).describe('those that are not known are ignored'),
    auth: z.strictObject({ token: z.string().max(500) }),
    nonce: z.string().max(200).optional().describe('that of the challenge'),
  }),
  'chat.subscribe': z
    .strictObject({ sessionKey: SessionKey })
    .describe('the events of a session from now on; answers with the run that is going on, as far as it has come'),
  'chat.unsubscribe': z.strictObject({ sessionKey: SessionKey }),
  'trace.subscribe': z
    .strictObject({ kind: Kind.optional(), id: SessionKey })
    .describe('hears from now on how far the journal of an actor has come; answers with its address'),
  'trace.unsubscribe': z.strictObject({ kind: Kind.optional(), id: SessionKey }),
} as const satisfies Record<string, z.ZodType>
export type SocketMethod = keyof typeof socketMethods
export type ConnectParams = z.input<(typeof socketMethods)['connect']>

/** Answer to `connect`. Bytes and milliseconds. */
export type Welcome = {
  protocol: number
  server: { name: 'statecast'; version: string; connection: string; node?: string }
  policy: { frameBytesMax: number; bufferedBytesMax: number; tickMs: number }
  scopes: GatewayScope[]
  caps: GatewayCap[]
}

/** A part of an answer, in its order. `id` names the message of the history that it is or will be, where it is known. */
export type ChatBlock =
  | { type: 'thinking'; id: string; thinking: string }
  | { type: 'text'; id: string; text: string }
  /** Links to the `session.tool` events, and in the history to the call. */
  | { type: 'tool'; id: string; callId: string; name: string }
  /** Somebody said it while the run was going on, and it took it in here. */
  | { type: 'joined'; id: string; text: string; files?: FileRef[] }

/** Kinds that a client can show differently; `unknown` for all others. */
export type ChatErrorKind = 'refusal' | 'timeout' | 'rate_limit' | 'context_length' | 'unknown'

/**
 * One step of a run for those who watch it. `content` is all of the run so far, so that a lost delta does no harm; with the cap `chat.patch` and
 * a `from`, it replaces what stands from block `from.block` on, and a text or thinking that comes first goes on at `from.offset` (UTF-16 units) of it.
 */
export type ChatEvent = {
  runId: string
  sessionKey: string
  /** From 1, by run, in the order in which they were made; gaps are deltas that were left out for a slow connection. */
  seq: number
  /** Exactly one of the last three ends a run. */
  state: 'delta' | 'final' | 'aborted' | 'error'
  /** Left out where nothing is to be shown. */
  message?: { role: 'assistant'; content: ChatBlock[]; timestamp: number }
  from?: { block: number; offset: number }
  /** No run: it was put into the conversation. `label` says where it comes from. */
  injected?: true
  label?: string
  /** The messages that the run answers. */
  ids?: string[]
  /** With the end. */
  model?: string
  usage?: Usage
  costUsd?: number
  durationMs?: number
  /** Whether the provider could have the conversation so far in its cache: `expired` is a cold one. */
  cache?: 'new' | 'warm' | 'expired'
  steps?: number
  /** `tool_calls` where the client has to run `pendingCalls`, and give their results with `tools.result`. */
  stopReason?: string
  pendingCalls?: PendingCall[]
  error?: ErrorBody
  errorKind?: ChatErrorKind
}

/** A tool call for those who watch it: `running` once or, where it reports progress, several times, then one of the others. */
export type ToolEvent = {
  runId: string
  sessionKey: string
  callId: string
  toolName: string
  state: 'running' | 'done' | 'error' | 'skipped'
  input?: unknown
  /** What a running tool says of itself. */
  progress?: unknown
  output?: unknown
  message?: string
  timestamp: number
}

/** A message of a person was taken in, by whatever way it came. `queued` and `collected` ones wait for the end of the run. */
export type MessageEvent = {
  sessionKey: string
  id: string
  runId: string
  status: 'started' | 'steered' | 'queued' | 'collected' | 'answered'
  /** Where it is known to this node. */
  text?: string
  files?: FileRef[]
  timestamp: number
}

/** Said beside the conversation, which has nothing of it: the answer to a side question, whose id is `runId`, or what a run has come upon. */
export type SideResultEvent = {
  kind: 'btw'
  runId: string
  sessionKey: string
  /** From 1, by run, in the order in which this gateway told them. */
  seq: number
  question?: string
  /** Where `isError`, why there is no answer. */
  text: string
  isError: boolean
  /** ms since the epoch. */
  ts: number
}

/** What the session is doing, as its chart says it: `running.answering`. */
export type StateEvent = { sessionKey: string; state: string; runId?: string; detail?: string; timestamp: number }

/** The events of the socket and what they hold. Those without a session go to everybody, numbered by `seq`. */
export type GatewayEvents = {
  'connect.challenge': { nonce: string; timestamp: number }
  tick: { timestamp: number }
  health: unknown
  shutdown: { reason: string }
  /** Sessions of this node began, went on or were deleted: a list of them is to be read anew. At most once a second, and not numbered. */
  'sessions.changed': { timestamp: number }
  /** The journal has come to this commit, whichever node wrote it; 0: it was deleted here. The newest one only, where several came. Read on from where you are. */
  'trace.grown': { kind: string; id: string; seq: number }
  chat: ChatEvent
  'session.tool': ToolEvent
  'session.message': MessageEvent
  'session.state': StateEvent
  /** Parts of the prompt that are not as they were: what the provider has in its cache is of no use behind them. */
  'session.prefix': { sessionKey: string; runId: string; changed: string[]; timestamp: number }
  'chat.side_result': SideResultEvent
  'session.notice': { sessionKey: string; id?: string; text: string; timestamp: number }
  /** What was known of the session is of another life: read its history anew. */
  'session.restart': { sessionKey: string; timestamp: number }
  'approval.requested': { sessionKey: string; approval: Approval; timestamp: number }
  'approval.resolved': {
    sessionKey: string
    runId: string
    callId: string
    decision: 'approve' | 'deny'
    remember?: 'session'
    by?: string
    timestamp: number
  }
}
export type GatewayEventName = keyof GatewayEvents

export type ResponseFrame = { type: 'res'; id: string } & ({ ok: true; payload: unknown } | { ok: false; error: ErrorBody })
export type EventFrame = {
  [Name in GatewayEventName]: { type: 'event'; event: Name; payload: GatewayEvents[Name]; seq?: number }
}[GatewayEventName]
export type ServerFrame = ResponseFrame | EventFrame

/** Answer to `chat.subscribe`: `run` as its newest `chat` event would say it. */
export type Subscribed = { sessionKey: string; run: ChatEvent | null; tools: ToolEvent[] }
