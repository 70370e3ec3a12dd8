/**
 * Work of turns done on other nodes: the decisions of a turn stay with its session and in its journal, what they have done (calls of models, tools) goes
 * through a queue to any node with the role for it. What it answers comes back as the result of an effect, as if it had been done here.
 */

import type { PlaceableEffect, PlaceableScope } from '../actors/index.ts'
import { decode, encode } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'

import { type Environment, pause } from '../contracts/environment.ts'
import { type ErrorBody, errorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import type { Role } from '../contracts/placement.ts'
import type { Subjects } from '../contracts/subjects.ts'
import type { Bus, BusMessage } from '../contracts/transport.ts'
import type { TurnEffects } from '../machines/index.ts'
import type { Membership } from './membership.ts'

export type RemoteEffectName = keyof TurnEffects
/** Who does what. */
export const roleOf: Record<RemoteEffectName, Role> = {
  callModel: 'turn',
  summarise: 'turn',
  askAside: 'turn',
  execute: 'tool',
  checkTool: 'tool',
  lookUp: 'turn',
  say: 'turn',
}

/** What is asked for, and by whom: the worker stops when the asker is gone. */
type RemoteRequest = { id: string; asker: string; input: unknown; info: Omit<PlaceableScope<unknown>['info'], 'confirm'> }
/** What the worker says: who it is, then events as they come, then one end. */
type WorkAnswer = { worker: string } | { events: AnyEvent[] } | { result: unknown } | { failure: ErrorBody }
/** What it is told meanwhile. */
type WorkWord = { event: AnyEvent } | { stop: true }

export type RemoteEffectParts = {
  bus: Bus
  names: Subjects
  membership: Membership
  environment: Pick<Environment, 'clock' | 'ids' | 'log'>
  me: string
}

const wordsTo = (names: Subjects, id: string): string => names.work('words', id)
const confirmationOf = (names: Subjects, id: string): string => names.work('confirm', id)

/** A turn that takes longer than this is over by its own deadline. */
const longestMs = 24 * 3_600_000
/** How long one may take to say who it is. */
const firstMs = 5_000
/** How long a node that does it is waited for. */
const patienceMs = 15_000
const stepMs = 250

/** The same effects, done by a node that has the role. */
export const remoteEffect = (parts: RemoteEffectParts, name: RemoteEffectName): PlaceableEffect<never, never> => {
  const { environment } = parts
  return async (scope) => {
    for (let waited = 0; ; waited += stepMs)
      try {
        return (await order(parts, name, scope)) as never
      } catch (error) {
        if (!isRuntimeError(error) || error.code !== 'not_found' || !error.retryable || waited >= patienceMs) throw error
        await pause(environment.clock, stepMs)
        scope.signal.throwIfAborted()
      }
  }
}

const order = async (
  { bus, names, membership, environment, me }: RemoteEffectParts,
  name: RemoteEffectName,
  scope: PlaceableScope<unknown>,
): Promise<unknown> => {
  const { input, info, signal, emit, receive } = scope
  const id = environment.ids.next('work')
  const ended = new AbortController()
  let worker: string | undefined
  let lost = false
  const early: WorkWord[] = []
  const tell = (word: WorkWord): void => {
    if (worker === undefined) early.push(word)
    else bus.publish(wordsTo(names, id), encode(word))
  }
  const stop = (): void => {
    tell({ stop: true })
    ended.abort()
  }
  const leave = [
    bus.subscribe(confirmationOf(names, id), ({ reply }) => {
      const answer = (body: ErrorBody | null) => reply !== undefined && bus.publish(reply, encode(body))
      void info.confirm().then(
        () => answer(null),
        (error: unknown) => answer(errorBody(error)),
      )
    }),
    membership.listen(() => {
      lost = worker !== undefined && !membership.isAlive(worker)
      if (lost) ended.abort()
    }),
  ]
  // One that has not even said who it is may be frozen: another one is asked, and this one will find nobody who confirms.
  const first = environment.clock.setTimeout(() => worker === undefined && ended.abort(), firstMs)
  receive((event) => tell({ event }))
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    const asked: RemoteRequest = {
      id,
      asker: me,
      input,
      info: { key: info.key, attempt: info.attempt, epoch: info.epoch, restarted: info.restarted },
    }
    for await (const { data } of bus.requestMany(names.work(name), encode(asked), { timeoutMs: longestMs, signal: ended.signal })) {
      const answer = decode(data) as WorkAnswer
      if ('worker' in answer) {
        worker = answer.worker
        for (const word of early.splice(0)) tell(word)
      } else if ('events' in answer) answer.events.forEach(emit)
      else if ('result' in answer) return answer.result
      else throw RuntimeError.from(answer.failure)
    }
    signal.throwIfAborted()
    if (worker === undefined) throw nobodyError(name)
    tell({ stop: true })
    throw lostError(name, lost)
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found' && error.retryable && worker === undefined) throw nobodyError(name, error)
    throw error
  } finally {
    environment.clock.clearTimeout(first)
    signal.removeEventListener('abort', stop)
    for (const one of leave) one()
  }
}

