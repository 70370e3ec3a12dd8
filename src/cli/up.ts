/** `statecast up`: a node that other commands and programs talk to. */

import { constants } from 'node:os'
import { checkExposure, ensureToken, type Gateway, serveGateway, tokenFile } from '../api/http/index.ts'
import type { Waiting } from '../api/index.ts'
import { checkAddress, folderOf } from '../client/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { type Role, roles } from '../contracts/placement.ts'
import { createRuntime, type Runtime, type RuntimeOptions } from '../runtime.ts'
import { makeDataFolder, writeOwner } from '../transport/embedded/index.ts'
import { shown } from '../transport/nats/index.ts'
import { addressOf, commandVariables, lockedError } from './connect.ts'
import { agreed } from './contradictions.ts'
import type { Globals } from './globals.ts'
import { hintCommand } from './hint.ts'
import { loadApp } from './load-app.ts'
import { exitCodes, note, print, printJson } from './output.ts'
import { chatPage, inspectorPage } from './pages.ts'
import { commandEnvironment, commandLogger } from './runtime-environment.ts'
import { leave, listen, onLeave, resolvePath, surroundings } from './surroundings.ts'

type UpOptions = Globals & { port: number; host: string; roles?: string; retainDays?: number; resume?: boolean }

const drainMs = 30_000
const leftoverMs = 1_000

export const up = async (options: UpOptions): Promise<number> => {
  const ownToken = commandVariables().STATECAST_TOKEN || undefined
  checkExposure(options.host, ownToken)
  const app = await loadApp(options.app)
  const transport = addressOf(options, app)
  const folder = typeof transport === 'string' ? folderOf(transport) : undefined
  if (typeof transport === 'string' && folder === undefined && transport.startsWith('memory'))
    throw new RuntimeError('bad_request', 'a node needs a data folder', { field: 'url', hint: 'give one with --data' })

  /** An operator reads in the log of a node what happened to it, so it says more than a command does. */
  const log = app.environment?.log ?? commandLogger('info')
  const roles = rolesOf(options, app, folder !== undefined)
  const idleDays = agreed(
    'retainDays',
    { by: '--retain-days', value: options.retainDays },
    { by: "the app's retention", value: app.retention?.idleDays },
  )
  const resume = agreed(
    'resume',
    { by: '--no-resume', value: options.resume === false ? false : undefined },
    { by: "the app's resume", value: app.resume },
  )
  if (typeof transport === 'string') checkAddress(transport)
  const stopping = shutdownAsked()
  const leaving = onLeave()
  const dataFolder = folder ?? '.statecast'
  let made: Runtime | undefined
  const present = (): Runtime => {
    if (made) return made
    throw new RuntimeError('closed', 'this node is starting', { retryable: true, hint: 'ask again in a moment, or another node' })
  }
  const serve = (): Promise<Gateway> => {
    makeDataFolder(resolvePath(dataFolder))
    const tokens = [ensureToken(resolvePath(dataFolder)), ...(ownToken ? [ownToken] : [])]
    return serveGateway({ runtime: present, log, host: options.host, port: options.port, tokens })
  }
  // Other nodes give work to one that has come: it comes when it has its port. A folder that is taken says more than a port that is.
  const early = folder === undefined ? await serve() : undefined
  // `starting` tells other commands that it is worth waiting for the address.
  const runtime = await createRuntime({
    // What a project says to agents is for those that work in its folder.
    prompt: { files: ['AGENTS.md'] },
    ...app,
    environment: { ...commandEnvironment(log), ...app.environment, log },
    transport,
    owner: { starting: 'yes' },
    roles,
    resume: resume !== false,
    ...definedOf({ retention: idleDays === undefined ? undefined : { ...app.retention, idleDays } }),
  }).catch(async (error: unknown) => {
    await early?.close()
    throw isRuntimeError(error) && error.code === 'locked' ? await lockedError(error) : error
  })
  keepGoing(runtime)
  try {
    made = runtime
    const gateway = early ?? (await serve())
    if (folder) writeOwner(folder, { url: gateway.url })
    log.info({ url: gateway.url }, 'this node answers HTTP')
    await announce(runtime, { url: gateway.url, dataFolder, server: typeof transport === 'string' ? shown(transport) : 'NATS', json: options.json })
    if (resume === false) note('no unfinished or stored work is resumed; only actors that are sent to run, with their timers (--no-resume)')
    void tellWaiting(runtime, options)
    const signalled = await Promise.race([stopping.then(() => true), runtime.ended.then(() => false)])
    if (signalled) note('draining: letting running turns finish, then the node stops; a second signal stops it at once')
    gateway.drain()
    await Promise.race([runtime.drain(drainMs), leaving])
    await gateway.close()
    return exitCodes.fine
  } finally {
    await runtime.close()
    // Nothing of ours is left, and what an app or its libraries have left running keeps no node.
    setTimeout(leave, leftoverMs).unref()
  }
}

