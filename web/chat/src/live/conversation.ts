/** One conversation that is open: what is heard of it, what is read of it, and what is said in it. */
import {
  type ChatAction,
  emptyView,
  type HistoryRead,
  type ChatView as Known,
  type OpenConversation,
  openConversation,
  type SessionSubscription,
  type SocketClient,
  viewOf,
} from '../../../../src/client/socket/index.ts'
import { definedOf } from '../../../../src/contracts/defined.ts'
import { isRuntimeError } from '../../../../src/contracts/errors.ts'
import type { FileRef } from '../../../../src/contracts/file.ts'
import type { Approval } from '../../../../src/contracts/turn.ts'
import type { Decision, SendMode, ThinkingLevel } from '../model.ts'
import type { Viewed } from './commands.ts'
import { type Pages, pagesBefore, pagesFromEnd } from './pages.ts'

type Settings = { model?: string | undefined; thinking?: ThinkingLevel | undefined }

export class ConversationLive {
  readonly key: string
  known: Known
  /** Of the session, when it was looked at last; undefined while there is none. */
  viewed: Viewed | undefined
  /** Chosen before there was a session to keep it. */
  chosen: Settings = {}
  deciding = new Map<string, Decision>()
  stateSince: number | undefined
  readonly #client: SocketClient
  readonly #changed: () => void
  readonly #subscription: SessionSubscription
  readonly #chart: OpenConversation
  /** The history as far as it has been read. */
  #read: Pages = { messages: [], runs: [], waiting: [], more: false }

