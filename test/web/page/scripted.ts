/** A model for tests and looks: it shows what it was given, remembers what it was asked for, and changes when it is told to. */
import type { Approval } from '../../../src/contracts/turn.ts'
import type { Answer, Block, ChatModel, ChatView, Current, Decision, Entry, FileRef, SendMode, ThinkingLevel } from '../../../web/chat/src/model.ts'

export class ScriptedModel implements ChatModel {
  /** What was asked for, oldest first. */
  readonly asked: unknown[][] = []
  /** The next action is refused with this. */
  refusal: { code: string; message: string; hint?: string } | undefined
  /** Whether what has been asked for is answered; while it is not, it is on its way. */
  answers = true
  #view: ChatView
  readonly #listeners = new Set<() => void>()

  constructor(view: ChatView) {
    this.#view = view
  }

  view(): ChatView {
    return this.#view
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  change(changes: Partial<ChatView>): void {
    this.#view = { ...this.#view, ...changes }
    for (const listener of this.#listeners) listener()
  }

  changeCurrent(changes: Partial<Current>): void {
    this.change({ current: { ...this.#view.current, ...changes } })
  }

  /** As a delta does: the last answer has become this. */
  changeAnswer(changes: Partial<Answer>): void {
    const { entries } = this.#view.current
    const last = entries.findLastIndex((entry) => entry.kind === 'answer')
    this.changeCurrent({ entries: entries.map((entry, index) => (index === last ? ({ ...entry, ...changes } as Entry) : entry)) })
  }

  /** The last text of the last answer has become this. */
  write(text: string): void {
    const answer = this.#view.current.entries.findLast((entry) => entry.kind === 'answer') as Answer
    const last = answer.blocks.length - 1
    this.changeAnswer({ blocks: answer.blocks.map((block, index) => (index === last && block.type === 'text' ? { ...block, text } : block)) })
  }

  add(...entries: Entry[]): void {
    this.changeCurrent({ entries: [...this.#view.current.entries, ...entries] })
  }

  async #ask(...what: unknown[]): Promise<void> {
    this.asked.push(what)
    const { refusal } = this
    this.refusal = undefined
    if (!this.answers) await new Promise(() => {})
    if (refusal) throw Object.assign(new Error(refusal.message), refusal)
  }

  async send(text: string, { mode }: { mode: SendMode; files?: readonly FileRef[] }): Promise<void> {
    await this.#ask('send', text, mode)
    const id = `said-${this.asked.length}`
    if (this.#view.current.running) this.changeCurrent({ waiting: [...this.#view.current.waiting, { id, text, mode }] })
    else this.add({ kind: 'said', id, text, state: 'sent', at: Date.now() })
  }

  async stop(): Promise<void> {
    this.changeCurrent({ stopping: true })
    await this.#ask('stop')
  }

  async decide(approval: Approval, decision: Decision, note?: string, remember?: 'session'): Promise<void> {
    await this.#ask('decide', approval.callId, decision, ...(remember ? [note, remember] : [note]))
    const answer = this.#view.current.entries.findLast((entry) => entry.kind === 'answer') as Answer
    const decided = (block: Block): Block =>
      block.type === 'ask' && block.approval.callId === approval.callId
        ? { ...block, decided: { decision, by: 'you', at: Date.now(), ...(remember && { remember }) } }
        : block
    this.changeAnswer({ blocks: answer.blocks.map(decided) })
  }

  async readAll(...[key, what, onText]: Parameters<ChatModel['readAll']>): Promise<void> {
    await this.#ask('readAll', key, what)
    onText('all of it')
  }

  async withdraw(id: string): Promise<'withdrawn' | 'too-late'> {
    await this.#ask('withdraw', id)
    const { waiting } = this.#view.current
    this.changeCurrent({ waiting: waiting.filter((one) => one.id !== id) })
    return waiting.some((one) => one.id === id) ? 'withdrawn' : 'too-late'
  }

  open(key: string): void {
    this.asked.push(['open', key])
    const found = this.#view.conversations.find((one) => one.key === key)
    this.changeCurrent({ ...emptyOf(key, found?.title ?? key) })
  }

  newConversation(): void {
    this.asked.push(['newConversation'])
    this.changeCurrent(emptyOf('new', 'New conversation'))
  }

  async rename(key: string, title: string): Promise<void> {
    await this.#ask('rename', key, title)
    this.change({
      conversations: this.#view.conversations.map((one) => (one.key === key ? { ...one, title } : one)),
      current: this.#view.current.key === key ? { ...this.#view.current, title } : this.#view.current,
    })
  }

  async remove(key: string): Promise<void> {
    await this.#ask('remove', key)
    this.change({ conversations: this.#view.conversations.filter((one) => one.key !== key) })
  }

  async setModel(id: string | null): Promise<void> {
    await this.#ask('setModel', id)
    if (id !== null) this.changeCurrent({ model: id })
  }

  async setThinking(level: ThinkingLevel | null): Promise<void> {
    await this.#ask('setThinking', level)
    if (level !== null) this.changeCurrent({ thinking: level })
  }

  loadEarlier(): void {
    this.asked.push(['loadEarlier'])
  }

  dismissAside(id: string): void {
    this.asked.push(['dismissAside', id])
    this.changeCurrent({ asides: (this.#view.current.asides ?? []).filter((one) => one.id !== id) })
  }

  reconnect(): void {
    this.asked.push(['reconnect'])
  }

  inspector(key: string): string {
    return `/inspector#${key}`
  }
}

export const emptyOf = (key: string, title: string): Current => ({
  key,
  title,
  loading: false,
  running: false,
  stopping: false,
  entries: [],
  waiting: [],
})
