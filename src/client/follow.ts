/** Says something in a session, or decides about a run, and follows it to its outcome, whatever happens to events on their way: the effects of the chart. */

import { randomUUID } from 'node:crypto'
import { createActor, fromPromise } from 'xstate'
import { formatPlace } from '../api/index.ts'
import type { CommandInput } from '../contracts/commands.ts'
import { definedOf } from '../contracts/defined.ts'
import { actorClock, type Clock } from '../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Approval, TurnOutput } from '../contracts/turn.ts'
import type { Outcome, OutEvent, SessionView } from '../runtime/index.ts'
import { LiveRun, type RunEvent } from '../runtime/index.ts'
import type { Client, Subscription } from './client.ts'
import { followMachine } from './follow.machine.ts'
import { textsSince } from './said.ts'

export type Accepted = { id: string; runId: string; status: string; seq: number; duplicate?: true }

export type FollowOptions = {
  /** Nobody answers at the moment; called once an outage. The run goes on, and is asked for again. */
  onOutage?: (error: unknown) => void
  /** How a hint names a command about the session; by default as a shell without settings takes it. */
  commandLine?: (command: string, sessionKey: string) => string
  clock?: Pick<Clock, 'setTimeout' | 'clearTimeout'>
}

export type Followed = {
  /** The idempotency key of the message, or the run. */
  readonly id: string
  /** Everything about it from its acceptance to its outcome, as `run.events()`: durable events once, live ones as far as they were heard. */
  events: AsyncIterable<RunEvent>
  /** @throws RuntimeError when the turn failed or was cancelled; `data.text` then holds what had been said */
  outcome: Promise<TurnOutput>
  /** What all steps of the answer said. @returns undefined where that is not known, and what was heard has to do */
  texts(output: TurnOutput): Promise<string[] | undefined>
  /** Follows no longer; what was accepted goes on. */
  stop(): void
}

/** For an outcome that stands already: time to read the journal. */
const waitMs = 60_000
/** For what is good to have and not needed. */
const textsMs = 10_000

/** @throws RuntimeError bad_request where there is nothing to follow; what its fields hold is for the node to say */
const checkGiven = (given: unknown, hint: string): void => {
  if (typeof given !== 'object' || given === null) throw new RuntimeError('bad_request', 'what is to be followed must be an object', { hint })
}

/** Resolves when the message is durable. @throws RuntimeError when it was not accepted */
export const follow = async (client: Client, message: CommandInput<'chat.send'>, options: FollowOptions = {}): Promise<Followed> => {
  checkGiven(message, "write follow(client, { sessionKey: 'main', message: 'hello' })")
  const id = message.idempotencyKey ?? `m-${randomUUID()}`
  const send = () => client.command<Accepted>('chat.send', { ...message, idempotencyKey: id })
  return begin(client, { sessionKey: message.sessionKey, id, send }, options)
}

/**
 * Follows a run that is there already, from the moment that `resume` makes it go on.
 * @throws whatever `resume` throws
 */
export const followRun = async (
  client: Client,
  run: { sessionKey: string; runId: string; resume: () => Promise<unknown> },
  options: FollowOptions = {},
): Promise<Followed> => {
  checkGiven(run, 'write followRun(client, { sessionKey, runId, resume })')
  const { sessionKey, runId, resume } = run
  return begin(client, { sessionKey, id: runId, send: async () => ({ status: 'started', ...((await resume()) as object | undefined) }) }, options)
}

type Message = { sessionKey: string; id: string; send(): Promise<{ status: string; duplicate?: true }> }