/** What waits for a person was perhaps asked for days ago, in a window that is closed. */
const tellWaiting = async (runtime: Runtime, options: UpOptions): Promise<void> => {
  try {
    const { approvals, runs } = await runtime.command<Waiting>('approvals.list')
    const count = approvals.length + runs.length
    if (count > 0) note(`${count === 1 ? '1 approval waits' : `${count} approvals wait`}: ${hintCommand(options, 'approvals')}`)
  } catch (error) {
    runtime.log.debug({ error: errorBody(error) }, 'what waits for a person could not be counted')
  }
}

type Place = { url: string; dataFolder: string; server: string; json: boolean | undefined }

/** What is wanted most stands last, where the log does not push it away. */
const ends = ({ page, inspector }: { page: string; inspector: string }): string =>
  `  pid     ${process.pid}; Ctrl-C or kill ${process.pid} stops it\n  inspect ${inspector}\n  chat    ${page}`

/** Says where this node is, and among whom. */
const announce = async (runtime: Runtime, { url, dataFolder, server, json = false }: Place): Promise<void> => {
  const token = tokenFile(dataFolder)
  const known = ensureToken(resolvePath(dataFolder))
  const pages = { page: chatPage(url, known), inspector: inspectorPage(url, known) }
  const { node } = await runtime.health()
  if (node === undefined) {
    if (json) printJson({ url, ...pages, pid: process.pid, data: dataFolder, token })
    else print(`statecast is up\n  data    ${dataFolder}\n${ends(pages)}`)
    return
  }
  // It may not have said yet that it is there.
  const nodes = runtime.nodes().filter(({ id }) => id !== node).length + 1
  if (json) return printJson({ url, ...pages, pid: process.pid, token, node, server, nodes })
  print('statecast is up')
  print(`  node    ${node}`)
  print(`  server  ${server}, which holds all data`)
  print(`  nodes   ${nodes === 1 ? 'this is the first one' : `${nodes} with this one`}; statecast nodes lists them`)
  print(ends(pages))
}

/** Resolves at the first SIGTERM or SIGINT; the second one leaves at once, and what was accepted continues at the next start. */
const shutdownAsked = (): Promise<void> =>
  new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      listen(signal, () => {
        if (asked) return leave(signal === 'SIGINT' ? exitCodes.interrupted : 128 + constants.signals.SIGTERM)
        asked = true
        resolve()
      })
  })

/** A tool that fails behind our back, in a callback of its own, must not take all conversations with it: their state is in the journal anyway. */
const keepGoing = ({ log }: Runtime): void => {
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    surroundings().removeAllListeners(kind)
    listen(kind, (error: unknown) => log.error({ error: errorBody(error), stack: (error as Error)?.stack }, 'uncaught error'))
  }
}

/** @param alone nobody else can have what this node does not do */
const rolesOf = (options: UpOptions, app: RuntimeOptions, alone: boolean): readonly Role[] => {
  const inOrder = (some: readonly Role[]) => roles.filter((role) => some.includes(role))
  const chosen = agreed<readonly Role[]>(
    'roles',
    { by: '--roles', value: options.roles === undefined ? undefined : inOrder(rolesIn(options.roles)) },
    { by: "the app's roles", value: app.roles && inOrder(app.roles) },
  )
  if (alone && chosen && chosen.length < roles.length)
    throw new RuntimeError('unsupported', 'a node with an embedded store has all roles', {
      field: 'roles',
      hint: 'leave --roles out; nodes on NATS share the work: --url nats://…',
    })
  return chosen ?? roles
}

const rolesIn = (text: string): Role[] =>
  text.split(',').map((word) => {
    const role = roles.find((known) => known === word.trim())
    if (role !== undefined) return role
    throw new RuntimeError('bad_request', `there is no role '${word.trim().slice(0, 40)}'`, {
      field: 'roles',
      hint: `there are: ${roles.join(', ')}`,
    })
  })
