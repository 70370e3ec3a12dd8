/** A small world for tests of the root host: a store that outlives its hosts, virtual time, and effects that do what the test says. */
import { type AnyActorRef, fromCallback, fromEventObservable, fromObservable, fromPromise, type Subscribable } from 'xstate'
import type { HostEvents } from '../../src/actors/host/host.options.ts'
import { Host } from '../../src/actors/host/host.ts'
import type { HostLimits } from '../../src/actors/host/limits.ts'
import { decodeCommit } from '../../src/actors/journal/codec.ts'
import type { Registration } from '../../src/actors/registration.ts'
import { effect } from '../../src/actors/root/effect.ts'
import { type Clock, type Environment, type Logger, noFailPoints } from '../../src/contracts/environment.ts'
import type { AnyEvent, Commit } from '../../src/contracts/journal.ts'
import type { Placement } from '../../src/contracts/placement.ts'
import type { Address } from '../../src/contracts/subjects.ts'
import type { Journal } from '../../src/contracts/transport.ts'
import { seededIds, seededRandom } from '../../src/testing/seeded.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'

export type World = Awaited<ReturnType<typeof aWorld>>
export type HostParts = {
  limits?: Partial<HostLimits>
  events?: HostEvents
  journal?: (journal: Journal) => Journal
  clock?: Clock
  placement?: Placement
}

export const aWorld = async () => {
  const clock = virtualClock()
  const ids = seededIds()
  const logged: { level: string; message: string | undefined; fields: object }[] = []
  const level = (name: string) => (fields: object, message?: string) => void logged.push({ level: name, message, fields })
  const log: Logger = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  const environment: Environment = { clock, ids, random: seededRandom(), failPoints: noFailPoints, log }
  const store = createMemoryStore()
  const open = async () => (await openMemory({ environment, store, shared: true })).journal
  const journal = await open()
  return {
    clock,
    logged,
    environment,
    store,
    journal,
    /** A process of its own on the same store. */
    async host(registrations: Registration[], parts: HostParts = {}): Promise<Host> {
      const own = await open()
      const host = new Host({
        journal: parts.journal ? parts.journal(own) : own,
        environment: { ...environment, clock: parts.clock ?? clock },
        registrations,
        limits: { idleMs: 3_600_000, ...parts.limits },
        ...(parts.events ? { events: parts.events } : {}),
        ...(parts.placement ? { placement: parts.placement } : {}),
      })
      await clock.until(host.start())
      return host
    },
    commits: async (address: Address): Promise<Commit[]> =>
      (await journal.read(address, 1)).map(({ seq, bytes }) => decodeCommit(bytes, { address: `${address.kind}/${address.id}`, seq })),
  }
}

/** The result of a promise in virtual time, or its typed error. */
export const outcome = async <T>(world: World, promise: Promise<T>): Promise<{ value: T } | { code: string; message: string; error: any }> => {
  const settled = promise.then(
    (value) => ({ value }),
    (error) => ({ code: (error as { code: string }).code, message: String((error as Error).message), error }),
  )
  return world.clock.until(settled)
}

export const codeOf = async (world: World, promise: Promise<unknown>): Promise<string> => {
  const result = await outcome(world, promise)
  return 'code' in result ? result.code : 'ok'
}

type Control = { resolve(value: unknown): void; reject(error: unknown): void; say(event: AnyEvent): void }
export type Start = { name: string; key: string; attempt: number; restarted: boolean; input: unknown }

/** Effects of which the test holds the strings, and a log of all that they and the author's actions did, in order. */
export class Puppets {
  log: string[] = []
  readonly starts: Start[] = []
  readonly #controls = new Map<string, Control>()
  /** Whoever started last under a name. */
  control(name: string): Control {
    const control = this.#controls.get(name)
    if (!control) throw new Error(`no effect '${name}' has started`)
    return control
  }
  #start(name: string, self: AnyActorRef, input: unknown, control: Partial<Control>): void {
    const { key, attempt, restarted } = effect(self)
    this.starts.push({ name, key, attempt, restarted, input })
    this.log.push(`start ${name}`)
    const none = () => undefined
    this.#controls.set(name, { resolve: none, reject: none, say: none, ...control })
  }

  action(name: string) {
    return ({ event }: { event: AnyEvent }) => void this.log.push(`${name} on ${event.type}`)
  }
  promise(name: string) {
    return fromPromise<any, any>(({ input, self, signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      this.#start(name, self as AnyActorRef, input, { resolve, reject })
      signal.addEventListener('abort', () => this.log.push(`abort ${name}`))
      return promise
    })
  }
  callback(name: string) {
    return fromCallback<any, any>(({ input, self, sendBack, receive }) => {
      this.#start(name, self as AnyActorRef, input, { say: sendBack })
      receive((event) => void this.log.push(`${name} got ${event.type}`))
      return () => void this.log.push(`dispose ${name}`)
    })
  }
  #stream(name: string, { self, input }: { self: unknown; input: unknown }): Subscribable<any> {
    return {
      subscribe: (observer: any) => {
        const { next, error, complete } = observer
        this.#start(name, self as AnyActorRef, input, { say: next, reject: error, resolve: () => complete() })
        return { unsubscribe: () => void this.log.push(`unsubscribe ${name}`) }
      },
    } as Subscribable<any>
  }
  observable(name: string) {
    return fromObservable<any, any>((scope) => this.#stream(name, scope))
  }
  eventObservable(name: string) {
    return fromEventObservable<any, any>((scope) => this.#stream(name, scope))
  }
}

export type Step =
  | { send: AnyEvent }
  | { wait: number }
  | { resolve: string; value?: unknown }
  | { reject: string; error: unknown }
  | { say: string; event: AnyEvent }

export const pull = (puppets: Puppets, step: Exclude<Step, { send: AnyEvent } | { wait: number }>): void => {
  if ('resolve' in step) puppets.control(step.resolve).resolve(step.value)
  else if ('reject' in step) puppets.control(step.reject).reject(step.error)
  else puppets.control(step.say).say(step.event)
}

/** The whole state of a tree as comparable text; ids that XState made up are all alike. */
export const treeOf = (ref: { getPersistedSnapshot(): unknown }): unknown =>
  JSON.parse(
    JSON.stringify(ref.getPersistedSnapshot(), (key, value) =>
      value instanceof Error ? `${value.name}: ${value.message}` : key === 'systemId' || key === 'syncSnapshot' ? undefined : value,
    ).replace(/x:\d+/g, 'x:*'),
  )
