/** The model of the page that talks to a node: one socket, one worker, and the chart of what is looked at. */
import { type Actor, createActor, fromCallback, fromPromise } from 'xstate'
import type { Chart } from '../../../src/actors/index.ts'
import { pageSignals, type SocketClient, socketClient } from '../../../src/client/socket/index.ts'
import { errorBody } from '../../../src/contracts/errors.ts'
import type { CommitSteps, Moment } from '../../../src/contracts/inspection.ts'
import type { ActorPath } from '../../../src/contracts/journal.ts'
import { formatAddress } from '../../../src/contracts/subjects.ts'
import type { Span } from '../../../src/contracts/tracing.ts'
import type { Approval } from '../../../src/contracts/turn.ts'
import { keep } from '../../shared/storage.ts'
import type { CommitDetail, FromWorker, Looked, Origin, Row } from './fold/protocol.ts'
import { Covering } from './live/covering.ts'
import { chartsFor, exportOf, forkOf, replayed, resolve, spansOf } from './live/doings.ts'
import { Listing } from './live/listing.ts'
import { reading } from './live/reading.ts'
import { Recording } from './live/recording.ts'
import { WorkerLink } from './live/worker-link.ts'
import type { Connection, ForkWish, InspectorModel, InspectorView, Verdict } from './model.ts'
import { placeIn, searchOf, troubleWith } from './rules/address.rules.ts'
import { modelCallIn } from './rules/calls.rules.ts'
import { answerOf } from './rules/runs.rules.ts'
import type { LookInput, Subject, ViewingEvent } from './viewing/viewing.context.ts'
import { viewingMachine } from './viewing/viewing.machine.ts'

class LiveModel implements InspectorModel {
  readonly #client: SocketClient
  readonly #token: string
  readonly #worker: WorkerLink
  readonly #viewing: Actor<typeof viewingMachine>
  readonly #list: Listing
  readonly #listeners = new Set<() => void>()
  #wake: () => void = () => undefined
  #wasConnected = false
  #leaving = false
  #recording = new Recording('session')
  #applied: number | undefined
  #charts: Record<string, Chart> = {}
  #actor: ActorPath = '/'
  /** The end of this run is looked for in what is read. */
  #run: string | undefined
  #verdict: Verdict | undefined
  readonly #covering: Covering
  #spansOf: readonly Span[] = []
  /** Of the commit for which they were read last. */
  #spansAt = 0
  #view: InspectorView | undefined
  #told = false

