/** Compare-and-set keys in a key-value bucket that any NATS tool can read. The server compares, and lets go of what was written with a time to live. */

import type { JsMsg } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { Logger } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import { escapeBytes, unescapeBytes } from '../../contracts/subjects.ts'
import type { Registry, RegistryChange } from '../../contracts/transport.ts'
import { checkName, registryValueCharactersMax } from '../limits.ts'
import { fromNats, isWrongSequence } from './errors.ts'
import type { Link } from './link.ts'
import { type Names, ownKeys } from './names.ts'
import { watchStream } from './watch.ts'
import { contentMax } from './workarounds/payload.ts'

/** What the tools of NATS take in a key without a dot. */
const keyCharacters = /^[A-Za-z0-9_/-]$/

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The server counts whole seconds, and looks about once a second. */
const ttlOf = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1000))}s`
/** How long an expiry stays in the stream, for watchers that were cut off. */
const markerTtlMs = 10_000

type Found = { value: string; revision: number } | { value: undefined; revision: number }

export const natsRegistry = async (
  link: Link,
  names: Names,
  { replicas, log }: { replicas: number; log: Logger },
): Promise<Registry & { stop(): Promise<void> }> => {
  const doing = 'using the registry'
  const kv: KV = await new Kvm(link.js)
    .create(names.bucket, { replicas, history: 1, markerTTL: markerTtlMs, description: 'leases, nodes, limits' })
    .catch((error: unknown) => {
      throw fromNats(error, `preparing the registry ${names.bucket}`)
    })
  const { streamInfo } = await kv.status()
  const stream = streamInfo.config.name
  /** What was there when the watch began is no change, though its message may still be on its way. */
  const watchers = new Set<{ prefix: string; since: number; listener: (change: RegistryChange) => void }>()
  let written = 0

  // Our keys may hold characters that a key of a bucket may not.
  const subjectOf = (key: string): string => `$KV.${names.bucket}.${escapeBytes(encoder.encode(checkName(key, 'key')), keyCharacters)}`
  const keyOf = (subject: string): string => unescapeBytes(subject.slice(`$KV.${names.bucket}.`.length))

  const isGone = (headers: { has(name: string): boolean } | undefined): boolean =>
    headers !== undefined && (headers.has('KV-Operation') || headers.has('Nats-Marker-Reason'))

  const newest = async (key: string): Promise<Found | undefined> => {
    const found = await link.last(stream, subjectOf(key))
    if (found === undefined) return undefined
    return { value: isGone(found.headers) ? undefined : decoder.decode(found.data), revision: found.seq }
  }

  const heard = (message: JsMsg): void => {
    const gone = isGone(message.headers)
    const change = {
      key: keyOf(message.subject),
      value: gone ? undefined : decoder.decode(message.data),
      revision: message.seq,
    }
    for (const { prefix, since, listener } of watchers) {
      if (!change.key.startsWith(prefix) || message.seq <= since) continue
      try {
        listener(change)
      } catch (error) {
        log.error({ key: change.key, error: errorBody(error) }, 'a registry watcher threw')
      }
    }
  }
  const watch = await watchStream(link, { stream, filter: `$KV.${names.bucket}.>`, log }, heard)
  await watch.ready

  const asked = async <T>(question: () => Promise<T>): Promise<T> => {
    try {
      return await question()
    } catch (error) {
      throw fromNats(error, doing)
    }
  }

  /** Writes over what is expected to be there; a key that has expired or was deleted still has its marker, which counts as nothing. */
  const write = async (key: string, expected: number | undefined, data: Uint8Array, headers: Record<string, string>): Promise<number | undefined> => {
    let place = expected
    if (expected === 0) {
      const found = await newest(key)
      if (found?.value !== undefined) return undefined
      place = found?.revision ?? 0
    }
    try {
      const { seq } = await link.publish(subjectOf(key), data, { headers, expected: place })
      written = Math.max(written, seq)
      return seq
    } catch (error) {
      if (isWrongSequence(error)) return undefined
      throw error
    }
  }

  return {
    get: (key) =>
      asked(async () => {
        const found = await newest(key)
        return found?.value === undefined ? undefined : { value: found.value, revision: found.revision }
      }),
    put: (key, value, { expected, ttlMs } = {}) =>
      asked(async () => {
        subjectOf(key)
        if (value.length > registryValueCharactersMax)
          throw new RuntimeError('too_large', `a registry value may have at most ${registryValueCharactersMax} characters`, { field: 'value' })
        const data = encoder.encode(value)
        if (data.length > contentMax(link))
          throw new RuntimeError('too_large', `a registry value may have at most ${contentMax(link)} bytes here, this one has ${data.length}`, {
            field: 'value',
            hint: "keep large content in blobs, or raise the server's max_payload",
          })
        // With every write: one without it would last for ever.
        return write(key, expected, data, ttlMs === undefined ? {} : { 'Nats-TTL': ttlOf(ttlMs) })
      }),
    delete: (key, { expected } = {}) =>
      asked(async () => {
        const found = await newest(key)
        if (found?.value === undefined || (expected !== undefined && found.revision !== expected)) return false
        const marker = { 'KV-Operation': 'PURGE', 'Nats-Rollup': 'sub', 'Nats-TTL': ttlOf(markerTtlMs) }
        return (await write(key, found.revision, new Uint8Array(), marker)) !== undefined
      }),
    list: (prefix) =>
      asked(async () => {
        const { state } = await link.jsm.streams.info(stream, { subjects_filter: `$KV.${names.bucket}.>` })
        const keys = Object.keys(state.subjects ?? {})
          .map(keyOf)
          .filter((key) => key.startsWith(prefix) && !key.startsWith(ownKeys))
        const found = await Promise.all(keys.map(async (key) => ({ key, found: await newest(key) })))
        return found
          .flatMap(({ key, found: one }) => (one?.value === undefined ? [] : [{ key, value: one.value, revision: one.revision }]))
          .sort((one, other) => (one.key < other.key ? -1 : 1))
      }),
    watch(prefix, listener) {
      const watcher = { prefix, since: written, listener }
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    stop: () => watch.stop(),
  }
}
