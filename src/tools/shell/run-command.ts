/** One program with its arguments, in the workspace. There is no shell: what means something to one is plain text here. */
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, relative } from 'node:path'
import { z } from 'zod'
import type { BenchOptions, SandboxMode, SandboxOptions } from '../../contracts/bench.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Clock } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { wildcard } from '../../contracts/wildcard.ts'
import { closedOf, openFolder, resolveInside, type Workspace } from '../files/workspace.ts'
import { tool } from '../tool.ts'
import { boundCommand, type CommandBounds } from './command-bounds.ts'
import { requireProgram } from './find-program.ts'
import { type FoundSandbox, findSandbox, hostEnv } from './find-sandbox.ts'
import { commandLimits, defaultTimeoutMs, type SandboxKind } from './limits.rules.ts'
import { runProcess } from './process.ts'
import { bwrap, container, type Inside } from './sandbox.rules.ts'
import { seccompFilter } from './seccomp.rules.ts'

type ShellSettings = Exclude<BenchOptions['shell'], boolean | undefined> & {
  workspace: Workspace
  clock: Pick<Clock, 'now'>
  sandbox: SandboxOptions
}

const argsMax = 500
const argCharsMax = 100_000
const outputDefault = 40_000

/**
 * `{ command, args?, folder? }` → `{ exitCode, stdout, stderr, durationMs, sandbox }`, with `killedBy` and `truncated` where they say something. A program that
 * fails has an exit code, and is no error of the tool.
 */
export const runCommandTool = ({
  approval = true,
  commands,
  timeoutMs = defaultTimeoutMs,
  outputCharsMax = outputDefault,
  env = {},
  workspace,
  clock,
  sandbox,
}: ShellSettings): Tool => {
  // Found once: a machine does not lose its sandbox while it runs, and one that had none is asked again.
  const found = new Map<SandboxMode, Promise<FoundSandbox>>()
  const sandboxFor = async (mode: SandboxMode): Promise<FoundSandbox> => {
    const finding = found.get(mode) ?? findSandbox({ ...sandbox, mode })
    found.set(mode, finding)
    try {
      return await finding
    } catch (error) {
      found.delete(mode)
      throw error
    }
  }
  const permitted = commands?.map(wildcard)
  const isPermitted = (command: string): boolean => permitted === undefined || permitted.some((fits) => fits(command))
  const notPermitted = `is not among the programs that may be run: ${commands?.slice(0, 20).join(', ') || 'none'}`
  return tool({
    name: 'run_command',
    category: 'shell',
    description:
      'Runs one program in the workspace and returns its exit code and output. There is no shell: no pipes, redirections, variables or wildcards; each argument is one entry of args.',
    input: z.object({
      // Before anybody is asked about it.
      command: z.string().min(1).max(1000).refine(isPermitted, notPermitted).describe('name of the program, for example git'),
      args: z.array(z.string().max(argCharsMax)).max(argsMax).default([]).describe('its arguments, one by one'),
      folder: z.string().default('.').describe('folder to run it in, relative to the workspace'),
    }),
    execute: async ({ command, args, folder }, { signal, env: ofRun = {}, sandboxMode = 'auto', sandboxLimits }) => {
      for (const text of [command, ...args])
        if (text.includes('\0'))
          throw new RuntimeError('bad_request', 'an argument contains a NUL character', { field: 'args', hint: 'leave it out' })
      const { kind, hasTmpSize } = await sandboxFor(sandbox.mode ?? sandboxMode)
      const variables = variablesFor(ofRun, env)
      const limits = commandLimits(timeoutMs, sandboxLimits, sandbox.limits)
      const since = clock.now()
      const container = kind === 'docker' || kind === 'podman' ? `statecast-${randomBytes(8).toString('hex')}` : undefined
      const writable = kind === 'off' || (sandbox.access ?? 'rw') === 'rw' ? await realpath(workspace.folder) : undefined
      const bounds = await boundCommand({ kind, limits, writable, ...definedOf({ container }) })
      const settings = { outputBytesMax: outputCharsMax, signal, bounds }
      try {
        const ended =
          kind === 'off'
            ? await onHost(workspace, folder, async (cwd) => {
                const path = await requireProgram(command, cwd, variables.PATH ?? '')
                // Shells differ in what a word with a dash in front means to exec.
                return runProcess({ ...settings, file: command.startsWith('-') ? path : command, args, cwd, env: variables })
              })
            : await sandboxed(
                kind,
                container ?? '',
                await insideOf({
                  workspace,
                  folder,
                  sandbox,
                  limits,
                  hasTmpSize,
                  filter: hasTmpSize ? seccompFilter(process.arch) : undefined,
                  programs: addedTo(variables.PATH),
                  env: variables,
                  command,
                  args,
                }),
                settings,
              )
        const { truncated, ...told } = ended
        return { ...told, ...(truncated ? { truncated } : {}), durationMs: Math.max(0, clock.now() - since), sandbox: kind }
      } finally {
        await bounds.close()
      }
    },
    approval,
    timeoutMs,
    outputBytesMax: 16 * outputCharsMax + 4096,
  })
}

