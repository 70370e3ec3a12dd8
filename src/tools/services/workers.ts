/** Whether instances of micro services are still there: a process that is gone has no subscription any more, and the bus knows that at once. */
import type { Clock } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { Bus } from '../../contracts/transport.ts'

export type Workers = {
  /** `silent` is a process that has its subscription and does not answer: busy, frozen, or slow. */
  ping(service: string, instance: string): Promise<'there' | 'silent' | 'gone'>
  /** Calls back when none of the instances is there any more; a first one at least must be given. Returns the stopper. */
  watch(service: string, instances: readonly string[], onGone: () => void): () => void
}

/** ms between two pings of one instance. */
const pingEveryMs = 700
const pingTimeoutMs = 2_000
/** Pings in a row: a client that lost its connection waits two seconds before it reconnects. */
const missedMax = 4

const nothing = new Uint8Array()

export const watchWorkers = (bus: Bus, clock: Clock): Workers => {
  /** One for all calls that an instance works on. */
  const followed = new Map<string, { listeners: Set<() => void>; stop(): void }>()

  const ping: Workers['ping'] = async (service, instance) => {
    try {
      await bus.request(`$SRV.PING.${service}.${instance}`, nothing, { timeoutMs: pingTimeoutMs })
      return 'there'
    } catch (error) {
      return isRuntimeError(error) && error.code === 'not_found' ? 'gone' : 'silent'
    }
  }

  const begin = (service: string, instance: string) => {
    const key = `${service}.${instance}`
    const listeners = new Set<() => void>()
    let missed = 0
    let timer: unknown
    const stop = (): void => {
      clock.clearTimeout(timer)
      if (followed.get(key) === follower) followed.delete(key)
    }
    const look = async (): Promise<void> => {
      missed = (await ping(service, instance)) === 'gone' ? missed + 1 : 0
      if (followed.get(key) !== follower) return
      if (missed < missedMax) timer = clock.setTimeout(() => void look(), pingEveryMs)
      else {
        stop()
        for (const onGone of listeners) onGone()
      }
    }
    const follower = { listeners, stop }
    followed.set(key, follower)
    timer = clock.setTimeout(() => void look(), pingEveryMs)
    return follower
  }

  const follow = (service: string, instance: string, onGone: () => void): (() => void) => {
    const follower = followed.get(`${service}.${instance}`) ?? begin(service, instance)
    follower.listeners.add(onGone)
    return () => {
      follower.listeners.delete(onGone)
      if (follower.listeners.size === 0) follower.stop()
    }
  }

  return {
    ping,
    watch(service, instances, onGone) {
      let left = instances.length
      const stops = instances.map((instance) =>
        follow(service, instance, () => {
          left -= 1
          if (left === 0) onGone()
        }),
      )
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}
