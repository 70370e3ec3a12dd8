/** A program with all that it starts: it ends as a whole, also where this process is killed. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { guardUntilEnd } from '../guard.ts'

export type ProgramOptions = { command: string; args: readonly string[]; env: Record<string, string>; cwd?: string | undefined }

export type ProcessGroup = {
  child: ChildProcessWithoutNullStreams
  /** Ends it politely, then not so politely; resolves when it has ended. Safe twice. */
  end(): Promise<void>
}

/** ms after its input has ended in which a program may end by itself, and after it was asked to. */
const politeMs = 500
const patientMs = 1_500

const isWindows = process.platform === 'win32'

export const startGroup = ({ command, args, env, cwd }: ProgramOptions): ProcessGroup => {
  // In a session of its own it hears no Ctrl-C of ours, and can be ended together with its children.
  const child = spawn(command, [...args], { env, cwd, stdio: 'pipe', detached: !isWindows, windowsHide: true })
  const unguard = child.pid === undefined ? undefined : guardUntilEnd({ kind: 'server', target: child.pid })
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  void exited.then(() => {
    // What it has started and left behind.
    signal(child, 'SIGKILL')
    unguard?.()
  })
  const within = async (ms: number): Promise<boolean> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    return Promise.race([exited.then(() => true), late]).finally(() => clearTimeout(timer))
  }
  let ending: Promise<void> | undefined
  return {
    child,
    end: () =>
      (ending ??= (async () => {
        child.stdin.destroy()
        if (await within(politeMs)) return
        signal(child, 'SIGTERM')
        if (await within(patientMs)) return
        signal(child, 'SIGKILL')
        await exited
      })()),
  }
}

const signal = ({ pid }: ChildProcessWithoutNullStreams, name: NodeJS.Signals): void => {
  if (pid === undefined) return
  try {
    process.kill(isWindows ? pid : -pid, name)
  } catch {
    // It has ended.
  }
}