/** Nothing else of our environment: it has the keys of models. */
const hostVariables = (): Record<string, string> => {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', HOME = '/tmp', LANG = 'C.UTF-8' } = process.env
  return { PATH, HOME, LANG }
}

/** @param ofRun of its skills, which override nothing that is set, and the PATH of the environment of its agent, which is what that is for */
const variablesFor = (ofRun: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>): Record<string, string> => ({
  ...hostVariables(),
  ...ofRun,
  ...env,
  ...(ofRun.PATH !== undefined && { PATH: ofRun.PATH }),
})

/** Folders of programs that an environment has put in front of those of the host. */
const addedTo = (path = ''): string[] => {
  const known = hostVariables().PATH?.split(delimiter) ?? []
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !known.includes(folder))
}

/** In the folder that was checked, whatever its path leads to by now. */
const onHost = async <Result>(workspace: Workspace, path: string, work: (cwd: string) => Promise<Result>): Promise<Result> => {
  const folder = await openFolder(workspace, path)
  let handle: FileHandle | undefined
  try {
    if (process.platform !== 'linux') return await work((await resolveInside(workspace, path)).real)
    handle = await open(folder.at('.'))
    return await work(`/proc/${process.pid}/fd/${handle.fd}`)
  } finally {
    await handle?.close()
    await folder.close()
  }
}

type Wanted = Pick<Inside, 'programs' | 'env' | 'command' | 'args' | 'limits' | 'hasTmpSize' | 'filter'> & {
  workspace: Workspace
  folder: string
  sandbox: Omit<SandboxOptions, 'limits'>
}

/** A link that is swapped in afterwards leads to what the sandbox has, which is nothing else. */
const insideOf = async ({ workspace, folder, sandbox, ...rest }: Wanted): Promise<Inside> => {
  const { access, network, image, readable } = sandbox
  const { path } = await resolveInside(workspace, folder)
  const root = await realpath(workspace.folder)
  const [uid, gid] = [process.getuid?.(), process.getgid?.()]
  return {
    ...definedOf({ access, network, image, readable }),
    ...rest,
    workspace: root,
    folder: path,
    masked: await maskedNames(root, await closedOf(workspace)),
    user: uid === undefined || gid === undefined ? undefined : { uid, gid },
  }
}

/** Our journals and tokens, wherever they lie in the workspace, and files of keys at the top of it. */
const maskedNames = async (root: string, closed: readonly string[]): Promise<Inside['masked']> => {
  const entries = await readdir(root, { withFileTypes: true })
  const byName = entries
    .filter((entry) => (entry.isDirectory() && entry.name === '.statecast') || (entry.isFile() && entry.name.startsWith('.env')))
    .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
  const own = await Promise.all(closed.map(async (path) => ({ name: relative(root, path), found: await stat(path).catch(() => undefined) })))
  const isIn = (name: string) => name !== '' && !name.startsWith('..') && !isAbsolute(name)
  const isMasked = (name: string) => byName.some((one) => name === one.name || name.startsWith(`${one.name}/`))
  return [...byName, ...own.flatMap(({ name, found }) => (found && isIn(name) && !isMasked(name) ? [{ name, isFolder: found.isDirectory() }] : []))]
}

type RunSettings = { outputBytesMax: number; signal: AbortSignal; bounds: CommandBounds }

const sandboxed = (kind: SandboxKind, name: string, inside: Inside, settings: RunSettings) => {
  if (kind === 'bwrap') {
    const { env, ...invocation } = bwrap(inside)
    return runProcess({ ...settings, ...invocation, env: { ...env, ...definedOf({ PATH: process.env.PATH }) } })
  }
  const { env, ...invocation } = container(kind, name, inside)
  const quiet = { env: hostEnv(), outputBytesMax: 1000, signal: AbortSignal.timeout(10_000) }
  // To kill the client leaves its container running.
  const onKill = (): void => void runProcess({ ...quiet, file: kind, args: ['kill', name] }).catch(() => undefined)
  return runProcess({ ...settings, ...invocation, env: { ...env, ...hostEnv() }, onKill })
}
