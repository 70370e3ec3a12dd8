/** A session as its users hold it. */

import type { Agent } from '../contracts/agent.ts'
import { injectedRun } from '../contracts/beside.ts'
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Receipt } from '../contracts/journal.ts'
import type { Message, UserMessage } from '../contracts/message.ts'
import { parseInput } from '../contracts/parse.ts'
import { detached } from '../contracts/plain.ts'
import { SessionCommand, type SessionEvent } from '../contracts/session.ts'
import type { ToggleChanges } from '../contracts/settings.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { stopwatch } from '../contracts/tracing.ts'
import type { TurnOutput } from '../contracts/turn.ts'
import type { SessionContext } from '../machines/index.ts'
import { contextOf } from './context.ts'
import { type DecisionOptions, decisionCommand, type Question } from './decision.ts'
import { namedFiles } from './files/index.ts'
import { eventFor } from './looked-up.ts'
import { pollOutcome } from './outcome-poller.ts'
import type { SessionParts } from './parts.ts'
import { receiverOf, whenRead } from './receiver.ts'
import { throwRefusal } from './refusal.ts'
import { type Ending, LiveRun, type Run, type RunEvent } from './run.ts'
import type { SendOptions } from './send-options.ts'
import { type SessionView, viewOf } from './session-view.ts'

export class Session {
  readonly key: string
  readonly address: Address
  readonly #parts: SessionParts
  /** @throws RuntimeError not_found where its key names one that is not here */
  readonly #agentOf: () => Agent

  constructor(parts: SessionParts, key: string, agentOf: () => Agent) {
    this.key = key
    this.address = { kind: 'session', id: key }
    formatAddress(this.address)
    this.#parts = parts
    this.#agentOf = agentOf
  }

  /**
   * Says something. Resolves when the message is durable, with a run to follow.
   * @throws RuntimeError bad_request, overloaded, quarantined, log_full …; nothing was accepted then
   */
  async send(text: string, options: SendOptions = {}): Promise<Run> {
    const { environment, admit } = this.#parts
    admit()
    const id = options.idempotencyKey ?? environment.ids.next('m')
    const { idempotencyKey: _, heartbeat, ...settings } = options
    const known = definedOf({ ...settings, heartbeat: heartbeat || undefined })
    const command = parseInput(SessionCommand, { type: 'message', text, id, ...known })
    const run = this.#follow(id)
    try {
      const receipt = await this.#deliver(command)
      run.seq = receipt.seq
      throwRefusal(receipt)
      if (receipt.duplicate) await this.#rejoin(run)
      return run
    } catch (error) {
      run.fail(error)
      throw error
    }
  }

