/** The limits of a command: which mechanism enforces each on a machine, and which of them ended a command. */
import { type SandboxLimits, type SandboxMode, sandboxLimitDefaults } from '../../contracts/bench.ts'
import { RuntimeError } from '../../contracts/errors.ts'

export type SandboxKind = Exclude<SandboxMode, 'off' | 'auto'>

export type LimitName = keyof SandboxLimits | 'timeoutMs'

/** `kernel`: it cannot be passed. `watched`: the node samples it, and kills the command soon after. `none`: nothing enforces it. */
type Enforcement = 'kernel' | 'watched' | 'none'

/** @property value null where it is unlimited @property by the mechanism, in words for an operator */
export type EnforcedLimit = { limit: LimitName; value: number | null; enforcement: Enforcement; by: string }

/** What a machine offers to bound its processes. */
export type Machine = {
  platform: NodeJS.Platform
  isRoot: boolean
  /** Version of the cgroups that the machine has, usable or not. */
  cgroups: 1 | 2 | undefined
  /** Controllers of cgroups that the node may create. */
  controllers: readonly ('pids' | 'memory')[]
  /** Whether a shell can start commands with resource limits. */
  hasShell: boolean
  /** Whether the processes of the machine can be listed in /proc. */
  hasProc: boolean
  /** Whether bubblewrap can bound a temporary folder. */
  hasTmpSize: boolean
}

export type CommandLimits = Pick<SandboxLimits, 'cpuMs'> & Record<keyof typeof sandboxLimitDefaults | 'timeoutMs', number>

export const defaultTimeoutMs = 60_000

/** The limits of one command. @param sources the weakest first */
export const commandLimits = (timeoutMs: number = defaultTimeoutMs, ...sources: (SandboxLimits | undefined)[]): CommandLimits =>
  Object.assign({ ...sandboxLimitDefaults, timeoutMs }, ...sources)

type Mechanism = Pick<EnforcedLimit, 'enforcement' | 'by'>
const kernel = (by: string): Mechanism => ({ enforcement: 'kernel', by })
const watched = (by: string): Mechanism => ({ enforcement: 'watched', by })
const none = (by: string): Mechanism => ({ enforcement: 'none', by })

/** Which mechanism enforces each limit of commands in a sandbox on a machine. */
export const enforcedLimits = (kind: SandboxKind | 'off', machine: Machine, limits: CommandLimits): EnforcedLimit[] => {
  const mechanisms = kind === 'docker' || kind === 'podman' ? inContainer(kind, machine) : onMachine(kind, machine)
  return Object.entries({ ...mechanisms, ...always }).map(([name, mechanism]) => {
    const limit = name as LimitName
    return { limit, value: limits[limit] ?? null, ...mechanism }
  })
}

/** The node itself enforces these, in every sandbox. */
const always = {
  timeoutMs: watched('timer of the node'),
  workspaceBytes: watched('free space, then sizes of changed files'),
  freeBytes: watched('free space'),
} satisfies Partial<Record<LimitName, Mechanism>>

type ByMachine = Record<Exclude<LimitName, keyof typeof always>, Mechanism>

const inContainer = (kind: 'docker' | 'podman', { isRoot, cgroups }: Machine): ByMachine => {
  // The daemon of docker is root. podman of a user has no controllers in cgroups of version 1.
  const isBounded = kind === 'docker' || isRoot || cgroups === 2
  return {
    processes: isBounded ? kernel('--pids-limit') : none('podman without root needs cgroup v2'),
    memoryBytes: isBounded ? kernel('--memory') : none('podman without root needs cgroup v2'),
    cpuMs: kernel('--ulimit cpu, for each process'),
    fileBytes: kernel('--ulimit fsize'),
    tmpBytes: kernel('size of its tmpfs'),
  }
}

const onMachine = (kind: 'bwrap' | 'off', machine: Machine): ByMachine => {
  const { controllers, cgroups, hasProc, hasShell, hasTmpSize, isRoot } = machine
  const cgroup = `cgroup v${cgroups}`
  const sampled = (by: string) => (hasProc ? watched(by) : none('needs Linux'))
  return {
    processes: controllers.includes('pids')
      ? kernel(`${cgroup}: pids`)
      : // As root RLIMIT_NPROC has no effect.
        sampled(isRoot || !hasShell ? 'samples of /proc' : 'samples of /proc, RLIMIT_NPROC'),
    memoryBytes: controllers.includes('memory')
      ? kernel(`${cgroup}: memory`)
      : sampled(hasShell ? 'samples of /proc, RLIMIT_DATA for each process' : 'samples of /proc'),
    cpuMs: hasProc
      ? watched(hasShell ? 'samples of /proc, RLIMIT_CPU for each process' : 'samples of /proc')
      : hasShell
        ? kernel('RLIMIT_CPU, for each process')
        : none('needs a shell'),
    fileBytes: hasShell ? kernel('RLIMIT_FSIZE') : none('needs a shell'),
    tmpBytes:
      kind === 'off'
        ? watched('free space, then sizes of changed files')
        : hasTmpSize
          ? kernel('size of its tmpfs')
          : controllers.includes('memory')
            ? kernel(`counted as memory by ${cgroup}`)
            : none('needs bubblewrap 0.7 or newer'),
  }
}

