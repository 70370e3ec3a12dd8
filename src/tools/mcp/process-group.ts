/** A program with all that it starts: it ends as a whole, also where this process is killed. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'

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
  const watchdog = child.pid === undefined || isWindows ? undefined : watch(child.pid)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  void exited.then(() => {
    // What it has started and left behind.
    signal(child, 'SIGKILL')
    watchdog?.kill('SIGKILL')
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

/** A shell that waits for the end of its input, which is the end of this process however it comes, and ends the group then. */
const watch = (pid: number) => {
  const script = 'read -r _; kill -s TERM -- "-$1" && sleep 1; kill -s KILL -- "-$1"'
  const watchdog = spawn('/bin/sh', ['-c', script, 'sh', String(pid)], { env: {}, stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  // Without a shell there is none: a program that reads its input sees its end.
  watchdog.on('error', () => undefined)
  watchdog.stdin.on('error', () => undefined)
  watchdog.unref()
  ;(watchdog.stdin as unknown as { unref(): void }).unref()
  return watchdog
}
