/** What the page shows: one socket to a node, the list of sessions, the one that is open, and the moment that is looked at. */
import type { Chart } from '../../../src/actors/index.ts'
import { pageSignals, type SocketClient, type SocketStatus, socketClient } from '../../../src/client/socket/index.ts'
import { errorBody } from '../../../src/contracts/errors.ts'
import type { CommitSteps, Moment } from '../../../src/contracts/inspection.ts'
import { formatAddress } from '../../../src/contracts/subjects.ts'
import type { Approval } from '../../../src/contracts/turn.ts'
import { Folder } from './fold/folder.ts'
import type { Look, Row, StoredFrame } from './fold/messages.ts'
import { answerOf } from './rules/runs.rules.ts'

export type Listed = { key: string; title?: string; last?: string; state: unknown; at: number; busy: boolean; waiting: number }
export type Failure = { code?: string; message: string; hint?: string | undefined }

export type Opened = {
  kind: string
  id: string
  rows: readonly Row[]
  /** Commits that the node has; more than there are rows while they are read. */
  head: number
  seq: number
  /** Whether the newest commit is shown as it comes. */
  live: boolean
  /** The run whose end is looked for. */
  run: string | undefined
  /** Path of the actor that is looked at. */
  actor: string
  look: Look | undefined
  charts: Readonly<Record<string, Chart>>
  approvals: readonly Approval[]
  verdict: string | undefined
  error: Failure | undefined
}

export type View = { status: SocketStatus; error: Failure | undefined; listed: readonly Listed[] | undefined; opened: Opened | undefined }

const listMs = 5_000
/** Where nothing says that there is something new. */
const askMs = 1_000

export class Model {
  readonly #client: SocketClient
  readonly #folder = new Folder()
  readonly #listeners = new Set<() => void>()
  #view: View = { status: 'connecting', error: undefined, listed: undefined, opened: undefined }
  #leave: () => void = () => undefined
  #reading = false
  #wanted: number | undefined

