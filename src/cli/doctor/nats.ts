/** A NATS server: who we are to it, what it can do, and what of ours it holds. Nothing is made or changed. */

import type { Client } from '../../client/index.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { RuntimeOptions } from '../../runtime.ts'
import type { Names } from '../../transport/nats/index.ts'
import type { Globals } from '../globals.ts'
import { commandLogger } from '../runtime-environment.ts'
import { actors } from './actors.ts'
import { cluster } from './cluster.ts'
import { bad, type Finding, ok, warn } from './finding.ts'

/** Timers and recorded times follow the node's clock, leases and schedules the server's. */
const clockDifferenceMaxMs = 2_000
const mebibyte = 1024 ** 2

type App = Pick<RuntimeOptions, 'prefix' | 'nats'>

export async function* nats(globals: Globals, url: string, app: App): AsyncGenerator<Finding> {
  let check = 'nats'
  const { connectBus, requireServer, namesOf } = await import('../../transport/nats/index.ts')
  try {
    const connection = await connectBus(url, commandLogger(), app.nats)
    try {
      const { nc } = connection
      const names = namesOf(app.prefix ?? 'statecast')
      yield ok('nats', `connected to ${nc.getServer()}${nc.info?.tls_required ? ', encrypted' : ''}`)
      check = 'server'
      requireServer(nc, url)
      yield ok('server', `nats-server ${nc.info?.version}, with JetStream`)
      check = 'permissions'
      const node = await nodeAt(url, app)
      try {
        const permitted = yield* permissions(nc, names, !(node instanceof RuntimeError))
        if (permitted)
          for await (const step of look(nc, names)) {
            if (typeof step === 'string') check = step
            else yield step
          }
        check = 'node'
        if (node === undefined)
          yield permitted ? ok('node', 'none answers there') : warn('node', 'none answers there', 'start one as a user who may do what a node does')
        else if (node instanceof RuntimeError) throw node
        else {
          yield* cluster(node, { url: globals.url })
          yield* actors(globals, new Set())
        }
      } finally {
        if (node && 'close' in node) await node.close()
      }
    } finally {
      await connection.close()
    }
  } catch (error) {
    const { code, message, hint = 'see the log of the server' } = errorBody(error)
    yield bad(check, `${message} [${code}]`, hint)
  }
}

/** @returns undefined where none answers, and the error where it may not be asked */
const nodeAt = async (url: string, app: App): Promise<Client | RuntimeError | undefined> => {
  const { natsClient } = await import('../../client/index.ts')
  return natsClient(url, { ...app, log: commandLogger() }).catch((error: unknown) => RuntimeError.from(errorBody(error)))
}

type Connection = Awaited<ReturnType<typeof import('../../transport/nats/index.ts').connectBus>>['nc']

/** @param asks whether this user may ask nodes, and need not do what they do @returns whether it may look at streams */
async function* permissions(nc: Connection, names: Names, asks: boolean): AsyncGenerator<Finding, boolean> {
  const { grantedTo, missingTo } = await import('../../transport/nats/index.ts')
  const before = Date.now()
  const granted = await grantedTo(nc)
  const after = Date.now()
  const hint = 'see `statecast permissions --role node`'
  if (granted === undefined) {
    yield warn('permissions', 'this user may not ask the server what it may do', hint)
    return true
  }
  const { publish, subscribe } = missingTo(granted, names)
  const missing = [...some('publish', publish), ...some('subscribe', subscribe)]
  const who = granted.user ? `the user '${granted.user}'` : 'this user'
  if (missing.length === 0) yield ok('permissions', `${who} may do what a node does`)
  else if (asks) yield ok('permissions', `${who} may ask nodes, and not be one: enough for commands and programs`)
  else yield bad('permissions', `${who} may not ${missing.join(', nor ')}`, `${hint}; a gateway or viewer needs less`)
  if (granted.serverTime) yield clock(Date.parse(granted.serverTime), before, after)
  // What it may not look at would only fail, in other words.
  if (missing.length > 0) for (const check of ['streams', 'space']) yield ok(check, 'not looked at: this user may not')
  return missing.length === 0
}

