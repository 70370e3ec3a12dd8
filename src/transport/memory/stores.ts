/** The inbox, the registry and the blobs on Maps, with the promises of the stores on disk. */
import type { Blobs } from '../../contracts/transport.ts'
import { blobNotFound, checkHash, hashOf } from '../blob-hash.ts'
import type { InboxStore, StoredMessage } from '../inbox-store.ts'
import { blobBytesMax, checkBytes, duplicateWindowMs } from '../limits.ts'
import type { RegistryEntry, RegistryStore } from '../registry-watch.ts'

type InboxRow = Omit<StoredMessage, 'leftOver'> & { data: Uint8Array; state: 'waiting' | 'done' | 'dead'; settledAt: number; reason: string }

export const memoryInbox = (): InboxStore => {
  const rows = new Map<number, InboxRow>()
  /** A subject holds no space, so the pair is unambiguous. */
  const known = new Map<string, number>()
  /** In the order in which they were done, hence by time. */
  const done = new Set<InboxRow>()
  let last = 0
  const keyOf = ({ subject, id }: { subject: string; id: string }): string => `${subject} ${id}`

  const forget = (before: number): void => {
    for (const row of done) {
      if (row.settledAt >= before) return
      done.delete(row)
      rows.delete(row.row)
      known.delete(keyOf(row))
    }
  }
  const waitingRow = (number: number): InboxRow | undefined => {
    const row = rows.get(number)
    return row?.state === 'waiting' ? row : undefined
  }

  return {
    async put(subject, id, data, at) {
      forget(at - duplicateWindowMs)
      const key = keyOf({ subject, id })
      if (known.has(key)) return undefined
      last += 1
      known.set(key, last)
      rows.set(last, {
        row: last,
        subject,
        id,
        data: new Uint8Array(data),
        attempts: 0,
        failures: 0,
        readyAt: 0,
        state: 'waiting',
        settledAt: 0,
        reason: '',
      })
      return last
    },
    async done(number, at) {
      const row = waitingRow(number)
      if (row === undefined) return
      Object.assign(row, { state: 'done', settledAt: at, data: new Uint8Array() })
      done.add(row)
    },
    async postpone(number, attempts, failures, readyAt) {
      Object.assign(waitingRow(number) ?? {}, { attempts, failures, readyAt })
    },
    async bury(number, reason, at) {
      Object.assign(waitingRow(number) ?? {}, { state: 'dead', reason, settledAt: at })
    },
    waiting: () => [...rows.values()].filter(({ state }) => state === 'waiting').map((row) => ({ ...row, leftOver: true })),
    data: (row) => rows.get(row)?.data ?? new Uint8Array(),
    dead: async ({ limit = Number.POSITIVE_INFINITY } = {}) =>
      [...rows.values()]
        .filter(({ state }) => state === 'dead')
        .slice(0, limit)
        .map(({ subject, id, data, reason, settledAt }) => ({ subject, id, data, reason, at: settledAt })),
  }
}

export const memoryRegistry = (): RegistryStore => {
  const entries = new Map<string, RegistryEntry>()
  let last = 0
  const fits = (key: string, expected: number | null): boolean => expected === null || (entries.get(key)?.revision ?? 0) === expected
  return {
    get: (key) => entries.get(key),
    list: (prefix) =>
      [...entries.values()]
        .filter(({ key }) => key.startsWith(prefix))
        .toSorted((left, right) => Buffer.compare(Buffer.from(left.key), Buffer.from(right.key))),
    expiring: () => [...entries.values()].filter(({ expiresAt }) => expiresAt !== null),
    async put(key, value, expiresAt, expected) {
      if (!fits(key, expected)) return undefined
      last += 1
      entries.set(key, { key, value, revision: last, expiresAt })
      return last
    },
    delete: async (key, expected) => fits(key, expected) && entries.delete(key),
  }
}

export const memoryBlobs = (): Blobs => {
  const blobs = new Map<string, Uint8Array>()
  return {
    async put(bytes) {
      const hash = hashOf(checkBytes(bytes, blobBytesMax, 'blob'))
      if (!blobs.has(hash)) blobs.set(hash, new Uint8Array(bytes))
      return hash
    },
    async get(hash) {
      const bytes = blobs.get(checkHash(hash))
      if (bytes === undefined) throw blobNotFound(hash)
      return new Uint8Array(bytes)
    },
    has: async (hash) => blobs.has(checkHash(hash)),
    delete: async (hash) => void blobs.delete(checkHash(hash)),
  }
}
