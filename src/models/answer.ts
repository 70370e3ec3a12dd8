/** One answer while it arrives: what every provider fills, and what is handed out when it is complete or stopped. */
import type { RuntimeError } from '../contracts/errors.ts'
import { noUsage, type Usage } from '../contracts/message.ts'
import type { ModelDelta, ModelResponse, ModelToolCall } from '../contracts/model.ts'
import { providerError } from './provider-error.ts'

/**
 * Collects text, reasoning and calls, passes deltas on, and stops an answer that does not end. Deltas are increments: a
 * repeated delta is kept (decision 0026).
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
    this.count(text.length)
    if (kind === 'text') this.text += text
    else this.reasoning += text
    this.onDelta({ kind, text })
  }

  /** Characters that count without being shown, such as the input of a tool call in flight. @throws RuntimeError provider_malformed */
  count(chars: number): void {
    this.chars += chars
    if (this.chars > this.charsMax) throw tooLong(this.charsMax)
  }

  /** Adds a complete call. Some servers repeat ids, or send none: an id that is empty or taken gets a suffix. @returns the id that it has */
  addCall({ callId, name, input }: ModelToolCall): string {
    if (this.closed) return callId
    const wanted = callId === '' ? 'call' : callId
    let unique = wanted
    for (let suffix = 2; this.callIds.has(unique); suffix++) unique = `${wanted}-${suffix}`
    this.callIds.add(unique)
    this.calls.push({ callId: unique, name, input })
    return unique
  }

  get isEmpty(): boolean {
    return this.chars === 0 && this.calls.length === 0
  }

  get hasText(): boolean {
    return this.text !== ''
  }

  /** The reasoning so far. */
  get reasoned(): string {
    return this.reasoning
  }

  get hasCalls(): boolean {
    return this.calls.length > 0
  }

  close(): void {
    this.closed = true
  }

  response(finish: ModelResponse['finish'], partial = false): ModelResponse {
    const { text, reasoning, calls, usage, model } = this
    return { text, reasoning, calls: [...calls], usage, finish, model, partial }
  }
}

export const tooLong = (outputCharsMax: number): RuntimeError =>
  providerError('provider_malformed', `the answer has more than ${outputCharsMax} characters`, {
    hint: 'the model does not stop: ask for less, or raise limits.modelCall.outputCharsMax of the agent',
    data: { outputCharsMax },
  })
