/** Where messages of users come from and answers go to: what one channel can do, and how an answer is delivered there. */
import { z } from 'zod'
import type { AnyEvent } from './journal.ts'
import { defaultTokens, Origin, type Payload, ReplyToMode, type Route, type Tokens } from './reply.ts'
import { ReasoningVisibility } from './settings.ts'

const Ms = z.number().int()
const Chars = z.number().int().min(1)

/** When somebody is seen to type: never, from the beginning, from the first reasoning, from the first text that is not silent. */
export const TypingMode = z.enum(['never', 'instant', 'thinking', 'message'])
export type TypingMode = z.infer<typeof TypingMode>

/** How answers are delivered. What is not there follows {@link deliveryDefaults}; frozen when a message is accepted, so it is kept small. */
export const Delivery = z
  .strictObject({
    streaming: z.boolean().optional().describe('whether an answer is sent in blocks while it is written; default: no'),
    boundary: z
      .enum(['text_end', 'message_end'])
      .optional()
      .describe('whether blocks are cut as the text grows, or when the model has said its message; default text_end'),
    min: Chars.optional().describe('characters before a pause is looked for to end a block; default 800'),
    max: Chars.optional().describe('characters of a block; default 1,200, and never more than the channel takes'),
    coalesce: z
      .strictObject({
        minChars: Chars.optional().describe('characters that are worth a message; default: min'),
        maxChars: Chars.optional().describe('characters of blocks put together; default: max'),
        idleMs: Ms.min(0).optional().describe('ms without another block before they are sent; default 1,000'),
        joiner: z.enum(['\n\n', '\n', ' ']).optional().describe('what stands between two blocks; default: a blank line'),
      })
      .optional()
      .describe('how short blocks are put together'),
    sendTimeoutMs: Ms.optional().describe('ms that one send may take; 0 and less mean no limit; default 15,000'),
    typing: z
      .strictObject({
        mode: TypingMode.optional().describe('what sets typing off; default instant'),
        everyMs: Ms.optional().describe('ms between two signs of typing; 0 and less mean that there are none; default 6,000'),
        lifetimeMs: Ms.min(1).optional().describe('ms without any activity after which nobody types; default 120,000'),
      })
      .optional(),
    pacing: z
      .union([z.enum(['off', 'natural']), z.strictObject({ minMs: Ms.min(0), maxMs: Ms.min(0) })])
      .optional()
      .describe('a pause between blocks as a person would make one; natural: 800 to 2,500 ms; default off'),
    replyTo: ReplyToMode.optional().describe('which messages point at the one that they answer; default all'),
    tagsWhenOff: z.boolean().optional().describe('whether the model may point at a message where replyTo is off; default: no'),
    reasoning: ReasoningVisibility.optional().describe('whether the reasoning of the model is shown; default off'),
    finalOnly: z.boolean().optional().describe('whether only text within final tags is shown, for models that need them; default: no'),
    tokens: z
      .strictObject({
        silent: z.string().min(1).max(100).optional().describe('says that nothing is to be sent; default NO_REPLY'),
        heartbeat: z.string().min(1).max(100).optional().describe('says that a heartbeat found nothing; default HEARTBEAT_OK'),
      })
      .optional(),
  })
  .refine(({ min, max }) => min === undefined || max === undefined || min <= max, { path: ['min'], error: 'min is more than max' })
  .describe('how answers are delivered')
export type Delivery = z.infer<typeof Delivery>

type Whole<Partly> = { [Name in keyof Partly]-?: Exclude<Partly[Name], undefined> }
/** The same with nothing left open. */
export type FullDelivery = Whole<Omit<Delivery, 'coalesce' | 'typing' | 'tokens'>> & {
  coalesce: Whole<NonNullable<Delivery['coalesce']>>
  typing: Whole<NonNullable<Delivery['typing']>>
  tokens: Tokens
}

export const deliveryDefaults = (given: Delivery = {}): FullDelivery => {
  const { coalesce = {}, typing = {}, tokens = {}, max = 1200 } = given
  const min = Math.min(given.min ?? 800, max)
  const { minChars = min } = coalesce
  return {
    streaming: given.streaming ?? false,
    boundary: given.boundary ?? 'text_end',
    min,
    max,
    coalesce: {
      minChars,
      maxChars: coalesce.maxChars ?? Math.max(max, minChars),
      idleMs: coalesce.idleMs ?? 1000,
      joiner: coalesce.joiner ?? '\n\n',
    },
    sendTimeoutMs: given.sendTimeoutMs ?? 15_000,
    typing: { mode: typing.mode ?? 'instant', everyMs: typing.everyMs ?? 6000, lifetimeMs: typing.lifetimeMs ?? 120_000 },
    pacing: given.pacing ?? 'off',
    replyTo: given.replyTo ?? 'all',
    tagsWhenOff: given.tagsWhenOff ?? false,
    reasoning: given.reasoning ?? 'off',
    finalOnly: given.finalOnly ?? false,
    tokens: { silent: tokens.silent ?? defaultTokens.silent, heartbeat: tokens.heartbeat ?? defaultTokens.heartbeat },
  }
}

