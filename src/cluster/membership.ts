/** The registry's word on who is alive and who has which lease, mirrored here: routing a message asks no server. */
import { type Clock, type Environment, type Instant, instantOf, isWithin, type Logger } from '../contracts/environment.ts'
import { errorBody } from '../contracts/errors.ts'
import { emptyLease, Lease, type Members, NodeRecord, partitionCount } from '../contracts/placement.ts'
import type { Registry, RegistryChange } from '../contracts/transport.ts'

const nodesPrefix = 'nodes/'
const leasesPrefix = 'leases/'
/** ms that a node is missed before it counts as gone. */
export const nodeTtlMs = 3_000
/** ms after which the word of another node, given every second, is late enough to ask whether it has hung up; see `peer.effects.ts`. */
const lateMs = 1_100
/** ms from our last word within which nobody can count us as gone: others wait for {@link lateMs}, and longer than half a second for us to come back. */
const sureMs = 1_600
/** ms after which our own word is late. */
const overdueMs = 2_000
/** ms of silence after which a node is gone, though its record has not expired; and how often that is looked at. */
const silentMs = 3 * nodeTtlMs
const sweepMs = 1_000

/** NaN for what is no key of ours, such as `leases/`. */
const partitionIn = (key: string): number => Number.parseInt(key.slice(leasesPrefix.length), 10)

type Kept<T> = { value: T; revision: number }
/** `heard` when its last word came. */
type KeptNode = Kept<NodeRecord> & { heard: Instant }

export class Membership {
  readonly #registry: Registry
  readonly #log: Logger
  readonly #clock: Clock
  /** Ourselves, if we are a node, and when our last word that the registry has was sent. */
  #own: { id: string; renewed: Instant } | undefined
  readonly #nodes = new Map<string, KeptNode>()
  /** Revisions of records that stand although their nodes say nothing any more. */
  readonly #silent = new Map<string, number>()
  #sweeping: unknown
  readonly #leases: (Kept<Lease> | undefined)[] = []
  readonly #listeners = new Set<() => void>()
  #members: Members | undefined
  #stopWatching: () => void = () => undefined

  constructor(registry: Registry, { clock, log }: Pick<Environment, 'clock' | 'log'>) {
    this.#registry = registry
    this.#clock = clock
    this.#log = log
  }

  /** Resolves when all that stands in the registry is known here. @throws RuntimeError log_unavailable … */
  async open(): Promise<this> {
    const stops = [nodesPrefix, leasesPrefix].map((prefix) => this.#registry.watch(prefix, (change) => this.#take(change)))
    this.#stopWatching = () => {
      for (const stop of stops) stop()
    }
    await this.refresh()
    this.#sweepSoon()
    return this
  }

  /**
   * Who has said nothing for long is gone, whatever stands in the registry: a server that was killed may forget when its records expire.
   * Where our own word is overdue too, everybody's is.
   */
  #sweepSoon(): void {
    this.#sweeping = this.#clock.setTimeout(() => {
      for (const [id, { revision, heard }] of this.#nodes) {
        if (id === this.#own?.id) continue
        if (this.#own !== undefined && !isWithin(this.#clock, this.#own.renewed, overdueMs)) this.#nodes.get(id)!.heard = instantOf(this.#clock)
        else if (!isWithin(this.#clock, heard, silentMs)) this.#bury(id, revision)
      }
      this.#sweepSoon()
    }, sweepMs)
  }

  #bury(id: string, revision: number): void {
    this.#log.warn({ node: id }, 'a node says nothing any more, and its record was left behind')
    this.#silent.set(id, revision)
    this.#nodes.delete(id)
    this.#changed()
    this.#registry.delete(nodesPrefix + id, { expected: revision }).catch(() => undefined)
  }