  /** @param changed called after each change of what is known; not before {@link connected} was */
  constructor(client: SocketClient, key: string, changed: () => void) {
    this.key = key
    this.#client = client
    this.#changed = changed
    this.known = emptyView(key)
    this.#chart = openConversation(
      {
        readNewest: async (atLeast, signal) => this.#show(this.known.life, await pagesFromEnd(client, key, atLeast), signal),
        readEarlier: async (signal) => this.#show(this.known.life, await pagesBefore(client, key, this.#read), signal),
        look: (signal) => this.#look(signal),
      },
      changed,
    )
    this.#subscription = client.subscribe(key, (heard) => this.#take(heard))
  }

  get mayHaveEarlier(): boolean {
    return this.#chart.hasEarlier
  }

  get loadingEarlier(): boolean {
    return this.#chart.readsEarlier
  }

  /** The run that somebody has stopped, until it has ended. */
  get stopping(): string | undefined {
    return this.#chart.stopping
  }

  close(): void {
    this.#subscription.off()
    this.#chart.close()
  }

  connected(): void {
    this.#take({ type: 'connected' })
    this.#chart.tell({ type: 'connected' })
    for (const { id, status, text = '', files } of this.known.waiting)
      if (status === 'unsent') void this.#send(id, { text, files, mode: 'steer' }).catch(() => undefined)
  }

  disconnected(): void {
    this.#chart.tell({ type: 'disconnected' })
    this.#take({ type: 'disconnected' })
  }

  async say(text: string, { mode, files }: { mode: SendMode; files?: readonly FileRef[] | undefined }): Promise<void> {
    const id = crypto.randomUUID()
    this.#take({ type: 'said', id, text, ...definedOf({ files }), at: Date.now() })
    if (this.known.connected) await this.#send(id, { text, files, mode })
  }

  async stop(): Promise<void> {
    const { run } = this.known
    if (run === null) return
    this.#chart.tell({ type: 'stop', runId: run.runId })
    try {
      await this.#client.call('chat.abort', { sessionKey: this.key, runId: run.runId })
    } catch (error) {
      this.#chart.tell({ type: 'stop.refused' })
      throw error
    }
  }

  async decide({ callId, inputHash, attempt }: Approval, decision: Decision, note?: string, remember?: 'session'): Promise<void> {
    this.deciding = new Map(this.deciding).set(callId, decision)
    this.#changed()
    try {
      const answer = { decision, by: 'web', ...definedOf({ note, remember }) }
      await this.#client.call('approvals.resolve', { sessionKey: this.key, callId, inputHash, attempt, ...answer })
    } finally {
      this.deciding = new Map([...this.deciding].filter(([id]) => id !== callId))
      this.#changed()
    }
  }

  async withdraw(id: string): Promise<'withdrawn' | 'too-late'> {
    const message = this.known.waiting.find((one) => one.id === id)
    // What joins the turn that runs is part of it: to stop it would be to stop the turn.
    if (message === undefined || message.status === 'steered') return 'too-late'
    if (message.status === 'unsent') {
      this.#take({ type: 'withdrawn', id })
      return 'withdrawn'
    }
    const { aborted } = await this.#client.call<{ aborted: boolean }>('chat.abort', { sessionKey: this.key, runId: id })
    await this.#chart.looked()
    return aborted ? 'withdrawn' : 'too-late'
  }

  dismissAside(key: string): void {
    this.#take({ type: 'dismissed', key })
  }

  async configure(settings: { model?: string | null; thinking?: ThinkingLevel | null; title?: string }): Promise<void> {
    if (this.viewed === undefined) {
      const { model, thinking } = settings
      this.chosen = {
        ...this.chosen,
        ...(model === undefined ? {} : { model: model ?? undefined }),
        ...(thinking === undefined ? {} : { thinking: thinking ?? undefined }),
      }
      this.#changed()
      return
    }
    await this.#client.call('sessions.configure', { sessionKey: this.key, toggles: settings })
    await this.#chart.looked()
  }

  loadEarlier(): void {
    this.#chart.tell({ type: 'earlier' })
  }

  #take(action: ChatAction): void {
    const before = this.known
    this.known = viewOf(before, action)
    if (this.known.stale && !before.stale) this.#subscription.refresh()
    if (isOutdated(before, this.known, action)) this.#chart.tell({ type: 'outdated' })
    if (this.known.run?.state !== before.run?.state) this.stateSince = Date.now()
    if (before.run !== null && this.known.run?.runId !== before.run.runId) this.#chart.tell({ type: 'run.ended' })
    this.#changed()
  }

  #show(life: number, read: Pages, signal: AbortSignal): HistoryRead {
    const { messages, runs, more } = read
    // Nobody wants it any more, and it may be older than what is shown.
    if (!signal.aborted) {
      this.#read = read
      this.#take({ type: 'opened', sessionKey: this.key, life, messages, runs })
    }
    return { messages: messages.length, more }
  }

  /** Reads anew what nobody tells: settings, costs, what waits. */
  async #look(signal: AbortSignal): Promise<void> {
    const { life } = this.known
    try {
      const viewed = await this.#client.call<Viewed>('sessions.get', { sessionKey: this.key })
      if (signal.aborted) return
      this.viewed = viewed
      const { queued, run, approvals } = viewed
      this.#take({ type: 'looked', sessionKey: this.key, life, queued, run, approvals, waiting: this.#read.waiting })
    } catch (error) {
      if (!isRuntimeError(error) || error.code !== 'not_found') throw error
      this.viewed = undefined
      this.#changed()
    }
  }

  async #send(id: string, { text, files = [], mode }: { text: string; files?: readonly FileRef[] | undefined; mode: SendMode }): Promise<void> {
    const { model, thinking } = this.chosen
    const isFirst = this.viewed === undefined
    try {
      const answer = await this.#client.call<Omit<Extract<ChatAction, { type: 'taken' }>, 'type' | 'id'>>('chat.send', {
        sessionKey: this.key,
        message: text,
        idempotencyKey: id,
        queueMode: mode,
        ...(files.length > 0 && { attachments: files.map(({ id: file, fileName }) => ({ id: file, fileName })) }),
        ...definedOf({ model, thinking }),
      })
      this.#take({ type: 'taken', id, ...answer })
      if (isFirst) await this.#chart.looked()
      if (isFirst && (model !== undefined || thinking !== undefined)) {
        this.chosen = {}
        await this.configure(definedOf({ model, thinking }))
      }
    } catch (error) {
      this.#take({ type: 'refused', id, error })
      if (isRuntimeError(error) && error.retryable) return
      this.#take({ type: 'withdrawn', id })
      throw error
    }
  }
}

/** A reading that is going on was asked for before, and may lack it. */
const isOutdated = (before: Known, { history, life }: Known, { type }: ChatAction): boolean => {
  if (history === 'read') return false
  // Of whatever was heard before, the end may have been missed.
  return before.history === 'read' || before.life !== life || (type === 'subscribed' && before.facts.runs.size > 0)
}
