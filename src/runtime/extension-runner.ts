/** What extensions do by themselves: one begins after another, and they end in the opposite order. */
import type { Environment } from '../contracts/environment.ts'
import { errorBody, isRuntimeError, messageOf, RuntimeError } from '../contracts/errors.ts'
import { checkExtensions, type Extension } from './extension.ts'
import type { ExtensionControl, ExtensionReport } from './extension-report.ts'
import { loadAnew, type Plugin } from './plugins.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** ms that one extension may take to begin, and to end: longer, and nobody could tell it from one that hangs. */
const startMs = 30_000
const stopMs = 10_000

type Stopper = () => void | Promise<void>
type Running = Plugin & { report: ExtensionReport; stop?: Stopper | undefined; reloading?: Promise<ExtensionReport> | undefined }

export const runExtensions = (plugins: readonly Plugin[], { clock, log }: Pick<Environment, 'clock' | 'log'>) => {
  const all: Running[] = plugins.map((plugin) => ({
    ...plugin,
    report: { name: plugin.extension.name, ...(plugin.module && { module: plugin.module }), state: 'waiting', starts: 0 },
  }))
  /** Those that have begun, in that order. */
  const begun: Running[] = []
  let parts: RuntimeParts | undefined

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
  /** @throws RuntimeError */
  const begin = async (one: Running, given: RuntimeParts): Promise<void> => {
    const { extension, report } = one
    const { name } = extension
    const from = clock.now()
    report.starts += 1
    try {
      const starting = (async () => extension.start?.(given))()
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
      if (stop !== undefined && stop !== null && typeof stop !== 'function')
        throw startFailed(name, 'start() has to answer with the function that ends what it began')
      one.stop = stop ?? undefined
      Object.assign(report, { state: 'running', startMs: Math.max(0, clock.now() - from) })
      delete report.error
    } catch (thrown) {
      const error = isRuntimeError(thrown) ? thrown : startFailed(name, thrown)
      Object.assign(report, { state: 'failed', error: errorBody(error) })
      throw error
    }
  }
  const cease = async (one: Running): Promise<void> => {
    const { stop } = one
    one.stop = undefined
    if (one.report.state === 'running') one.report.state = 'stopped'
    if (stop !== undefined) await end(one.extension.name, stop)
  }
  const exchange = async (one: Running, module: string, given: RuntimeParts): Promise<ExtensionReport> => {
    const fresh = await loadAnew(module)
    const { name } = one.extension
    checkExtensions([fresh], [])
    if (fresh.name !== name)
      throw new RuntimeError('conflict', `the module of the extension '${name}' is now that of '${fresh.name}'`, {
        field: 'name',
        hint: 'give it its name back, or restart the node',
      })
    for (const extension of [one.extension, fresh])
      if (extension.machines !== undefined || extension.session !== undefined) throw notWhileRunning(name)
    await cease(one)
    one.extension = fresh
    await begin(one, given)
    log.info({ extension: name, module }, 'an extension was loaded anew')
    return one.report
  }

  const control: ExtensionControl = {
    list: () => all.map(({ report }) => ({ ...report })),
    commands: () => Object.assign({}, ...all.map(({ extension }) => extension.commands ?? {})),
    reload: async (name) => {
      const one = all.find(({ report }) => report.name === name)
      if (one === undefined)
        throw new RuntimeError('not_found', `there is no extension '${name.slice(0, 80)}'`, {
          field: 'name',
          hint: `there are: ${all.map(({ report }) => report.name).join(', ')}`,
        })
      if (one.module === undefined || parts === undefined)
        throw new RuntimeError('unsupported', `the extension '${name}' was not loaded from a module of its own`, {
          field: 'name',
          hint: "name it by its path, extensions: ['./it.mjs'], or restart the node",
        })
      one.reloading ??= exchange(one, one.module, parts).finally(() => {
        one.reloading = undefined
      })
      return { ...(await one.reloading) }
    },
  }
  return {
    control,
    /** Those that are there at the moment, in the order of the app. */
    present: (): Extension[] => all.map(({ extension }) => extension),
    /** @throws RuntimeError of the extension's own, or bad_request, timeout */
    async start(given: RuntimeParts): Promise<void> {
      parts = given
      for (const one of all) {
        await begin(one, given)
        begun.push(one)
      }
    },
    async stop(): Promise<void> {
      for (const one of begun.splice(0).reverse()) {
        await one.reloading?.catch(() => undefined)
        await cease(one)
      }
    },
  }
}

const late = Symbol('late')

const notWhileRunning = (name: string): RuntimeError =>
  new RuntimeError(
    'unsupported',
    `the extension '${name}' brings machines or stands in front of sessions, which cannot be exchanged while actors run`,
    {
      field: 'name',
      hint: 'restart the node',
    },
  )

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