/** `tool`: about a tool that runs; `block`: a part of an answer that is still written; `final`: what is left when all is said. */
export type SendKind = 'tool' | 'block' | 'final'

export type SendOptions = {
  route: Route
  kind: SendKind
  /** Idempotency key: the same when a message is sent once more, since nobody knows whether it had arrived before a crash. */
  key: string
  /** Aborts when the send takes too long, or nobody wants it any more. */
  signal: AbortSignal
  /** Says something to listeners of the session, as the `event` of one of type `channel`. */
  emit: (event: AnyEvent) => void
}

/** What of a heartbeat can be seen: that all is well (default: no), that something is not, and that one ran (default: yes). */
export type HeartbeatVisibility = { showOk?: boolean | undefined; showAlerts?: boolean | undefined; indicator?: boolean | undefined }

/** The adapter of one channel: all that is peculiar to it. */
export interface Channel {
  readonly id: string
  /** Our accounts there, with what the operator wants for each. */
  readonly accounts?: Readonly<Record<string, Delivery>>
  /** What the operator wants for the channel. */
  readonly settings?: Delivery
  /** What suits the channel where nobody wants anything else. */
  readonly blocks?: Pick<Delivery, 'streaming' | 'boundary' | 'min' | 'max' | 'coalesce'>
  /** Whether it shows Markdown as more than text. */
  readonly markdown: boolean
  /** Characters of one message. */
  readonly textMax: number
  /** ms without a new message before those that wait in a session get their turn. */
  readonly queueDebounceMs?: number
  /** ms in which messages of one sender become one. */
  readonly inboundDebounceMs?: number
  /** A send that is repeated under its key does no harm: then what was delivered is noted with the next commit, not in one of its own. */
  readonly repeatable?: boolean
  /** Who reads there is shown tool calls that wait for a person in another way than by a message. */
  readonly showsApprovals?: boolean
  /** The model may point at a message where `replyTo` says off. */
  readonly tagsWhenOff?: boolean
  /** Names of the skills that may be used there; default: all. */
  readonly skills?: readonly string[]
  /** It may depend on account and chat type; without it: all. */
  replyTo?(origin: Origin): ReplyToMode
  /** What tools are told about the conversation that they are used in. */
  threadContext?(origin: Origin): Record<string, unknown> | undefined
  /** Whether a message to a group is meant for us. */
  mentioned?(origin: Origin, text: string): boolean
  /** What the model is told about groups there, such as how to name people. */
  groupHint?(origin: Origin): string | undefined
  /** What of heartbeats can be seen there, and where one of our accounts differs in that. */
  readonly heartbeat?: HeartbeatVisibility & { accounts?: Readonly<Record<string, HeartbeatVisibility>> }
  /** Whether it can deliver now what nobody asked for. */
  heartbeatReady?(): boolean | Promise<boolean>
  /** Shows for a few seconds that somebody types. Without it nobody is ever seen to type. */
  typing?(route: Route, options: { signal: AbortSignal }): void | Promise<void>
  /** Shows what is being written, all of it so far; for channels that can change a message again. */
  partial?(text: string, options: { route: Route; kind: 'text' | 'reasoning'; signal: AbortSignal }): void | Promise<void>
  /** @returns the message as the channel names it, if it does @throws whatever keeps it from being sent: the next message is tried all the same, unless it is a further part of this one */
  send(payload: Payload, options: SendOptions): string | undefined | Promise<string | undefined>
}

/** Live output of a turn about its delivery, for listeners of its session. */
export type DeliveryOutput =
  | { type: 'channel'; runId: string; channel: string; event: AnyEvent }
  | { type: 'block'; runId: string; kind: SendKind; key: string; route: Route; payload: Payload; messageId?: string }
  | { type: 'typing'; runId: string; route: Route; active: boolean }

/** A rule fits where all that it names does; one that names nothing fits everywhere. */
export const SendRule = z.strictObject({
  action: z.enum(['allow', 'deny']),
  channel: z.string().min(1).optional(),
  chatType: Origin.shape.chatType,
  keyPrefix: z.string().optional(),
})
export type SendRule = z.infer<typeof SendRule>
