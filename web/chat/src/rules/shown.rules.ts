/** What the client knows of a conversation, in the words of the page. What has not changed stays the same object. */
import type { AnswerEntry, ChatView as Known, ToolCard, ViewBlock, ViewEntry, WaitingMessage } from '../../../../src/client/socket/index.ts'
import { definedOf } from '../../../../src/contracts/defined.ts'
import type { Approval } from '../../../../src/contracts/turn.ts'
import type { Answer, AskBlock, Block, Decision, Entry, Said, ToolBlock, Waiting } from '../model.ts'

/** By call, what this page has answered and nobody has confirmed yet. */
export type Deciding = ReadonlyMap<string, Decision>

const states = { running: 'running', completed: 'final', stopped: 'aborted', failed: 'error' } as const

const toolOf = ({ callId, name, state, input, progress, output, message }: ToolCard): ToolBlock => ({
  type: 'tool',
  callId,
  name,
  state: state === 'called' ? 'waiting' : state,
  ...definedOf({ input, progress, output, message }),
})

const blockOf = (block: ViewBlock): Block => {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking', id: block.id, thinking: block.thinking }
    case 'text':
      return { type: 'text', id: block.id, text: block.text }
    case 'joined':
      return { type: 'joined', id: block.id, text: block.text, ...definedOf({ files: block.files }) }
    case 'tool':
      return toolOf(block)
  }
}

type Drawn = { approvals: readonly Approval[]; deciding: readonly (Decision | undefined)[]; answer: Answer }

const isSame = <Part>(a: readonly Part[], b: readonly Part[]): boolean => a.length === b.length && a.every((one, index) => one === b[index])

export class Shown {
  readonly #entries = new WeakMap<ViewEntry, Entry>()
  readonly #blocks = new WeakMap<ViewBlock, Block>()
  readonly #answers = new WeakMap<AnswerEntry, Drawn>()
  readonly #waiting = new WeakMap<WaitingMessage, Said | Waiting>()

  /** What stands in the log: the conversation, and what is on its way into it. */
  entries({ entries, approvals, waiting }: Known, deciding: Deciding): Entry[] {
    const drawn = entries.map((entry) => (entry.type === 'answer' ? this.#answer(entry, approvals, deciding) : this.#entry(entry)))
    return [...drawn, ...waiting.flatMap((message) => (isOnItsWay(message) ? [this.#said(message)] : []))]
  }

  /** What stands above the composer: what the session has and takes in later. */
  waiting({ waiting }: Known): Waiting[] {
    return waiting.flatMap((message) => {
      if (isOnItsWay(message) || message.status === 'refused') return []
      const { id, text = '', files, status } = message
      return [this.#kept(message, { id, text, ...definedOf({ files }), mode: status === 'steered' ? 'steer' : 'followup' })]
    })
  }

  #said(message: WaitingMessage): Said {
    const { id, text = '', files, status } = message
    return this.#kept(message, { kind: 'said', id, text, ...definedOf({ files }), state: status === 'unsent' ? 'unsent' : 'sending' })
  }

  #kept<Made extends Said | Waiting>(message: WaitingMessage, made: Made): Made {
    const known = this.#waiting.get(message)
    if (known) return known as Made
    this.#waiting.set(message, made)
    return made
  }

  #entry(entry: Exclude<ViewEntry, AnswerEntry>): Entry {
    const known = this.#entries.get(entry)
    if (known) return known
    const made = entryOf(entry)
    this.#entries.set(entry, made)
    return made
  }

  #answer(entry: AnswerEntry, all: readonly Approval[], deciding: Deciding): Answer {
    const approvals = all.filter(({ runId }) => runId === entry.runId)
    const decisions = approvals.map(({ callId }) => deciding.get(callId))
    const known = this.#answers.get(entry)
    if (known && isSame(known.approvals, approvals) && isSame(known.deciding, decisions)) return known.answer
    const { runId, at, state, model, usage, costUsd, durationMs, stopReason, error } = entry
    const answer: Answer = {
      kind: 'answer',
      id: runId,
      blocks: this.#withQuestions(entry.blocks, approvals, deciding),
      state: states[state],
      ...definedOf({ at, model, usage, costUsd, durationMs, stopReason, error }),
    }
    this.#answers.set(entry, { approvals, deciding: decisions, answer })
    return answer
  }

  /** A question stands where the card of its call would; one whose call has no card yet comes last. */
  #withQuestions(blocks: readonly ViewBlock[], approvals: readonly Approval[], deciding: Deciding): Block[] {
    const open = new Map(approvals.map((approval) => [approval.callId, questionOf(approval, deciding)]))
    const drawn = blocks.map((block) => {
      const question = block.type === 'tool' ? open.get(block.callId) : undefined
      if (question === undefined) return this.#block(block)
      open.delete(question.approval.callId)
      return question
    })
    return [...drawn, ...open.values()]
  }

  #block(block: ViewBlock): Block {
    const known = this.#blocks.get(block)
    if (known) return known
    const made = blockOf(block)
    this.#blocks.set(block, made)
    return made
  }
}

const isOnItsWay = ({ status }: WaitingMessage): boolean => status === 'sending' || status === 'unsent'

const questionOf = (approval: Approval, deciding: Deciding): AskBlock => ({
  type: 'ask',
  approval,
  ...definedOf({ deciding: deciding.get(approval.callId) }),
})

const entryOf = (entry: Exclude<ViewEntry, AnswerEntry>): Entry => {
  switch (entry.type) {
    case 'user':
      return {
        kind: 'said',
        id: entry.id,
        text: entry.text ?? '',
        state: entry.status === 'sending' ? 'sending' : 'sent',
        ...definedOf({ at: entry.at, files: entry.files }),
      }
    case 'notice':
      return { kind: 'notice', id: entry.key, text: entry.text, at: entry.at }
    case 'summary':
      return { kind: 'summary', id: entry.key, text: entry.text }
  }
}
