/** One conversation that is open: what is heard of it, what is read of it, and what is said in it. */
import {
  type ChatAction,
  emptyView,
  type HistoryMessage,
  type ChatView as Known,
  type SessionSubscription,
  type SocketClient,
  viewOf,
} from '../../../../src/client/socket/index.ts'
import { definedOf } from '../../../../src/contracts/defined.ts'
import { isRuntimeError } from '../../../../src/contracts/errors.ts'
import type { FileRef } from '../../../../src/contracts/file.ts'
import type { Approval } from '../../../../src/contracts/turn.ts'
import type { Decision, SendMode, ThinkingLevel } from '../model.ts'
import type { History, Viewed } from './commands.ts'

/** Messages that are read first, and how many more each time that is asked for earlier ones. */
const firstMax = 60
const moreMax = 200
/** Characters of one part of a message: longer ones say that they are cut. */
const charsMax = 100_000

type Settings = { model?: string | undefined; thinking?: ThinkingLevel | undefined }

export class ConversationLive {
  readonly key: string
  known: Known
  /** Of the session, when it was looked at last; undefined while there is none. */
  viewed: Viewed | undefined
  /** Chosen before there was a session to keep it. */
  chosen: Settings = {}
  deciding = new Map<string, Decision>()
  stopping: string | undefined
  stateSince: number | undefined
  loadingEarlier = false
  mayHaveEarlier = false
  readonly #client: SocketClient
  readonly #changed: () => void
  readonly #subscription: SessionSubscription
  #wanted = firstMax
  /** The history as far as it has been read. */
  #messages: HistoryMessage[] = []
  #reading = false
  #readAgain = false

  /** @param changed called after each change of what is known; not before {@link connected} was */
  constructor(client: SocketClient, key: string, changed: () => void) {
    this.key = key
    this.#client = client
    this.#changed = changed
    this.known = emptyView(key)
    this.#subscription = client.subscribe(key, (heard) => this.#take(heard))
  }

  close(): void {
    this.#subscription.off()
  }

  connected(): void {
    this.#take({ type: 'connected' })
    for (const { id, status, text = '', files } of this.known.waiting)
      if (status === 'unsent') void this.#send(id, { text, files, mode: 'steer' }).catch(() => undefined)
  }

  disconnected(): void {
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
    this.stopping = run.runId
    this.#changed()
    try {
      await this.#client.call('chat.abort', { sessionKey: this.key, runId: run.runId })
    } catch (error) {
      this.stopping = undefined
      this.#changed()
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
    await this.#look()
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
    await this.#look()
  }

  loadEarlier(): void {
    if (this.loadingEarlier || !this.mayHaveEarlier) return
    this.#wanted = this.#messages.length + moreMax
    this.loadingEarlier = true
    this.#changed()
    void this.#read()
  }

  /** Reads anew what nobody tells: settings, costs, what waits. */
  async #look(): Promise<void> {
    const { life } = this.known
    try {
      const viewed = await this.#client.call<Viewed>('sessions.get', { sessionKey: this.key })
      this.viewed = viewed
      const { queued, run, approvals } = viewed
      this.#take({ type: 'looked', sessionKey: this.key, life, queued, run, approvals })
    } catch (error) {
      if (isRuntimeError(error) && error.code === 'not_found') this.viewed = undefined
    }
    this.#changed()
  }

  #take(action: ChatAction): void {
    const before = this.known
    this.known = viewOf(before, action)
    if (this.known.stale && !before.stale) this.#subscription.refresh()
    // What was asked for before is not the answer to what is wanted now.
    if (this.#reading && this.known.history === 'wanted' && (before.history === 'read' || action.type === 'subscribed')) this.#readAgain = true
    if (this.known.connected && this.known.history === 'wanted') void this.#read()
    if (this.known.run?.state !== before.run?.state) this.stateSince = Date.now()
    if (before.run !== null && this.known.run?.runId !== before.run.runId) {
      this.stopping = undefined
      if (this.known.connected) void this.#look()
    }
    this.#changed()
  }

  async #read(): Promise<void> {
    if (this.#reading) return
    this.#reading = true
    this.#readAgain = false
    const { life } = this.known
    try {
      const answer = await this.#client.call<History>('chat.history', { sessionKey: this.key, limit: firstMax, details: true, maxChars: charsMax })
      let { more, messages, runs } = answer
      // As much as had been read before.
      while (more && messages.length < this.#wanted) {
        const page = await this.#before(messages, this.#wanted - messages.length)
        more = page.more
        messages = [...page.messages, ...messages]
        runs = [...page.runs, ...runs]
      }
      this.#messages = messages
      this.mayHaveEarlier = more
      this.#take({ type: 'opened', sessionKey: this.key, life, messages, runs })
      await this.#look()
      for (const said of answer.waiting) this.#tellText(said)
    } catch (error) {
      // Nothing was said in it yet.
      if (isRuntimeError(error) && error.code === 'not_found') this.#take({ type: 'opened', sessionKey: this.key, life, messages: [] })
    } finally {
      this.#reading = false
      this.loadingEarlier = false
      this.#changed()
    }
    const again = this.#readAgain || (this.known.history === 'wanted' && this.known.life !== life)
    if (this.known.connected && again) void this.#read()
  }

  #before(messages: readonly HistoryMessage[], wanted: number): Promise<History> {
    // A page begins with a message that has a name.
    const [first] = messages
    const before = first !== undefined && 'id' in first ? first.id : undefined
    const input = { sessionKey: this.key, limit: Math.min(1_000, wanted), details: true, maxChars: charsMax, ...definedOf({ before }) }
    return this.#client.call<History>('chat.history', input).catch((error: unknown) => {
      // It was compacted meanwhile: what was read is what there is, and it is read anew soon.
      if (isRuntimeError(error) && error.code === 'not_found') return { messages: [], more: false, waiting: [], runs: [] }
      throw error
    })
  }

  /** Of what waits only the id was known. */
  #tellText({ id, text, files }: History['waiting'][number]): void {
    const waiting = this.known.waiting.find((message) => message.id === id)
    if (waiting?.text !== undefined || waiting === undefined) return
    const status = waiting.status === 'steered' ? ('steered' as const) : ('queued' as const)
    const payload = { sessionKey: this.key, id, runId: '', status, text, ...definedOf({ files }), timestamp: 0 }
    this.#take({ type: 'event', frame: { type: 'event', event: 'session.message', payload } })
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
      if (isFirst) await this.#look()
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
