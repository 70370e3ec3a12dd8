/** Time that passes only when a test says so. */
import type { Clock } from '../contracts/environment.ts'

export type VirtualClock = Clock & {
  /** Timers that wait. */
  pending(): number
  /** Lets everything happen that needs no time: promises, and what waits for the next turns of the event loop. */
  settle(): Promise<void>
  /** Lets `ms` pass: every timer that is due fires in order of time, and what it causes settles before the next one. */
  advance(ms: number): Promise<void>
  /**
   * Lets as much time pass as it takes, jumping from timer to timer, until a promise is settled or a condition holds.
   * @returns what the promise resolves to @throws what it rejects with; an Error when `timeMaxMs` have passed, or nothing is left to wait for
   */
  until<T>(goal: PromiseLike<T> | (() => T), timeMaxMs?: number): Promise<T>
  /** Fires timers until none is left. Not for a running runtime, which looks at its clock for ever: use `until`. @throws Error after `timerMax` */
  runAll(timerMax?: number): Promise<void>
}

/** Turns of the event loop in which whatever was set going comes to rest: a step of a turn with tools takes about six. */
const settleTurns = 12
/** Turns with nothing to wait for after which work in other threads or on the disk is given real time. */
const patience = 200
/** How often it is given some, and ms of it each time: another thread gets little of it on a busy machine. */
const realPauses = 1_000
const realPauseMs = 5
/**
 * ms of processor time after which a file that is still being read, such as a pipe, or a thread that has not answered, is waited for no longer. Not of real time:
 * on a busy machine this process gets little of it, and so does whatever reads.
 */
const diskPatienceMs = 5_000
const spentMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
const realPause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, realPauseMs))
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/**
 * @param startMs ms since the epoch
 * @param options.outside resolves when whatever takes real time, such as a server, has come to rest too
 */
export const virtualClock = (startMs = Date.UTC(2026, 0, 31, 8, 5), { outside }: { outside?: () => Promise<void> } = {}): VirtualClock => {
  let now = startMs
  let count = 0
  const timers = new Map<number, { at: number; callback: () => void }>()

  /** Since when a file has been read or written, or the process kept alive for a thread, such as the one that writes the journal; in processor time. */
  let busySince: number | undefined
  const diskIsBusy = (): boolean => {
    if (!process.getActiveResourcesInfo().some((name) => /^(?:FSReq|CloseReq|MessagePort)/.test(name))) {
      busySince = undefined
      return false
    }
    busySince ??= spentMs()
    return spentMs() - busySince < diskPatienceMs
  }

  const settle = async (): Promise<void> => {
    do for (let turn = 0; turn < settleTurns; turn++) await nextTurn()
    while (diskIsBusy())
    await outside?.()
  }
  /** Fires the earliest timer that is due by `end`; of several at one time the one that was set first. */
  const fireNext = (end: number): boolean => {
    let next: number | undefined
    for (const [n, { at }] of timers) if (at <= end && (next === undefined || at < (timers.get(next)?.at ?? 0))) next = n
    const timer = next === undefined ? undefined : timers.get(next)
    if (next === undefined || timer === undefined) return false
    timers.delete(next)
    now = Math.max(now, timer.at)
    timer.callback()
    return true
  }

  return {
    now: () => now,
    setTimeout(callback: () => void, ms: number): number {
      timers.set(++count, { at: now + Math.max(0, ms), callback })
      return count
    },
    clearTimeout: (handle) => void timers.delete(handle as number),
    pending: () => timers.size,
    settle,
    async advance(ms) {
      const end = now + ms
      await settle()
      while (fireNext(end)) await settle()
      now = end
    },
    async until<T>(goal: PromiseLike<T> | (() => T), timeMaxMs = 24 * 3_600_000): Promise<T> {
      const end = now + timeMaxMs
      let settled = false
      if (typeof goal !== 'function')
        goal.then(
          () => (settled = true),
          () => (settled = true),
        )
      const reached = typeof goal === 'function' ? goal : () => settled
      for (let idle = 0; ; ) {
        for (let turn = 0; turn < settleTurns; turn++) {
          await nextTurn()
          const value = reached()
          if (!value) continue
          await outside?.()
          return (typeof goal === 'function' ? value : goal) as T
        }
        await outside?.()
        if ((outside && reached()) || diskIsBusy()) continue
        if (fireNext(end)) idle = 0
        else if (++idle > patience + realPauses) throw new Error(`what the test waits for did not happen within ${timeMaxMs} ms of virtual time`)
        else if (idle > patience) await realPause()
      }
    },
    async runAll(timerMax = 10_000) {
      await settle()
      for (let fired = 0; fireNext(Number.POSITIVE_INFINITY); fired++) {
        if (fired >= timerMax) throw new Error(`${timerMax} timers fired and there are more: something sets them for ever`)
        await settle()
      }
    },
  }
}
