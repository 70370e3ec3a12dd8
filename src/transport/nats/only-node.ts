/**
 * One node at a time, until nodes share their work: a lease that the server lets expire when its holder is gone. It keeps a second node from
 * trying; that two never write to one actor is the journal's doing.
 */
import { type Clock, type Logger, pause } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { Registry } from '../../contracts/transport.ts'
import { ownKeys } from './names.ts'

const key = `${ownKeys}node`
const ttlMs = 6_000
const renewMs = 2_000
const stepMs = 500

/** @throws RuntimeError locked, when a holder goes on renewing */
export const onlyNode = async (
  registry: Registry,
  { clock, log }: { clock: Clock; log: Logger },
  owner: Record<string, string>,
): Promise<{ release(): Promise<void> }> => {
  const value = JSON.stringify(owner)
  let revision: number | undefined
  // Whoever was killed holds it a little longer.
  for (let waited = 0; revision === undefined; waited += stepMs) {
    revision = await registry.put(key, value, { expected: 0, ttlMs })
    if (revision !== undefined) break
    if (waited > ttlMs + 2_000) throw taken((await registry.get(key))?.value)
    await pause(clock, stepMs)
  }

  let released = false
  const renew = async (): Promise<void> => {
    try {
      const renewed = await registry.put(key, value, { expected: revision as number, ttlMs })
      if (renewed !== undefined) revision = renewed
      else log.error({ key }, 'another node took over: this one was away for too long, and writes no more')
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
