/** Forgets actors that nobody has needed for longer than a policy keeps them. */

import { errorBody, RuntimeError } from '../contracts/errors.ts'
import type { Head } from '../contracts/transport.ts'
import { allHeads } from './heads.ts'
import type { Parts } from './parts.ts'

export type Retention = {
  /** Days without any commit after which an actor is forgotten with its journal, unless it has something still to do or waits for a person. */
  idleDays: number
}

type SweptParts = Pick<Parts, 'environment' | 'host' | 'transport'>

const dayMs = 24 * 3_600_000
const sweepMs = 3_600_000

/** @throws RuntimeError bad_request */
export const checkRetention = (retention: Retention): Retention => {
  if (Number.isFinite(retention.idleDays) && retention.idleDays > 0) return retention
  throw new RuntimeError('bad_request', `retention.idleDays is ${String(retention.idleDays)}`, {
    field: 'retention.idleDays',
    hint: 'give a number of days above 0, or leave retention out to keep everything',
  })
}

/** Looks through all actors now and every hour. @returns the stopper */
export const keepRetention = (parts: SweptParts, { idleDays }: Retention): (() => void) => {
  const { clock, log } = parts.environment
  let timer: unknown
  let stopped = false
  const sweep = async (): Promise<void> => {
    try {
      const forgotten = await forgetIdle(parts, clock.now() - idleDays * dayMs, () => stopped)
      if (forgotten > 0) log.info({ forgotten, idleDays }, 'actors that nobody needed any more were forgotten')
    } catch (error) {
      // The store may have been closed meanwhile.
      if (stopped) return
      log.error({ error: errorBody(error) }, 'actors could not be looked through for those to forget; again in an hour')
    }
    if (!stopped) timer = clock.setTimeout(() => void sweep(), sweepMs)
  }
  timer = clock.setTimeout(() => void sweep(), 0)
  return () => {
    stopped = true
    clock.clearTimeout(timer)
  }
}

const forgetIdle = async ({ host, transport }: SweptParts, before: number, stopped: () => boolean): Promise<number> => {
  let forgotten = 0
  for await (const head of allHeads(transport.journal)) {
    if (stopped()) break
    // The host looks again: the page may be old by now.
    if (!mayForget(head, before) || !host.mayHave(head.address) || !(await host.forget(head.address, head))) continue
    forgotten++
  }
  return forgotten
}

/** What is due, or has a timer set, wakes by itself one day. So does what waits for a person: its turn has a deadline. */
const mayForget = (head: Head, before: number): boolean => head.at < before && head.wakeAt === null
