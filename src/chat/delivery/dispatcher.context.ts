/** What the dispatcher of one answer knows, and how that changes, as pure functions; the chart in dispatcher.machine.ts says when they are used. */
import type { FullDelivery } from '../../contracts/channel.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Payload } from '../../contracts/reply.ts'
import { finalsLeft, type HeldAudio, holdAudio, noAudio, payloadKey, releaseAudio } from './blocks.rules.ts'
import { type Coalescer, coalesce, flush, newCoalescer } from './coalescer.rules.ts'
import { decorateBlock } from './decorate.rules.ts'
import type { Counted, Delivered, DeliverOrder, Finish, SkipReason } from './delivery.context.ts'
import { channelTexts, shaped } from './payload.rules.ts'
import { isNothingBut } from './silent-tokens.rules.ts'
import { newThreading, type Threading, thread, threadAll } from './threading.rules.ts'

/** @property textMax null where there is no such channel @property known what had arrived in another life */
export type DispatcherInput = { delivery: FullDelivery; textMax: number | null; messageId: string | undefined; known: Delivered[] }

/** A block that was sent, by its key. */
export type SentBlock = { key: string; text: string }

/** @property key of a tool's message or a final one its place in the turn; a block is known by what it says @property message of the model, counted */
type Waiting = Delivered & { payload: Payload; message: number }

/** The message whose turn it is. @property begun the channel is being given it @property part which of its parts */
type Current = Delivered & { text: string; message: number; threading: Threading; parts: Payload[]; part: number; begun: boolean }

export type DispatcherContext = Omit<DispatcherInput, 'known'> &
  Counted & {
    known: readonly string[]
    /** No more than an answer has blocks, and a turn has calls of tools. */
    waiting: readonly Waiting[]
    current: Current | null
    /** All that there is to say, once that is known. */
    answer: Finish | null
    threading: Threading
    /** Short blocks that wait for more. */
    coalescer: Coalescer
    audio: HeldAudio
    /** Sound of the messages before the one that is being written. */
    audioBefore: HeldAudio
    /** Counts the messages of the model. */
    message: number
    /** The newest of which a block came to be sent. */
    messageBegun: number
    /** What stands before each block of the message. */
    prefix: string | undefined
    /** The blocks that count, of all messages, as soon as they go out. */
    said: readonly (SentBlock & { message: number; arrived: boolean })[]
    blockSent: boolean
    /** No block was lost, and nothing of what the model said on its way to here. */
    complete: boolean
    /** A heartbeat token was taken off. */
    stripped: boolean
    /** The calls that messages of tools were about, one for each message. */
    toolMessages: readonly string[]
  }
type Context = DispatcherContext
type Change = Partial<Context>

const threadingOf = ({ delivery: { replyTo: mode, tagsWhenOff }, messageId }: Pick<Context, 'delivery' | 'messageId'>): Threading =>
  newThreading(definedOf({ mode, tagsWhenOff, messageId }))

/** What arrived before a crash counts, and is not sent once more. */
export const begin = ({ delivery, textMax, messageId, known }: DispatcherInput): Context => {
  const { minChars, maxChars, joiner } = delivery.coalesce
  const counts = { tool: 0, block: 0, final: 0 }
  for (const { kind } of known) counts[kind]++
  return {
    delivery,
    textMax,
    messageId,
    counts,
    failed: 0,
    lost: 0,
    aborted: false,
    skipped: {},
    known: known.map(({ kind, key }) => `${kind} ${key}`),
    waiting: [],
    current: null,
    answer: null,
    threading: { ...threadingOf({ delivery, messageId }), pointed: counts.block + counts.final > 0 },
    coalescer: newCoalescer({ min: minChars, max: maxChars, joiner }),
    audio: noAudio,
    audioBefore: noAudio,
    message: 0,
    messageBegun: -1,
    prefix: undefined,
    said: [],
    blockSent: counts.block > 0,
    complete: true,
    stripped: false,
    toolMessages: [],
  }
}

/** Another attempt replaces the message that is being written: what of it waits is dropped. What is being sent arrives or does not. */
export const superseded = ({ coalescer, audioBefore, waiting, current, message, said }: Context): Change => {
  const isOfAnother = ({ kind, message: of }: Delivered & { message: number }) => kind !== 'block' || of !== message
  return {
    coalescer: newCoalescer(coalescer),
    audio: audioBefore,
    waiting: waiting.filter(isOfAnother),
    current: current && (current.begun || isOfAnother(current)) ? current : null,
    said: said.filter((block) => block.message !== message),
  }
}

