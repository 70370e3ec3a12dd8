/** What those who watch a session are told, once for all of them: its messages, the answer while it is written, tool calls, questions, ends. */

import { type ActorRefFrom, createActor } from 'xstate'
import { definedOf } from '../../contracts/defined.ts'
import { actorClock, type Clock } from '../../contracts/environment.ts'
import { errorBody, isRuntimeError } from '../../contracts/errors.ts'
import type { GatewayEvents } from '../../contracts/gateway.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import type { Feed, OutEvent, Runtime, Session } from '../../runtime/index.ts'
import { formatPlace } from '../place.ts'
import { Asides } from './asides.ts'
import { paceMachine } from './pace.machine.ts'
import { RunView, retryText } from './run-view.rules.ts'
import { injectedEvent, messageEvent, messagesMax } from './said.ts'
import type { RunSoFar, Watcher } from './watcher.ts'

// Beyond all deadlines of runs.
const runMsMax = 86_400_000

type Following = { view: RunView; pace: ActorRefFrom<typeof paceMachine> }

export class SessionFeed {
  readonly #runtime: Runtime
  readonly #session: Session
  readonly #clock: Clock
  readonly #watchers = new Set<Watcher>()
  #feed: Feed
  /** Of the last durable event that was heard. */
  #place: string | undefined
  readonly #idle: () => void
  #following: Following | undefined
  #over = false
  readonly #asides = new Asides()
  #doing = { name: '', runId: '', at: 0 }
  /** Looking something up takes a moment; what is told afterwards waits for it. */
  #work: Promise<void> = Promise.resolve()

  /** @param idle called when nobody watches and no run goes on @throws RuntimeError bad_request for what is no key */
  constructor(runtime: Runtime, key: string, clock: Clock, idle: () => void) {
    this.#runtime = runtime
    this.#session = runtime.session(key)
    this.#clock = clock
    this.#idle = idle
    this.#feed = runtime.events(this.#session.address)
    this.#do(() => this.#joinRun())
    void this.#listen()
  }