const shownMax = 3

/** A user for something else lacks nearly all of them. */
const some = (operation: string, subjects: readonly string[]): string[] => {
  if (subjects.length === 0) return []
  const more = subjects.length > shownMax ? ` and ${subjects.length - shownMax} more` : ''
  return [`${operation} to ${subjects.slice(0, shownMax).join(', ')}${more}`]
}

/** Findings, and before each step the name of the check that it belongs to when it throws. */
async function* look(nc: Connection, names: Names): AsyncGenerator<Finding | string> {
  const [{ jetstreamManager }, { examineStreams, freeBytesOf, fromNats }] = await Promise.all([
    import('@nats-io/jetstream'),
    import('../../transport/nats/index.ts'),
  ])
  yield 'streams'
  const jsm = await jetstreamManager(nc, { timeout: 5_000 }).catch((error: unknown) => {
    throw fromNats(error, 'asking JetStream')
  })
  const streams = await examineStreams(jsm, names)
  const there = streams.filter(({ missing }) => !missing)
  yield* settings(streams)

  yield 'space'
  const infos = await Promise.all(there.map(({ stream }) => jsm.streams.info(stream)))
  const account = await jsm.getAccountInfo()
  const free = freeBytesOf(account, infos, there[0]?.replicas ?? 1)
  const used = `${Math.ceil(account.storage / mebibyte)} MiB used`
  const room = 'delete sessions, or raise the limit of the account or stream'
  if (free === undefined) yield ok('space', `${used}; no limit on this account or its streams, so only the server knows what is left`)
  else {
    const text = `${used}, ${Math.floor(free / mebibyte)} MiB free`
    yield free < mebibyte ? bad('space', text, room) : free < 64 * mebibyte ? warn('space', text, room) : ok('space', text)
  }
  const dead = infos.find(({ config }) => config.name === names.streams.dead)?.state.messages ?? 0
  if (dead > 0) yield warn('inbox', `${dead} messages could not be delivered`, `nats stream view ${names.streams.dead} shows them with their reasons`)
}

function* settings(streams: Awaited<ReturnType<typeof import('../../transport/nats/index.ts').examineStreams>>): Generator<Finding> {
  const missing = streams.filter((one) => one.missing)
  for (const { stream, broken, noted } of streams) {
    if (broken) yield bad('streams', `${stream}: ${broken}`, `change it (nats stream edit ${stream}), or give the app another 'prefix'`)
    if (noted) yield warn('streams', `${stream}: ${noted}`, `if that is not on purpose: nats stream edit ${stream}`)
  }
  if (missing.length === streams.length) yield ok('streams', 'none yet; they are made at the first start')
  else if (missing.length > 0)
    yield bad('streams', `${missing.map(({ stream }) => stream).join(', ')} missing, while others are there`, 'restore them from a backup')
  else {
    const least = Math.min(...streams.map(({ replicas }) => replicas))
    yield ok('streams', `all ${streams.length} are there`)
    // When it syncs, a server tells its administrator alone.
    yield ok(
      'durability',
      `${least === 1 ? 'one copy' : `${least} copies`} of each stream; set sync_interval: always on the server where a power cut must lose nothing`,
    )
  }
}

/** The server answered between the two moments. */
const clock = (server: number, before: number, after: number): Finding => {
  const differenceMs = server < before ? before - server : Math.max(0, server - after)
  const text = `the server's differs from this machine's by ${(differenceMs / 1000).toFixed(1)} s`
  return differenceMs > clockDifferenceMaxMs
    ? warn('clocks', text, 'set both by NTP: timers and recorded times follow the one, leases the other')
    : ok('clocks', text)
}