/** Blocks of the message that is being written which went out. */
export const saidOf = ({ said, message }: Context): SentBlock[] =>
  said.flatMap(({ key, text, message: of }) => (of === message ? [{ key, text }] : []))

/** A block that was sent, by an attempt that was replaced or in another life, has been said again. */
export const found = ({ said, message }: Context, block: SentBlock): Change => ({ said: [...said, { ...block, message, arrived: true }] })

const queued = ({ waiting, message, prefix, delivery: { tokens } }: Context, blocks: Payload[]): readonly Waiting[] => {
  const decorated = (payload: Payload) =>
    prefix === undefined ? payload : decorateBlock(payload, { tokens, verbose: false, streamed: true, prefix })
  return blocks.length === 0
    ? waiting
    : [...waiting, ...blocks.map((block) => ({ kind: 'block' as const, key: '', payload: decorated(block), message }))]
}

/** Blocks were cut out of the text: short ones are put together, sound is kept for the end. @param voice it is to be a voice message */
export const blocksTaken = (context: Context, blocks: Payload[], voice: boolean): Change => {
  let { audio, coalescer } = context
  if (voice) audio = { ...audio, voice }
  const ready: Payload[] = []
  for (const block of blocks) {
    const kept = holdAudio(audio, block)
    audio = kept.state
    for (const payload of kept.send) {
      const step = coalesce(coalescer, payload)
      coalescer = step.state
      ready.push(...step.send)
    }
  }
  return { audio, coalescer, waiting: queued(context, ready) }
}

export const isWorthSending = ({ coalescer }: Context): boolean => flush(coalescer, { force: false }).send.length > 0

/** What waited for more text waits to be sent. @param more what goes behind it */
export const flushed = (context: Context, more: Payload[] = []): Change => {
  const { state, send } = flush(context.coalescer, { force: true })
  return { coalescer: state, waiting: queued(context, [...send, ...more]) }
}

/** All is said: sound does not wait either. */
export const released = (context: Context): Change => ({ ...flushed(context, releaseAudio(context.audio)), audio: noAudio })

export const toolMessageQueued = (
  { waiting, message, toolMessages }: Context,
  { callId, payload }: Extract<DeliverOrder, { type: 'delivery.tool' }>,
): Change => {
  if (!payload) return {}
  const nth = toolMessages.filter((id) => id === callId).length + 1
  const key = nth === 1 ? callId : `${callId}.${nth}`
  return { toolMessages: [...toolMessages, callId], waiting: [...waiting, { kind: 'tool', key, payload, message }] }
}

/** Takes the next message. There is none to send if there is nothing in it, no use in it, or if it had arrived. */
export const nextTaken = (context: Context): Change => {
  const [next, ...waiting] = context.waiting
  if (!next) return {}
  const { kind, message } = next
  const left: Change = { waiting, current: null }
  if (kind === 'block' && context.aborted) return { ...left, ...missed(context, kind), ...skipped(context, 'dropped') }
  if (context.textMax === null) return { ...left, ...missed(context, kind), ...skipped(context, 'no_channel') }
  const { payload, skip, stripped } = shaped(next.payload, tokensFor(context, next))
  if (kind === 'block') left.messageBegun = message
  if (stripped) left.stripped = true
  if (!payload) return { ...left, ...skipped(context, skip) }
  const threaded = thread(context.threading, payload)
  const key = kind === 'block' ? blockKey(context, threaded.payload) : next.key
  const { text = '' } = payload
  if (context.known.includes(`${kind} ${key}`)) return kind === 'block' ? { ...left, ...found(context, { key, text }) } : left
  const parts = channelTexts(kind === 'tool' ? payload : threaded.payload, context.textMax, context.delivery.replyTo)
  const threading = kind === 'tool' ? context.threading : threaded.state
  return { ...left, current: { kind, key, text, message, threading, parts, part: 0, begun: false } }
}

/** In a block after the first one of a message the silent token is part of the text, unless there is nothing else. */
const tokensFor = ({ messageBegun, delivery: { tokens } }: Context, { kind, message, payload }: Waiting): FullDelivery['tokens'] =>
  kind !== 'block' || message !== messageBegun || isNothingBut(payload.text ?? '', tokens.silent) ? tokens : { ...tokens, silent: '' }

