/** What a test file costs: CPU time of its process and of the children that have ended, and how many processes it started. */
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'

export type Cost = { cpuMs: number; processes: number }

declare module 'vitest' {
  interface TaskMeta {
    cost?: Cost
  }
}

// Node publishes each process that it starts; those of spawnSync and its like are not among them, but their time is.
const counted = Symbol.for('statecast.test.processes')
const counter = globalThis as { [counted]?: { count: number } }
if (counter[counted] === undefined) {
  const started = { count: 0 }
  counter[counted] = started
  subscribe('child_process', () => void (started.count += 1))
}

/** Linux counts in hundredths of a second. */
const tickMs = 10
/** Fields 14 to 17 of /proc/self/stat: user and system time of the process, then of its children. Elsewhere its own alone. */
const cpuMs = (): number => {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0)
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
}

/** @returns what was used since now, whenever it is called */
export const costFromHere = (): (() => Cost) => {
  const from = { cpuMs: cpuMs(), processes: counter[counted]?.count ?? 0 }
  return () => ({ cpuMs: cpuMs() - from.cpuMs, processes: (counter[counted]?.count ?? 0) - from.processes })
}
