/** One command within its limits: started with those that the kernel enforces, watched for the others, and ended with all of its processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { guardUntilEnd } from '../guard.ts'
import { watchGrowth } from './disk-growth.ts'
import { programText, type ResourceLimits } from './launcher.rules.ts'
import { type Launcher, prepareLauncher, takeLauncher } from './launcher.ts'
import { type CommandLimits, type LimitName, limitOfEnd, type Machine, type SandboxKind } from './limits.rules.ts'
import { thisMachine } from './machine.ts'
import { markVariable, processTree, sharedMemoryBytes } from './process-tree.ts'
import type { Invocation } from './sandbox.rules.ts'

export type CommandBounds = {
  limits: CommandLimits
  start(invocation: Invocation & { cwd: string | undefined }): ChildProcess
  /** Calls back at most once, when the command has met a limit. */
  watch(onMet: (limit: LimitName) => void): void
  /** Kills all of its processes. */
  kill(): void
  /** The limit that it met. */
  metAtEnd(ended: { exitCode: number | null; killedBy?: string; stderr: string }): LimitName | undefined
  /** Resolves when nothing of it is left. */
  close(): Promise<void>
}

type Options = {
  kind: SandboxKind | 'off'
  limits: CommandLimits
  /** Folder that may grow; undefined where the command cannot write in it. */
  writable: string | undefined
  /** Name of its container. */
  container?: string
}

/** ms between two looks, the share of time that they may take, and ms at most where each takes long. */
const lookMs = 50
const lookShare = 0.05
const longLookMs = 500

/** ms after a command in which another one may follow at once, which would find its shell half prepared. */
const prepareMs = 20

/** Processes of bubblewrap itself. */
const ownTasks = { bwrap: 2, off: 0 } as const

export const boundCommand = async (options: Options, { machine, parents } = thisMachine()): Promise<CommandBounds> => {
  const { kind, limits, writable, container } = options
  const growth = await watchGrowth(placesOf(options), writable === undefined ? 0 : limits.freeBytes, Date.now())
  const inContainer = kind === 'docker' || kind === 'podman'
  const isMarked = kind === 'off' && machine.hasProc && machine.controllers.length === 0
  const mark = isMarked ? randomBytes(12).toString('hex') : undefined
  const ends: (() => void)[] = []
  const bounded = inContainer ? limits : { ...limits, processes: limits.processes + ownTasks[kind] }
  let launcher: Launcher | undefined
  let tree: ReturnType<typeof processTree> | undefined
  let timer: NodeJS.Timeout | undefined
  let over = false
  let counted: { met: LimitName | undefined } | undefined
  const needsTree = !inContainer && machine.hasProc && (limits.cpuMs !== undefined || machine.controllers.length < 2)
  const pids = () => launcher?.cgroup?.pids() ?? tree?.sample().pids ?? []
  const look = async (): Promise<LimitName | undefined> => {
    const met = launcher?.cgroup?.met()
    if (met !== undefined) return met
    if (needsTree && tree) {
      const { tasks, memoryBytes, cpuMs, pids } = tree.sample()
      if (!machine.controllers.includes('pids') && tasks > bounded.processes) return 'processes'
      const mayPass = !machine.controllers.includes('memory') && memoryBytes > limits.memoryBytes
      if (mayPass && sharedMemoryBytes(pids) > limits.memoryBytes) return 'memoryBytes'
      if (limits.cpuMs !== undefined && cpuMs > limits.cpuMs) return 'cpuMs'
    }
    return growth(pids)
  }
  return {
    limits,
    start: ({ file, args, env, cwd, filter }) => {
      if (inContainer || !machine.hasShell) {
        if (container !== undefined) ends.push(guardUntilEnd({ kind: 'container', program: file, target: container }))
        const options = { env, stdio: ['ignore' as const, 'pipe' as const, 'pipe' as const], detached: true, windowsHide: true }
        return spawn(file, args, { ...options, ...(cwd === undefined ? {} : { cwd }) })
      }
      launcher = takeLauncher(parents)
      launcher.cgroup?.limit(bounded)
      const { child } = launcher
      const marked = mark === undefined ? env : { ...env, [markVariable]: mark }
      child.stdin?.end(programText({ file, args, env: marked, cwd, filter, limits: resourceLimits(limits, machine) }))
      if (child.pid === undefined) return child
      if (machine.hasProc) tree = processTree(child.pid, mark)
      if (!launcher.cgroup) ends.push(guardUntilEnd({ kind: 'group', target: child.pid }))
      if (mark !== undefined) ends.push(guardUntilEnd({ kind: 'mark', target: mark }))
      return child
    },
    watch: (onMet) => {
      const again = async (): Promise<void> => {
        const begun = performance.now()
        const met = await look().catch(() => undefined)
        if (over) return
        if (met !== undefined) onMet(met)
        else timer = setTimeout(() => void again(), Math.min(longLookMs, Math.max(lookMs, (performance.now() - begun) / lookShare)))
      }
      // A clock of the machine: it watches a process, which no simulated time moves.
      timer = setTimeout(() => void again(), lookMs)
    },
    kill: () => {
      // Once it is killed, the kernel also counts what its last processes tried in vain.
      counted ??= { met: launcher?.cgroup?.met() }
      if (launcher?.cgroup) launcher.cgroup.kill()
      else if (mark !== undefined) tree?.kill()
    },
    metAtEnd: (ended) => (counted ? counted.met : launcher?.cgroup?.met()) ?? limitOfEnd(ended, kind, machine),
    close: async () => {
      over = true
      clearTimeout(timer)
      for (const end of ends) end()
      void launcher?.close()
      // After the result has left.
      if (!inContainer) setTimeout(() => prepareLauncher(parents), prepareMs).unref()
    },
  }
}

const placesOf = ({ kind, limits, writable }: Options) => {
  const workspace = writable === undefined ? [] : [{ folder: writable, limit: 'workspaceBytes' as const, bytes: limits.workspaceBytes }]
  const temporary = kind === 'off' ? [...new Set([tmpdir(), '/dev/shm'])] : []
  return [...workspace, ...temporary.map((folder) => ({ folder, limit: 'tmpBytes' as const, bytes: limits.tmpBytes }))]
}

/** Those that hold for each process by itself, whatever the machine offers besides. */
const resourceLimits = (limits: CommandLimits, { isRoot, controllers, hasProc }: Omit<Machine, 'hasTmpSize'>): ResourceLimits => ({
  ...limits,
  boundsMemory: !controllers.includes('memory'),
  // It counts all processes of the user: the machine's number is above theirs, and keeps a bomb from outrunning its watcher.
  tasks: isRoot || controllers.includes('pids') || !hasProc ? undefined : tasksOfMachine() + limits.processes,
})

const tasksOfMachine = (): number => Number(/\/(\d+) /.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0)
