/** What the client knows of a conversation, in the words of the page. What has not changed stays the same object. */
import type { AnswerEntry, Decided, ChatView as Known, ToolCard, ViewBlock, ViewEntry, WaitingMessage } from '../../../../src/client/socket/index.ts'
import { definedOf } from '../../../../src/contracts/defined.ts'
import type { Approval } from '../../../../src/contracts/turn.ts'
import type { Answer, Aside, AskBlock, Block, Decision, Entry, Said, ToolBlock, Waiting } from '../model.ts'

/** By call, what this page has answered and nobody has confirmed yet. */
export type Deciding = ReadonlyMap<string, Decision>

const states = { running: 'running', completed: 'final', stopped: 'aborted', failed: 'error' } as const

const toolOf = ({ callId, name, state, input, progress, output, cut, message }: ToolCard): ToolBlock => ({
  type: 'tool',
  callId,
  name,
  state: state === 'called' ? 'waiting' : state,
  ...definedOf({ input, progress, output, cut, message }),
})

/** No model has said it, such as what a command answers: the gateway names such a text by its run. */
const isReply = (block: ViewBlock, runId: string): boolean => block.type === 'text' && block.id === `${runId}:reply`

const blockOf = (block: ViewBlock, runId: string): Block => {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking', id: block.id, thinking: block.thinking, ...definedOf({ cut: block.cut }) }
    case 'text':
      return { type: 'text', id: block.id, text: block.text, ...definedOf({ cut: block.cut, lines: isReply(block, runId) || undefined }) }
    case 'joined':
      return { type: 'joined', id: block.id, text: block.text, ...definedOf({ files: block.files, cut: block.cut }) }
    case 'tool':
      return toolOf(block)
  }
}

type Answered = { approval: Approval; decided: Decided }
type Drawn = { approvals: readonly Approval[]; answered: readonly Decided[]; deciding: readonly (Decision | undefined)[]; answer: Answer }

const isSame = <Part>(a: readonly Part[], b: readonly Part[]): boolean => a.length === b.length && a.every((one, index) => one === b[index])

export class Shown {
  readonly #entries = new WeakMap<ViewEntry, Entry>()
  readonly #blocks = new WeakMap<ViewBlock, Block>()
  readonly #answers = new WeakMap<AnswerEntry, Drawn>()
  readonly #waiting = new WeakMap<WaitingMessage, Said | Waiting>()

  /** What stands in the log: the conversation, and what is on its way into it. */
  entries({ entries, approvals, waiting, facts }: Known, deciding: Deciding): Entry[] {
    const answered = answeredOf(facts)
    const drawn = entries.flatMap((entry) => {
      if (entry.type === 'answer') return [this.#answer(entry, { approvals, answered }, deciding)]
      // Of a message that began the conversation anew nothing is known any more but that it was there.
      return entry.type === 'user' && !entry.text && !entry.files?.length ? [] : [this.#entry(entry)]
    })
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

  /** What stands apart from the log. */
  asides({ asides }: Known): Aside[] {
    return asides.map(({ key: id, state, question, text }) => ({ id, state, ...definedOf({ question, text }) }))
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

  #answer(entry: AnswerEntry, all: { approvals: readonly Approval[]; answered: readonly Answered[] }, deciding: Deciding): Answer {
    const approvals = all.approvals.filter(({ runId }) => runId === entry.runId)
    const answered = all.answered.filter(({ approval }) => approval.runId === entry.runId)
    const decided = answered.map((one) => one.decided)
    const decisions = approvals.map(({ callId }) => deciding.get(callId))
    const known = this.#answers.get(entry)
    if (known && isSame(known.approvals, approvals) && isSame(known.answered, decided) && isSame(known.deciding, decisions)) return known.answer
    const { runId, at, state, model, usage, costUsd, durationMs, stopReason, error, injected, label } = entry
    const answer: Answer = {
      kind: 'answer',
      id: runId,
      blocks: this.#withQuestions(entry, approvals, answered, deciding),
      state: states[state],
      ...definedOf({ at, model, usage, costUsd, durationMs, stopReason, error, injected, label }),
    }
    this.#answers.set(entry, { approvals, answered: decided, deciding: decisions, answer })
    return answer
  }

  /** A question stands where the card of its call would, and its answer before that; one whose call has no card yet comes last. */
  #withQuestions({ runId, state, blocks }: AnswerEntry, approvals: readonly Approval[], answered: readonly Answered[], deciding: Deciding): Block[] {
    const open = new Map(approvals.map((approval) => [approval.callId, questionOf(approval, deciding)]))
    const closed = new Map(answered.map(({ approval, decided }): [string, AskBlock] => [approval.callId, { type: 'ask', approval, decided }]))
    const drawn = blocks.flatMap((block) => {
      // Why it failed stands there, and what to do; on channels that have nothing else it is said in words.
      if (state === 'failed' && isReply(block, runId)) return []
      if (block.type !== 'tool') return [this.#block(block, runId)]
      const { callId } = block
      const question = open.get(callId)
      const answer = closed.get(callId)
      open.delete(callId)
      closed.delete(callId)
      return [question ?? answer, question ? undefined : this.#block(block, runId)].filter((one) => one !== undefined)
    })
    return [...drawn, ...closed.values(), ...open.values()]
  }

  #block(block: ViewBlock, runId: string): Block {
    const known = this.#blocks.get(block)
    if (known) return known
    const made = blockOf(block, runId)
    this.#blocks.set(block, made)
    return made
  }
}

const isOnItsWay = ({ status }: WaitingMessage): boolean => status === 'sending' || status === 'unsent'

const answeredOf = ({ asked, decided }: Known['facts']): Answered[] =>
  [...asked.values()].flatMap(({ approval, at }) => {
    const answer = decided.get(approval.callId)
    return answer && answer.at >= at ? [{ approval, decided: answer }] : []
  })

const questionOf = (approval: Approval, deciding: Deciding): AskBlock => ({
  type: 'ask',
  approval,
  ...definedOf({ since: approval.at, deciding: deciding.get(approval.callId) }),
})

const entryOf = (entry: Exclude<ViewEntry, AnswerEntry>): Entry => {
  switch (entry.type) {
    case 'user':
      return {
        kind: 'said',
        id: entry.id,
        text: entry.text ?? '',
        state: entry.status === 'sending' ? 'sending' : 'sent',
        ...definedOf({ at: entry.at, files: entry.files, cut: entry.cut }),
      }
    case 'notice':
      return { kind: 'notice', id: entry.key, text: entry.text, at: entry.at }
    case 'summary':
      return { kind: 'summary', id: entry.key, text: entry.text }
  }
}
