/** What this machine offers to bound commands. */
import { existsSync } from 'node:fs'
import type { SandboxLimits } from '../../contracts/bench.ts'
import { type CgroupParents, findCgroups } from './cgroup.ts'
import { commandLimits, type EnforcedLimit, enforcedLimits, type Machine, type SandboxKind } from './limits.rules.ts'

export type FoundMachine = { machine: Omit<Machine, 'hasTmpSize'>; parents: CgroupParents }

let found: FoundMachine | undefined

/** Found out once: what it offers does not change while a node runs. */
export const thisMachine = (): FoundMachine => {
  if (found === undefined) {
    const isLinux = process.platform === 'linux'
    const parents: CgroupParents = isLinux ? findCgroups() : { version: undefined, folders: new Map() }
    found = {
      parents,
      machine: {
        platform: process.platform,
        isRoot: process.getuid?.() === 0,
        cgroups: parents.version,
        controllers: [...parents.folders.keys()],
        hasShell: process.platform !== 'win32' && existsSync('/bin/sh'),
        hasProc: isLinux && existsSync('/proc/self/stat'),
      },
    }
  }
  return found
}

/** The limits of commands in a sandbox on this machine, and what enforces each. */
export const limitsOfCommands = (kind: SandboxKind | 'off', hasTmpSize: boolean, limits?: SandboxLimits): EnforcedLimit[] =>
  enforcedLimits(kind, { ...thisMachine().machine, hasTmpSize }, commandLimits(undefined, limits))
