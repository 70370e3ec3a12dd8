/** Cgroups of commands: each command has its own, below that of the node, so the kernel counts and bounds what its processes use together. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Hierarchy, hierarchiesOf } from './cgroup.rules.ts'
import type { CommandLimits, LimitName } from './limits.rules.ts'

type Controller = 'pids' | 'memory'
const controllersWanted: readonly Controller[] = ['pids', 'memory']

/** Where cgroups of commands can be made. */
export type CgroupParents = {
  /** Of the hierarchies that the machine has. */
  version: 1 | 2 | undefined
  /** Folder by controller; the same folder for all in version 2. */
  folders: ReadonlyMap<Controller, string>
}

export type Cgroup = {
  folders: readonly string[]
  /** Sets the upper limits. @throws Error where the kernel refuses them */
  limit(limits: CommandLimits): void
  /** A limit that the kernel has enforced since it was set. */
  met(): LimitName | undefined
  pids(): number[]
  /** Kills what is in it; nothing can start in it afterwards. */
  kill(): void
  /** Resolves when it is gone, or can not be removed. */
  remove(): Promise<void>
}

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const write = (path: string, value: string | number): boolean => {
  try {
    writeFileSync(path, String(value))
    return true
  } catch {
    return false
  }
}

const makeFolder = (path: string): boolean => {
  try {
    mkdirSync(path)
    return true
  } catch {
    return false
  }
}