type Ended = { exitCode: number | null; killedBy?: string; stderr: string }

/** Exit codes of a shell, or of a sandbox, for a program that these signals ended. */
const isEndedBy = ({ exitCode, killedBy }: Ended, signal: string, number: number): boolean => killedBy === signal || exitCode === 128 + number

/**
 * The limit that a failed program met, as far as its end says: the kernel counts neither files that were too large, nor full file systems, nor allocations
 * that a resource limit refused.
 */
export const limitOfEnd = (ended: Ended, kind: SandboxKind | 'off', { controllers }: Pick<Machine, 'controllers'>): LimitName | undefined => {
  const { exitCode, stderr } = ended
  if (exitCode === 0) return undefined
  const inContainers = kind === 'docker' || kind === 'podman'
  if (isEndedBy(ended, 'SIGXFSZ', 25) || /\bfile too large\b|\bEFBIG\b/i.test(stderr)) return 'fileBytes'
  if (isEndedBy(ended, 'SIGXCPU', 24)) return 'cpuMs'
  if (kind !== 'off' && /\bno space left on device\b|\bENOSPC\b/i.test(stderr)) return 'tmpBytes'
  // A container that is out of memory ends by SIGKILL.
  if (inContainers && exitCode === 137) return 'memoryBytes'
  const mayRefuse = !inContainers && !controllers.includes('memory')
  if (mayRefuse && /\bcannot allocate memory\b|\bout of memory\b|\bmemory exhausted\b|\bMemoryError\b|\bENOMEM\b|\bbad_alloc\b/i.test(stderr))
    return 'memoryBytes'
  const cannotFork = /\bcannot fork\b|\bresource temporarily unavailable\b|\bEAGAIN\b/i.test(stderr)
  if ((inContainers || !controllers.includes('pids')) && cannotFork) return 'processes'
  return undefined
}

const names: Record<LimitName, { met(value: string): string; hint: string }> = {
  processes: { met: (value) => `${value} processes and threads`, hint: 'start fewer processes at once' },
  memoryBytes: { met: (value) => `${value} of memory`, hint: 'work on less data at once' },
  cpuMs: { met: (value) => `${value} of CPU time`, hint: 'do less in one command' },
  timeoutMs: { met: (value) => `${value} of time`, hint: 'do less in one command' },
  fileBytes: { met: (value) => `${value} for one file`, hint: 'write smaller files' },
  workspaceBytes: { met: (value) => `${value} of growth of the workspace`, hint: 'remove what it wrote, and write less' },
  tmpBytes: { met: (value) => `${value} in temporary folders`, hint: 'write less there, or into the workspace' },
  freeBytes: { met: (value) => `${value} that stay free on the disk of the workspace`, hint: 'remove files from the workspace' },
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
const sizeText = (bytes: number): string => {
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${Math.round((bytes / 1024 ** power) * 10) / 10} ${units[power]}`
}

/** A value with its unit, such as `1 GiB`. */
export const limitText = (limit: LimitName, value: number): string =>
  limit.endsWith('Bytes') ? sizeText(value) : limit.endsWith('Ms') ? `${value} ms` : String(value)

/** Characters of each output that go with the error. */
const outputCharsMax = 2_000

/** The error of a command that met a limit, with the end of its output. */
export const limitError = (limit: LimitName, limits: CommandLimits, output: { stdout: string; stderr: string }): RuntimeError => {
  const value = limits[limit] ?? 0
  const { met, hint } = names[limit]
  return new RuntimeError('sandbox_limit', `the command was stopped at a limit of its sandbox: ${met(limitText(limit, value))}`, {
    field: 'command',
    hint: `${hint}; an operator can raise \`sandbox.limits.${limit}\` of the agent`,
    data: { limit, value, stdout: output.stdout.slice(-outputCharsMax), stderr: output.stderr.slice(-outputCharsMax) },
  })
}