  constructor(where: { url: string; token: string }, onReady: () => void) {
    this.#client = socketClient({ ...where, client: { name: 'statecast-inspector' }, signals: pageSignals() })
    this.#client.onStatus((status) => {
      const { error } = this.#client
      this.#set({ status, error: error === undefined ? undefined : errorBody(error) })
      if (status !== 'ready') return
      onReady()
      void this.#list()
      void this.#read()
    })
    setInterval(() => void this.#list(), listMs)
    setInterval(() => void this.#read(), askMs)
  }

  view = (): View => this.#view
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #set(change: Partial<View>): void {
    this.#view = { ...this.#view, ...change }
    for (const listener of this.#listeners) listener()
  }
  #setOpened(address: string, change: Partial<Opened>): void {
    const { opened } = this.#view
    if (opened && addressOf(opened) === address) this.#set({ opened: { ...opened, ...change } })
  }

  async #list(): Promise<void> {
    if (this.#client.status !== 'ready' || document.visibilityState !== 'visible') return
    const answer = await this.#client.call<{ sessions: Listed[] }>('sessions.list', { details: true }).catch(() => undefined)
    if (answer) this.#set({ listed: answer.sessions })
  }

  // ---- one session or actor

  open(kind: string, id: string, at?: { seq?: number | undefined; actor?: string | undefined; run?: string | undefined }): void {
    this.#leave()
    const opened: Opened = {
      kind,
      id,
      rows: [],
      head: 0,
      seq: at?.seq ?? 0,
      live: at?.seq === undefined && at?.run === undefined,
      run: at?.run,
      actor: at?.actor ?? '/',
      look: undefined,
      charts: {},
      approvals: [],
      verdict: undefined,
      error: undefined,
    }
    this.#set({ opened })
    void this.#folder.open(addressOf(opened))
    if (kind === 'session') {
      const { off } = this.#client.subscribe(id, () => void this.#read())
      this.#leave = off
    } else this.#leave = () => undefined
    void this.#read()
  }

  /** What the node has written since: asked for whenever something is heard, and every now and then. */
  async #read(): Promise<void> {
    const { opened } = this.#view
    if (!opened || this.#client.status !== 'ready') return
    if (this.#reading) return
    this.#reading = true
    const address = addressOf(opened)
    try {
      if (Object.keys(opened.charts).length === 0) void this.#readCharts(address, opened.kind)
      for (;;) {
        const from = (this.#view.opened?.rows.at(-1)?.seq ?? 0) + 1
        const { kind, id } = opened
        const { frames, head } = await this.#client.call<{ frames: StoredFrame[]; head: { seq: number } }>('trace.frames', {
          kind,
          id,
          from,
          limit: 500,
        })
        if (frames.length === 0) {
          this.#setOpened(address, { head: head.seq, error: undefined })
          break
        }
        const { rows } = await this.#folder.take(address, frames)
        const present = this.#view.opened
        if (!present || addressOf(present) !== address) break
        this.#setOpened(address, { rows: [...present.rows, ...rows], head: head.seq, error: undefined })
        const answered = present.run === undefined ? undefined : answerOf(this.#view.opened?.rows ?? [], present.run)
        if (answered !== undefined) {
          this.#setOpened(address, { run: undefined })
          this.#goTo(answered)
        } else if (present.live && frames.at(-1)?.seq === head.seq) this.#goTo(head.seq)
        else if (!present.look && present.seq > 0 && present.seq <= (frames.at(-1)?.seq ?? 0)) this.#goTo(present.seq)
        if ((frames.at(-1)?.seq ?? 0) < head.seq) continue
        void this.#readApprovals(address)
        // A run that goes on, or of which nothing is known: then what is newest.
        if (this.#view.opened?.run !== undefined) this.#goTo(head.seq)
      }
    } catch (error) {
      this.#setOpened(address, { error: errorBody(error) })
    } finally {
      this.#reading = false
    }
    if (this.#view.opened && addressOf(this.#view.opened) !== address) void this.#read()
  }

  async #readCharts(address: string, kind: string): Promise<void> {
    const answer = await this.#client.call<{ charts: Record<string, Chart> }>('machines.get', { kind }).catch(() => undefined)
    if (answer) this.#setOpened(address, { charts: answer.charts })
  }

  async #readApprovals(address: string): Promise<void> {
    const { opened } = this.#view
    if (opened?.kind !== 'session') return
    const answer = await this.#client.call<{ approvals: Approval[] }>('approvals.list', { sessionKey: opened.id }).catch(() => undefined)
    if (answer) this.#setOpened(address, { approvals: answer.approvals })
  }

  // ---- the moment

  /** @param seq of the commit; clipped to those that there are */
  go(seq: number): void {
    const { opened } = this.#view
    if (!opened || opened.rows.length === 0) return
    const wanted = Math.max(1, Math.min(seq, opened.rows.length))
    this.#set({ opened: { ...opened, live: wanted === opened.rows.length && opened.live } })
    this.#goTo(wanted)
  }

  follow(live: boolean): void {
    const { opened } = this.#view
    if (!opened) return
    this.#set({ opened: { ...opened, live } })
    if (live) this.#goTo(opened.rows.length)
  }

  choose(actor: string): void {
    const { opened } = this.#view
    if (opened) this.#set({ opened: { ...opened, actor } })
  }

  /** Of many that are asked for one after the other, only the last is folded. */
  #goTo(seq: number): void {
    const { opened } = this.#view
    if (!opened) return
    this.#set({ opened: { ...opened, seq } })
    const isIdle = this.#wanted === undefined
    this.#wanted = seq
    if (isIdle) void this.#look(addressOf(opened))
  }

  async #look(address: string): Promise<void> {
    while (this.#wanted !== undefined) {
      const seq = this.#wanted
      try {
        const look = (await this.#folder.look(address, seq)) ?? (await this.#lookThere(seq))
        if (seq === this.#view.opened?.seq) this.#setOpened(address, { look, error: undefined })
      } catch (error) {
        this.#setOpened(address, { error: errorBody(error) })
      }
      if (this.#wanted === seq) this.#wanted = undefined
    }
  }

  /** A machine that this page does not have is folded by the node that has it. */
  async #lookThere(seq: number): Promise<Look | undefined> {
    const { opened } = this.#view
    if (!opened) return undefined
    const { kind, id } = opened
    const at = (place: number) => this.#client.call<Moment>('trace.moment', { kind, id, seq: place })
    const [moment, before, steps] = await Promise.all([
      at(seq),
      seq > 1 ? at(seq - 1) : undefined,
      this.#client.call<CommitSteps>('trace.steps', { kind, id, seq }),
    ])
    return { seq, moment, before, steps }
  }

  // ---- what a person does

  async decide({ callId, inputHash }: Approval, decision: 'approve' | 'deny'): Promise<void> {
    const { opened } = this.#view
    if (!opened) return
    try {
      await this.#client.call('approvals.resolve', { sessionKey: opened.id, callId, inputHash, decision, by: 'inspector' })
    } catch (error) {
      this.#setOpened(addressOf(opened), { error: errorBody(error) })
    }
    void this.#read()
  }

  async verify(): Promise<void> {
    const { opened } = this.#view
    if (!opened) return
    const { kind, id } = opened
    const address = addressOf(opened)
    this.#setOpened(address, { verdict: 'folding again …' })
    const verdict = await this.#client
      .call<{ verdict: string; commits: number; difference?: { seq: number; path?: string } }>('trace.replay', { kind, id }, { timeoutMs: 120_000 })
      .then(({ verdict: said, commits, difference }) =>
        difference ? `${said} from ${difference.seq} on${difference.path ? `, ${difference.path}` : ''}` : `${said}, ${commits} of ${commits}`,
      )
      .catch((error: unknown) => errorBody(error).message)
    this.#setOpened(address, { verdict })
  }
}

export const addressOf = ({ kind, id }: Pick<Opened, 'kind' | 'id'>): string => formatAddress({ kind, id })
