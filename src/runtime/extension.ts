/** The contract of a system that stands on top of sessions and actors, and is brought along by `createRuntime({ extensions })`. */
import { z } from 'zod'
import type { Registration } from '../actors/index.ts'
import type { IncomingMessage } from '../contracts/desk.ts'
import type { Environment } from '../contracts/environment.ts'
import { errorBody, isRuntimeError, messageOf, RuntimeError } from '../contracts/errors.ts'
import { parseInput } from '../contracts/parse.ts'
import type { ShownText } from '../contracts/shown.ts'
import type { registerSession } from '../machines/index.ts'
import { callable, knownOnly } from './extension-schemas.ts'
import type { Machines } from './interface.ts'
import type { SharedParts } from './parts.ts'
import type { MessageCommand, Receive, Receiver } from './receive.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import type { Session } from './session.ts'

/** What an extension finds before any actor is there. */
export type ExtensionParts = SharedParts & {
  /** Folder that its files are in. */
  workspace: string
  session(key: string, which?: { agent?: string | undefined }): Session
  /** The event of a message as it is without any extension: what `receive` of one adds to. @throws RuntimeError unsupported for a message with an `origin` */
  receive(message: MessageCommand, by: Receiver): IncomingMessage
}

/** Alone or with options, as `{ machine, … }`. */
type MachineEntry = Machines[string]

/** What stands in front of the turns of a session, and behind them. */
export type SessionSockets = NonNullable<Parameters<typeof registerSession>[2]> & {
  /** Makes the event of a message; without one, a message comes from code and has no origin. */
  receive?: Receive
  /** What people see of what a model says. Default: all of it. */
  shown?: ShownText
}

/** One is of one runtime at a time: it is bound to the parts of the runtime that starts it. */
export type Extension = {
  /** One word, for errors and the log. */
  readonly name: string
  /** Machines that it brings, by the kind of their actors, as `createRuntime({ machines })` takes them; or what makes one of the parts of the runtime. */
  machines?: Readonly<Record<string, MachineEntry | ((parts: ExtensionParts) => MachineEntry | Registration)>>
  /** One extension at most has sockets of the session. */
  session?(parts: ExtensionParts): SessionSockets
  /**
   * Begins its own work when actors run, on a node that takes up work, within 30 s. Messages that were published wait until all extensions have started.
   * @returns the stopper, called before the actors are closed and waited for 10 s @throws what keeps the runtime from starting
   */
  start?(parts: RuntimeParts): Promise<() => void | Promise<void>>
}

const Shape = knownOnly({
  name: z.string().min(1),
  machines: z.record(z.string(), z.unknown()).optional(),
  session: callable.optional(),
  start: callable.optional(),
})

/** @param taken kinds of actors that are the runtime's own @throws RuntimeError bad_request, conflict */
export const checkExtensions = (extensions: readonly Extension[], taken: readonly string[]): readonly Extension[] => {
  const seen = { names: new Set<string>(), kinds: new Set<string>() }
  const once = (set: Set<string>, value: string, what: string): void => {
    if (set.has(value)) throw conflict(`two extensions ${what} '${value}'`)
    set.add(value)
  }
  for (const extension of extensions) {
    const { name } = extension
    once(seen.names, name, 'are named')
    const schema = z.object({ extensions: z.object({ [name]: Shape }) })
    parseInput(schema, { extensions: { [name]: extension } }, 'an extension is { name, machines, session, start }: see docs/guides/app.md')
    for (const kind of Object.keys(extension.machines ?? {})) {
      if (taken.includes(kind)) throw conflict(`the extension '${name}' brings actors of the kind '${kind}', which is taken`, 'choose another kind')
      once(seen.kinds, kind, 'bring actors of the kind')
    }
  }
  const sockets = extensions.filter(({ session }) => session !== undefined)
  if (sockets.length > 1) throw conflict(`${sockets.map(({ name }) => name).join(' and ')} both stand in front of sessions`)
  return extensions
}

const conflict = (message: string, hint = 'leave one of them out'): RuntimeError =>
  new RuntimeError('conflict', message, { field: 'extensions', hint })

/** ms that one extension may take to begin, and to end: longer, and nobody could tell it from one that hangs. */
const startMs = 30_000
const stopMs = 10_000

type Stopper = () => void | Promise<void>

/** Runs what extensions do by themselves: one begins after another, and they end in the opposite order, also where one could not begin. */
export const runExtensions = (extensions: readonly Extension[], { clock, log }: Pick<Environment, 'clock' | 'log'>) => {
  const stops: { name: string; stop: Stopper }[] = []
  const inTime = async <Result>(work: Promise<Result>, ms: number): Promise<Result | typeof late> => {
    const { promise, resolve } = Promise.withResolvers<typeof late>()
    const timer = clock.setTimeout(() => resolve(late), ms)
    return Promise.race([work, promise]).finally(() => clock.clearTimeout(timer))
  }
  /** One that fails to end keeps nothing else from ending. */
  const end = async (name: string, stop: Stopper): Promise<void> => {
    try {
      const ended = await inTime((async () => stop())(), stopMs)
      if (ended === late) log.error({ extension: name, timeoutMs: stopMs }, 'an extension did not stop in time; the runtime goes on without it')
    } catch (error) {
      log.error({ extension: name, error: errorBody(error) }, 'an extension did not stop in good order')
    }
  }
  return {
    /** @throws RuntimeError of the extension's own, or bad_request, timeout */
    async start(parts: RuntimeParts): Promise<void> {
      for (const extension of extensions) {
        const { name } = extension
        try {
          const starting = (async () => extension.start?.(parts))()
          const stop = await inTime(starting, startMs)
          if (stop === late) {
            log.error({ extension: name, timeoutMs: startMs }, 'an extension did not start in time')
            // What it begins after all has to end as well.
            void starting.then(
              (belated) => belated && end(name, belated),
              () => undefined,
            )
            throw startedTooLate(name)
          }
          if (stop === undefined || stop === null) continue
          if (typeof stop !== 'function') throw startFailed(name, 'start() has to answer with the function that ends what it began')
          stops.push({ name, stop })
        } catch (error) {
          throw isRuntimeError(error) ? error : startFailed(name, error)
        }
      }
    },
    async stop(): Promise<void> {
      for (const { name, stop } of stops.splice(0).reverse()) await end(name, stop)
    },
  }
}

const late = Symbol('late')

const startedTooLate = (name: string): RuntimeError =>
  new RuntimeError('timeout', `the extension '${name}' did not start within ${startMs} ms`, {
    field: 'extensions',
    hint: 'let start() begin its work without waiting for the end of it, or leave the extension out; what had started was stopped',
  })

const startFailed = (name: string, cause: unknown): RuntimeError =>
  new RuntimeError('bad_request', `the extension '${name}' did not start: ${messageOf(cause)}`, {
    field: 'extensions',
    hint: 'mend what it says, or leave the extension out; what had started was stopped',
    cause,
  })