const removeFolder = (path: string): boolean => {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** Its start time tells a process from a later one of the same id. */
const startOf = (pid: number | 'self'): string | undefined =>
  read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ')[19]

let namePrefix: string | undefined
/** Names this process among all that may use the same hierarchy, in its own pid namespace. */
const ownPrefix = (): string => {
  namePrefix ??= `statecast-${namespaceId()}-${process.pid}-${startOf('self') ?? 0}-`
  return namePrefix
}
const namespaceId = (): string => {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}
let count = 0

const pidsIn = (folder: string): number[] => (read(join(folder, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number)

const killAll = (folder: string): void => {
  if (pidsIn(folder).length === 0) return
  if (write(join(folder, 'cgroup.kill'), 1)) return
  // Without room for one more process a program that multiplies loses the race.
  write(join(folder, 'pids.max'), 0)
  for (let round = 0; round < 20; round++) {
    const pids = pidsIn(folder)
    if (pids.length === 0) return
    for (const pid of pids)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended.
      }
  }
}

/** Removes what nodes left that were killed together with their guard. */
const sweep = (parent: string): void => {
  let names: string[] = []
  try {
    names = readdirSync(parent)
  } catch {
    return
  }
  for (const name of names) {
    const [, namespace, pid, start] = /^statecast-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? []
    if (namespace === undefined || namespace !== namespaceId() || startOf(Number(pid)) === start) continue
    killAll(join(parent, name))
    removeFolder(join(parent, name))
  }
}

/** Whether a process can be moved into a new group there, and be bounded: found out by doing it. */
const canUse = (parent: string, files: readonly string[]): boolean => {
  const folder = join(parent, `${ownPrefix()}${count++}`)
  if (!makeFolder(folder)) return false
  try {
    for (const file of files) if (!write(join(folder, file), 'max') && !write(join(folder, file), 2 ** 40)) return false
    execFileSync('/bin/sh', ['-c', 'echo $$ > "$0/cgroup.procs"', folder], { stdio: 'ignore', timeout: 5_000 })
    return true
  } catch {
    return false
  } finally {
    removeFolder(folder)
  }
}

const limitFiles: Record<1 | 2, Record<Controller, string>> = {
  1: { pids: 'pids.max', memory: 'memory.limit_in_bytes' },
  2: { pids: 'pids.max', memory: 'memory.max' },
}

/** The first folder that can hold cgroups of version 2 with controllers: the node's own, or that around it. */
const parentOfVersion2 = (own: string): { parent: string; controllers: Controller[] } | undefined => {
  for (const parent of [own, dirname(own)]) {
    const available = (read(join(parent, 'cgroup.controllers')) ?? '').split(/\s+/)
    const wanted = controllersWanted.filter((name) => available.includes(name))
    if (wanted.length === 0) continue
    const enabled = () => (read(join(parent, 'cgroup.subtree_control')) ?? '').split(/\s+/)
    const isEnabled = () => wanted.every((name) => enabled().includes(name))
    const enable = () => isEnabled() || write(join(parent, 'cgroup.subtree_control'), wanted.map((name) => `+${name}`).join(' '))
    if (!enable() && parent === own && isAlone(own)) {
      // A group with controllers for its children holds no process itself: a service that was delegated a group moves down.
      const leaf = join(own, 'statecast')
      makeFolder(leaf)
      write(join(leaf, 'cgroup.procs'), process.pid)
      enable()
    }
    const controllers = wanted.filter((name) => enabled().includes(name))
    const files = controllers.map((name) => limitFiles[2][name])
    if (controllers.length > 0 && canUse(parent, files)) return { parent, controllers }
  }
  return undefined
}

const isAlone = (folder: string): boolean => pidsIn(folder).every((pid) => pid === process.pid)

/** What of cgroups this process may use. Sweeps leftovers of nodes that have ended. */
export const findCgroups = (): CgroupParents => {
  const hierarchies = hierarchiesOf(read('/proc/self/cgroup') ?? '', read('/proc/self/mountinfo') ?? '')
  const folders = new Map<Controller, string>()
  const add = (name: Controller, parent: string): void => {
    if (![...folders.values()].includes(parent)) sweep(parent)
    folders.set(name, parent)
  }
  const first = versionOne(hierarchies)
  for (const [name, parent] of first) if (canUse(parent, [limitFiles[1][name]])) add(name, parent)
  const unified = hierarchies.find(({ version }) => version === 2)
  if (folders.size === 0 && unified) {
    const found = parentOfVersion2(unified.folder)
    for (const name of found?.controllers ?? []) add(name, found?.parent ?? '')
  }
  return { version: first.length > 0 ? 1 : unified && 2, folders }
}

const versionOne = (hierarchies: readonly Hierarchy[]): [Controller, string][] =>
  controllersWanted.flatMap((name): [Controller, string][] => {
    const found = hierarchies.find(({ version, controllers }) => version === 1 && controllers.includes(name))
    return found ? [[name, found.folder]] : []
  })

const removalTries = 40
const removalPauseMs = 25

/** A new cgroup. @throws Error where it cannot be made */
export const makeCgroup = ({ version = 1, folders: parents }: CgroupParents): Cgroup => {
  const name = `${ownPrefix()}${count++}`
  const at = new Map([...parents].map(([controller, parent]) => [controller, join(parent, name)]))
  const folders = [...new Set(at.values())]
  for (const folder of folders) mkdirSync(folder)
  const counter = (controller: Controller, file: string, key: string): number => {
    const folder = at.get(controller)
    const lines = folder === undefined ? [] : (read(join(folder, file)) ?? '').split('\n')
    return Number(lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1) ?? 0)
  }
  return {
    folders,
    limit: ({ processes, memoryBytes }) => {
      const pids = at.get('pids')
      if (pids !== undefined) writeFileSync(join(pids, limitFiles[version].pids), String(processes))
      const memory = at.get('memory')
      if (memory === undefined) return
      writeFileSync(join(memory, limitFiles[version].memory), String(memoryBytes))
      // Swap is memory too; a kernel may not count it.
      if (version === 1) write(join(memory, 'memory.memsw.limit_in_bytes'), memoryBytes)
      else {
        write(join(memory, 'memory.swap.max'), 0)
        write(join(memory, 'memory.oom.group'), 1)
      }
    },
    met: () => {
      if (counter('memory', version === 1 ? 'memory.oom_control' : 'memory.events', 'oom_kill') > 0) return 'memoryBytes'
      return counter('pids', 'pids.events', 'max') > 0 ? 'processes' : undefined
    },
    pids: () => pidsIn(folders[0] ?? ''),
    kill: () => {
      for (const folder of folders) killAll(folder)
    },
    remove: async () => {
      for (let attempt = 0; attempt < removalTries; attempt++) {
        if (folders.map(removeFolder).every(Boolean)) return
        // A process that was killed leaves its group a little later.
        for (const folder of folders) killAll(folder)
        await new Promise((resolve) => setTimeout(resolve, removalPauseMs))
      }
    },
  }
}
