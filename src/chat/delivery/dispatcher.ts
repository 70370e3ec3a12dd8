/** Sends the messages of one turn, one after the other in the order in which they came (OC-61, 62, 72). */
import { createHash } from 'node:crypto'
import type { Channel, DeliveryOutput, FullDelivery, SendKind } from '../../contracts/channel.ts'
import type { Clock, Logger } from '../../contracts/environment.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import type { Payload, Route, Tokens } from '../../contracts/reply.ts'
import { messageNameOf, saidBy } from './adapter-errors.ts'
import { payloadKey } from './blocks.rules.ts'
import type { Delivered, DeliverReport, SendCounts, SkipCounts, SkipReason } from './delivery.context.ts'
import { channelTexts, shaped } from './payload.ts'
import type { Said } from './resume-text.ts'
import { isNothingBut } from './silent-tokens.rules.ts'
import { newThreading, type Threading, thread } from './threading.rules.ts'

type DispatcherParts = {
  channel: Channel | undefined
  route: Route
  delivery: FullDelivery
  messageId: string | undefined
  runId: string
  /** What no other turn has: the beginning of all idempotency keys. */
  name: string
  clock: Clock
  random: () => number
  log: Logger
  report: (report: Exclude<DeliverReport, { type: 'delivery.finished' }>) => void
  emit: (event: DeliveryOutput | AnyEvent) => void
  /** Something waits, or nothing any more. */
  working: (busy: boolean) => void
}

/** @property key of a tool's message or a final one its place in the turn; a block is known by what it says */
type Job = { kind: SendKind; key: string; payload: Payload }
type Waiting = Job & { message: number; superseded?: true }

const natural = { minMs: 800, maxMs: 2500 }

export class Dispatcher {
  readonly #parts: DispatcherParts
  /** No more than an answer has blocks, and a turn has calls of tools. */
  readonly #waiting: Waiting[] = []
  #current: Waiting | undefined
  #threading: Threading
  /** What had arrived in another life. */
  readonly #known = new Set<string>()
  /** Keys of all blocks of the turn. */
  readonly #seen = new Set<string>()
  /** Counts the messages of the model. */
  #message = 0
  /** The newest of which a block came to be sent. */
  #begun = -1
  /** Blocks of the message that is being written which went out. */
  #saying: Said[] = []
  #timers = new Set<unknown>()
  #stopped = false
  /** Ends what the channel is being given. */
  #sending: AbortController | undefined
  #settled: PromiseWithResolvers<void> | undefined
  #blockSent = false
  #strippedLogged = false

