/** Journals on Maps: the same answers as on disk, with no disk. Appends made in one turn share one commit, as they would there. */
import { type FailPoints, noFailPoints } from '../../contracts/environment.ts'
import type { Origin } from '../../contracts/fork.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Appended, Frame, Head, Journal } from '../../contracts/transport.ts'
import { Acknowledged } from '../acknowledged.ts'
import { addressKey, compareAddresses } from '../address.ts'
import { gateOf } from '../fail-gate.ts'
import { checkFork, originOf, type Segment, segmentsOf, shortOrigin, takenError } from '../forking.ts'
import { checkBytes, frameBytesMax, snapshotBytesMax } from '../limits.ts'
import { type WakeListeners, watchWakes } from '../wake-watch.ts'

/** `frames[0]` has the sequence `first`. What is cut off at the front is cut off a copy: forks may have this one. */
type Kept = { first: number; frames: Uint8Array[] }
/** `low` is the lowest frame that is kept, shared ones among them. */
type Root = Kept & {
  address: Address
  seq: number
  low: number
  shared: (Segment & Kept)[]
  origin: Origin | undefined
  wakeAt: number | null
  at: number
  snapshot: Frame | undefined
}

const nothingYet = { seq: 0, first: 1, low: 1, shared: [], origin: undefined, wakeAt: null, snapshot: undefined }

export type MemoryRoots = {
  roots: Map<string, Root>
  /** The roots that want to be woken. */
  sleepers: Set<Root>
  wakeListeners: WakeListeners
  /** In address order; sorted when a list is asked for. */
  sorted: Root[] | undefined
  /** Of all transports on this store: each learns of the removals of the others. */
  acknowledged: Acknowledged
  commits: (() => void)[]
}

export const memoryRoots = (): MemoryRoots => ({
  roots: new Map(),
  sleepers: new Set(),
  wakeListeners: new Set(),
  sorted: undefined,
  acknowledged: new Acknowledged(),
  commits: [],
})

const headOf = ({ address, seq, wakeAt, at, origin }: Root): Head => ({ address, seq, wakeAt, at, ...(origin && { origin: shortOrigin(origin) }) })

const frameOf = (root: Root, seq: number): Frame => {
  const shared = root.shared.find(({ upTo }) => seq <= upTo)
  const { frames, first } = shared ?? root
  return { seq, bytes: frames[seq - first] as Uint8Array, ...(shared && { of: shared.of }) }
}