  /** Looks at everything again: word of a change may have got lost. @throws RuntimeError log_unavailable … */
  async refresh(): Promise<void> {
    const before = this.#revisions()
    const found = [...(await this.#registry.list(nodesPrefix)), ...(await this.#registry.list(leasesPrefix))]
    for (const one of found) this.#take(one)
    const there = new Set(found.map(({ key }) => key))
    const now = this.#revisions()
    // Unless something was said of it since.
    for (const [key, revision] of before) if (!there.has(key) && now.get(key) === revision) this.#take({ key, value: undefined, revision: undefined })
  }

  #revisions(): Map<string, number> {
    const leases = this.#leases.flatMap((lease, partition) =>
      lease === undefined || lease.value === emptyLease ? [] : [[`${leasesPrefix}${partition}`, lease.revision] as const],
    )
    return new Map([...leases, ...[...this.#nodes].map(([id, { revision }]) => [nodesPrefix + id, revision] as const)])
  }

  get members(): Members {
    this.#members ??= {
      nodes: [...this.#nodes.values()].map(({ value }) => value),
      leases: Array.from({ length: partitionCount }, (_, partition) => this.lease(partition)),
    }
    return this.#members
  }
  lease(partition: number): Lease {
    return this.#leases[partition]?.value ?? emptyLease
  }
  isAlive(node: string | null): boolean {
    return node !== null && this.#nodes.has(node)
  }
  /** Whether our own word stands for sure. */
  get sure(): boolean {
    return this.#own !== undefined && isWithin(this.#clock, this.#own.renewed, sureMs)
  }
  /** Nodes that should have said something by now, and the revisions of their last words. Where our own word is late too, everybody's is. */
  late(): { node: string; revision: number }[] {
    if (this.#own === undefined || !isWithin(this.#clock, this.#own.renewed, overdueMs)) return []
    return [...this.#nodes].flatMap(([node, { revision, heard }]) =>
      node === this.#own?.id || isWithin(this.#clock, heard, lateMs) ? [] : [{ node, revision }],
    )
  }
  /** ms until the word of another node would be late, if it says nothing until then; undefined where there is no other node. */
  get lateInMs(): number | undefined {
    const now = instantOf(this.#clock).steady
    const others = [...this.#nodes].filter(([node]) => node !== this.#own?.id)
    return others.length === 0 ? undefined : Math.max(0, lateMs - now + Math.min(...others.map(([, { heard }]) => heard.steady)))
  }
  /** Takes the record of another node away, unless it has said something since. @throws RuntimeError log_unavailable … */
  async dismiss(node: string, revision: number): Promise<void> {
    const key = nodesPrefix + node
    if (await this.#registry.delete(key, { expected: revision })) this.#take({ key, value: undefined, revision })
  }
  /** The node that has a partition, if it is alive. */
  holder(partition: number): string | undefined {
    const { holder } = this.lease(partition)
    return holder !== null && this.#nodes.has(holder) ? holder : undefined
  }

  /** Calls back after every change of who is alive or who has what. @returns the unsubscriber */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Says that a node is here, for {@link nodeTtlMs}. @param known the revision of its last word @returns the new one, or undefined when the
   * record has another one
   */
  async announce(record: NodeRecord, known: number): Promise<number | undefined> {
    const key = nodesPrefix + record.id
    const value = JSON.stringify(record)
    const sent = instantOf(this.#clock)
    const revision = await this.#registry.put(key, value, { expected: known, ttlMs: nodeTtlMs })
    if (revision !== undefined) {
      this.#own = { id: record.id, renewed: sent }
      this.#take({ key, value, revision })
    }
    return revision
  }
  /** The revision under which a node stands in the registry; 0 when it does not. */
  async standing(node: string): Promise<number> {
    return (await this.#registry.get(nodesPrefix + node))?.revision ?? 0
  }
  async withdraw(node: string): Promise<void> {
    await this.#registry.delete(nodesPrefix + node)
  }

  /**
   * Writes a lease as `change` makes it of what stands there; undefined leaves it. @returns what stands there then, also where another node wrote it
   * @throws RuntimeError log_unavailable …
   */
  async write(partition: number, change: (lease: Lease) => Lease | undefined): Promise<Lease> {
    const key = `${leasesPrefix}${partition}`
    const found = await this.#registry.get(key)
    if (found !== undefined) this.#take({ key, ...found })
    const next = change(this.lease(partition))
    if (next === undefined) return this.lease(partition)
    const value = JSON.stringify(next)
    const revision = await this.#registry.put(key, value, { expected: found?.revision ?? 0 })
    if (revision !== undefined) this.#take({ key, value, revision })
    else {
      const other = await this.#registry.get(key)
      if (other !== undefined) this.#take({ key, ...other })
    }
    return this.lease(partition)
  }

  /** Word of a change may come late, and after what we have written ourselves: the newest revision counts. */
  #take({ key, value, revision }: RegistryChange): void {
    try {
      const changed = key.startsWith(nodesPrefix)
        ? this.#takeNode(key.slice(nodesPrefix.length), value, revision)
        : this.#takeLease(partitionIn(key), value, revision)
      if (changed) this.#changed()
    } catch (error) {
      this.#log.error({ key, error: errorBody(error) }, 'a record of the cluster cannot be read')
    }
  }

  #takeNode(id: string, value: string | undefined, revision: number | undefined): boolean {
    const before = this.#nodes.get(id)
    if (value === undefined) return this.#takeLeave(id, before, revision)
    if (revision === undefined) return false
    if (revision <= (before?.revision ?? this.#silent.get(id) ?? 0)) return false
    const record = NodeRecord.parse(JSON.parse(value))
    if (record.id !== id) throw new TypeError(`it names '${record.id}'`)
    this.#nodes.set(id, { value: record, revision, heard: instantOf(this.#clock) })
    this.#silent.delete(id)
    // Its renewal changes nothing.
    return before === undefined || before.value.draining !== record.draining
  }

  /**
   * We know about ourselves. Where our own word is overdue too, it is the registry that stood still: then the others have the time of one more word.
   * @param revision of the expiry, where the registry numbers it
   */
  #takeLeave(id: string, before: KeptNode | undefined, revision: number | undefined): boolean {
    if (before === undefined || id === this.#own?.id || (revision !== undefined && revision < before.revision)) return false
    if (this.#own === undefined || isWithin(this.#clock, this.#own.renewed, overdueMs)) return this.#nodes.delete(id)
    this.#clock.setTimeout(() => {
      if (this.#nodes.get(id)?.revision !== before.revision) return
      this.#nodes.delete(id)
      this.#changed()
    }, nodeTtlMs)
    return false
  }

  #changed(): void {
    this.#members = undefined
    for (const listener of this.#listeners) listener()
  }

  /** Of a lease whose record was taken away nobody is the holder. */
  #takeLease(partition: number, value: string | undefined, revision: number | undefined): boolean {
    if (!Number.isInteger(partition) || partition < 0 || partition >= partitionCount) return false
    const before = this.#leases[partition]
    if (revision !== undefined && revision <= (before?.revision ?? 0)) return false
    if (value === undefined && before === undefined) return false
    this.#leases[partition] = {
      value: value === undefined ? emptyLease : Lease.parse(JSON.parse(value)),
      revision: revision ?? before?.revision ?? 0,
    }
    return true
  }

  close(): void {
    this.#clock.clearTimeout(this.#sweeping)
    this.#stopWatching()
    this.#listeners.clear()
  }
}
