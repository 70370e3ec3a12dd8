/** What a command takes from the process that it runs in. `main` may run in a program too, several times at once, each time with its own surroundings. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { resolve } from 'node:path'

type Input = NodeJS.ReadableStream & AsyncIterable<Buffer> & { isTTY?: boolean; destroy(): unknown }
type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
export type Streams = { stdin: Input; stdout: Output; stderr: Output }

// biome-ignore lint/suspicious/noExplicitAny: a signal comes with its name, a stray error with itself
type Listener = (...details: any[]) => void
type ProcessEvent = 'SIGINT' | 'SIGTERM' | 'uncaughtException' | 'unhandledRejection' | 'beforeExit'

/** The part of `process` that commands use. */
export type Surroundings = {
  /** Variables, such as `STATECAST_URL`. */
  env: Readonly<Record<string, string | undefined>>
  /** Relative paths start here. */
  cwd(): string
  on(event: ProcessEvent, listener: Listener): unknown
  off(event: ProcessEvent, listener: Listener): unknown
  removeAllListeners(event: ProcessEvent): unknown
}

type Run = {
  streams: Streams
  surroundings: Surroundings
  /** Aborts when the command leaves before it has ended. */
  leaving: AbortController
  /** Whether the command then ends by itself, and is waited for. */
  closes: boolean
}

const runs = new AsyncLocalStorage<Run>()

export const streams = (): Streams => runs.getStore()?.streams ?? process
export const surroundings = (): Surroundings => runs.getStore()?.surroundings ?? process
/** Whether the process exists for this command alone. */
export const hasOwnProcess = (): boolean => runs.getStore() === undefined

/** @returns the absolute path of a file that a user named */
export const resolvePath = (path: string): string => resolve(surroundings().cwd(), path)

/** Leaves at once, even with work in flight: ends the process, or only the command where others share the process. @param code default: that of the process */
export const leave = (code?: number): void => {
  const run = runs.getStore()
  if (run === undefined) process.exit(code)
  run.leaving.abort(code ?? 0)
}

/** Resolves when the command leaves and its process continues, so that the command can close what it opened. */
export const onLeave = (): Promise<void> => {
  const run = runs.getStore()
  if (run === undefined) return new Promise(() => undefined)
  run.closes = true
  return new Promise((resolve) => run.leaving.signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Events come from outside of a command; its listeners run inside of it. @returns what stops listening */
export const listen = (event: ProcessEvent, listener: Listener): (() => void) => {
  const inside = AsyncLocalStorage.bind(listener)
  const from = surroundings()
  from.on(event, inside)
  return () => void from.off(event, inside)
}

/** Runs a command with streams and surroundings other than those of the process. @returns its exit code, also where it leaves early */
export const runWith = (own: Pick<Run, 'streams' | 'surroundings'>, command: () => Promise<number>): Promise<number> => {
  const run: Run = { ...own, leaving: new AbortController(), closes: false }
  const { signal } = run.leaving
  const early = Promise.withResolvers<number>()
  const codeOf = (code: number): number => (signal.aborted ? Number(signal.reason) : code)
  signal.addEventListener('abort', () => run.closes || early.resolve(codeOf(0)))
  return Promise.race([runs.run(run, command).then(codeOf), early.promise])
}
