/** The model of the page that talks to a node: one socket, one conversation that is open, and the list of all. */
import { pageSignals, type SocketClient, socketClient } from '../../../src/client/socket/index.ts'
import { definedOf } from '../../../src/contracts/defined.ts'
import { errorBody } from '../../../src/contracts/errors.ts'
import { keep, kept } from '../../shared/storage.ts'
import type { Agents, Listed, Models } from './live/commands.ts'
import { ConversationLive } from './live/conversation.ts'
import { readAll } from './live/read-all.ts'
import type { ChatModel, ChatView, Connection, Conversation, Current, ErrorBody, FileRef, ModelChoice, ThinkingLevel } from './model.ts'
import { Shown } from './rules/shown.rules.ts'

/** ms after which the list is read again in any case while the page is looked at: a node says only of its own sessions that they have changed. */
const listMs = 30_000
const thinkingLevels: readonly ThinkingLevel[] = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh']
/** What a conversation is called that has said nothing yet. */
const newTitle = 'New conversation'

const keyInAddress = (): string | undefined => {
  const [, key] = /^#\/(.+)$/.exec(location.hash) ?? []
  try {
    return key === undefined ? undefined : decodeURIComponent(key)
  } catch {
    return undefined
  }
}

class LiveModel implements ChatModel {
  readonly #client: SocketClient
  readonly #token: string
  readonly #listeners = new Set<() => void>()
  readonly #shown = new Shown()
  #wake: () => void = () => undefined
  #open: ConversationLive
  #listed: Listed['sessions'] = []
  /** Readings of the list that were asked for, and the one that is shown. */
  #asked = 0
  #shownReading = 0
  #models: readonly ModelChoice[] = []
  #defaultModel: string | undefined
  /** Who answers in a conversation that is begun here, as keys name it. */
  #agent = 'main'
  #tools: readonly string[] | undefined
  #wasConnected = false
  /** The node has said that it shuts down. */
  #leaving = false
  #view: ChatView | undefined
  #told = false

