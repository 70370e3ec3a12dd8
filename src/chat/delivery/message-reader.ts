/** Reads what the model says, message by message: deltas go in, and out come blocks for the dispatcher, the draft and signs that it is at work. */
import type { FullDelivery } from '../../contracts/channel.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import type { References } from '../../contracts/references.ts'
import type { Payload } from '../../contracts/reply.ts'
import { chunker } from './chunker.rules.ts'
import { DeltaReader } from './delta-reader.ts'
import { DirectiveStream } from './directive-stream.ts'
import type { SentBlock } from './dispatcher.context.ts'
import type { ReaderEvent } from './dispatcher.machine.ts'
import type { Draft } from './draft.ts'
import type { Directed } from './model-directives.rules.ts'
import { ResumeText } from './resume-text.ts'
import type { Typing } from './typing.effects.ts'

type ReaderParts = {
  /** Within the limits of the channel. */
  delivery: FullDelivery
  messageId: string | undefined
  /** Keys of blocks that had arrived in another life. */
  known: string[]
  draft: Draft
  typing: Typing
  tell: (event: ReaderEvent) => void
  /** The model wants files sent that it may not send. */
  onRefused: (files: string[]) => void
}

export class MessageReader {
  readonly #parts: ReaderParts
  readonly #resume: ResumeText
  /** Without streaming nothing is cut. */
  #chunks: ReturnType<typeof chunker> | undefined
  /** The message that is being written. */
  #open: { deltas: DeltaReader; directives: DirectiveStream } | undefined
  #known: string[]
  #target: Pick<Payload, 'replyTo' | 'replyTagged'> = {}
  /** The highest number of an attempt that was heard. */
  #attemptLast = 0

  constructor(parts: ReaderParts) {
    this.#parts = parts
    this.#known = parts.known
    this.#resume = new ResumeText((block) => parts.tell({ type: 'block.found', block }))
    this.#chunks = this.#newChunks()
  }

  /** A call of the model begins. If a message was being written, the dispatcher has had it begun anew. */
  start(attempt: number, prefix: string | undefined): void {
    this.#parts.draft.begin()
    this.#target = {}
    this.#open = { deltas: new DeltaReader(Math.max(attempt, this.#attemptLast + 1)), directives: this.#newDirectives() }
    this.#resume.expect(this.#known.splice(0).map((key) => ({ key, text: textOf(key, prefix) })))
  }

  /** What was said of the message does not count any more. @param said what of it was sent, and need not be said again */
  restart(said: readonly SentBlock[]): void {
    this.#parts.draft.begin()
    this.#target = {}
    this.#chunks = this.#newChunks()
    this.#resume.expect([...said])
    if (this.#open) this.#open.directives = this.#newDirectives()
  }

  hear(delta: AnyEvent): void {
    const heard = this.#open?.deltas.take(delta)
    if (!heard || !this.#open) return
    if (heard.anew) this.#parts.tell({ type: 'message.superseded' })
    this.#attemptLast = Math.max(this.#attemptLast, heard.attempt)
    if (heard.kind === 'reasoning') this.#reason(heard.text)
    else this.#speak(this.#open.directives, heard.text)
  }

  /** @param message as a whole, as far as it is known @param replayed it was sent to a process that crashed: the deltas to it are gone */
  end({ text, references }: { text?: string; references?: References }, replayed: boolean): void {
    if (!this.#open) return
    const { deltas } = this.#open
    const missing = text === undefined ? '' : deltas.missing(text)
    // What was streamed is not how it ended: it is said from the beginning.
    if (missing === undefined) this.#parts.tell({ type: 'message.superseded' })
    this.#speak(this.#open.directives, missing ?? text ?? '')
    this.close(references)
    this.#parts.tell({ type: 'message.ended', whole: text !== undefined || (deltas.whole && !replayed) })
  }

  /** Nothing more is said of the message. */
  close(references?: References): void {
    if (!this.#open) return
    for (const line of this.#open.directives.end(references)) this.#say(line)
    this.#cut({ text: this.#resume.end(), media: [] })
    this.drain()
    this.#open = undefined
  }

  /** The text so far waits for no more of it. */
  drain(): void {
    this.#tell(this.#drained())
  }

  #speak(directives: DirectiveStream, text: string): void {
    const thought = directives.reasoning
    const lines = directives.push(text)
    if (directives.reasoning !== thought) this.#reason(directives.reasoning.slice(thought.length))
    for (const line of lines) this.#say(line)
  }

  #reason(text: string): void {
    this.#parts.typing.tell('reasoning')
    this.#parts.draft.reason(text)
  }

  #say({ refused, text, ...rest }: Directed): void {
    if (refused.length > 0) this.#parts.onRefused(refused)
    if (text.trim() !== '') this.#parts.typing.tell('text')
    this.#parts.draft.say(text)
    if (this.#chunks) this.#cut({ ...rest, text: this.#resume.push(text) })
  }

  #cut({ text, media, voice, replyTo, replyTagged }: Omit<Directed, 'refused'>): void {
    const before: Payload[] = []
    if (replyTo !== undefined && replyTo !== this.#target.replyTo) {
      before.push(...this.#drained())
      this.#target = { replyTo, ...(replyTagged ? { replyTagged } : {}) }
    }
    const blocks = this.#texts(this.#chunks?.push(text))
    if (media.length > 0) blocks.push(...this.#drained(), { media, ...this.#target })
    this.#tell([...before, ...blocks], voice === true)
  }

  #drained(): Payload[] {
    return this.#texts(this.#chunks?.drain())
  }

  #texts(chunks: string[] = []): Payload[] {
    return chunks.map((text) => ({ text, ...this.#target }))
  }

  #tell(blocks: Payload[], voice = false): void {
    if (blocks.length > 0 || voice) this.#parts.tell({ type: 'blocks', blocks, voice })
  }

  #newDirectives(): DirectiveStream {
    return new DirectiveStream(this.#parts.delivery, this.#parts.messageId)
  }

  /** Where blocks are cut only when all is said, they still must not become too long. */
  #newChunks(): ReturnType<typeof chunker> | undefined {
    const { streaming, boundary, min, max } = this.#parts.delivery
    return streaming ? chunker({ min: boundary === 'message_end' ? max : min, max }) : undefined
  }
}

/** What a block says, without what was put before it. */
const textOf = (key: string, prefix = ''): string => {
  const [text = ''] = JSON.parse(key) as [string?]
  return text.startsWith(prefix.trim()) ? text.slice(prefix.trim().length) : text
}
