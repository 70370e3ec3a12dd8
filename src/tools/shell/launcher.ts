/**
 * Starts commands from shells that have joined a cgroup. Joining makes a process wait for all processors, some 15 ms, so a shell for the next command joins
 * while none is waiting.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { guardUntilEnd } from '../guard.ts'
import { type Cgroup, type CgroupParents, makeCgroup } from './cgroup.ts'
import { joinText } from './launcher.rules.ts'

export type Launcher = {
  /** A shell that reads its commands from its input. */
  child: ChildProcess
  cgroup: Cgroup | undefined
  /** Removes its cgroup. */
  close(): Promise<void>
}

/** ms after which a shell that no command needed ends. */
const idleMs = 30_000

type Spare = Launcher & { timer: NodeJS.Timeout }
let spare: Spare | undefined

const launch = (parents: CgroupParents): Launcher => {
  const cgroup = parents.folders.size > 0 ? makeCgroup(parents) : undefined
  const unguard = cgroup?.folders.map((target) => guardUntilEnd({ kind: 'cgroup', target })) ?? []
  const child = spawn('/bin/sh', [], { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'pipe', 'pipe'], detached: true })
  // It stops reading once it has become the program.
  child.stdin?.on('error', () => undefined)
  child.stdin?.write(joinText(cgroup?.folders ?? []))
  return {
    child,
    cgroup,
    close: async () => {
      await cgroup?.remove()
      for (const done of unguard) done()
    },
  }
}

type Countable = { ref?(): void; unref?(): void }
const handlesOf = ({ stdio }: ChildProcess): Countable[] => stdio as unknown as Countable[]

/** A shell for one command. @throws Error where no cgroup can be made */
export const takeLauncher = (parents: CgroupParents): Launcher => {
  const taken = spare
  if (taken === undefined || taken.child.exitCode !== null || taken.child.signalCode !== null) {
    if (taken) discard(taken)
    return launch(parents)
  }
  spare = undefined
  clearTimeout(taken.timer)
  taken.child.removeAllListeners('exit')
  taken.child.ref()
  for (const handle of handlesOf(taken.child)) handle.ref?.()
  return taken
}

/** Gets a shell ready for the next command. */
export const prepareLauncher = (parents: CgroupParents): void => {
  if (spare !== undefined || parents.folders.size === 0) return
  let made: Launcher
  try {
    made = launch(parents)
  } catch {
    // The next command reports it.
    return
  }
  const { child } = made
  child.unref()
  for (const handle of handlesOf(child)) handle.unref?.()
  const prepared = { ...made, timer: setTimeout(() => discard(prepared), idleMs).unref() }
  child.once('exit', () => discard(prepared))
  child.once('error', () => discard(prepared))
  spare = prepared
}

const discard = (one: Spare): void => {
  if (spare === one) spare = undefined
  clearTimeout(one.timer)
  one.child.stdin?.destroy()
  one.cgroup?.kill()
  void one.close()
}