  async #listen(): Promise<void> {
    while (!this.#over)
      try {
        for await (const event of this.#feed.events) this.#hear(event)
        this.#end()
      } catch (error) {
        this.#listenAnew(error)
      }
  }

  /** More was said at once than is kept for a reader: what is durable of it comes again, and texts are read from the transcript. */
  #listenAnew(error: unknown): void {
    const { log } = this.#runtime
    log.warn({ sessionKey: this.#session.key, error: errorBody(error) }, 'watchers of a session missed events, which are read again')
    try {
      this.#feed.stop()
      this.#feed = this.#runtime.events(this.#session.address, this.#place)
      this.#do(() => this.#joinRun())
    } catch {
      this.#end()
    }
  }

  #end(): void {
    this.#over = true
    for (const watcher of this.#watchers) watcher.ended()
    this.#watchers.clear()
    this.#following?.pace.stop()
    this.#following = undefined
    this.#idle()
  }

  /** Nothing is heard of the session here any more; it may go on, and be watched anew. */
  get isOver(): boolean {
    return this.#over
  }

  get isIdle(): boolean {
    return this.#watchers.size === 0 && this.#following === undefined
  }

  /** Whoever watches hears everything from the moment on that this resolves with. */
  async watch(watcher: Watcher): Promise<RunSoFar> {
    this.#watchers.add(watcher)
    await this.#work
    return this.#soFar()
  }

  leave(watcher: Watcher): void {
    if (this.#watchers.delete(watcher) && this.isIdle) this.#idle()
  }

  stop(): void {
    this.#feed.stop()
  }

  #soFar(): RunSoFar {
    return this.#following?.view.forWatcher(this.#clock.now()) ?? { run: null, tools: [] }
  }

  #do(task: () => Promise<void>): void {
    this.#work = this.#work.then(task).catch((error: unknown) => {
      // A session that does not exist yet can be watched.
      if (isRuntimeError(error) && error.code === 'not_found') return
      this.#runtime.log.warn({ sessionKey: this.#session.key, error: errorBody(error) }, 'what those who watch a session miss could not be read')
    })
  }

  #tell<Name extends keyof GatewayEvents>(event: Name, payload: GatewayEvents[Name] | undefined): void {
    if (payload === undefined || this.#following?.view.hides(event, payload)) return
    for (const watcher of this.#watchers) watcher.tell(event, payload)
  }

  #hear({ path: _, seq, part = 0, birth, ...said }: OutEvent): void {
    if (seq !== undefined) this.#place = formatPlace({ seq, part, birth })
    const event = said as unknown as SessionOutput
    const at = this.#clock.now()
    const { key: sessionKey } = this.#session
    // What is known of it counts no more: it was reset, or deleted and begun anew.
    if (said.type === 'reset' || said.type === 'restart') {
      this.#tell('session.restart', { sessionKey, timestamp: at })
      return
    }
    switch (event.type) {
      case 'accepted':
        this.#do(async () => this.#tell('session.message', await messageEvent(this.#session, event, at)))
        return
      case 'started':
        this.#begin(new RunView(sessionKey, event, this.#runtime.shown))
        this.#state('thinking', event.runId, at)
        return
      case 'delta':
        this.#delta(event)
        return
      case 'retry':
      case 'fallback':
        this.#change(event.runId, ({ view }) => view.retried())
        this.#state(event.type === 'retry' ? 'retrying' : 'thinking', event.runId, at, retryText(event))
        return
      case 'tool':
        this.#tool(event, at)
        return
      case 'approval': {
        const { type: _, ...approval } = event
        this.#flush()
        this.#tell('approval.requested', { sessionKey, approval, timestamp: at })
        this.#state('awaiting-input', event.runId, at)
        return
      }
      case 'decided': {
        const { type: _, ...decided } = event
        this.#tell('approval.resolved', { sessionKey, ...decided, timestamp: at })
        this.#state('tools', event.runId, at)
        return
      }
      case 'prefix':
        this.#tell('session.prefix', { sessionKey, runId: event.runId, changed: event.changed, timestamp: at })
        return
      case 'compacting':
      case 'waiting':
        this.#state(event.type, event.runId, at)
        return
      case 'notice':
        this.#tell('session.notice', { sessionKey, text: event.text, timestamp: at, ...definedOf({ id: event.id }) })
        return
      case 'side_result':
        this.#do(async () => this.#tell('chat.side_result', this.#asides.event(event, { sessionKey, at, shown: this.#runtime.shown })))
        return
      case 'injected':
        this.#do(async () => this.#tell('chat', await injectedEvent(this.#session, event.runId, { at, shown: this.#runtime.shown })))
        return
      case 'final':
      case 'error':
      case 'aborted': {
        const { type: _type, ...output } = event
        // What was asked beside the conversation is no run of it.
        if (!this.#runtime.shared && !output.side) this.#do(() => this.#endRun(output, at))
        return
      }
      default:
    }
  }

  /** What it is doing, where that has changed. */
  #state(name: string, runId: string, at: number, detail?: string): void {
    if (this.#doing.name === name && this.#doing.runId === runId && detail === undefined) return
    const doing = { state: `running.${name}`, runId, timestamp: this.#does(name, runId, at), ...definedOf({ detail }) }
    this.#tell('session.state', { sessionKey: this.#session.key, ...doing })
  }

  /** @returns since when: of two states of one moment the later one has the later time */
  #does(name: string, runId: string, at: number): number {
    this.#doing = { name, runId, at: Math.max(at, this.#doing.at + 1) }
    return this.#doing.at
  }

  #begin(view: RunView): Following {
    this.#following?.pace.stop()
    const pace = createActor(paceMachine, { clock: actorClock(this.#clock) })
    pace.on('show', () => this.#tell('chat', view.soFar(this.#clock.now())))
    this.#following = { view, pace: pace.start() }
    if (this.#runtime.shared) this.#do(async () => void this.#awaitEnd(view))
    return this.#following
  }

  /** Where others may speak on the bus, an end that is heard there may be made up, and the true one may get lost: the journal says how it ended. */
  async #awaitEnd({ runId, ids }: RunView): Promise<void> {
    const id = ids[0] ?? runId
    // How it failed is an outcome too.
    await this.#session.wait(id, runMsMax).catch(() => undefined)
    if (!this.#over) this.#do(async () => this.#endRun(await this.#session.outcome(id), this.#clock.now()))
  }

  /** @param change says whether there is something new to show */
  #change(runId: string, change: (following: Following) => boolean): void {
    const following = this.#of(runId)
    if (following && change(following)) following.pace.send({ type: 'changed' })
  }

  #delta(event: Extract<SessionOutput, { type: 'delta' }>): void {
    const following = this.#of(event.runId)
    if (!following) return
    const { view } = following
    // Before another call of the model, messages that were said meanwhile have joined the conversation.
    const another = event.index === 0 && view.blocks.length > 0
    if (view.delta(event)) following.pace.send({ type: 'changed' })
    if (another) this.#do(() => this.#showCaughtUp(following))
    this.#state(event.kind === 'text' ? 'answering' : 'thinking', event.runId, this.#clock.now())
  }

  #of(runId: string): Following | undefined {
    return this.#following?.view.runId === runId ? this.#following : undefined
  }

  #flush(): void {
    this.#following?.pace.send({ type: 'flush' })
  }

  #tool(event: Extract<SessionOutput, { type: 'tool' }>, at: number): void {
    const following = this.#of(event.runId)
    if (!following) return
    const { view, pace } = following
    // What was said before the call is shown before it.
    this.#flush()
    const isNew = !view.tools.has(event.callId)
    this.#tell('session.tool', view.tool(event, at))
    if (isNew) {
      pace.send({ type: 'changed' })
      pace.send({ type: 'flush' })
      this.#state('tools', event.runId, at)
    } else if (event.phase !== 'requested' && event.phase !== 'progress') this.#state('thinking', event.runId, at)
  }

  /** A run that was going on before anybody watched: what it has said stands in the transcript, but for the call that is being made. */
  async #joinRun(): Promise<void> {
    const { run } = await this.#session.view()
    if (run === null || this.#following) return
    await this.#showCaughtUp(this.#begin(new RunView(this.#session.key, run, this.#runtime.shown)))
  }

  /** Takes in what the transcript says about a run: messages that joined it, and answers of which a piece was missed. @returns whether something was new */
  async #catchUp(view: RunView): Promise<boolean> {
    const messages = await this.#session.history({ limit: messagesMax }).catch((error: unknown) => {
      // What the session answers by itself can be the first that happens in it.
      if (isRuntimeError(error) && error.code === 'not_found') return []
      throw error
    })
    return view.read(messages)
  }

  async #showCaughtUp(following: Following): Promise<void> {
    if (await this.#catchUp(following.view)) following.pace.send({ type: 'changed' })
  }

  async #endRun(output: TurnOutput, at: number): Promise<void> {
    const { runId, ids, partial, answerId, text } = output
    const following = this.#of(runId)
    const view = following?.view ?? new RunView(this.#session.key, { runId, ids }, this.#runtime.shown)
    await this.#catchUp(view)
    if (partial && answerId !== null) view.complete(answerId, { text })
    following?.pace.send({ type: 'flush' })
    following?.pace.stop()
    if (this.#following === following) this.#following = undefined
    const end = view.end(output, at)
    if (!view.isHidden || end.message) this.#tell('chat', end)
    // What a command answers ends beside the turn that goes on.
    if (this.#following === undefined)
      this.#tell('session.state', { sessionKey: this.#session.key, state: 'awaiting-input', timestamp: this.#does('', '', at) })
    if (this.isIdle) this.#idle()
  }
}
