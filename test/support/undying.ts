/** A process that dies under a story's feet and comes back: whoever holds a session or a run of it does not notice. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Run, Session } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import type { TestRuntime } from '../../src/testing/index.ts'

class Died extends Error {}

export type Undying = Pick<TestRuntime, 'session' | 'crash' | 'restart'> & {
  /** Resolves when there is a runtime, be it one that just begins. */
  alive(): Promise<void>
  /** Resolves when nobody is on the way from one life to the next. */
  whole(): Promise<void>
}

type Call = (...values: unknown[]) => Promise<unknown>

/** @param commit the process dies when so many frames have been written, before anybody is told of it */
export const undying = (kit: TestRuntime, commit: number): Undying => {
  /** Sessions of the newest life; between two lives of the one before. */
  const known = new Map<string, Session>()
  let life = 0
  let sent = 0
  /** The way from one life to the next, and whether the next one has begun. */
  let rebirth: Promise<void> | undefined
  let reviving = false
  /** The story itself lets it die just now. */
  let busy = false
  let death = Promise.withResolvers<never>()
  death.promise.catch(() => undefined)

  const revive = async (): Promise<void> => {
    await nextTurn()
    life++
    const { reject } = death
    death = Promise.withResolvers<never>()
    death.promise.catch(() => undefined)
    await kit.crash()
    reject(new Died())
    reviving = true
    await kit.restart()
    // Whoever waits for an outcome looks again: the last words of the life before may not have got out.
    const { transport, directory } = partsOf(kit.runtime)
    for (const { address } of await transport.journal.list()) await directory.read(address)
    reviving = false
    rebirth = undefined
  }

  const dieAt = (hit: number): void =>
    kit.failPoints.call(
      'K02',
      () => {
        if (busy) return dieAt(1)
        rebirth = revive()
        return new Promise<void>(() => undefined)
      },
      hit,
    )
  dieAt(commit)
  known.set('main', kit.session('main'))

  const undisturbed =
    <Values extends unknown[], T>(act: (...values: Values) => Promise<T>) =>
    async (...values: Values): Promise<T> => {
      await rebirth
      busy = true
      try {
        return await act(...values)
      } finally {
        busy = false
      }
    }

  /** Does it in this life, or else in the next one. */
  const attempt = async <T>(act: () => Promise<T>): Promise<T> => {
    for (;;) {
      const mine = life
      try {
        await rebirth
        return await Promise.race([act(), death.promise])
      } catch (error) {
        if (!(error instanceof Died) && mine === life && !rebirth) throw error
      }
    }
  }

  /** The outcome of a message, asked for again where the process died meanwhile. */
  const followed = (run: Run, again: () => Promise<Run>): Run => {
    let current = { run, life }
    const result = (): ReturnType<Run['result']> =>
      attempt(async () => {
        if (current.life !== life) current = { run: await again(), life }
        return current.run.result()
      })
    return new Proxy(run, {
      get: (target, name) => {
        if (name === 'result') return result
        if (name === 'text') return async () => (await result()).text
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value as Call).bind(target) : value
      },
    })
  }

  return {
    session(key, which) {
      const present = (): Session => {
        // Nobody notices that there is no runtime for a moment.
        const before = known.get(key)
        if (rebirth && before) return before
        const now = kit.session(key, which)
        known.set(key, now)
        return now
      }
      const send: Session['send'] = async (text, options) => {
        const named = { idempotencyKey: `sent-${++sent}`, ...options }
        const again = () => present().send(text, named)
        return followed(await attempt(again), again)
      }
      return new Proxy(present(), {
        get: (_, name) => {
          if (name === 'send') return send
          const now = present()
          const value: unknown = Reflect.get(now, name, now)
          if (typeof value !== 'function') return value
          if (name === 'events') return (value as Call).bind(now)
          return (...values: unknown[]) => attempt(() => (Reflect.get(present(), name) as Call).apply(present(), values))
        },
      })
    },
    crash: undisturbed(() => kit.crash()),
    restart: undisturbed((changes) => kit.restart(changes)),
    alive: async () => void (reviving || (await rebirth)),
    whole: async () => rebirth,
  }
}
