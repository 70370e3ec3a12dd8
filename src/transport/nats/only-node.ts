/**
 * One node at a time, until nodes share their work: a lease that the server lets expire when its holder is gone. It keeps a second node from
 * trying; that two never write to one actor is the journal's doing.
 */
import { randomUUID } from 'node:crypto'
import { type Clock, type Logger, pause } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { Registry } from '../../contracts/transport.ts'
import { ownKeys } from './names.ts'

const key = `${ownKeys}node`
const ttlMs = 6_000
const renewMs = 2_000
const stepMs = 500

/** @param lost called once, when another node has it: this one has to stop @throws RuntimeError locked, when a holder goes on renewing */
export const onlyNode = async (
  registry: Registry,
  { clock, log }: { clock: Clock; log: Logger },
  owner: Record<string, string>,
  lost: () => void,
): Promise<{ release(): Promise<void> }> => {
  const value = JSON.stringify({ ...owner, lease: randomUUID() })
  let revision: number | undefined
  // Whoever was killed holds it a little longer.
  for (let waited = 0; revision === undefined; waited += stepMs) {
    revision = await registry.put(key, value, { expected: 0, ttlMs })
    if (revision !== undefined) break
    if (waited > ttlMs + 2_000) throw taken((await registry.get(key))?.value)
    await pause(clock, stepMs)
  }

  let released = false
  /** A server that stood still lets a lease expire with nobody there to take it; and an answer that was lost was a renewal all the same. */
  const regain = async (): Promise<number | undefined> => {
    const found = await registry.get(key)
    if (found === undefined) return registry.put(key, value, { expected: 0, ttlMs })
    return found.value === value ? found.revision : undefined
  }
  const renew = async (): Promise<void> => {
    try {
      const renewed = await registry.put(key, value, { expected: revision as number, ttlMs })
      const kept = renewed ?? (await regain())
      if (kept === undefined) {
        released = true
        log.error({ key }, 'another node took over: this one was away for too long, and stops')
        lost()
        return
      }
      revision = kept
    } catch (error) {
      log.warn({ key, error: errorBody(error) }, 'the lease of this node could not be renewed')
    }
    if (!released) again()
  }
  let timer: unknown
  const again = (): void => {
    timer = clock.setTimeout(() => void renew(), renewMs)
  }
  again()

  return {
    release: async () => {
      released = true
      clock.clearTimeout(timer)
      await registry.delete(key, { expected: revision as number }).catch(() => undefined)
    },
  }
}

const taken = (value: string | undefined): RuntimeError => {
  const owner = (value === undefined ? {} : JSON.parse(value)) as Record<string, string>
  return new RuntimeError('locked', `another node works on this NATS${owner.pid ? `: process ${owner.pid}` : ''}`, {
    hint: 'talk to it with --url http://…, or stop it; nodes that share their work are not in this build yet',
    data: { owner },
  })
}
