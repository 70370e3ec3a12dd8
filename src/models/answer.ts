/** One answer while it arrives: what every provider fills, and what is handed out when it is complete or stopped. */
import type { RuntimeError } from '../contracts/errors.ts'
import { noUsage, type Usage } from '../contracts/message.ts'
import type { ModelDelta, ModelResponse, ModelToolCall } from '../contracts/model.ts'
import { providerError } from './provider-error.ts'

/** Characters of a text that counts as repeated: a model may well say `ha` twice. Of one that came in one piece more. */
const repeatMin = 4
const repeatAloneMin = 16

/**
 * Collects text, reasoning and calls, passes deltas on, and stops an answer that does not end.
 * Once closed it takes nothing more: what a provider still sends after an abort or a timeout is dropped.
 */
export class Answer {
  private readonly charsMax: number
  private readonly onDelta: (delta: ModelDelta) => void
  private text = ''
  private reasoning = ''
  private calls: ModelToolCall[] = []
  private readonly callIds = new Set<string>()
  private chars = 0
  private closed = false
  /** Pieces of the text so far, and one that may be the whole of it once more. */
  private pieces = 0
  private held: string | undefined
  /** Something came since it was last set back. */
  heard = false
  usage: Usage = noUsage
  /** Provider and model as the provider names them. */
  model: string

  constructor({ ref, charsMax, onDelta }: { ref: string; charsMax: number; onDelta: (delta: ModelDelta) => void }) {
    this.model = ref
    this.charsMax = charsMax
    this.onDelta = onDelta
  }

  /** @throws RuntimeError provider_malformed when the answer is longer than allowed */
  add(kind: ModelDelta['kind'], text: string): void {
    this.heard = true
    if (this.closed || text === '') return
    if (this.held !== undefined) this.release(0)
    if (kind === 'text' && this.pieces++ > 0 && text.length >= this.text.length && this.mayRepeat(text)) {
      this.held = text
      return
    }
    this.count(text.length)
    if (kind === 'text') this.text += text
    else this.reasoning += text
    this.onDelta({ kind, text })
  }

  /** Some servers send the whole text once more at its end: what is shown already is not shown again. */
  end(): void {
    if (this.held !== undefined && !this.closed) this.release(this.text.length)
  }

  /** Shows what was held. @param from so many characters of it are shown already */
  private release(from: number): void {
    const text = (this.held ?? '').slice(from)
    this.held = undefined
    if (text === '') return
    this.count(text.length)
    this.text += text
    this.onDelta({ kind: 'text', text })
  }

  /** It begins with all that was said so far: what comes next says whether the model repeats itself, or the server. */
  private mayRepeat(text: string): boolean {
    const { length } = this.text
    // The piece itself is counted already.
    return length >= repeatMin && (this.pieces > 2 || length >= repeatAloneMin) && text.startsWith(this.text)
  }

  /** Characters that count without being shown, such as the input of a tool call in flight. @throws RuntimeError provider_malformed */
  count(chars: number): void {
    this.chars += chars
    if (this.chars > this.charsMax) throw tooLong(this.charsMax)
  }

  /** Adds a complete call. Some servers number their calls anew, or not at all: an id that is empty or taken gets a suffix. */
  addCall({ callId, name, input }: ModelToolCall): void {
    if (this.closed) return
    const wanted = callId === '' ? 'call' : callId
    let unique = wanted
    for (let suffix = 2; this.callIds.has(unique); suffix++) unique = `${wanted}-${suffix}`
    this.callIds.add(unique)
    this.calls.push({ callId: unique, name, input })
  }

  get isEmpty(): boolean {
    return this.chars === 0 && this.calls.length === 0
  }

  get hasText(): boolean {
    return this.text !== ''
  }

  get hasCalls(): boolean {
    return this.calls.length > 0
  }

  close(): void {
    this.closed = true
  }

  response(finish: ModelResponse['finish'], partial = false): ModelResponse {
    this.end()
    const { text, reasoning, calls, usage, model } = this
    return { text, reasoning, calls: [...calls], usage, finish, model, partial }
  }
}

export const tooLong = (outputCharsMax: number): RuntimeError =>
  providerError('provider_malformed', `the answer has more than ${outputCharsMax} characters`, {
    hint: 'the model does not stop: ask for less, or raise limits.modelCall.outputCharsMax of the agent',
    data: { outputCharsMax },
  })
