/** One answer as parts of a UI stream, made from what its session says and its journal holds: which part is open, and which may follow. */

import { definedOf } from '../../contracts/defined.ts'
import { DeltaCursor } from '../../contracts/delta-cursor.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import type { ModelCallOutput } from '../../contracts/model-call.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { Approval, TurnOutput } from '../../contracts/turn.ts'
import { formatApproval } from './approval-id.rules.ts'
import { ShownText } from './shown-text.rules.ts'
import type { UiPart, UiState } from './ui-part.ts'

type Said = { [Type in SessionOutput['type']]: Extract<SessionOutput, { type: Type }> }
type Kind = Said['delta']['kind']
/** `asked`: the model wants it, and it has not begun. */
type CallState = 'asked' | 'working' | 'waiting' | 'over'

/** The id of the message in which clients keep an answer. */
const messageIdOf = (runId: string): string => `${runId}:answer`
/** The number of a model call, which stands at the end of the name of its answer. */
const callNumber = (answerId: string): number => Number(answerId.slice(answerId.lastIndexOf(':') + 1))
const endings = new Set(['final', 'error', 'aborted'])

export class AnswerParts {
  /** The message that was answered, and the run that does it, once that is known. */
  readonly id: string
  runId: string | undefined
  /** All messages that it answers. */
  ids: readonly string[]
  #begun = false
  #step: 'none' | 'open' | 'answered' = 'none'
  #open: { kind: Kind; id: string } | undefined
  #count = 0
  #answers = 0
  readonly #deltas = new DeltaCursor()
  readonly #texts = { text: new ShownText(), reasoning: new ShownText() }
  readonly #calls = new Map<string, { state: CallState; toolName: string; input: unknown; approval?: string }>()

  constructor(id: string, runId?: string) {
    this.id = id
    this.runId = runId
    this.ids = [id]
  }

  /** Whether it is about this answer. */
  concerns(event: AnyEvent): boolean {
    const { runId, ids, id } = event as AnyEvent & { runId?: string; ids?: string[]; id?: string }
    return (runId !== undefined && runId === this.runId) || ids?.includes(this.id) === true || id === this.id
  }

  ends(event: AnyEvent): boolean {
    return endings.has(event.type) && this.concerns(event)
  }