  /** A run that hears what is said about its message until it has an outcome. */
  #follow(id: string): LiveRun {
    const { outputs, environment, transport } = this.#parts
    const stopTurn = () => this.#stop(id)
    const run = new LiveRun(id, stopTurn, async () => (await this.#outcome(id, await this.#context())).texts)
    const stop = outputs.listen(formatAddress(this.address), run.hear, (reason) => run.fail(reason))
    // What another node says may be lost on the way, its last word too.
    const looking = transport.capabilities.sharedByNodes ? pollOutcome(environment.clock, () => this.#look(run).catch(() => undefined)) : undefined
    run.follow(
      () => {
        stop()
        looking?.stop()
      },
      () => looking?.now(),
    )
    return run
  }

  /** Ends a run whose message has its outcome. @throws RuntimeError whatever keeps it from being known; another look may find it */
  async #look(run: LiveRun): Promise<void> {
    const context = await this.#context()
    if (context === undefined && run.seq > 0)
      run.fail(
        new RuntimeError('not_found', `session '${this.key}' was deleted, with what it answered`, {
          hint: 'send the message again under another idempotency key: it begins the conversation anew',
        }),
      )
    if (context === undefined || isUnanswered(context, run.id)) return
    run.end(await this.#outcome(run.id, context))
  }

  /** Sends any command of {@link SessionCommand}, as a service does over the bus. */
  async command(input: unknown): Promise<Receipt> {
    const command = parseInput(SessionCommand, input)
    // Stopping and deciding help a turn to its end, also while draining.
    if (command.type !== 'cancel' && command.type !== 'approve') this.#parts.admit()
    const id = command.type === 'message' && command.id === undefined ? { id: this.#parts.environment.ids.next('m') } : {}
    const receipt = await this.#deliver({ ...command, ...id })
    throwRefusal(receipt)
    return receipt
  }

  /** Hands an event over; one whose directives have to be resolved first is not overtaken by those behind it. */
  async #send(event: SessionEvent | Promise<SessionEvent>, how: { id?: string; renews?: string; mustExist?: boolean }): Promise<Receipt> {
    const { receiving, directory } = this.#parts
    const before = receiving.get(this.key)
    if (before === undefined && !(event instanceof Promise)) return directory.send(this.address, event, how)
    const sent = Promise.allSettled([before, event]).then(async () => ({ receipt: directory.send(this.address, await event, how) }))
    const next = sent.catch(() => undefined)
    receiving.set(this.key, next)
    try {
      return await (await sent).receipt
    } finally {
      if (receiving.get(this.key) === next) receiving.delete(this.key)
    }
  }

  async #deliver(command: SessionCommand): Promise<Receipt> {
    const by = receiverOf(this.#parts, this.#agentOf(), this)
    const named = command.type === 'message' || command.type === 'side' ? command.id : undefined
    const runId = named ?? ''
    const lap = stopwatch(runId === '' ? undefined : this.#parts.environment.tracing, { sessionKey: this.key, runId })
    const event = namedFiles(
      this.#parts.files,
      this.key,
      eventFor(command, by, this.#parts, () => this.#context()),
    )
    whenRead(event, lap)
    // Only what somebody says or asks begins a conversation.
    if (named === undefined)
      return this.#send(event, { mustExist: command.type !== 'message', ...(command.type === 'inject' ? { id: injectedRun(command.id) } : {}) })
    for (let names: { id: string; renews?: string } = { id: named }; ; ) {
      const receipt = await this.#send(event, names)
      lap('session')
      if (!receipt.duplicate || (await this.#knows(named, receipt.seq))) return receipt
      // It was refused the first time: a sender that repeats it means it, however many do so at once.
      names = { id: `refused at ${receipt.seq}: ${named}`, renews: named }
    }
  }

  /** Whether a message was accepted: then it waits, is being answered, or has an outcome. */
  async #knows(id: string, seq: number): Promise<boolean> {
    const context = await this.#context()
    if (!context) return false
    return isUnanswered(context, id) || (await this.#parts.transcripts.recall(this.address, id, seq)) !== undefined
  }

  /** A repeated message joins the turn that answers it, or gets the answer that was given. */
  async #rejoin(run: LiveRun): Promise<void> {
    run.status = 'duplicate'
    const context = await this.#context()
    if (context?.run?.ids.includes(run.id)) run.join(context.run.runId)
    else if (!context || !isUnanswered(context, run.id)) {
      run.join()
      run.end(await this.#outcome(run.id, context))
    }
  }

  /** How a message was answered, however long ago. @throws RuntimeError not_found for one that was never accepted, or has no answer yet */
  async outcome(id: string): Promise<Outcome> {
    const { output, seq } = await this.#outcome(id, await this.#context())
    return { ...output, seq }
  }

  async #outcome(id: string, context: SessionContext | undefined): Promise<Ending & { seq: number }> {
    const { transcripts, directory } = this.#parts
    const known = await transcripts.recall(this.address, id, await directory.seqOf(this.address, id))
    if (!context || !known)
      throw new RuntimeError('not_found', `session '${this.key}' knows no outcome of '${id.slice(0, 80)}'`, {
        hint: 'give the id of a message that this session has accepted: its idempotency key, or the `id` that its sender got',
      })
    const { outcome, text, texts, seq } = known
    return { output: { ...outcome, text, transcriptLength: context.transcriptLength }, seq, texts }
  }

  /** The outcome of a run or message, waited for. @throws RuntimeError timeout, not_found, or the failure of the turn */
  async wait(id: string, timeoutMs = 600_000): Promise<Outcome> {
    const { environment } = this.#parts
    const run = this.#follow(id)
    const timer = environment.clock.setTimeout(
      () =>
        run.fail(new RuntimeError('timeout', `the run did not end within ${timeoutMs} ms`, { retryable: true, hint: 'it continues; wait again' })),
      timeoutMs,
    )
    try {
      await this.#rejoin(run)
      const output = await run.result()
      return run.endSeq === undefined ? output : { ...output, seq: run.endSeq }
    } finally {
      environment.clock.clearTimeout(timer)
      run.fail(new RuntimeError('cancelled', 'no longer waited for'))
    }
  }

  /** What its model is sent, with the size of each part: as it was with the newest call. */
  async promptContext() {
    return contextOf(this.#parts, this.address, { agent: this.#agentOf(), record: await this.record() })
  }

  /** Stops the running turn; what it said so far is kept. @throws RuntimeError not_found when nothing runs */
  cancel(runId?: string): Promise<Receipt> {
    return this.command({ type: 'cancel', ...definedOf({ runId: runId || undefined }) })
  }

  /** Stops the turn that answers a message. Of a run that has just ended there is nothing to stop. */
  async #stop(id: string): Promise<void> {
    try {
      await this.cancel(id)
    } catch (error) {
      if (!isRuntimeError(error) || error.code !== 'not_found' || !(await this.outcome(id).catch(() => undefined))) throw error
    }
  }

  /**
   * Lets a tool call run that waits for a person. @param call as its `approval` event or `view()` shows it: one agrees to its arguments and no others
   * @throws RuntimeError already_decided, conflict (other arguments), not_found
   */
  async approve(call: Question, options: DecisionOptions = {}): Promise<Receipt> {
    return this.command(decisionCommand(call, 'approve', options))
  }

  /** Refuses a tool call that waits for a person; the model is told so, and why where there is a `note`. @throws RuntimeError as {@link approve} does */
  async deny(call: Question, options: DecisionOptions = {}): Promise<Receipt> {
    return this.command(decisionCommand(call, 'deny', options))
  }

  /** The same where the decision is a value. @throws RuntimeError as {@link approve} does */
  async decide(call: Question, decision: 'approve' | 'deny', by?: string): Promise<Receipt> {
    return this.command(decisionCommand(call, decision, { by }))
  }

  compact(instructions?: string): Promise<Receipt> {
    return this.command({ type: 'compact', ...definedOf({ instructions: instructions || undefined }) })
  }

  /** Changes the settings that the session keeps for its users; null removes one. */
  configure(toggles: ToggleChanges): Promise<Receipt> {
    return this.command({ type: 'configure', toggles })
  }

  /** Begins the conversation anew, also one that was quarantined. */
  async reset(reason?: string): Promise<Receipt> {
    await this.#parts.directory.revive(this.address)
    return this.command({ type: 'reset', ...definedOf({ reason: reason || undefined }) })
  }

  /** The conversation as the model reads it: since the last reset, with a summary in place of what was compacted. */
  async history({ limit }: { limit?: number } = {}): Promise<Message[]> {
    const messages = await this.#parts.transcripts.read(this.address)
    return detached(limit === undefined ? messages : messages.slice(-limit))
  }

  /** Messages that were accepted and are not part of the conversation yet: they join the turn that runs before its next step, or wait for its end. */
  async waiting(): Promise<UserMessage[]> {
    return detached(await this.#parts.transcripts.waiting(this.address))
  }

  /** Live and durable output of the session from now on; end the loop to unsubscribe. */
  events(options: { signal?: AbortSignal } = {}): AsyncGenerator<RunEvent> {
    return this.#parts.outputs.follow(formatAddress(this.address), options, ({ event, seq }) =>
      event.type === 'transcript' ? undefined : { ...(event as unknown as RunEvent), ...definedOf({ seq }) },
    )
  }

  async record(): Promise<SessionContext['record'] | undefined> {
    return (await this.#context())?.record
  }

  async #context(): Promise<SessionContext | undefined> {
    return (await this.#parts.directory.read(this.address)).snapshot?.context as SessionContext | undefined
  }

  /** @throws RuntimeError not_found */
  async view(): Promise<SessionView> {
    return viewOf(this.key, await this.#parts.directory.read(this.address, true))
  }
}

/** With the commit that holds it. */
export type Outcome = TurnOutput & { seq?: number }

/** It is being answered, or waits. */
const isUnanswered = ({ run, queue, order, asides = [] }: SessionContext, id: string): boolean =>
  run?.ids.includes(id) || order?.id === id || [...queue, ...asides].some((one) => one.id === id)
