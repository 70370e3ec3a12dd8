/**
 * Notices a journal that lost its end while no node was watching: a server that finds a damaged block when it starts cuts the stream off there, goes on with the
 * same numbers, and says nothing. The registry holds how far the stream had come, written about a second behind; a loss within the very last second goes
 * unnoticed.
 */
import { type Clock, type Logger, pause } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { Registry } from '../../contracts/transport.ts'
import { fromNats } from './errors.ts'
import type { Link } from './link.ts'
import { type Names, ownKeys } from './names.ts'
import { doubtMs, stepMs } from './tips.ts'

export const markKey = `${ownKeys}journal`

const everyMs = 1_000

export type HighWater = {
  /** A frame was acknowledged at this place of the stream. @param since the highest that was known when it was sent */
  reached(place: number, since: number): void
  /** The highest place that was acknowledged to this process. */
  highest(): number
  stop(): Promise<void>
}

/** @throws RuntimeError corrupt_at when the stream is behind its mark */
export const natsHighWater = async (
  link: Link,
  names: Names,
  registry: Registry,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<HighWater> => {
  const stream = names.streams.journal
  const known = Number((await registry.get(markKey))?.value ?? 0)
  const lastPlace = async (): Promise<number> => {
    const { state } = await link.jsm.streams.info(stream).catch((error: unknown) => {
      throw fromNats(error, `looking at the stream ${stream}`)
    })
    return state.last_seq
  }
  let found = await lastPlace()
  for (let waited = 0; found < known && waited < doubtMs; waited += stepMs) {
    await pause(clock, stepMs)
    found = await lastPlace()
  }
  if (found < known)
    throw new RuntimeError('corrupt_at', `the stream ${stream} has lost its end: it is at message ${found}, and was at ${known} before`, {
      hint: `restore it from a backup; if this older state is what you want, delete the key ${markKey} from the bucket ${names.bucket}`,
      data: { stream, found, known },
    })

  let highest = 0
  let written = known
  let pending: unknown
  /** Never lower than it is: another node may have seen more. One that was first may have seen less, so the mark is read again where it refuses ours. */
  const write = async (): Promise<void> => {
    for (;;) {
      const wanted = highest
      const found = await registry.get(markKey)
      const there = Number(found?.value ?? 0)
      written = Math.max(written, there)
      if (written >= wanted) return
      if ((await registry.put(markKey, String(wanted), { expected: found?.revision ?? 0 })) === undefined) continue
      written = wanted
      return
    }
  }
  const quietly = (): Promise<void> =>
    write().catch((error: unknown) => {
      log.debug({ error: errorBody(error) }, 'the mark of the journal could not be raised')
    })

  return {
    highest: () => highest,
    reached(place, since) {
      if (place <= since)
        log.error(
          { stream, found: place, known: since },
          'the stream of the journals has lost its end while this node was running: restore it from a backup',
        )
      highest = Math.max(highest, place)
      if (highest > written)
        pending ??= clock.setTimeout(() => {
          pending = undefined
          void quietly()
        }, everyMs)
    },
    async stop() {
      if (pending === undefined) return
      clock.clearTimeout(pending)
      await Promise.race([quietly(), pause(clock, everyMs)])
    },
  }
}