/** What becomes of it is the machine's decision. */
const lostError = (name: RemoteEffectName, gone: boolean): RuntimeError =>
  new RuntimeError(
    roleOf[name] === 'tool' ? 'tool_lost' : 'provider_unavailable',
    gone ? 'the node that was doing this is gone' : 'the node that was doing this said no more',
    { retryable: true, hint: "see 'statecast nodes'" },
  )

const nobodyError = (name: RemoteEffectName, cause?: RuntimeError): RuntimeError =>
  new RuntimeError('not_found', `no node does this: none has the role '${roleOf[name]}'`, {
    cause,
    retryable: true,
    hint: `start one: statecast up --roles ${roleOf[name]}`,
  })

type Worker = {
  /** Takes no more; resolves when what was begun has ended. */
  stop(): Promise<void>
}

/** Does the work of others. */
export const openWorker = (parts: RemoteEffectParts, effects: TurnEffects, roles: readonly Role[]): Worker => {
  const { bus, names } = parts
  const running = new Set<Promise<void>>()
  const stops = (Object.keys(effects) as RemoteEffectName[])
    .filter((name) => roles.includes(roleOf[name]))
    .map((name) =>
      bus.subscribe(
        names.work(name),
        (message) => {
          const done = carryOut(parts, effects[name] as PlaceableEffect<unknown, unknown>, message)
            // The answer can reach no node any more; the node that asked asks another one.
            .catch((error: unknown) => parts.environment.log.warn({ work: name, error: errorBody(error) }, 'work for another node came to nothing'))
            .finally(() => running.delete(done))
          running.add(done)
        },
        { queue: 'workers' },
      ),
    )
  return {
    async stop() {
      for (const one of stops.splice(0)) one()
      await Promise.allSettled(running)
    },
  }
}

const confirmMs = 5_000
const messageMax = 10_000

/** It has to fit, or nobody would learn of it. */
const briefly = ({ code, message, retryable, hint }: ErrorBody): ErrorBody => ({
  code,
  message: message.slice(0, messageMax),
  retryable,
  ...definedOf({ hint: hint?.slice(0, messageMax) }),
})

const carryOut = async (
  { bus, names, membership, environment, me }: RemoteEffectParts,
  work: PlaceableEffect<unknown, unknown>,
  { data, reply }: BusMessage,
): Promise<void> => {
  if (reply === undefined) return
  const say = (answer: WorkAnswer): void => bus.publish(reply, encode(answer))
  let order: RemoteRequest
  try {
    order = decode(data) as RemoteRequest
    wordsTo(names, order.id)
  } catch (error) {
    return say({ failure: errorBody(error, 'bad_request') })
  }
  const { id, asker, input, info } = order
  const stopped = new AbortController()
  const listeners: ((event: AnyEvent) => void)[] = []
  const heard: AnyEvent[] = []
  let events: AnyEvent[] = []
  const flush = (): void => pass(events.splice(0))
  /** Live output may be lost; what does not fit must not take the rest with it. */
  const pass = (some: AnyEvent[]): void => {
    if (some.length === 0) return
    try {
      say({ events: some })
    } catch (error) {
      if (some.length === 1) {
        environment.log.warn({ id, error: errorBody(error) }, 'an event of work for another node could not be passed on')
        return
      }
      const half = some.length >> 1
      pass(some.slice(0, half))
      pass(some.slice(half))
    }
  }
  const leave = [
    bus.subscribe(wordsTo(names, id), (message) => {
      const word = decode(message.data) as WorkWord
      if ('stop' in word) return stopped.abort()
      if (listeners.length === 0) heard.push(word.event)
      for (const listener of listeners) listener(word.event)
    }),
    membership.listen(() => membership.isAlive(asker) || stopped.abort()),
  ]
  try {
    say({ worker: me })
    const result = await work({
      input,
      signal: stopped.signal,
      info: {
        ...info,
        confirm: async () => {
          const error = decode((await bus.request(confirmationOf(names, id), new Uint8Array(), { timeoutMs: confirmMs })).data) as ErrorBody | null
          if (error !== null) throw RuntimeError.from(error)
        },
      },
      emit: (event) => {
        // What comes in one turn of the event loop goes out as one message.
        if (events.push(event) === 1) setImmediate(flush)
      },
      receive: (listener) => {
        listeners.push(listener)
        for (const event of heard.splice(0)) listener(event)
      },
    })
    flush()
    say({ result })
  } catch (error) {
    flush()
    say({ failure: briefly(errorBody(error)) })
  } finally {
    events = []
    for (const one of leave) one()
    if (stopped.signal.aborted) environment.log.debug({ asker, id }, 'work for another node was stopped')
  }
}
