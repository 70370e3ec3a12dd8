/**
 * The processes of a command, found in /proc: its descendants, also those whose parents have ended. It reads at once and does not wait: what it looks for
 * multiplies meanwhile, and takes the processors that a wait would give away.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** Variable by which processes of a command are known that left its session before they were seen. */
export const markVariable = 'STATECAST_COMMAND'

type TreeSample = { tasks: number; memoryBytes: number; cpuMs: number; pids: number[] }

type Stat = { pid: number; parent: number; group: number; session: number; cpuMs: number; tasks: number; start: string; pages: number }

const pageBytes = 4096
/** ms of one tick in /proc, on all of Linux. */
const tickMs = 10

const text = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Its name may hold spaces and brackets; what follows the last bracket is numbers. */
const statOf = (pid: number): Stat | undefined => {
  const line = text(`/proc/${pid}/stat`)
  if (line === '') return undefined
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index] ?? 0)
  const cpuMs = (number(11) + number(12) + number(13) + number(14)) * tickMs
  return { pid, parent: number(1), group: number(2), session: number(3), cpuMs, tasks: number(17), start: fields[19] ?? '', pages: number(21) }
}

/** Processes read at a time: a bomb of processes must not take all of the node's. */
const readMax = 20_000

const signal = (pid: number, name: 'SIGSTOP' | 'SIGKILL'): void => {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}

/** Bytes of memory, of which each process counts its share. It takes the kernel long to say. */
export const sharedMemoryBytes = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+) kB$/m.exec(text(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024, 0)

type ProcessTree = {
  /** @property memoryBytes at least what they use: what they share counts for each */
  sample(): TreeSample
  kill(): void
}

/** Follows the processes that descend from one. @param mark value of {@link markVariable} in their environment */
export const processTree = (root: number, mark?: string): ProcessTree => {
  let known = new Map<number, string>()
  let rootStart: string | undefined
  const strangers = new Map<number, string>()
  const isMarked = ({ pid, start }: Stat): boolean => {
    if (mark === undefined || strangers.get(pid) === start) return false
    if (text(`/proc/${pid}/environ`).includes(`${markVariable}=${mark}`)) return true
    strangers.set(pid, start)
    return false
  }
  const sample = (): TreeSample => {
    const last = Number(text('/proc/loadavg').trim().split(' ').at(-1) ?? 0)
    const all = readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0)
    // Ids count up: what is older than the command has a smaller one, unless the count began again.
    const newer = (last >= root ? all.filter((pid) => pid >= root) : all).slice(0, readMax)
    const stats = newer.map(statOf).filter((stat) => stat !== undefined)
    // Its id may be given to another process once it has ended.
    rootStart ??= stats.find(({ pid }) => pid === root)?.start
    const members = new Map<number, Stat>()
    const groups = new Set([root])
    const belongs = (stat: Stat): boolean =>
      (stat.pid === root && stat.start === rootStart) ||
      known.get(stat.pid) === stat.start ||
      members.has(stat.parent) ||
      groups.has(stat.group) ||
      groups.has(stat.session) ||
      isMarked(stat)
    for (let before = -1; before !== members.size; ) {
      before = members.size
      for (const stat of stats) {
        if (members.has(stat.pid) || !belongs(stat)) continue
        members.set(stat.pid, stat)
        groups.add(stat.group)
        groups.add(stat.session)
      }
    }
    const found = [...members.values()]
    known = new Map(found.map(({ pid, start }) => [pid, start]))
    return {
      // One that has ended and was not waited for holds its place.
      tasks: found.reduce((sum, { tasks }) => sum + Math.max(1, tasks), 0),
      memoryBytes: found.reduce((sum, { pages }) => sum + pages * pageBytes, 0),
      cpuMs: found.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      pids: found.map(({ pid }) => pid),
    }
  }
  const sampleOfRunning = (ended: ReadonlySet<number>): number[] => sample().pids.filter((pid) => !ended.has(pid))
  return {
    sample,
    kill: () => {
      // All stop before one ends: each that ended would make room for another.
      const stopped = new Set<number>()
      for (let round = 0; round < 100; round++) {
        const running = sampleOfRunning(stopped)
        if (running.length === 0) break
        for (const pid of running) {
          signal(pid, 'SIGSTOP')
          stopped.add(pid)
        }
      }
      for (const pid of stopped) signal(pid, 'SIGKILL')
      for (const pid of sampleOfRunning(stopped)) signal(pid, 'SIGKILL')
    },
  }
}