  constructor({ url, token }: { url: string; token: string }) {
    this.#token = token
    this.#client = socketClient({
      url,
      token,
      client: { name: 'statecast-inspector' },
      signals: (wake) => {
        this.#wake = wake
        return pageSignals()(wake)
      },
    })
    this.#worker = new WorkerLink((told) => this.#hear(told))
    this.#list = new Listing(this.#client, (known) => {
      if (known) this.#viewing.send({ type: 'listed', ...known })
      this.#change()
    })
    this.#covering = new Covering(this.#client, () => this.#change())
    this.#viewing = createActor(
      viewingMachine.provide({
        actions: { openFirst: (_, { first }) => first && this.open(first) },
        actors: {
          read: fromCallback<ViewingEvent, { subject: Subject; from: number }>(({ input, sendBack }) =>
            reading({ client: this.#client, worker: this.#worker, tell: sendBack }, input.subject, input.from),
          ),
          look: fromPromise<Looked, LookInput>(({ input }) => this.#look(input)),
        },
      }),
    )
    this.#viewing.subscribe(({ context }) => {
      if (context.looked && context.looked.seq !== this.#spansAt) void this.#readSpans(context.looked)
      this.#change()
    })
    this.#viewing.start()
    void this.#worker.ask({ what: 'charts' }).then((charts) => {
      this.#charts = { ...charts, ...this.#charts }
      this.#change()
    })
    this.#client.onStatus((status) => {
      if (status === 'ready') {
        this.#wasConnected = true
        this.#leaving = false
        keep('token', this.#token)
        this.#viewing.send({ type: 'connected' })
        this.#list.connected()
      } else this.#viewing.send({ type: 'disconnected' })
      this.#change()
    })
    this.#client.on('shutdown', () => {
      this.#leaving = true
      this.#change()
    })
    addEventListener('popstate', () => this.#goToAddress())
    // Another address that `statecast up` has printed.
    addEventListener('hashchange', () => location.hash.startsWith('#token=') && location.reload())
    this.#goToAddress()
  }

  // ---- the view

  view(): InspectorView {
    const snapshot = this.#viewing.getSnapshot()
    const { subject, seq, head, fresh, compares, corrupt, error, looked } = snapshot.context
    this.#view ??= {
      connection: this.#connection(),
      list: this.#list.sessions,
      others: this.#list.others,
      subject,
      origin: this.#recording.origin,
      recorded: this.#recording.recorded(),
      place: {
        seq,
        head,
        fresh,
        compares,
        corrupt,
        error,
        live: snapshot.matches({ place: 'live' }),
        catchingUp: snapshot.matches({ journal: { reading: 'catchingUp' } }),
        unreadable: snapshot.matches({ journal: 'unreadable' }),
      },
      looked,
      folding: snapshot.matches({ moment: 'looking' }) ? { applied: this.#applied ?? 0 } : undefined,
      charts: this.#charts,
      actor: this.#actor,
      verdict: this.#verdict,
      coverage: subject && this.#covering.of(subject.kind),
      spans: this.#spansOf,
      mayApprove: this.#client.welcome?.scopes.some((scope) => scope === 'approve' || scope === 'admin') ?? false,
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
      this.#keepAddress()
      for (const listener of this.#listeners) listener()
    })
  }

  #connection(): Connection {
    const { status, error } = this.#client
    if (status === 'ready') return { state: 'connected', ...(this.#leaving && { leaving: true }) }
    if (status === 'refused') return { state: 'refused', error: errorBody(error) }
    return this.#wasConnected || status === 'waiting' ? { state: 'lost' } : { state: 'connecting' }
  }

  // ---- what is read

  #hear(told: Exclude<FromWorker, { type: 'answer' | 'failed' }>): void {
    if (told.type === 'progress') this.#applied = told.applied
    else if (told.type === 'corrupt') this.#viewing.send({ type: 'corrupt', seq: told.seq, error: told.error })
    else this.#takeRows(told.rows, told.origin)
    this.#change()
  }

  #takeRows(rows: readonly Row[], origin: Origin | undefined): void {
    this.#recording.take(rows, origin)
    if (origin?.local === false) void this.#readCharts()
    this.#viewing.send({ type: 'grown', head: this.#recording.rows.length })
    const answer = this.#run === undefined ? undefined : answerOf(this.#recording.rows, this.#run)
    if (answer !== undefined) {
      this.#run = undefined
      this.seek(answer)
    }
  }

  async #readCharts(): Promise<void> {
    const { subject } = this.#viewing.getSnapshot().context
    if (!subject) return
    this.#charts = { ...this.#charts, ...(await chartsFor(this.#client, subject.kind)) }
    this.#change()
  }

  async #look({ subject, seq, before }: LookInput): Promise<Looked> {
    this.#applied = 0
    if (this.#recording.origin?.local) return this.#worker.ask({ what: 'look', seq, before })
    const at = (of: number) => this.#client.call<Moment>('trace.moment', { ...subject, seq: of })
    const [moment, steps, earlier, detail] = await Promise.all([
      at(seq),
      this.#client.call<CommitSteps>('trace.steps', { ...subject, seq }),
      before === undefined ? undefined : at(before),
      this.#worker.ask({ what: 'detail', seq }),
    ])
    return { seq, moment, steps, detail, before: earlier }
  }

  /** Where a model was called: what this node has observed of it. */
  async #readSpans(looked: Looked): Promise<void> {
    this.#spansAt = looked.seq
    const { subject } = this.#viewing.getSnapshot().context
    if (subject?.kind !== 'session' || !modelCallIn(looked)) return
    this.#spansOf = await spansOf(this.#client, subject.id, this.#spansOf)
    this.#change()
  }

  // ---- what a person does

  open(subject: Subject, seq?: number): void {
    this.#recording = new Recording(subject.kind)
    this.#actor = '/'
    this.#run = undefined
    this.#verdict = undefined
    this.#spansOf = []
    this.#spansAt = 0
    this.#worker.open(subject.kind, formatAddress(subject))
    this.#viewing.send({ type: 'open', subject, seq })
  }

  reconnect = (): void => this.#wake()
  wantOthers = (): void => this.#list.wantOthers()
  seek = (seq: number): void => this.#viewing.send({ type: 'seek', seq })
  live = (): void => this.#viewing.send({ type: 'live' })
  compare = (to: 'before' | number | undefined): void => this.#viewing.send({ type: 'compare', with: to })
  detail = (seq: number): Promise<CommitDetail> => this.#worker.ask({ what: 'detail', seq })
  text = (seq: number, at: readonly (string | number)[]): Promise<string> => this.#worker.ask({ what: 'text', seq, at })
  exported = (): Promise<string> => exportOf(this.#client, this.#subject())

  choose(actor: ActorPath): void {
    this.#actor = actor
    this.#change()
  }

  decide = (approval: Approval, decision: 'approve' | 'deny'): Promise<void> => resolve(this.#client, this.#subject(), approval, decision)

  fork = (wish: ForkWish): Promise<string> => forkOf(this.#client, this.#subject(), wish).finally(() => this.#list.read())

  replay(): void {
    const subject = this.#subject()
    const is = (verdict: Verdict): void => {
      if (this.#viewing.getSnapshot().context.subject !== subject) return
      this.#verdict = verdict
      this.#change()
    }
    is({ state: 'asking' })
    void replayed(this.#client, subject).then(is)
  }

  cover = (): void => this.#covering.read(this.#subject().kind)

  /** Only what is open can be changed. */
  #subject(): Subject {
    return this.#viewing.getSnapshot().context.subject as Subject
  }

  link = (): string => new URL(this.#search(true), location.href).href

  // ---- the address of the page

  #goToAddress(): void {
    const place = placeIn(location.search)
    if (!place) return
    const error = troubleWith(place)
    if (error) this.#viewing.send({ type: 'unreadable', error })
    else {
      this.open({ kind: place.kind, id: place.id }, place.seq)
      this.#actor = place.actor ?? '/'
      this.#run = place.run
    }
  }

  #search(always: boolean): string {
    const snapshot = this.#viewing.getSnapshot()
    const { subject, seq } = snapshot.context
    if (!subject) return location.search
    const isLive = snapshot.matches({ place: 'live' })
    return searchOf({
      ...subject,
      seq: (isLive && !always) || seq === 0 ? undefined : seq,
      actor: this.#actor,
      run: this.#run,
    })
  }

  #keepAddress(): void {
    const search = this.#search(false)
    if (search !== location.search) history.replaceState(null, '', location.pathname + search)
  }
}

export const liveModel = (where: { url: string; token: string }): InspectorModel => new LiveModel(where)