/** What the model says twice is said twice, and each time has a name of its own; whole answers alone leave out a paragraph that follows itself (`cleanText`). */
const blockKey = ({ said }: Pick<Context, 'said'>, payload: Payload, nth = 1): string => {
  const key = payloadKey(payload, nth)
  return said.some((block) => block.key === key) ? blockKey({ said }, payload, nth + 1) : key
}

/** A block that did not arrive leaves a gap in the answer, which then comes as a whole; what else did not is lost. */
const missed = ({ lost }: Context, kind: Delivered['kind']): Change => (kind === 'block' ? { complete: false } : { lost: lost + 1 })

const skipped = (context: Context, reason: SkipReason): Change => ({
  skipped: { ...context.skipped, [reason]: (context.skipped[reason] ?? 0) + 1 },
})

/** The channel is given the message. */
export const sendingBegun = ({ current, said }: Context): Change => {
  const { kind, key, text, message, threading } = current as Current
  const begun: Change = { current: { ...(current as Current), begun: true }, threading }
  return kind === 'block' ? { ...begun, blockSent: true, said: [...said, { key, text, message, arrived: false }] } : begun
}

/** One part of a message. @property part how many came before it */
export type SendInput = Delivered & { payload: Payload; part: number }

export const partOf = ({ current }: Context): SendInput => {
  const { kind, key, parts, part } = current as Current
  return { kind, key, payload: parts[part] as Payload, part }
}

/** Which message is being sent. */
export const currentOf = ({ current }: Context): Delivered => {
  const { kind, key } = current as Current
  return { kind, key }
}

/** It has arrived, with all of its parts. */
export const arrived = ({ counts, said }: Context, { kind, key }: Delivered): Change => ({
  counts: { ...counts, [kind]: counts[kind] + 1 },
  said: said.map((block) => (kind === 'block' && block.key === key ? { ...block, arrived: true } : block)),
  current: null,
})

/** It has not. After a block that took too long none is sent any more, for their order's sake. */
export const failed = (context: Context, { kind }: Delivered, timedOut: boolean): Change => ({
  ...missed(context, kind),
  failed: context.failed + 1,
  aborted: context.aborted || (kind === 'block' && timedOut),
  current: null,
})

/** What is sent when all is said: what is added to the answer, and what of it was not streamed. */
export const restOf = (context: Context): readonly Waiting[] => {
  const { leading = [], payloads = [], trailing = [] } = context.answer ?? {}
  const keyed = (part: string, all: Payload[]): Waiting[] =>
    all.map((payload, place) => ({ kind: 'final', key: `${part}.${place + 1}`, payload, message: context.message }))
  const left = isLeft(context, payloads)
  return [...keyed('leading', leading), ...keyed('final', payloads).filter((_, place) => left[place]), ...keyed('trailing', trailing)]
}

/** Which payloads of the whole answer were not streamed. That something went wrong is always said. */
const isLeft = (context: Context, payloads: Payload[]): boolean[] => {
  const sent = context.said.flatMap(({ key, arrived: has }) => (has ? [key] : []))
  const bare = payloads.map((payload) => shaped(payload, context.delivery.tokens).payload ?? payload)
  return threadAll(threadingOf(context), bare).payloads.map((compared, place) =>
    payloads[place]?.error ? !sent.includes(payloadKey(compared)) : finalsLeft({ ...context, sent }, [compared]).length > 0,
  )
}

/** Whether a user sees anything of what is left. */
export const isRestSeen = (context: Context): boolean =>
  restOf(context).some(({ payload }) => {
    const seen = shaped(payload, context.delivery.tokens).payload
    return seen?.text !== undefined || (seen?.media?.length ?? 0) > 0
  })

/** Nothing more is sent. All blocks that are left are the rest of one answer, and lost as one. */
export const abandoned = ({ lost, current, waiting }: Context): Change => {
  const kinds = [...(current ? [current] : []), ...waiting].map(({ kind }) => kind)
  const blocks = kinds.includes('block') ? 1 : 0
  return { aborted: true, lost: lost + kinds.filter((kind) => kind !== 'block').length + blocks, current: null, waiting: [] }
}

export const counted = ({ counts, failed: sends, lost, aborted, skipped: left }: Context): Counted => ({
  counts,
  failed: sends,
  lost,
  aborted,
  skipped: left,
})
