/** A whole runtime under a test's thumb: its time, its ids, its crashes, and a store that outlives them. */
import { type ChatAgent, chat } from '../chat/index.ts'
import type { Clock, Environment, Logger, LogLevel } from '../contracts/environment.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Transport } from '../contracts/transport.ts'
import type { TraceEntry } from '../index.ts'
import { partsOf, type RunEvent, type Session } from '../runtime/index.ts'
import { createRuntime, type Machines, type Runtime, type RuntimeOptions } from '../runtime.ts'
import { createMemoryStore, openMemory } from '../transport/memory/index.ts'
import { type TestChannel, testChannel } from './channel.ts'
import { type FailPointPlan, failPoints } from './fail-points.ts'
import { seededIds, seededRandom } from './seeded.ts'
import { type VirtualClock, virtualClock } from './virtual-clock.ts'

export type LogLine = { level: LogLevel; fields: object; message: string | undefined }

export type TestRuntimeOptions<Registered extends Machines = Machines> = LifeOptions<Registered> & {
  seed?: number
  /** Another clock than a fresh {@link virtualClock}. */
  clock?: VirtualClock
  /** Where it keeps everything; default: in memory. */
  store?: TestStore
}

type LifeOptions<Registered extends Machines> = Omit<RuntimeOptions<Registered>, 'transport' | 'environment' | 'owner'> & {
  /** Short for `extensions: [chat({ agents })]`: how the agents are with people on its channel. */
  chatAgents?: Readonly<Record<string, ChatAgent>>
}

/** What outlives the lives of a test runtime. */
export type TestStore = {
  /** Opens it for the next life. @param prefix as in {@link RuntimeOptions} */
  open(environment: Environment, prefix: string | undefined): Promise<Transport>
  /** As if every process that has it open had been killed. */
  crash(): Promise<void>
}

const inMemory = (): TestStore => {
  const store = createMemoryStore()
  return { open: (environment) => openMemory({ environment, store }), crash: () => store.crash() }
}

export type TestRuntime<Registered extends Machines = Machines> = {
  readonly clock: VirtualClock
  readonly failPoints: FailPointPlan
  /** What a channel named `test` was given to send, over all lives; there is one unless `channels` names others. */
  readonly channel: TestChannel
  /** What was logged, over all lives. */
  readonly log: readonly LogLine[]
  /** The runtime of the present life. @throws Error after a crash, before a restart */
  readonly runtime: Runtime<Registered>
  session(key: string, which?: { agent?: string }): Session
  /**
   * Everything that a session said since the test began, over all lives, in order; deltas too, and what is said again after a crash only once.
   * @param kind of another actor than a session
   */
  events(key: string, kind?: string): RunEvent[]
  /** The journal of a session as people read it. */
  trace(key: string): Promise<TraceEntry[]>
  /** Commits of a session so far. */
  commits(key: string): Promise<number>
  /** As `kill -9`: nothing more is written, said or timed by the present life. Code of a tool that ignores its signal runs on: no test can kill that. */
  crash(): Promise<void>
  /** The next life on the same store, with other options where given. After {@link crash} or {@link close}; without one it closes first. */
  restart(changes?: Partial<TestRuntimeOptions<Registered>>): Promise<Runtime<Registered>>
  close(): Promise<void>
}

/** Timers of one life: a dead process calls nobody back. */
const lifeOf = (clock: Clock): { clock: Clock; end(): void } => {
  const handles = new Set<unknown>()
  let over = false
  return {
    clock: {
      now: () => clock.now(),
      setTimeout(callback: () => void, ms: number): unknown {
        if (over) return undefined
        const handle = clock.setTimeout(() => {
          handles.delete(handle)
          callback()
        }, ms)
        handles.add(handle)
        return handle
      },
      clearTimeout(handle) {
        handles.delete(handle)
        clock.clearTimeout(handle)
      },
    },
    end() {
      over = true
      for (const handle of handles) clock.clearTimeout(handle)
    },
  }
}

const decoder = new TextDecoder()

/** As {@link createRuntime} brings it by default, but made here: virtual time does not wait for a file to be loaded. */
const withChat = <Registered extends Machines>(options: LifeOptions<Registered>, channel: TestChannel): LifeOptions<Registered> => {
  if (options.extensions) return options
  const { channels = [channel], sendPolicy = [], chatAgents = {}, ...rest } = options
  return { ...(rest as LifeOptions<Registered>), extensions: [chat({ channels, sendPolicy, agents: chatAgents })] }
}