export const memoryJournal = (store: MemoryRoots, failPoints: FailPoints): Journal => {
  const { roots, sleepers, acknowledged } = store

  /** @throws RuntimeError corrupt_at */
  const rootAt = (address: Address): Root | undefined => {
    const root = roots.get(addressKey(address))
    acknowledged.require(address, root?.seq ?? 0)
    return root
  }

  const commitAll = (): void => {
    for (const commit of store.commits.splice(0)) commit()
  }
  const atNextCommit = (commit: () => void): void => {
    if (store.commits.push(commit) === 1) queueMicrotask(commitAll)
  }
  const change = (address: Address, act: (root: Root, key: string) => void): Promise<void> =>
    new Promise((resolve) => {
      const key = addressKey(address)
      atNextCommit(() => {
        const root = roots.get(key)
        if (root !== undefined) act(root, key)
        resolve()
      })
    })

  const commit = (key: string, address: Address, expected: number, bytes: Uint8Array, wakeAt: number | null, at: number): Appended => {
    let root = roots.get(key)
    const last = root?.seq ?? 0
    if (last !== expected) return { outcome: 'fenced', last }
    if (root === undefined) {
      root = { ...nothingYet, address: { kind: address.kind, id: address.id }, frames: [], at }
      roots.set(key, root)
      store.sorted = undefined
    }
    root.frames.push(bytes)
    root.seq += 1
    acknowledged.reached(address, root.seq)
    root.wakeAt = wakeAt
    root.at = at
    if (wakeAt === null) sleepers.delete(root)
    else {
      sleepers.add(root)
      for (const listener of store.wakeListeners) listener(root.address, wakeAt)
    }
    return { outcome: 'ok' }
  }

  const reached = (root: Root, wakeAt: number | null): void => {
    acknowledged.reached(root.address, root.seq)
    root.wakeAt = wakeAt
    if (wakeAt === null) return void sleepers.delete(root)
    sleepers.add(root)
    for (const listener of store.wakeListeners) listener(root.address, wakeAt)
  }

  /** @throws RuntimeError as {@link Journal.fork} says */
  const begin: (...fork: Parameters<Journal['fork']>) => void = (from, at, to, choice, { wakeAt, at: now }) => {
    const source = rootAt(from)
    checkFork(from, at, to, source && headOf(source), source?.low ?? 1)
    if (source === undefined || rootAt(to) !== undefined) throw takenError(to)
    const { address: of, seq: upTo, first, frames, shared } = source
    const root: Root = {
      ...nothingYet,
      address: { kind: to.kind, id: to.id },
      frames: [],
      at: now,
      seq: at,
      first: at + 1,
      shared: segmentsOf(shared, { of, upTo, first, frames }, at),
      origin: originOf(from, at, choice),
    }
    roots.set(addressKey(to), root)
    store.sorted = undefined
    reached(root, wakeAt)
  }

  return {
    append: (address, expected, bytes, { wakeAt, at }) =>
      new Promise((resolve, reject) => {
        const key = addressKey(address)
        // The caller may use its buffer again, and a view, which is what a Buffer's slice is, would keep all of it alive.
        const kept = new Uint8Array(checkBytes(bytes, frameBytesMax, 'frame'))
        let gate: Promise<void> | undefined
        atNextCommit(() => {
          const loss = acknowledged.loss(address, roots.get(key)?.seq ?? 0)
          if (loss !== undefined) return reject(loss)
          const outcome = commit(key, address, expected, kept, wakeAt, at)
          if (gate === undefined) resolve(outcome)
          else
            gate.then(
              () => resolve(outcome),
              (cause: unknown) => resolve({ outcome: 'unknown', cause }),
            )
        })
        if (failPoints !== noFailPoints) gate = gateOf(() => failPoints.hit('K02'))
      }),
    async read(address, from, { limit = Number.POSITIVE_INFINITY } = {}) {
      const root = roots.get(addressKey(address))
      const frames: Frame[] = []
      const start = Math.max(from, root?.low ?? 1)
      if (root !== undefined) for (let seq = start; seq < root.first && frames.length < limit; seq++) frames.push(frameOf(root, seq))
      const own = Math.max(start, root?.first ?? 1)
      for (const [index, bytes] of (root?.frames.slice(own - root.first, own - root.first + Math.max(0, limit - frames.length)) ?? []).entries())
        frames.push({ seq: own + index, bytes })
      // The frames that are there can be read, also where later ones are lost.
      if (frames.length < limit) acknowledged.require(address, root?.seq ?? 0)
      return frames
    },
    async fork(...fork) {
      addressKey(fork[2])
      await new Promise<void>(atNextCommit)
      begin(...fork)
    },
    async origin(address) {
      return roots.get(addressKey(address))?.origin
    },
    async last(address) {
      const root = rootAt(address)
      return root && frameOf(root, root.seq)
    },
    async head(address) {
      const root = rootAt(address)
      return root === undefined ? undefined : headOf(root)
    },
    async list({ kind, after, limit = Number.POSITIVE_INFINITY } = {}) {
      store.sorted ??= [...roots.values()].toSorted((left, right) => compareAddresses(left.address, right.address))
      const heads: Head[] = []
      for (const root of store.sorted) {
        if (heads.length >= limit) break
        if (kind !== undefined && root.address.kind !== kind) continue
        if (after === undefined || compareAddresses(root.address, after) > 0) heads.push(headOf(root))
      }
      return heads
    },
    async due(until, limit, wanted = () => true) {
      const due = [...sleepers].filter(({ address, wakeAt }) => wakeAt !== null && wakeAt <= until && wanted(address))
      due.sort((left, right) => Number(left.wakeAt) - Number(right.wakeAt) || compareAddresses(left.address, right.address))
      return due.slice(0, limit).map(headOf)
    },
    watchWakes: watchWakes(store.wakeListeners),
    async saveSnapshot(address, seq, bytes) {
      const kept = new Uint8Array(checkBytes(bytes, snapshotBytesMax, 'snapshot'))
      const stop = failPoints.hit('K16')
      if (stop !== undefined) await stop
      await change(address, (root) => {
        if (root.snapshot === undefined || root.snapshot.seq <= seq) root.snapshot = { seq, bytes: kept }
      })
    },
    async snapshot(address) {
      return roots.get(addressKey(address))?.snapshot
    },
    truncate: (address, before) =>
      change(address, (root) => {
        root.low = Math.max(root.low, Math.min(before, root.seq))
        root.shared = root.shared.filter(({ upTo }) => upTo >= root.low)
        if (root.low <= root.first) return
        root.frames = root.frames.slice(root.low - root.first)
        root.first = root.low
      }),
    async remove(address) {
      await failPoints.hit('K21')
      await acknowledged.removing(address, () =>
        change(address, (root, key) => {
          roots.delete(key)
          sleepers.delete(root)
          store.sorted = undefined
        }),
      )
      await failPoints.hit('K21')
    },
  }
}
