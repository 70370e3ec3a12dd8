/** Expiry and watching for any store of keys. A key expires by a clock that does not jump; the wall clock counts only across a restart. */

import type { Environment } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Registry } from '../contracts/transport.ts'
import { checkName, registryValueCharactersMax } from './limits.ts'

export type RegistryEntry = { key: string; value: string; revision: number; expiresAt: number | null }

/** Every promise resolves when the change is durable. `expected`: a revision, 0 for "must not exist", null for anything. */
export interface RegistryStore {
  get(key: string): RegistryEntry | undefined
  /** By key. */
  list(prefix: string): RegistryEntry[]
  /** Those with an end; their values may be left out, as there may be many and large ones beside them. */
  expiring(): Pick<RegistryEntry, 'key' | 'revision' | 'expiresAt'>[]
  put(key: string, value: string, expiresAt: number | null, expected: number | null): Promise<number | undefined>
  delete(key: string, expected: number | null): Promise<boolean>
}

type Watcher = { prefix: string; listener: Parameters<Registry['watch']>[1] }

/** The longest delay of setTimeout; a longer one is waited for in parts. */
const longestTimeoutMs = 2 ** 31 - 1

export const watchedRegistry = (store: RegistryStore, environment: () => Pick<Environment, 'clock' | 'log'>): Registry & { stop(): void } => {
  const timers = new Map<string, { revision: number; handle: unknown }>()
  /** Keys that have expired and are perhaps not deleted from the store yet. */
  const expired = new Map<string, number>()
  const watchers = new Set<Watcher>()

  const tell = (key: string, value?: string, revision?: number): void => {
    for (const { prefix, listener } of watchers) {
      if (!key.startsWith(prefix)) continue
      try {
        listener({ key, value, revision })
      } catch (error) {
        environment().log.error({ key, error }, 'a registry watcher threw')
      }
    }
  }

  const disarm = (key: string): void => {
    const timer = timers.get(key)
    if (timer === undefined) return
    environment().clock.clearTimeout(timer.handle)
    timers.delete(key)
  }

  const expire = async (key: string, revision: number): Promise<void> => {
    timers.delete(key)
    expired.set(key, revision)
    try {
      // Another writer may have renewed it at the same moment: the revision decides.
      if (await store.delete(key, revision)) tell(key)
      if (expired.get(key) === revision) expired.delete(key)
    } catch (error) {
      environment().log.warn({ key, error }, 'an expired registry key could not be deleted; it is not shown any more')
      tell(key)
    }
  }

  const arm = (key: string, revision: number, ms: number): void => {
    disarm(key)
    if (ms <= 0) return void expire(key, revision)
    const part = Math.min(ms, longestTimeoutMs)
    const handle = environment().clock.setTimeout(() => {
      if (timers.get(key)?.revision !== revision) return
      arm(key, revision, ms - part)
    }, part)
    timers.set(key, { revision, handle })
  }

  const alive = (entry: RegistryEntry): boolean => expired.get(entry.key) !== entry.revision
  const shown = ({ key, value, revision }: RegistryEntry) => ({ key, value, revision })

  for (const { key, revision, expiresAt } of store.expiring()) if (expiresAt !== null) arm(key, revision, expiresAt - environment().clock.now())

  return {
    async get(key) {
      const entry = store.get(checkName(key, 'key'))
      return entry !== undefined && alive(entry) ? { value: entry.value, revision: entry.revision } : undefined
    },
    async put(key, value, { expected, ttlMs } = {}) {
      checkName(key, 'key')
      if (value.length > registryValueCharactersMax)
        throw new RuntimeError('too_large', `a registry value may have at most ${registryValueCharactersMax} characters`, { field: 'value' })
      const expiresAt = ttlMs === undefined ? null : environment().clock.now() + ttlMs
      const revision = await store.put(key, value, expiresAt, expected ?? null)
      if (revision === undefined) return undefined
      if (ttlMs === undefined) disarm(key)
      else arm(key, revision, ttlMs)
      tell(key, value, revision)
      return revision
    },
    async delete(key, { expected } = {}) {
      const deleted = await store.delete(checkName(key, 'key'), expected ?? null)
      if (!deleted) return false
      disarm(key)
      tell(key)
      return true
    },
    list: async (prefix) => store.list(prefix).filter(alive).map(shown),
    watch(prefix, listener) {
      const watcher = { prefix, listener }
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    /** For a store that is closing: no timer must fire into it. */
    stop() {
      for (const key of timers.keys()) disarm(key)
      watchers.clear()
    },
  }
}