  readonly counts: SendCounts = { tool: 0, block: 0, final: 0 }
  readonly skipped: SkipCounts = {}
  failed = 0
  /** Messages that did not arrive, blocks left out: what they say may have come with the rest. */
  lost = 0
  /** Keys of the blocks that were delivered. */
  readonly sent: string[] = []
  /** No block was lost. */
  complete = true
  /** A block took too long. */
  aborted = false

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    const { delivery, messageId } = parts
    this.#threading = newThreading({ mode: delivery.replyTo, tagsWhenOff: delivery.tagsWhenOff, ...(messageId === undefined ? {} : { messageId }) })
  }

  /** What arrived before a crash counts, and is not sent once more. */
  recall(known: Delivered[]): void {
    for (const { key, kind } of known) {
      this.#known.add(`${kind} ${key}`)
      this.counts[kind]++
      if (kind !== 'tool') this.#threading = { ...this.#threading, pointed: true }
      if (kind === 'block') this.#blockSent = true
    }
  }

  add(job: Job): void {
    if (this.#stopped) return
    this.#waiting.push({ ...job, message: this.#message })
    if (this.#settled) return
    this.#settled = Promise.withResolvers()
    this.#parts.working(true)
    void this.#run()
  }

  /** Resolves when nothing waits any more. */
  async settled(): Promise<void> {
    while (this.#settled) await this.#settled.promise
  }

  /** A message of the model is over: no attempt will replace it. */
  endMessage(): void {
    this.#message++
    this.#saying = []
  }

  /** Another attempt replaces the message that is being written. @returns the blocks of it that went out */
  supersede(): Said[] {
    for (const job of [this.#current, ...this.#waiting]) if (job?.kind === 'block' && job.message === this.#message) job.superseded = true
    const said = this.#saying.splice(0)
    for (const { key } of said) {
      this.#seen.delete(key)
      const at = this.sent.indexOf(key)
      if (at >= 0) this.sent.splice(at, 1)
    }
    return said
  }

  /** A block of an attempt that was replaced has been said again. */
  again(said: Said): void {
    this.#seen.add(said.key)
    this.sent.push(said.key)
    this.#saying.push(said)
  }

  /** Nothing more is sent. What is being sent is told so. */
  stop(): void {
    this.#stopped = true
    this.#sending?.abort()
    const left = [this.#current, ...this.#waiting].filter((job) => job !== undefined)
    // All blocks that are left are the rest of one answer.
    this.lost += left.filter(({ kind }) => kind !== 'block').length + (left.some(({ kind }) => kind === 'block') ? 1 : 0)
    this.#current = undefined
    this.#waiting.length = 0
    for (const timer of this.#timers) this.#parts.clock.clearTimeout(timer)
    this.#timers.clear()
  }

  async #run(): Promise<void> {
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      this.#current = job
      await this.#deliver(job)
      this.#current = undefined
      if (this.#stopped) return
    }
    this.#settled?.resolve()
    this.#settled = undefined
    this.#parts.working(false)
  }

  async #deliver(job: Waiting): Promise<void> {
    const { channel } = this.#parts
    const { kind } = job
    if (job.superseded) return
    if (kind === 'block' && this.aborted) return this.#lose(kind, 'dropped')
    if (!channel) return this.#lose(kind, 'no_channel')
    const { payload, skip, stripped } = shaped(job.payload, this.#tokensFor(job))
    if (stripped) this.#noteStripped()
    if (!payload) return this.skip(skip)
    const threaded = thread(this.#threading, payload)
    const key = kind === 'block' ? this.#blockKey(threaded.payload) : job.key
    if (this.#known.has(`${kind} ${key}`)) return kind === 'block' ? this.again({ key, text: payload.text ?? '' }) : undefined
    if (kind === 'block') {
      await this.#pace()
      if (job.superseded || this.#stopped) return
      this.#seen.add(key)
      if (job.message === this.#message) this.#saying.push({ key, text: payload.text ?? '' })
      this.#blockSent = true
    }
    if (kind !== 'tool') this.#threading = threaded.state
    await this.#sendAll(channel, kind, key, kind === 'tool' ? payload : threaded.payload)
  }

  /** In a block after the first one of a message the silent token is part of the text, unless there is nothing else. */
  #tokensFor({ kind, message, payload }: Waiting): Tokens {
    const { tokens } = this.#parts.delivery
    const first = kind !== 'block' || message !== this.#begun
    if (kind === 'block') this.#begun = message
    return first || isNothingBut(payload.text ?? '', tokens.silent) ? tokens : { ...tokens, silent: '' }
  }

  /** What the model says twice is said twice, and each time has a name of its own. */
  #blockKey(payload: Payload): string {
    let nth = 1
    while (this.#seen.has(payloadKey(payload, nth))) nth++
    return payloadKey(payload, nth)
  }

  /** Where the channel takes less at a time, a message becomes several. */
  async #sendAll(channel: Channel, kind: SendKind, key: string, payload: Payload): Promise<void> {
    const { name, report } = this.#parts
    const id = `${name}/${kind}/${kind === 'block' ? createHash('sha256').update(key).digest('hex').slice(0, 16) : key}`
    let worst: 'sent' | 'failed' | 'late' = 'sent'
    for (const [place, part] of channelTexts(payload, channel.textMax, this.#parts.delivery.replyTo).entries()) {
      const result = await this.#send(channel, part, kind, place === 0 ? id : `${id}.${place}`)
      if (this.#stopped) return
      if (result === 'sent') continue
      // Without it the rest makes no sense.
      worst = result
      break
    }
    if (worst === 'sent') {
      this.counts[kind]++
      if (kind === 'block') this.sent.push(key)
      return report({ type: 'block.sent', key, kind })
    }
    this.failed++
    this.#miss(kind)
    if (kind === 'block' && worst === 'late') this.aborted = true
    report({ type: 'block.failed', key, kind, timedOut: worst === 'late' })
  }

  async #send(channel: Channel, payload: Payload, kind: SendKind, key: string): Promise<'sent' | 'failed' | 'late'> {
    const { delivery, emit, log, route, runId } = this.#parts
    const abort = new AbortController()
    this.#sending = abort
    const late = Promise.withResolvers<'late'>()
    const timer = delivery.sendTimeoutMs > 0 ? this.#later(() => late.resolve('late'), delivery.sendTimeoutMs) : undefined
    const about = { runId, channel: channel.id }
    const facts = { ...about, to: route.to, kind, key }
    try {
      // In a function of its own, so that one that throws at once fails like others.
      const sending = (async () =>
        channel.send(payload, { route, kind, key, signal: abort.signal, emit: (event) => emit({ type: 'channel', ...about, event }) }))()
      const result = await Promise.race([sending.then((messageId) => ({ messageId })), late.promise])
      if (this.#stopped) return 'failed'
      if (result === 'late') {
        abort.abort()
        log.warn({ ...facts, sendTimeoutMs: delivery.sendTimeoutMs }, kind === 'block' ? blocksGivenUp : 'a message took too long to send')
        return 'late'
      }
      const messageId = messageNameOf(result.messageId)
      emit({ type: 'block', runId, kind, key, route, payload, ...(messageId === undefined ? {} : { messageId }) })
      return 'sent'
    } catch (error) {
      if (!this.#stopped) log.warn({ ...facts, error: saidBy(error) }, 'a message could not be sent')
      return 'failed'
    } finally {
      this.#sending = undefined
      this.#forget(timer)
    }
  }

  /** Between blocks, never before the first. */
  async #pace(): Promise<void> {
    const { delivery, random } = this.#parts
    if (delivery.pacing === 'off' || !this.#blockSent) return
    const { minMs, maxMs } = delivery.pacing === 'natural' ? natural : delivery.pacing
    const ms = minMs + Math.round(random() * Math.max(0, maxMs - minMs))
    await new Promise<void>((resolve) => void this.#later(resolve, ms))
  }

  #later(callback: () => void, ms: number): unknown {
    const timer = this.#parts.clock.setTimeout(() => {
      this.#timers.delete(timer)
      callback()
    }, ms)
    this.#timers.add(timer)
    return timer
  }

  #forget(timer: unknown): void {
    this.#timers.delete(timer)
    this.#parts.clock.clearTimeout(timer)
  }

  skip(reason: SkipReason): void {
    this.skipped[reason] = (this.skipped[reason] ?? 0) + 1
  }

  /** A block that did not arrive leaves a gap in the answer, which then comes as a whole. */
  #miss(kind: SendKind): void {
    if (kind === 'block') this.complete = false
    else this.lost++
  }

  /** It is not even tried. */
  #lose(kind: SendKind, reason: SkipReason): void {
    this.#miss(kind)
    this.skip(reason)
  }

  #noteStripped(): void {
    if (!this.#strippedLogged) this.#parts.log.info({ runId: this.#parts.runId }, 'a heartbeat token was taken off an answer')
    this.#strippedLogged = true
  }
}

const blocksGivenUp = 'a block took too long to send: what is left goes when all is said'