/**
 * Assembles {@link createRuntime} with virtual time, seeded ids, fail points and a store in memory that survives `crash()` and `close()`. Each input of a
 * machine of yours is applied twice, and refused with `not_deterministic` where that is not the same (`checkDeterminism`).
 *
 *     await using test = await testRuntime({ agents: [agent({ name: 'main', model: 'test/a' })], models: { 'test/a': [{ text: 'hello' }] } })
 *     const run = await test.session('s').send('hi')
 *     expect((await test.clock.until(run.result())).text).toBe('hello')
 */
export const testRuntime = async <Registered extends Machines = Machines>({
  seed = 1,
  clock = virtualClock(),
  store = inMemory(),
  ...first
}: TestRuntimeOptions<Registered> = {}): Promise<TestRuntime<Registered> & AsyncDisposable> => {
  let options: LifeOptions<Registered> = first
  const points = failPoints()
  const ids = seededIds(seed)
  const random = seededRandom(seed)
  const channel = testChannel(clock)
  const lines: LogLine[] = []
  const log = Object.fromEntries(
    (['debug', 'info', 'warn', 'error'] as const).map((level) => [
      level,
      (fields: object, message?: string) => void lines.push({ level, fields, message }),
    ]),
  ) as Record<LogLevel, Logger[LogLevel]>
  const said = new Map<string, RunEvent[]>()
  const known = new Set<string>()
  let life: { runtime: Runtime<Registered>; end(): void } | undefined

  /** Listens on the bus, from before the runtime takes up old work: what is said while it recovers counts too. */
  const listen = ({ bus }: Transport, prefix = 'statecast'): void => {
    bus.subscribe(`${prefix}.out.>`, ({ subject, data }) => {
      const name = subject.split('.').slice(0, -1).join('.')
      const { path: _, part, ...event } = JSON.parse(decoder.decode(data)) as RunEvent & { path: string; part?: number }
      // What the last commit before a crash caused is said once more after it, under the same numbers.
      const number = event.seq === undefined ? undefined : `${name} ${event.seq} ${part}`
      if (subject.endsWith('.state') || (number !== undefined && known.has(number))) return
      if (number !== undefined) known.add(number)
      const heard = said.get(name) ?? []
      said.set(name, heard)
      heard.push(event)
    })
  }

  const start = async (): Promise<Runtime<Registered>> => {
    const { clock: ownClock, end } = lifeOf(clock)
    const environment: Environment = { clock: ownClock, ids, random, failPoints: points, log }
    const transport = await store.open(environment, options.prefix)
    listen(transport, options.prefix)
    // The runtime may have to wait for time to pass before it is ready.
    const runtime = await clock.until(createRuntime({ checkDeterminism: 'always', ...withChat(options, channel), transport, environment }), 60_000)
    life = { runtime, end }
    return runtime
  }

  const present = (): Runtime<Registered> => {
    if (!life) throw new Error('the runtime is down: restart() it')
    return life.runtime
  }
  const addressOf = (key: string, kind = 'session') => ({ kind, id: key })

  const test: TestRuntime<Registered> = {
    clock,
    failPoints: points,
    channel,
    log: lines,
    get runtime() {
      return present()
    },
    session: (key, which) => present().session(key, which),
    events: (key, kind) => said.get(`${options.prefix ?? 'statecast'}.out.${formatAddress(addressOf(key, kind)).replace('/', '.')}`) ?? [],
    trace: (key) => entriesOf(present(), addressOf(key)),
    commits: async (key) => (await partsOf(present()).transport.journal.head(addressOf(key)))?.seq ?? 0,
    async crash() {
      const { runtime, end } = life ?? {}
      life = undefined
      end?.()
      if (runtime) partsOf(runtime).host.abandon()
      await store.crash()
    },
    async restart(changes = {}) {
      await test.close()
      options = { ...options, ...changes }
      return start()
    },
    async close() {
      const { runtime, end } = life ?? {}
      life = undefined
      if (runtime) await clock.until(runtime.close(), 600_000)
      await store.crash()
      end?.()
    },
  }
  await start()
  return Object.assign(test, {
    [Symbol.asyncDispose]: async () => {
      points.clear()
      await test.close()
    },
  })
}

const entriesOf = async (runtime: Runtime, address: Address): Promise<TraceEntry[]> => {
  const entries: TraceEntry[] = []
  for await (const entry of runtime.trace(address)) entries.push(entry)
  return entries
}

/** The journal of an actor, as lines such as `3 /turn#1/model#1 resolved`, with the states that it led to. */
export const traceOf = async (runtime: Runtime, key: string, kind = 'session'): Promise<string[]> => {
  return (await entriesOf(runtime, { kind, id: key })).map(
    ({ seq, actor, event, states }) => `${seq} ${actor} ${event}${states ? ` → ${JSON.stringify(states)}` : ''}`,
  )
}