const begin = async (client: Client, { sessionKey, id, send }: Message, options: FollowOptions): Promise<Followed> => {
  const { commandLine = (command, key) => `statecast ${command} ${key}`, clock = globalThis } = options
  const run = new LiveRun(id, () => client.command('chat.abort', { sessionKey, runId: id }))
  const sent = Promise.withResolvers<void>()
  let accepted = false
  let subscription: Subscription | undefined
  /** The last durable event that was heard. */
  let place: string | undefined
  /** Approvals that the reader knows of; heard and asked for, they come once. */
  const asked = new Set<string>()

  const hear = ({ path, part, seq, ...event }: OutEvent): void => {
    if (seq !== undefined) place = formatPlace({ seq, part: part ?? 0, birth: event.birth })
    if (event.type === 'restart') sign()
    else if (event.type !== 'approval' || event.runId !== run.runId || isNew(event as unknown as Approval))
      run.hear({ path, event, ...definedOf({ remote: client.untrusted ? true : undefined, seq }) })
  }
  const isNew = ({ callId, attempt }: Pick<Approval, 'callId' | 'attempt'>): boolean => {
    const question = `${callId}#${attempt}`
    return !asked.has(question) && asked.add(question) !== undefined
  }

  const ask = async (): Promise<boolean> => {
    const view = await client.command<SessionView>('sessions.get', { sessionKey }).catch((error: unknown) => {
      if (isRuntimeError(error) && error.code === 'not_found' && !error.retryable) throw deletedError(sessionKey, error)
      throw error
    })
    if (view.quarantine)
      throw new RuntimeError('quarantined', `the session was quarantined: ${view.quarantine.message}`, {
        hint: `see '${commandLine('trace', sessionKey)}', mend the cause, then '${commandLine('revive', sessionKey)}'`,
      })
    const running = view.run?.ids.includes(id) === true
    if (running) run.runId = view.run?.runId as string
    for (const approval of view.approvals)
      if (approval.runId === run.runId && isNew(approval)) run.hear({ path: '/', event: { type: 'approval', ...approval } })
    return running || view.queued.includes(id)
  }

  const machine = followMachine.provide({
    actors: {
      listen: fromPromise(async () => {
        const opened = await client.events(sessionKey, place)
        if (actor.getSnapshot().status === 'active') subscription = opened
        else opened.stop()
      }),
      hear: fromPromise(async () => {
        for await (const event of subscription?.events ?? []) hear(event)
      }),
      send: fromPromise(async () => {
        const answer = await send()
        accepted = true
        sent.resolve()
        return answer
      }),
      ask: fromPromise(ask),
      fetch: fromPromise(async () => {
        const { seq, ...output } = await client.command<Outcome>('agent.wait', { sessionKey, runId: id, timeoutMs: waitMs })
        run.end({ output, ...definedOf({ seq }) })
      }),
    },
  })
  const actor = createActor(machine, {
    input: { outageMsMax: client.outageMsMax ?? 0, lossless: client.lossless === true, local: client.url === undefined },
    clock: actorClock(clock),
  })
  const tell = (type: 'sign' | 'over'): void => {
    if (actor.getSnapshot().status === 'active') actor.send({ type })
  }
  const sign = (): void => tell('sign')
  const fail = (error: unknown): void => {
    run.fail(error)
    sent.reject(error)
  }
  run.follow(() => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'over' })
  }, sign)
  actor.on('outage', ({ error }) => options.onOutage?.(error))
  actor.subscribe({
    complete: () => {
      subscription?.stop()
      const { error, lost } = actor.getSnapshot().output ?? {}
      if (error !== undefined) fail(lost && accepted ? lostError(error, commandLine('history', sessionKey)) : error)
    },
    error: fail,
  })
  actor.start()
  await sent.promise
  return {
    id,
    events: run.events(),
    outcome: run.result(),
    texts: async (output) => {
      // The text of one step is in the outcome itself.
      if (output.steps <= 1) return undefined
      const late = Promise.withResolvers<undefined>()
      const timer = clock.setTimeout(() => late.resolve(undefined), textsMs)
      const texts = textsSince(client, sessionKey, id, output.answerId).catch(() => undefined)
      return Promise.race([texts, late.promise]).finally(() => clock.clearTimeout(timer))
    },
    stop: () => run.fail(new RuntimeError('cancelled', 'no longer followed')),
  }
}

const deletedError = (sessionKey: string, cause: RuntimeError): RuntimeError =>
  new RuntimeError('not_found', `session '${sessionKey.slice(0, 80)}' was deleted, with what it answered`, {
    hint: 'send the message again under another idempotency key: it begins the conversation anew',
    cause,
  })

const lostError = (cause: unknown, look: string): unknown => {
  if (!isRuntimeError(cause)) return cause
  const where = `what was accepted continues: ${look} shows what became of it`
  return new RuntimeError(cause.code, cause.message, { ...cause.toJSON(), hint: [cause.hint, where].filter(Boolean).join('; '), cause })
}
