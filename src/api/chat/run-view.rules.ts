/** One run as those who watch it are shown it: what its session says, folded to the blocks of its answer and to its tool calls. */
import { definedOf } from '../../contracts/defined.ts'
import { DeltaCursor } from '../../contracts/delta-cursor.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import type { ChatBlock, ChatErrorKind, ChatEvent, GatewayEvents, MessageEvent, ToolEvent } from '../../contracts/gateway.ts'
import { type Message, typedText, type UserMessage } from '../../contracts/message.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import { allShown, type ShownText } from '../../contracts/shown.ts'
import type { TurnOutput } from '../../contracts/turn.ts'

import { withoutInlineData } from '../inline-data.rules.ts'
import { shownOutput } from './shown-output.rules.ts'
import type { RunSoFar } from './watcher.ts'

type Said<Type extends SessionOutput['type']> = Extract<SessionOutput, { type: Type }>
type Spoken = Extract<ChatBlock, { type: 'text' | 'thinking' }>

const isOf = (block: ChatBlock, answerId: string): block is Spoken => block.id === answerId && (block.type === 'text' || block.type === 'thinking')

const errorKinds: Partial<Record<ErrorBody['code'], ChatErrorKind>> = {
  provider_timeout: 'timeout',
  budget_time: 'timeout',
  timeout: 'timeout',
  provider_rate_limit: 'rate_limit',
  provider_overflow: 'context_length',
  provider_rejected: 'refusal',
}

const toolStates: Record<Said<'tool'>['phase'], ToolEvent['state']> = {
  requested: 'running',
  progress: 'running',
  completed: 'done',
  failed: 'error',
  denied: 'error',
  in_doubt: 'error',
  skipped: 'skipped',
  cancelled: 'skipped',
}

/**
 * Blocks are never changed, only replaced by others: who has been shown some compares them to see what is new. A text of which a piece was missed goes no further
 * until the whole of it is known; {@link lacking} names it.
 */
export class RunView {
  readonly runId: string
  readonly sessionKey: string
  readonly ids: readonly string[]
  readonly tools = new Map<string, ToolEvent>()
  #blocks: ChatBlock[] = []
  /** The answer that is being written. */
  #open: string | undefined
  readonly #deltas = new DeltaCursor()
  readonly #lacking = new Set<string>()
  #seq = 0
  readonly #text: ShownText
  readonly #heartbeat: boolean
  /** Nobody has asked: whether there is something to say is known at its end. */
  readonly isHidden: boolean
  /** What is shown of a block: the same object as long as the block is. */
  readonly #growing = new WeakMap<ChatBlock, ChatBlock>()
  #finished = new WeakMap<ChatBlock, ChatBlock>()
  /** What the directives of its texts refer to, known at its end. */
  #references: TurnOutput['references']
  /** The text in which the run was stopped. */
  #stopped: ChatBlock | undefined

  /** @param text what people see of a text */
  constructor(
    sessionKey: string,
    { runId, ids, heartbeat, agent = '' }: Pick<Said<'started'>, 'runId' | 'ids' | 'heartbeat' | 'agent'>,
    text = allShown,
  ) {
    this.#text = text
    this.#heartbeat = heartbeat === true
    this.isHidden = this.#heartbeat && !text.showsHeartbeats(agent)
    this.sessionKey = sessionKey
    this.runId = runId
    this.ids = ids
  }

  /** Whether those who watch are not told of something while it goes on. */
  hides<Name extends keyof GatewayEvents>(event: Name, payload: GatewayEvents[Name]): boolean {
    if (!this.isHidden) return false
    if (event === 'chat') return (payload as ChatEvent).state === 'delta'
    return event === 'session.tool' || event === 'session.state' || (event === 'session.message' && this.ids.includes((payload as MessageEvent).id))
  }

  get blocks(): readonly ChatBlock[] {
    return this.#blocks
  }

