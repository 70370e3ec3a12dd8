/** Builders for transport tests. */
import type { Clock, Environment, FailPoint } from '../../src/contracts/environment.ts'

export type LogLine = { level: string; fields: object; message: string | undefined }
export type TestEnvironment = Pick<Environment, 'clock' | 'failPoints' | 'log'> & { lines: LogLine[] }

export const systemClock: Clock = {
  now: Date.now,
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
}

/** A clock that moves only when told; whoever waits is called in order of time. */
export const aManualClock = (start = 1_700_000_000_000): Clock & { advance(ms: number): void } => {
  let now = start
  let count = 0
  const waiting = new Map<number, { at: number; callback: () => void }>()
  return {
    now: () => now,
    setTimeout(callback, ms) {
      count += 1
      waiting.set(count, { at: now + ms, callback })
      return count
    },
    clearTimeout: (handle) => void waiting.delete(handle as number),
    advance(ms) {
      const until = now + ms
      for (;;) {
        const [next] = [...waiting].filter(([, { at }]) => at <= until).sort(([left, a], [right, b]) => a.at - b.at || left - right)
        if (next === undefined) break
        waiting.delete(next[0])
        now = next[1].at
        next[1].callback()
      }
      now = until
    },
  }
}

/** A clock on which nobody has to wait: a pause is over at the next turn of the event loop, and by then that time has passed. */
export const aHastyClock = (): Clock => {
  let now = 1_700_000_000_000
  return {
    now: () => now,
    setTimeout: (callback, ms) =>
      setImmediate(() => {
        now += ms
        callback()
      }),
    clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate),
  }
}

export const anEnvironment = ({
  clock = systemClock,
  hit = () => undefined,
}: {
  clock?: Clock
  hit?: (name: FailPoint) => void | Promise<void>
} = {}): TestEnvironment => {
  const lines: LogLine[] = []
  const at = (level: string) => (fields: object, message?: string) => void lines.push({ level, fields, message })
  return { clock, failPoints: { hit }, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines }
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)
export const aSession = (id = 'one') => ({ kind: 'session', id })
/** What an append says about its root when the test does not care. */
export const awake = { wakeAt: null, at: 1_700_000_000_000 }

/** A promise and its fulfilment, for a test that must stop something in the middle. */
export const aSignal = (): { promise: Promise<void>; give: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, give: () => resolve() }
}