  constructor({ url, token }: { url: string; token: string }) {
    this.#client = socketClient({
      url,
      token,
      client: { name: 'statecast-web' },
      signals: (wake) => {
        this.#wake = wake
        return pageSignals()(wake)
      },
    })
    this.#token = token
    this.#open = this.#conversation(keyInAddress() ?? kept('open') ?? 'main')
    this.#client.onStatus((status) => {
      if (status === 'ready') {
        this.#wasConnected = true
        this.#leaving = false
        // One that was refused does not take the place of one that is good.
        keep('token', this.#token)
        this.#open.connected()
        void this.#readLists()
      } else if (this.#open.known.connected) this.#open.disconnected()
      this.#change()
    })
    this.#client.on('shutdown', () => {
      this.#leaving = true
      this.#change()
    })
    addEventListener('hashchange', () => {
      // Another address that `statecast up` has printed.
      if (location.hash.startsWith('#token=')) location.reload()
      const key = keyInAddress()
      if (key !== undefined && key !== this.#open.key) this.open(key)
    })
    const readAgain = (): void => {
      if (document.visibilityState === 'visible' && this.#client.status === 'ready') void this.#readList()
    }
    this.#client.on('sessions.changed', readAgain)
    document.addEventListener('visibilitychange', readAgain)
    setInterval(readAgain, listMs)
  }

  // ---- the view

  view(): ChatView {
    this.#view ??= {
      connection: this.#connection(),
      conversations: this.#conversations(),
      current: this.#current(),
      models: this.#models,
      thinkingLevels,
      ...definedOf({ tools: this.#tools }),
    }
    return this.#view
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Whatever changes within one task is drawn once. */
  #change(): void {
    this.#view = undefined
    if (this.#told) return
    this.#told = true
    queueMicrotask(() => {
      this.#told = false
      for (const listener of this.#listeners) listener()
    })
  }

  #connection(): Connection {
    const { status, welcome, error } = this.#client
    if (status === 'ready') return { state: 'connected', ...definedOf({ node: welcome?.server.node, leaving: this.#leaving || undefined }) }
    if (status === 'refused') return { state: 'refused', error: errorBody(error) }
    return this.#wasConnected || status === 'waiting' ? { state: 'lost' } : { state: 'connecting' }
  }

  #conversations(): Conversation[] {
    return this.#listed.map(({ key, title, last, lastRole, at, busy, waiting }) => {
      const isOpen = key === this.#open.key
      const listed = waiting > 0 ? 'running.awaiting-input' : busy ? 'running' : undefined
      const { run } = this.#open.known
      // What is open tells of itself, sooner than the list.
      const state = isOpen ? (run === null ? undefined : (run.state ?? 'running')) : listed
      const seenAt = Number(kept(`seen.${key}`) ?? 0)
      return {
        key,
        title: title ?? newTitle,
        at,
        ...definedOf({ words: last, state }),
        ...(waiting > 0 ? { needsYou: true } : {}),
        ...(!isOpen && lastRole === 'assistant' && at > seenAt ? { unread: true } : {}),
      }
    })
  }

  #current(): Current {
    const { key, known, viewed, chosen, deciding, stopping, stateSince, mayHaveEarlier, loadingEarlier } = this.#open
    const { toggles, tokens, spent } = viewed?.record ?? {}
    const row = this.#listed.find((one) => one.key === key)
    return {
      key,
      title: row?.title ?? newTitle,
      loading: known.history === 'wanted' && known.entries.length === 0 && this.#client.status !== 'refused',
      running: known.run !== null,
      stopping: stopping !== undefined && stopping === known.run?.runId,
      entries: this.#shown.entries(known, deciding),
      waiting: this.#shown.waiting(known),
      asides: this.#shown.asides(known),
      ...(mayHaveEarlier ? { earlier: { loading: loadingEarlier } } : {}),
      ...definedOf({
        state: known.run === null ? undefined : (known.run.state ?? 'running'),
        doing: known.run?.detail,
        stateSince: known.run === null ? undefined : stateSince,
        model: chosen.model ?? toggles?.model ?? this.#defaultModel,
        thinking: chosen.thinking ?? toggles?.thinking,
        tokens: tokens?.total,
        window: tokens?.window,
        costUsd: spent !== undefined && spent.costUsd > 0 ? spent.costUsd : undefined,
      }),
    }
  }

  // ---- what is read

  #conversation(key: string): ConversationLive {
    keep('open', key)
    return new ConversationLive(this.#client, key, () => this.#change())
  }

  async #readLists(): Promise<void> {
    const [models, agents] = await Promise.all([
      this.#client.call<Models>('models.list', {}).catch(() => undefined),
      this.#client.call<Agents>('agents.list', {}).catch(() => undefined),
      this.#readList(),
    ])
    if (models)
      this.#models = models.models.map(({ ref, available, why }) => ({ id: ref, ...(available ? {} : { unavailable: why ?? 'not available' }) }))
    const usual = agents?.agents.find((agent) => agent.default)
    this.#tools = usual?.tools
    this.#agent = usual?.name.toLowerCase() ?? 'main'
    this.#defaultModel = usual?.model ?? models?.default
    this.#change()
  }

  async #readList(): Promise<void> {
    const reading = ++this.#asked
    try {
      const { sessions } = await this.#client.call<Listed>('sessions.list', { details: true })
      // Answers come in any order.
      if (reading < this.#shownReading) return
      this.#shownReading = reading
      if (JSON.stringify(sessions) === JSON.stringify(this.#listed)) return
      this.#listed = sessions
      keep(`seen.${this.#open.key}`, String(Date.now()))
      this.#change()
    } catch {
      // It is read again soon, and the connection says for itself that it is gone.
    }
  }

  // ---- what a person does

  async send(text: string, options: Parameters<ChatModel['send']>[1]): Promise<void> {
    await this.#open.say(text, options)
    void this.#readList()
  }

  /** Not over the socket, whose frames are small. */
  async upload(file: File, signal: AbortSignal): Promise<FileRef> {
    const response = await this.#fetch(`/files?name=${encodeURIComponent(file.name)}`, { method: 'POST', body: file, signal })
    const { id, mimeType, bytes, fileName } = (await response.json()) as FileRef
    return { id, mimeType, bytes, fileName }
  }

  /** The token goes in a header, so that no address shows anything by itself. */
  async download(key: string, { id }: FileRef): Promise<Blob> {
    return (await this.#fetch(`/files/${id}?sessionKey=${encodeURIComponent(key)}`, {})).blob()
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(path, { ...init, headers: { authorization: `Bearer ${this.#token}` } })
    if (response.ok) return response
    const { error } = (await response.json().catch(() => ({}))) as { error?: ErrorBody }
    throw Object.assign(new Error(error?.message ?? `the node answered ${response.status}`), error)
  }

  stop = (): Promise<void> => this.#open.stop()
  decide: ChatModel['decide'] = (...answer) => this.#open.decide(...answer)
  readAll: ChatModel['readAll'] = (...what) => readAll(this.#client)(...what)
  withdraw: ChatModel['withdraw'] = (id) => this.#open.withdraw(id)
  setModel: ChatModel['setModel'] = (model) => this.#open.configure({ model })
  setThinking: ChatModel['setThinking'] = (thinking) => this.#open.configure({ thinking })
  loadEarlier = (): void => this.#open.loadEarlier()
  dismissAside: ChatModel['dismissAside'] = (id) => this.#open.dismissAside(id)

  open(key: string): void {
    if (key === this.#open.key) return
    keep(`seen.${this.#open.key}`, String(Date.now()))
    this.#open.close()
    this.#open = this.#conversation(key)
    if (this.#client.status === 'ready') this.#open.connected()
    history.replaceState(null, '', `#/${encodeURIComponent(key)}`)
    this.#change()
  }

  newConversation(): void {
    // Another one each time: only the default tab is found again by its key.
    this.open(`agent:${this.#agent}:web:${crypto.randomUUID()}`)
  }

  async rename(key: string, title: string): Promise<void> {
    await this.#client.call('sessions.configure', { sessionKey: key, toggles: { title: title.trim() === '' ? null : title } })
    keep(`seen.${key}`, String(Date.now()))
    await this.#readList()
  }

  async remove(key: string): Promise<void> {
    await this.#client.call('sessions.delete', { sessionKey: key })
    keep(`seen.${key}`, '')
    if (key === this.#open.key) this.newConversation()
    await this.#readList()
  }

  inspector = (key: string, runId?: string): string => {
    const query = new URLSearchParams({ session: key })
    if (runId !== undefined) query.set('run', runId)
    return `/inspector?${query}`
  }

  reconnect(): void {
    this.#wake()
  }
}

export const liveModel = (where: { url: string; token: string }): ChatModel => new LiveModel(where)