  /** Answers of which a piece was missed. */
  get lacking(): readonly string[] {
    return [...this.#lacking]
  }

  /** @returns whether there is something new to show */
  delta({ answerId, kind, text, ...place }: Said<'delta'>): boolean {
    const { begins, follows } = this.#deltas.take(place)
    if (begins) this.#begin(answerId)
    if (this.#open === answerId && !this.#deltas.whole) this.#lacking.add(answerId)
    if (!follows || this.#lacking.has(answerId)) return false
    const last = this.#blocks.at(-1)
    const type = kind === 'text' ? 'text' : 'thinking'
    const goesOn = last !== undefined && isOf(last, answerId) && last.type === type
    const before = goesOn ? textOf(last) : ''
    const block = spoken(type, answerId, before + text)
    this.#blocks = goesOn ? [...this.#blocks.slice(0, -1), block] : [...this.#blocks, block]
    return true
  }

  /** What the last call said counts no more: it failed, and another one says it anew. */
  retried(): boolean {
    const answerId = this.#open
    this.#open = undefined
    this.#deltas.end()
    return answerId !== undefined && this.#drop(answerId)
  }

  /** The whole of an answer, as the transcript has it. @returns whether that is new */
  complete(answerId: string, { text, reasoning = '' }: { text: string; reasoning?: string | undefined }): boolean {
    this.#lacking.delete(answerId)
    if (this.#open === answerId) this.#deltas.end()
    const shown = this.#blocks.filter((block): block is Spoken => isOf(block, answerId))
    const said = (type: Spoken['type']) =>
      shown
        .filter((block) => block.type === type)
        .map(textOf)
        .join('')
    if (said('text') === text && said('thinking') === reasoning) return false
    const whole = [...(reasoning === '' ? [] : [spoken('thinking', answerId, reasoning)]), ...(text === '' ? [] : [spoken('text', answerId, text)])]
    const first = this.#blocks.findIndex(({ id }) => id === answerId)
    const place = first === -1 ? this.#blocks.length : first
    const rest = this.#blocks.filter((block) => !isOf(block, answerId))
    this.#blocks = [...rest.slice(0, place), ...whole, ...rest.slice(place)]
    return true
  }

  /** What the transcript says about the run: messages that joined it, and answers of which a piece was missed. @returns whether something of it is new */
  read(messages: readonly Message[]): boolean {
    const asked = messages.findLastIndex((message) => message.role === 'user' && message.id === this.ids[0])
    // A run that goes on with results of its client has no message of a person.
    const first = messages.findIndex((message) => message.role === 'assistant' && message.id.startsWith(`${this.runId}:`))
    const begin = asked === -1 && first !== -1 ? first - 1 : asked
    // The session itself has answered it: it is no part of the conversation.
    if (asked === -1 && first === -1) return false
    let before: string | undefined
    let isNew = false
    for (const message of messages.slice(begin + 1)) {
      if (message.role === 'assistant') isNew = this.complete(message.id, message) || isNew
      else if (message.role === 'user' && !this.ids.includes(message.id)) isNew = this.joined(message, before) || isNew
      if ('id' in message) before = message.id
    }
    return isNew
  }

  /** Somebody's message was taken in while it runs. @param before the message behind which it stands; first where there is none */
  joined({ id, files, ...message }: Omit<UserMessage, 'role'>, before?: string): boolean {
    const text = typedText(message)
    const at = this.#blocks.findIndex((block) => block.type === 'joined' && block.id === id)
    const block: ChatBlock = { type: 'joined', id, text, ...definedOf({ files }) }
    if (at !== -1 && (this.#blocks[at] as { text: string }).text === text) return false
    const place = at === -1 ? this.#blocks.findLastIndex((one) => one.id === before) + 1 : at
    this.#blocks = this.#blocks.toSpliced(place, at === -1 ? 0 : 1, block)
    return true
  }

  tool({ callId, name, phase, input, output, message }: Said<'tool'>, at: number): ToolEvent {
    if (!this.tools.has(callId)) {
      const answerId = callId.slice(callId.lastIndexOf('/') + 1, callId.lastIndexOf(':'))
      this.#blocks = [...this.#blocks, { type: 'tool', id: answerId, callId, name }]
    }
    const before = this.tools.get(callId)
    const event: ToolEvent = {
      runId: this.runId,
      sessionKey: this.sessionKey,
      callId,
      toolName: name,
      state: toolStates[phase],
      ...definedOf({
        input: input === undefined ? before?.input : withoutInlineData(input),
        message,
        ...(phase === 'progress' ? { progress: shownOutput(output) } : { output: shownOutput(output) }),
      }),
      timestamp: at,
    }
    this.tools.set(callId, event)
    return event
  }

  /** What a watcher is shown that comes now: nothing of a run that is hidden while it goes on. */
  forWatcher(at: number): RunSoFar {
    return this.isHidden ? { run: null, tools: [] } : { run: this.soFar(at), tools: [...this.tools.values()] }
  }

  /** All of it so far. */
  soFar(at: number): ChatEvent {
    return { runId: this.runId, sessionKey: this.sessionKey, seq: ++this.#seq, state: 'delta', ids: [...this.ids], ...this.#message(at, false) }
  }

  end(output: TurnOutput, at: number): ChatEvent {
    const {
      status,
      outcome,
      ids,
      finish,
      model,
      usage,
      costUsd,
      durationMs,
      cache,
      steps,
      error,
      answerId,
      reply,
      pendingCalls,
      references,
      partial,
    } = output
    if (references || partial) {
      this.#references = references
      this.#stopped = partial ? this.#blocks.at(-1) : undefined
      this.#finished = new WeakMap()
    }
    // No model has said it.
    if (answerId === null && reply !== undefined) this.complete(`${this.runId}:reply`, { text: textOfReply(reply) })
    return {
      runId: this.runId,
      sessionKey: this.sessionKey,
      seq: ++this.#seq,
      state: status === 'completed' ? 'final' : status === 'cancelled' ? 'aborted' : 'error',
      ids,
      ...(outcome === 'silent' ? {} : this.#message(at, true)),
      model,
      usage,
      steps,
      stopReason: status === 'cancelled' ? 'rpc' : error?.code === 'budget_time' ? 'timeout' : pendingCalls ? 'tool_calls' : (finish ?? 'stop'),
      ...definedOf({ pendingCalls, costUsd, durationMs, cache, error, errorKind: error && (errorKinds[error.code] ?? 'unknown') }),
    }
  }

  #begin(answerId: string): void {
    this.#open = answerId
    this.#lacking.delete(answerId)
    // The same call once more, after a restart: what it had said is said again.
    this.#drop(answerId)
  }

  #drop(answerId: string): boolean {
    const rest = this.#blocks.filter((block) => !isOf(block, answerId))
    if (rest.length === this.#blocks.length) return false
    this.#blocks = rest
    return true
  }

  #shown(block: ChatBlock, finished: boolean): ChatBlock {
    if (block.type !== 'text') return block
    const parts = finished ? this.#finished : this.#growing
    const known = parts.get(block)
    if (known) return known
    const text = finished
      ? this.#text.finished(block.text, { heartbeat: this.#heartbeat, references: this.#references, partial: block === this.#stopped })
      : this.#text.growing(block.text)
    const part = text === block.text ? block : { ...block, text }
    parts.set(block, part)
    return part
  }

  #message(timestamp: number, ended: boolean): Pick<ChatEvent, 'message'> {
    const content = this.#blocks
      .map((block, index) => this.#shown(block, ended || index < this.#blocks.length - 1))
      .filter((block) => !isEmpty(block))
    return content.length === 0 ? {} : { message: { role: 'assistant', content, timestamp } }
  }
}

export const textOfReply = (reply: NonNullable<TurnOutput['reply']>): string =>
  [reply]
    .flat()
    .flatMap(({ text }) => text ?? [])
    .join('\n\n')

const spoken = (type: Spoken['type'], id: string, text: string): Spoken =>
  type === 'text' ? { type: 'text', id, text } : { type: 'thinking', id, thinking: text }

export const textOf = (block: Spoken): string => (block.type === 'text' ? block.text : block.thinking)
const isEmpty = (block: ChatBlock): boolean => (block.type === 'text' || block.type === 'thinking') && textOf(block) === ''

/** Why the model is asked again, and when. */
export const retryText = (event: Said<'retry'> | Said<'fallback'>): string | undefined =>
  event.type === 'retry' ? `${event.error.message}; trying again in ${Math.ceil(event.delayMs / 1000)} s, attempt ${event.attempt + 1}` : undefined
