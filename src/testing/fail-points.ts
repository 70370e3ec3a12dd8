/** Fail points in process: a test says by name and count where to stop, to break or to look. The points K01–K21 are in contracts/environment.ts. */
import type { FailPoint, FailPoints } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'

export type FailPointPlan = FailPoints & {
  /** The `hit`-th call from now on waits there until it is released. @returns the release */
  hold(name: FailPoint, hit?: number): () => void
  /** … gets this error; default: `internal`. */
  throw(name: FailPoint, hit?: number, error?: Error): void
  /** … calls this first, and waits for it if it returns a promise. For a crash: `() => test.crash()`. */
  call(name: FailPoint, action: () => void | Promise<void>, hit?: number): void
  /** Resolves when the point is hit for the `hit`-th time from now on. */
  untilHit(name: FailPoint, hit?: number): Promise<void>
  /** How often it was hit so far. */
  count(name: FailPoint): number
  /** Forgets all plans and releases what waits. */
  clear(): void
}

type Plan = { name: FailPoint; at: number; act: () => void | Promise<void> }

export const failPoints = (): FailPointPlan => {
  const counts = new Map<FailPoint, number>()
  let plans: Plan[] = []
  let held: (() => void)[] = []
  const count = (name: FailPoint): number => counts.get(name) ?? 0
  const plan = (name: FailPoint, hit: number, act: Plan['act']): void => void plans.push({ name, at: count(name) + hit, act })

  return {
    hit(name) {
      counts.set(name, count(name) + 1)
      const due = plans.filter((one) => one.name === name && one.at === count(name))
      if (due.length === 0) return undefined
      plans = plans.filter((one) => !due.includes(one))
      const waits = due.flatMap(({ act }) => act() ?? [])
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined)
    },
    hold(name, hit = 1) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.push(resolve)
      plan(name, hit, () => promise)
      return resolve
    },
    throw(name, hit = 1, error = new RuntimeError('internal', `fail point ${name}`)) {
      plan(name, hit, () => {
        throw error
      })
    },
    call: (name, action, hit = 1) => plan(name, hit, action),
    untilHit(name, hit = 1) {
      const { promise, resolve } = Promise.withResolvers<void>()
      plan(name, hit, resolve)
      return promise
    },
    count,
    clear() {
      plans = []
      for (const release of held) release()
      held = []
    },
  }
}