  /** Whether what the model said before this event has to be looked up first: live text is good to be shown early, and may have gaps. */
  needsAnswers(event: AnyEvent): boolean {
    if (event.type === 'delta') return this.#deltas.attempt !== undefined && (event.attempt as number) > this.#deltas.attempt
    return endings.has(event.type) || ((event.type === 'tool' || event.type === 'approval') && !this.#calls.has(event.callId as string))
  }

  /** The calls that wait for a person, where nothing else goes on; otherwise none. */
  get waiting(): string[] {
    const calls = [...this.#calls]
    if (calls.some(([, { state }]) => state === 'working')) return []
    return calls.flatMap(([callId, { state }]) => (state === 'waiting' ? [callId] : []))
  }

  /** Something of a call was not heard. */
  lacksResults({ pendingCalls = [] }: TurnOutput): boolean {
    return [...this.#calls].some(([callId, { state }]) => state !== 'over' && !pendingCalls.some((one) => one.callId === callId))
  }

  take(event: AnyEvent): UiPart[] {
    const said = event as unknown as SessionOutput
    switch (said.type) {
      case 'accepted':
        this.runId = said.runId || this.runId
        return []
      case 'started':
        return this.#start(said)
      case 'delta':
        return this.#delta(said)
      case 'tool':
        return this.#tool(said)
      case 'approval':
        return this.#ask(said)
      case 'decided':
        return this.#decide(said)
      default:
        return stateOf(said)
    }
  }

  /** What one call of the model said, as the journal has it. */
  answer({ id, text, reasoning, calls, partial }: ModelCallOutput): UiPart[] {
    const parts = [
      ...this.#show('reasoning', this.#texts.reasoning.settle(reasoning)),
      ...this.#show('text', this.#texts.text.settle(text)),
      ...this.#close(),
      ...(partial ? [] : calls).flatMap((call) => this.#know(call.id, call.name, call.input)),
    ]
    this.#answers++
    this.#deltas.end()
    this.#deltas.end(callNumber(id))
    if (this.#step === 'open') this.#step = 'answered'
    return parts
  }

  /** All is said. */
  end(outcome: TurnOutput): UiPart[] {
    const { status, error, finish, pendingCalls = [] } = outcome
    const handedOver = new Set(pendingCalls.map(({ callId }) => callId))
    const replied = [outcome.reply ?? { text: outcome.text }].flat().map(({ text = '' }) => text)
    const parts = [
      ...this.#start({ runId: outcome.runId, ids: outcome.ids, model: outcome.model }),
      // The session itself has answered; what was asked beside the conversation has been told apart.
      ...(status === 'completed' && this.#answers === 0 && !outcome.side ? this.#show('text', this.#texts.text.settle(replied.join('\n\n'))) : []),
      ...this.#close(),
      ...[...this.#calls].flatMap(([callId, { state }]) =>
        state === 'over' || handedOver.has(callId) ? [] : [failed(callId, 'it ended with its turn')],
      ),
      ...this.#finishStep(),
      { type: 'message-metadata', messageMetadata: metadataOf(outcome) } satisfies UiPart,
    ]
    for (const call of this.#calls.values()) call.state = 'over'
    if (status === 'failed') return [...parts, ...failure(error ? `${error.message} (${error.code})` : 'the turn failed')]
    if (status === 'cancelled') return [...parts, { type: 'abort', reason: error?.message ?? 'somebody stopped it' }]
    // The client runs them, and its results go on with the answer.
    if (handedOver.size > 0) return [...parts, { type: 'finish', finishReason: 'tool-calls' }]
    return [...parts, { type: 'finish', finishReason: finish === 'length' || finish === 'content-filter' ? finish : 'stop' }]
  }

  /** Ends what a reader has while a person is asked; with the decision the answer goes on. */
  pause(): UiPart[] {
    return [...(this.#step === 'none' ? [] : [{ type: 'finish-step' } as const]), { type: 'finish', finishReason: 'tool-calls' }]
  }

  /** What was recorded breaks off. */
  breakOff(errorText: string): UiPart[] {
    return [...this.#close(), ...this.#finishStep(), ...failure(errorText)]
  }

  #start({ runId, ids, model }: Pick<Said['started'], 'runId' | 'ids' | 'model'>): UiPart[] {
    if (this.#begun) return []
    this.#begun = true
    this.runId = runId
    this.ids = ids
    return [
      { type: 'start', messageId: messageIdOf(runId), messageMetadata: { runId } },
      ...during('running', definedOf({ model: model || undefined })),
    ]
  }

  #delta({ kind, text, ...place }: Said['delta']): UiPart[] {
    const { begins, follows } = this.#deltas.take(place)
    if (begins) {
      this.#texts.text.begin()
      this.#texts.reasoning.begin()
    }
    return follows ? this.#show(kind, this.#texts[kind].say(text)) : []
  }

  #show(kind: Kind, { text, anew }: { text: string; anew: boolean }): UiPart[] {
    if (text === '') return []
    const parts = [...(anew ? [...this.#close(), ...this.#finishStep()] : []), ...this.#beginStep()]
    if (this.#open?.kind !== kind) {
      parts.push(...this.#close())
      this.#open = { kind, id: `${kind}-${++this.#count}` }
      parts.push({ type: `${kind}-start`, id: this.#open.id })
    }
    return [...parts, { type: `${kind}-delta`, id: this.#open.id, delta: text }]
  }

  #close(): UiPart[] {
    if (!this.#open) return []
    const { kind, id } = this.#open
    this.#open = undefined
    return [{ type: `${kind}-end`, id }]
  }

  #beginStep(): UiPart[] {
    if (this.#step === 'open') return []
    const parts = this.#finishStep()
    this.#step = 'open'
    return [...parts, { type: 'start-step' }]
  }

  #finishStep(): UiPart[] {
    if (this.#step === 'none') return []
    this.#step = 'none'
    return [{ type: 'finish-step' }]
  }

  /** A call has to be known to readers before anything is said of it. */
  #know(toolCallId: string, toolName: string, input: unknown): UiPart[] {
    if (this.#calls.has(toolCallId)) return []
    this.#calls.set(toolCallId, { state: 'asked', toolName, input: input ?? null })
    return [...this.#close(), ...this.#beginStep(), { type: 'tool-input-available', toolCallId, toolName, input: input ?? null }]
  }

  #tool({ callId, name, phase, input, output, message }: Said['tool']): UiPart[] {
    const parts = this.#know(callId, name, input)
    const call = this.#calls.get(callId)
    if (!call || call.state === 'over') return parts
    if (phase === 'requested') {
      if (call.state === 'asked') call.state = 'working'
      return parts
    }
    if (phase === 'progress') return [...parts, ...during('progress', { toolCallId: callId, message })]
    call.state = 'over'
    if (phase === 'completed') return [...parts, { type: 'tool-output-available', toolCallId: callId, output: output ?? null }]
    if (phase === 'denied') return [...parts, { type: 'tool-output-denied', toolCallId: callId }]
    return [...parts, failed(callId, reasonIn(output) ?? phase)]
  }

  #ask({ type: _, ...approval }: Said['approval']): UiPart[] {
    const parts = this.#know(approval.callId, approval.name, approval.input)
    const call = this.#calls.get(approval.callId)
    const approvalId = formatApproval(approval satisfies Approval)
    // Heard twice.
    if (!call || call.state === 'over' || call.approval === approvalId) return parts
    Object.assign(call, { state: 'waiting', approval: approvalId })
    return [...parts, { type: 'tool-approval-request', approvalId, toolCallId: approval.callId }]
  }

  /** Readers who did not decide take the question away; a refusal is the end of the call and follows at once. */
  #decide({ callId, decision }: Said['decided']): UiPart[] {
    const call = this.#calls.get(callId)
    if (call?.state !== 'waiting') return []
    call.state = 'working'
    const { toolName, input } = call
    return decision === 'approve' ? [{ type: 'tool-input-available', toolCallId: callId, toolName, input }] : []
  }
}

const failed = (toolCallId: string, errorText: string): UiPart => ({ type: 'tool-output-error', toolCallId, errorText })
const failure = (errorText: string): UiPart[] => [
  { type: 'error', errorText },
  { type: 'finish', finishReason: 'error' },
]

/** What the model reads in place of a result. */
const reasonIn = (output: unknown): string | undefined => {
  const message = (output as { error?: { message?: unknown } } | null | undefined)?.error?.message
  return typeof message === 'string' ? message : undefined
}

const during = (state: UiState['state'], facts: Record<string, unknown> = {}): UiPart[] => [
  { type: 'data-state', data: { state, ...facts }, transient: true },
]

/** What goes on beside the answer, for those who show it. */
const stateOf = (said: SessionOutput): UiPart[] => {
  switch (said.type) {
    case 'waiting':
      return during('waiting', { lane: said.lane, ahead: said.ahead, waitedMs: said.waitedMs })
    case 'retry':
      return during('retrying', { attempt: said.attempt, delayMs: said.delayMs, code: said.error.code })
    case 'fallback':
      return during('fallback', { model: said.model })
    case 'compacting':
    case 'compacted':
      return during(said.type)
    case 'stuck':
      return during('stuck', { ageMs: said.ageMs })
    case 'notice':
      return during('notice', { text: said.text })
    case 'side_result': {
      const { runId, question, text, isError } = said
      return [{ type: 'data-side-result', data: { runId, text, isError, ...definedOf({ question }) }, transient: true }]
    }
    default:
      return []
  }
}

/** Clients own `steps`: assistant-ui spreads it as a list and crashes on a number. */
const metadataOf = ({ runId, model, usage, costUsd, durationMs, steps, toolCalls, partial }: TurnOutput): Record<string, unknown> => ({
  runId,
  model,
  usage,
  stepCount: steps,
  toolCalls,
  ...definedOf({ costUsd, durationMs, partial: partial || undefined }),
})
