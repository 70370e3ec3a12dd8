/** Which sandbox works on this machine: found out by running something in it, since what is installed may still be forbidden. */
import { tmpdir } from 'node:os'
import type { SandboxOptions } from '../../contracts/bench.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { commandLimits, type SandboxKind } from './limits.rules.ts'
import { runProcess } from './process.ts'
import { bwrap, defaultImage, type Inside, type Invocation } from './sandbox.rules.ts'
import { seccompFilter } from './seccomp.rules.ts'

/** @property hasTmpSize whether it bounds temporary folders, and filters system calls */
export type SandboxFinding = { kind: SandboxKind; works: boolean; hasTmpSize?: boolean; why?: string; hint?: string }

const probeMs = 5_000
const kinds: readonly SandboxKind[] = ['bwrap', 'podman', 'docker']

/** What each sandbox says when it is tried. @param image the image that containers are to have */
export const trySandboxes = (image?: string): Promise<SandboxFinding[]> => Promise.all(kinds.map((kind) => trySandbox(kind, image)))

const trySandbox = async (kind: SandboxKind, image = defaultImage): Promise<SandboxFinding> => {
  const probe = kind === 'bwrap' ? bwrap(nothing) : { file: kind, args: ['image', 'inspect', '--format', '{{.Id}}', image] }
  const failure = await failureOf(probe)
  if (failure === undefined) return { kind, works: true, hasTmpSize: true }
  // Older ones have no size for it, and older kernels no filters.
  const isOld =
    kind === 'bwrap' && failure !== 'missing' && (await failureOf(bwrap({ ...nothing, hasTmpSize: false, filter: undefined }))) === undefined
  if (isOld) return { kind, works: true, hasTmpSize: false }
  if (failure === 'missing') return { kind, works: false, why: 'it is not installed', hint: installing[kind] }
  const why = failure.trim().split('\n').at(-1)?.slice(0, 300) || 'it failed without a word'
  return { kind, works: false, why, hint: mending(kind, why, image) }
}

const nothing: Inside = {
  access: 'none',
  workspace: tmpdir(),
  folder: '',
  masked: [],
  env: {},
  programs: [],
  user: undefined,
  limits: commandLimits(),
  hasTmpSize: true,
  filter: seccompFilter(process.arch),
  command: 'true',
  args: [],
}

const failureOf = async (invocation: Pick<Invocation, 'file' | 'args' | 'filter'>): Promise<string | undefined> => {
  try {
    const env = hostEnv()
    const { exitCode, stderr } = await runProcess({ ...invocation, env, outputBytesMax: 4000, signal: AbortSignal.timeout(probeMs) })
    return exitCode === 0 ? undefined : stderr
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found') return 'missing'
    return isRuntimeError(error) && error.code === 'cancelled' ? `it did not answer within ${probeMs} ms` : String(error)
  }
}

/** What a program of the sandbox itself needs, such as the address of its daemon. */
export const hostEnv = (): Record<string, string> => {
  const names = ['PATH', 'HOME', 'LANG', 'XDG_RUNTIME_DIR', 'DOCKER_HOST', 'DOCKER_CONTEXT', 'CONTAINER_HOST']
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))
}

const installing: Record<SandboxKind, string> = {
  bwrap: 'install bubblewrap (apt-get install bubblewrap)',
  podman: 'install podman (apt-get install podman)',
  docker: 'install docker, and start its daemon',
}

const mending = (kind: SandboxKind, why: string, image: string): string => {
  if (kind === 'bwrap')
    return 'allow user namespaces to this user (sysctl kernel.unprivileged_userns_clone, or the AppArmor profile of bwrap), or use a container'
  if (/no such image|not known|image/i.test(why)) return `${kind} pull ${image}`
  return kind === 'docker' ? 'start its daemon, and let this user talk to it' : 'try podman info'
}

export type FoundSandbox = { kind: SandboxKind | 'off'; hasTmpSize: boolean }

/**
 * The sandbox that was asked for, or for `auto` the first that works.
 * @throws RuntimeError unsupported: then nothing may be run
 */
export const findSandbox = async ({ mode = 'auto', image }: SandboxOptions): Promise<FoundSandbox> => {
  if (mode === 'off') return { kind: 'off', hasTmpSize: false }
  const tried: SandboxFinding[] = []
  for (const kind of mode === 'auto' ? kinds : [mode]) {
    const finding = await trySandbox(kind, image)
    if (finding.works) return { kind, hasTmpSize: finding.hasTmpSize ?? false }
    tried.push(finding)
  }
  const said = tried.map(({ kind, why }) => `${kind}: ${why}`).join('; ')
  throw new RuntimeError('unsupported', `no sandbox works on this machine, so nothing was run (${said})`, {
    field: 'sandbox',
    hint: `${tried.map(({ hint }) => hint).join(', or ')}; or write sandbox: 'off', and commands run on the host`,
  })
}
