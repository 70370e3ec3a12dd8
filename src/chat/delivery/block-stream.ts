/** Makes blocks out of what a model says: cut where a reader would pause, short ones put together, sound kept for the end (OC-59, 60, 63). */
import type { FullDelivery } from '../../contracts/channel.ts'
import type { Clock } from '../../contracts/environment.ts'
import type { Payload } from '../../contracts/reply.ts'
import { type HeldAudio, holdAudio, noAudio, releaseAudio } from './blocks.rules.ts'
import { chunker } from './chunker.rules.ts'
import { type Coalescer, coalesce, flush, newCoalescer } from './coalescer.rules.ts'
import type { Directed } from './model-directives.rules.ts'

type Target = Pick<Payload, 'replyTo' | 'replyTagged'>

export class Blocks {
  readonly #delivery: FullDelivery
  readonly #clock: Clock
  readonly #send: (payload: Payload) => void
  #chunks: ReturnType<typeof chunker>
  #coalescer: Coalescer
  #idle: unknown
  #audio: HeldAudio = noAudio
  /** Sound of the messages before the one that is being written. */
  #audioBefore: HeldAudio = noAudio
  #target: Target = {}

  /** @param delivery within the limits of the channel */
  constructor(delivery: FullDelivery, clock: Clock, send: (payload: Payload) => void) {
    this.#delivery = delivery
    this.#clock = clock
    this.#send = send
    this.#chunks = this.#newChunks()
    const { minChars, maxChars, joiner } = delivery.coalesce
    this.#coalescer = newCoalescer({ min: minChars, max: maxChars, joiner })
  }

  /** Where blocks are cut only when all is said, they still must not become too long. */
  #newChunks(): ReturnType<typeof chunker> {
    const { boundary, min, max } = this.#delivery
    return chunker({ min: boundary === 'message_end' ? max : min, max })
  }

  /** The model begins a message. What is left of the one before goes. */
  begin(): void {
    this.flush()
    this.#target = {}
    this.#audioBefore = this.#audio
  }

  /** Drops what is left of the message that is being written: another attempt begins it anew. */
  reset(): void {
    this.#clock.clearTimeout(this.#idle)
    this.#chunks = this.#newChunks()
    this.#coalescer = newCoalescer(this.#coalescer)
    this.#target = {}
    this.#audio = this.#audioBefore
  }

  take({ text, media, voice, replyTo, replyTagged }: Omit<Directed, 'refused'>): void {
    if (replyTo !== undefined && replyTo !== this.#target.replyTo) {
      this.drain()
      this.#target = { replyTo, ...(replyTagged ? { replyTagged } : {}) }
    }
    if (voice) this.#audio = { ...this.#audio, voice }
    for (const chunk of this.#chunks.push(text)) this.#block({ text: chunk })
    if (media.length === 0) return
    this.drain()
    this.#block({ media })
  }

  /** The message is over: nothing waits for more text, but blocks may still be put together. */
  drain(): void {
    for (const chunk of this.#chunks.drain()) this.#block({ text: chunk })
  }

  /** Sends all that waits, but sound. */
  flush(): void {
    this.drain()
    this.#flushHeld(true)
  }

  /** The turn is over: sends everything. */
  finish(): void {
    this.flush()
    for (const payload of releaseAudio(this.#audio)) this.#send(payload)
    this.#audio = noAudio
  }

  stop(): void {
    this.#clock.clearTimeout(this.#idle)
  }

  #block(content: Payload): void {
    const { state, send } = holdAudio(this.#audio, { ...content, ...this.#target })
    this.#audio = state
    for (const payload of send) this.#coalesce(payload)
  }

  #coalesce(payload: Payload): void {
    const { state, send } = coalesce(this.#coalescer, payload)
    this.#coalescer = state
    this.#clock.clearTimeout(this.#idle)
    for (const block of send) this.#send(block)
    if (state.held) this.#idle = this.#clock.setTimeout(() => this.#flushHeld(false), this.#delivery.coalesce.idleMs)
  }

  #flushHeld(force: boolean): void {
    this.#clock.clearTimeout(this.#idle)
    const { state, send } = flush(this.#coalescer, { force })
    this.#coalescer = state
    for (const block of send) this.#send(block)
  }
}
