/** Finds the node that runs on the same data, else starts a runtime in this process. */

import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { folderOf, fromFolder, isNats, nodeAt as nodeFrom } from '../client/connect.ts'
import type { Client } from '../client/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { shuttingDownDetail } from '../contracts/transport.ts'
import { variables } from '../runtime/variables.ts'
import type { RuntimeOptions } from '../runtime.ts'
import type { Owner } from '../transport/embedded/index.ts'
import { appFile } from './app-file.ts'
import { agreed } from './contradictions.ts'
import type { Globals } from './globals.ts'
import { leave, surroundings } from './surroundings.ts'

export const defaultUrl = 'embedded:./.statecast'

/** The variables around this command, secrets from files included. @throws RuntimeError bad_request */
export const commandVariables = (): ReturnType<typeof variables> => variables(surroundings().env, surroundings().cwd())

/** The address of a folder with its absolute path. */
const absolute = (url: string): string => fromFolder(url, surroundings().cwd())

/** One spelling of each place, to tell whether two are the same one. */
const placeOf = (url: string | undefined): string | undefined =>
  url === undefined || folderOf(url) !== undefined ? url && absolute(url) : url.replace(/(?<!\/)\/+$/, '')

/**
 * Where the data is, as the command line or the environment says.
 * @throws RuntimeError bad_request where they say different things
 */
export const givenUrl = ({ url, data }: Globals): string | undefined => {
  const fromData = data === undefined ? undefined : `embedded:${data}`
  const environment = commandVariables().STATECAST_URL || undefined
  agreed(
    'url',
    { by: '--url', value: placeOf(url) },
    { by: '--data', value: placeOf(fromData) },
    { by: 'STATECAST_URL', value: placeOf(environment) },
  )
  const given = url ?? fromData ?? environment
  return given === undefined ? undefined : absolute(given)
}

/** Where the data is, as the command line, the environment or the app says. @throws RuntimeError bad_request where they say different things */
export const addressOf = (globals: Globals, { transport }: Pick<RuntimeOptions, 'transport'>): NonNullable<RuntimeOptions['transport']> => {
  const given = givenUrl(globals)
  if (given !== undefined && transport !== undefined) {
    const own = typeof transport === 'string' ? placeOf(transport) : transport.name
    const by = globals.url !== undefined ? '--url' : globals.data !== undefined ? '--data' : 'STATECAST_URL'
    agreed('url', { by, value: placeOf(given) }, { by: "the app's transport", value: own })
  }
  const address = given ?? transport ?? defaultUrl
  return typeof address === 'string' ? absolute(address) : address
}

/** The node at an address, for a client with the variables of this command. */
const nodeAt = async (url: string, app: Pick<RuntimeOptions, 'prefix' | 'nats'> = {}): Promise<Client | undefined> => {
  const log = isNats(url) ? (await import('./runtime-environment.ts')).commandLogger() : undefined
  return nodeFrom(url, {
    ...definedOf({ prefix: app.prefix, nats: app.nats }),
    environment: { variables: surroundings().env, folder: surroundings().cwd(), ...definedOf({ log }) },
  })
}

/** Short commands hold the folder for moments. */
const patienceMs = 3000
const stepMs = 50

/**
 * Nothing that was cut off is taken up in this process, which is about to end: only whoever a command talks to. While it lasts, other commands of its
 * folder talk to it.
 * @param look no folder is made
 * @throws RuntimeError locked, bad_request, unsupported …
 */
export const connect = async (globals: Globals, { look = false } = {}): Promise<Client> => {
  const given = givenUrl(globals)
  // A node knows its own app, so ours is not even loaded; but for the prefix, which says where it is heard on a NATS that others use too.
  const early = given === undefined || isNats(given) ? undefined : await nodeAt(given)
  if (early) return early
  const app = appFile(globals.app) === undefined ? {} : await (await import('./load-app.ts')).loadApp(globals.app)
  const transport = addressOf(globals, app)
  const node = typeof transport === 'string' ? await nodeAt(transport, app) : undefined
  if (node) return node

  const { createRuntime } = await import('../runtime.ts')
  const { inProcessClient } = await import('../client/index.ts')
  const { commandEnvironment, commandLogger } = await import('./runtime-environment.ts')
  const { shareFolder } = await import('./share.ts')
  const folder = typeof transport === 'string' ? folderOf(transport) : undefined
  const empty = look && folder !== undefined && mayBegin(folder)
  // What goes wrong in a turn the command tells in its own words.
  const environment = { ...commandEnvironment(), ...app.environment, log: app.environment?.log ?? commandLogger('error') }
  for (let waited = 0; ; waited += stepMs) {
    try {
      if (empty || folder === undefined)
        return inProcessClient(
          await createRuntime({ ...app, environment, transport: empty ? 'memory:' : transport, resume: false }),
          undefined,
          leave,
        )
      const runtime = await createRuntime({ ...app, environment, transport, owner: { starting: 'yes' }, resume: false })
      return inProcessClient(runtime, shareFolder(runtime, folder), leave)
    } catch (error) {
      if (isRuntimeError(error) && error.code === 'forbidden' && typeof transport === 'string' && isNats(transport)) throw nodelessError(error)
      if (!isRuntimeError(error) || error.code !== 'locked') throw error
      if (waited >= patienceMs) throw await lockedError(error)
      await pause(stepMs)
      const started = typeof transport === 'string' ? await nodeAt(transport) : undefined
      if (started) return started
    }
  }
}

/** Whether nothing is there yet, and something could be: a folder that cannot be is a mistake, and not an empty one. */
const mayBegin = (folder: string): boolean => {
  if (existsSync(join(folder, 'statecast.db')) || /\0|[^/\\]{256}/.test(folder)) return false
  let above = folder
  while (!existsSync(above)) above = dirname(above)
  try {
    accessSync(above, constants.R_OK | constants.X_OK | (above === folder ? 0 : constants.W_OK))
    return statSync(above).isDirectory()
  } catch {
    return false
  }
}

/** A user who may ask nodes, and not be one, where there is none. */
const nodelessError = (error: RuntimeError): RuntimeError =>
  new RuntimeError('forbidden', `no node answers, and to run the session here: ${error.message}`, {
    ...error.toJSON(),
    hint: `start a node (statecast up) as another user, or for this one: ${error.hint}`,
    cause: error,
  })

const answerMs = 1000
/** Whether the node that answers there ends by itself. */
const isStopping = async (url: string): Promise<boolean> => {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(answerMs) })
    return ((await answer.json()) as { detail?: unknown }).detail === shuttingDownDetail
  } catch {
    return false
  }
}

/** The same refusal with what a person at the keyboard can do about it. */
export const lockedError = async (error: RuntimeError): Promise<RuntimeError> => {
  const { pid, url } = (error.data?.owner ?? {}) as Partial<Owner>
  const other = 'or choose another folder with --url embedded:<folder>'
  const hint =
    pid === undefined
      ? `another process runs there: stop it, ${other}`
      : url === undefined
        ? `another program has this folder open and takes no commands: they talk to what was started with statecast; else stop process ${pid} (kill ${pid}), ${other}`
        : (await isStopping(`${url}`))
          ? `process ${pid} has it and is shutting down: it lets running turns finish, for 30 s at most; wait for its end, ${other}`
          : `a node or a command such as chat runs there, and other commands talk to it by themselves; to have another one, end process ${pid} (kill ${pid}), ${other}`
  return new RuntimeError('locked', error.message, { ...error.toJSON(), hint, cause: error })
}
