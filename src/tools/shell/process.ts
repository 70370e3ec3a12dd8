/** One program, run to its end or killed with all that it has begun. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { messageOf, RuntimeError } from '../../contracts/errors.ts'
import { boundedOutput } from './bounded-output.ts'
import type { CommandBounds } from './command-bounds.ts'
import { notBecome } from './launcher.rules.ts'
import { type LimitName, limitError } from './limits.rules.ts'
import { filterDescriptor, type Invocation } from './sandbox.rules.ts'

type Started = Invocation & {
  cwd?: string
  outputBytesMax: number
  signal: AbortSignal
  /** What else has to be ended with it, such as a container. */
  onKill?: () => void
  /** Its limits; left out for programs of the node itself. */
  bounds?: CommandBounds
}

type Ended = { exitCode: number | null; killedBy?: string; stdout: string; stderr: string; truncated: boolean }

/** ms for which output is waited for after the end: a program of the background may hold it open. */
const drainMs = 500

/**
 * Runs a program without a shell and without input. Aborting kills its whole process group; so does its end, for what it left running.
 * @throws RuntimeError not_found where there is no such program, sandbox_limit where it met a limit, cancelled
 */
export const runProcess = ({ file, args, cwd, env, filter, outputBytesMax, signal, onKill, bounds }: Started): Promise<Ended> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(stopped(file))
      return
    }
    let child: ChildProcess
    try {
      const stdio = ['ignore' as const, 'pipe' as const, 'pipe' as const, ...(filter ? ['pipe' as const] : [])]
      child =
        bounds?.start({ file, args, env, cwd, filter }) ??
        spawn(file, args, { ...(cwd === undefined ? {} : { cwd }), env, stdio, detached: true, windowsHide: true, shell: false })
      giveFilter(child, filter)
    } catch (cause) {
      reject(notStarted(file, cause))
      return
    }
    const stdout = boundedOutput(outputBytesMax)
    const stderr = boundedOutput(outputBytesMax)
    child.stdout?.on('data', stdout.add)
    child.stderr?.on('data', stderr.add)
    const kill = (): void => {
      killGroup(child)
      bounds?.kill()
      onKill?.()
    }
    const met = (limit: LimitName, limits: CommandBounds['limits']): void =>
      finish(() => reject(limitError(limit, limits, { stdout: stdout.text(), stderr: stderr.text() })))
    const onAbort = (): void => {
      kill()
      finish(() => reject(stopped(file)))
    }
    let over = false
    let timer: NodeJS.Timeout | undefined
    const finish = (settle: () => void): void => {
      if (over) return
      over = true
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      child.stdout?.destroy()
      child.stderr?.destroy()
      settle()
    }
    const ended = (exitCode: number | null, killedBy: NodeJS.Signals | null): void => {
      const end = { exitCode, ...(killedBy === null ? {} : { killedBy }), stdout: stdout.text(), stderr: stderr.text() }
      const limit = bounds?.metAtEnd(end)
      if (bounds && limit !== undefined) {
        met(limit, bounds.limits)
        return
      }
      const reason = bounds && notBecome(exitCode, end.stderr)
      if (reason === undefined) finish(() => resolve({ ...end, truncated: stdout.truncated() || stderr.truncated() }))
      else finish(() => reject(notStarted(file, new Error(reason))))
    }
    bounds?.watch((limit) => {
      kill()
      met(limit, bounds.limits)
    })
    signal.addEventListener('abort', onAbort, { once: true })
    child.once('error', (cause) => finish(() => reject(notStarted(file, cause))))
    child.once('exit', (code, killedBy) => {
      killGroup(child)
      bounds?.kill()
      // A clock of the machine: it waits for a pipe, which no simulated time moves.
      timer = setTimeout(() => ended(code, killedBy), drainMs)
    })
    child.once('close', (code, killedBy) => ended(code, killedBy))
  })

/** Ends what a sandbox reads of its filter, also where there is none. */
const giveFilter = ({ stdio }: ChildProcess, filter: Uint8Array | undefined): void => {
  const pipe = stdio[filterDescriptor] as Writable | null | undefined
  // A program that ends early leaves it unread.
  pipe?.on('error', () => undefined)
  pipe?.end(filter)
}

const killGroup = (child: ChildProcess): void => {
  const { pid } = child
  if (pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended, with all of its group.
  }
}

const stopped = (file: string): RuntimeError => new RuntimeError('cancelled', `"${file.slice(0, 200)}" was stopped`)

export const notStarted = (file: string, cause: unknown): RuntimeError => {
  const code = (cause as NodeJS.ErrnoException).code
  if (code === 'ENOENT')
    return new RuntimeError('not_found', `there is no program "${file.slice(0, 200)}"`, {
      cause,
      field: 'command',
      hint: 'name a program that is installed, without arguments: those go into args, and there is no shell',
    })
  return new RuntimeError('bad_request', `"${file.slice(0, 200)}" cannot be run: ${code ?? messageOf(cause).slice(0, 200)}`, {
    cause,
    field: 'command',
    hint: 'check the name of the program, and its right to be run',
  })
}
