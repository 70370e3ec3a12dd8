/** A transport without a disk, for tests, benchmarks and trying things out. What is "durable" lives as long as its store object. */
import type { Environment } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { partitionOf } from '../../contracts/placement.ts'
import { type Address, unescapeToken } from '../../contracts/subjects.ts'
import type { Transport } from '../../contracts/transport.ts'
import { closable, closedError } from '../closable.ts'
import { type InboxQueue, inboxQueue } from '../inbox-queue.ts'
import { type LocalBus, localBus } from '../local-bus.ts'
import { watchedRegistry } from '../registry-watch.ts'
import { memoryJournal, memoryRoots } from './journal.ts'
import { memoryBlobs, memoryInbox, memoryRegistry } from './stores.ts'

type MemoryEnvironment = Pick<Environment, 'clock' | 'failPoints' | 'log'>
/** What exists while at least one transport is open on a store: it stands for the running server. */
type Live = { bus: LocalBus; inbox: InboxQueue; registry: ReturnType<typeof watchedRegistry> }
type Holder = { close(): Promise<void> }

/** Stands for a disk: it outlives the transports opened on it. */
export type MemoryStore = {
  /** As if every process that uses this store had been killed: their calls are refused, and messages that they had not acknowledged come again. */
  crash(): Promise<void>
}

type Store = MemoryStore & {
  roots: ReturnType<typeof memoryRoots>
  inbox: ReturnType<typeof memoryInbox>
  entries: ReturnType<typeof memoryRegistry>
  blobs: ReturnType<typeof memoryBlobs>
  environment: MemoryEnvironment | undefined
  live: Live | undefined
  holders: Set<Holder>
  /** The transport that would hold the lock file. */
  owner: Holder | undefined
}

export const createMemoryStore = (): MemoryStore => {
  const store: Store = {
    roots: memoryRoots(),
    inbox: memoryInbox(),
    entries: memoryRegistry(),
    blobs: memoryBlobs(),
    environment: undefined,
    live: undefined,
    holders: new Set(),
    owner: undefined,
    async crash() {
      await Promise.all([...store.holders].map((holder) => holder.close()))
    },
  }
  return store
}

type MemoryOptions = {
  environment: MemoryEnvironment
  /** A fresh one unless given. */
  store?: MemoryStore
  /** Takes the lock from the transport that holds it. That one lives on without a consumer: it can still write until the journal fences it. */
  steal?: boolean
  /** Opens beside the others, like one more node on a server: they share bus, inbox and registry. */
  shared?: boolean
  /** Whether the nodes that share it divide the actors among themselves; default: as `shared` says. Without that each node takes any actor, and the journal fences. */
  partitioned?: boolean
  /** Undelivered inbox messages; 100,000 unless given. */
  inboxMax?: number
}

const goLive = (store: Store, environment: MemoryEnvironment, inboxMax: number | undefined): Live => {
  // Of the transport that was opened last: the clock of an earlier one may belong to a test that is over.
  const current = (): MemoryEnvironment => store.environment ?? environment
  const moving = {
    get clock() {
      return current().clock
    },
    get log() {
      return current().log
    },
  }
  return { bus: localBus(moving), inbox: inboxQueue(store.inbox, current, inboxMax), registry: watchedRegistry(store.entries, current) }
}

/** `<prefix>.in.<kind>.<id>`, the prefix being of any length. */
const addressIn = (subject: string): Address => {
  const [kind = '', id = ''] = subject.split('.').slice(-2)
  return { kind, id: unescapeToken(id) }
}

/** @throws RuntimeError locked */
export const openMemory = async ({
  environment,
  store: given = createMemoryStore(),
  steal,
  shared,
  partitioned = shared,
  inboxMax,
}: MemoryOptions): Promise<Transport> => {
  const store = given as Store
  if (store.owner !== undefined && steal !== true && shared !== true)
    throw new RuntimeError('locked', 'this memory store is in use by another transport of this process', {
      hint: 'close it first, or open with steal or shared',
    })
  store.environment = environment
  store.live ??= goLive(store, environment, inboxMax)
  const { live } = store
  const holder: Holder = { close: () => transport.close() }
  /** One consumer by partition. */
  const owners: Record<number, object> = {}
  if (steal === true && store.owner !== undefined) live.inbox.abandon(store.owner, false)
  if (steal === true || store.owner === undefined) store.owner = holder
  store.holders.add(holder)

  const transport = closable({
    name: 'memory',
    capabilities: { durable: false, sharedByNodes: partitioned === true },
    journal: memoryJournal(store.roots, environment.failPoints),
    bus: live.bus,
    inbox: {
      put: live.inbox.put,
      consume: (pattern, handler, { partition } = {}) => {
        if (!store.holders.has(holder)) throw closedError()
        if (partition === undefined) return live.inbox.consume(pattern, handler, holder)
        const owner = owners[partition] ?? {}
        owners[partition] = owner
        return live.inbox.consume(pattern, handler, owner, (subject) => partitionOf(addressIn(subject)) === partition)
      },
      deadLetters: store.inbox.dead,
    },
    registry: live.registry,
    blobs: store.blobs,
    health: async () => ({ writable: true, freeBytes: undefined, durability: 'none: everything is lost with the process' }),
    async close() {
      for (const owner of [holder, ...Object.values(owners)]) live.inbox.abandon(owner, true)
      store.holders.delete(holder)
      if (store.owner === holder) store.owner = undefined
      if (store.holders.size > 0) return
      // The next one to open starts from what was stored, as after a restart.
      live.registry.stop()
      store.live = undefined
    },
  })
  return transport
}
