/**
 * Real nats-servers for tests, on loopback with ports of their own. The first start on a machine may fetch the server
 * (scripts/nats-server.ts), which takes longer than a hook's limit: begin a file with `beforeAll(() => natsServer(), natsFetchMs)`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { dieWithUs } from './guard.ts'

export const natsFetchMs = 240_000

export type NatsOptions = {
  name?: string
  /** Default true. Each write is synced to the disk before it is acknowledged; `sync_interval` in `jetStreamConfig` says otherwise. */
  jetStream?: boolean
  /** Lines for the block `jetstream { … }`. */
  jetStreamConfig?: string
  /** Lines for the end of the configuration. */
  config?: string
  users?: readonly { user: string; password: string }[]
  /** An existing folder for JetStream's files, which stop() leaves; by default a temporary one. */
  store?: string
}

export type Nats = {
  readonly name: string
  /** Without credentials: `nats://127.0.0.1:4222`. */
  readonly url: string
  /** The same after restart(), so that clients find it again. */
  readonly port: number
  /** Of the HTTP monitoring: `${monitor}/jsz`. */
  readonly monitor: string
  readonly pid: number
  readonly store: string
  readonly running: boolean
  readonly frozen: boolean
  /** What it has logged, earlier runs included. */
  log(): string
  /** Ends it, if it runs, and starts it on the same port and store. */
  restart(signal?: NodeJS.Signals): Promise<void>
  /** Resolves when it is gone. Default SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** It holds its connections and answers nothing. */
  freeze(): void
  thaw(): void
  /** Kills it and removes its folder; safe twice. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What is left to do for servers that nobody stopped; after a SIGKILL the guard does it. */
const forgotten = new Set<() => void>()
process.once('exit', () => {
  for (const sweep of forgotten) sweep()
})

/** All threads of a process; where there is no /proc, it is believed. */
const isStopped = (pid: number): boolean => {
  try {
    return readdirSync(`/proc/${pid}/task`).every((task) => / T /.test(readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').replace(/^.*\)/s, '')))
  } catch {
    return true
  }
}

type Route = { own: number; all: readonly number[] }
type Ports = { nats: string[]; monitoring: string[] }

/** Resolves when it accepts connections. @throws Error with its log, when it does not start */
export const startNats = (options: NatsOptions = {}): Promise<Nats> => start(options)

const start = async (options: NatsOptions, route?: Route): Promise<Nats> => {
  const { name = 'n1', jetStream = true } = options
  const binary = await natsServer()
  const folder = mkdtempSync(join(tmpdir(), 'statecast-nats-'))
  const store = options.store ?? join(folder, 'store')
  const logFile = join(folder, 'log')
  const log = (): string => readFileSync(logFile, 'utf8')
  let ports: { client: number; monitor: number } | undefined
  let child: ChildProcess | undefined
  let frozen = false

  const launch = async (): Promise<void> => {
    const configFile = join(folder, 'nats.conf')
    writeFileSync(configFile, configOf({ ...options, name, jetStream, store }, folder, ports, route))
    const output = openSync(logFile, 'a')
    const started = spawn(binary, ['-c', configFile], { stdio: ['ignore', output, output] })
    closeSync(output)
    if (started.pid === undefined) throw (await once(started, 'error'))[0] as Error
    const release = dieWithUs(started.pid, folder)
    started.once('exit', release)
    child = started
    frozen = false
    const { nats, monitoring } = await portsOf(started, join(folder, `nats-server_${started.pid}.ports`), log)
    ports = { client: portIn(nats[0]), monitor: portIn(monitoring[0]) }
  }
  const running = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    if (!running() || child === undefined) return
    const gone = once(child, 'exit')
    child.kill(signal)
    // A frozen process takes no signal but SIGKILL before it runs again.
    if (frozen) child.kill('SIGCONT')
    await gone
  }
  const sweep = (): void => {
    child?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const stop = async (): Promise<void> => {
    await kill()
    forgotten.delete(sweep)
    rmSync(folder, { recursive: true, force: true })
  }
  forgotten.add(sweep)
  try {
    await launch()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    name,
    store,
    log,
    get url() {
      return `nats://127.0.0.1:${ports!.client}`
    },
    get port() {
      return ports!.client
    },
    get monitor() {
      return `http://127.0.0.1:${ports!.monitor}`
    },
    get pid() {
      return child!.pid!
    },
    get running() {
      return running()
    },
    get frozen() {
      return frozen && running()
    },
    restart: async (signal = 'SIGTERM') => {
      await kill(signal)
      await launch()
    },
    kill,
    freeze: () => {
      frozen = child?.kill('SIGSTOP') === true
      // The signal is on its way when kill returns; a thread that still runs would answer.
      for (const until = performance.now() + 2_000; child?.pid && !isStopped(child.pid) && performance.now() < until; );
    },
    thaw: () => {
      child?.kill('SIGCONT')
      frozen = false
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const configOf = (
  { name, jetStream, jetStreamConfig = '', config = '', users = [], store }: NatsOptions,
  folder: string,
  ports: { client: number; monitor: number } | undefined,
  route: Route | undefined,
): string => {
  const urls = route?.all.filter((port) => port !== route.own).map((port) => `"nats://127.0.0.1:${port}"`)
  return [
    `server_name: ${name}`,
    `listen: "127.0.0.1:${ports?.client ?? -1}"`,
    `http: "127.0.0.1:${ports?.monitor ?? -1}"`,
    `ports_file_dir: ${JSON.stringify(folder)}`,
    // The later of two equal keys counts, so the caller's lines come last.
    jetStream && `jetstream {\n  store_dir: ${JSON.stringify(store)}\n  sync_interval: always\n${jetStreamConfig}\n}`,
    users.length > 0 &&
      `authorization { users: [ ${users.map(({ user, password }) => `{ user: ${JSON.stringify(user)}, password: ${JSON.stringify(password)} }`).join(', ')} ] }`,
    // Not advertised: a client that learns of the other servers would go around a proxy.
    route && `cluster {\n  name: statecast\n  listen: "127.0.0.1:${route.own}"\n  no_advertise: true\n  routes: [ ${urls?.join(', ')} ]\n}`,
    config,
  ]
    .filter(Boolean)
    .join('\n')
}

const startTimeoutMs = 60_000

/** The server writes the file when it listens. */
const portsOf = async (child: ChildProcess, file: string, log: () => string): Promise<Ports> => {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Ports
    } catch {
      // Not there, or only half of it.
    }
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`nats-server ended instead of starting:\n${log()}`)
    if (performance.now() > deadline) throw new Error(`nats-server is not ready after ${startTimeoutMs} ms:\n${log()}`)
    await pause(10)
  }
}

const portIn = (url = ''): number => Number(new URL(url).port)

/** Takes streams away from a server, with all that is in them. @param part of their names; default: all */
export const wipe = async (url: string, part = ''): Promise<void> => {
  const nc = await connect({ servers: url })
  const { streams } = await jetstreamManager(nc)
  for await (const { config } of streams.list()) if (config.name.includes(part)) await streams.delete(config.name)
  await nc.close()
}

let shared: Promise<Nats> | undefined

/**
 * One for all tests of a file, and of those that share its process: it is there when they run, and empty when a file begins. To be called at its top.
 * Nobody restarts it; who wants to takes {@link ownNats}.
 */
export const natsForAll = (): Pick<Nats, 'url' | 'port'> => {
  let server: Nats | undefined
  beforeAll(async () => {
    await natsServer()
    // It ends with the process.
    shared ??= startNats().catch((error: unknown) => {
      shared = undefined
      throw error
    })
    server = await shared
  }, natsFetchMs)
  afterAll(() => server && wipe(server.url))
  return standingFor(() => server)
}

/** One for the tests of a file alone, which may do with it what they want. To be called at its top. */
export const ownNats = (options: NatsOptions = {}): Pick<Nats, 'url' | 'port' | 'restart' | 'freeze' | 'thaw'> => {
  let server: Nats | undefined
  beforeAll(async () => {
    await natsServer()
    server = await startNats(options)
  }, natsFetchMs)
  afterAll(() => server?.stop())
  return standingFor(() => server)
}

const standingFor = (server: () => Nats | undefined): Pick<Nats, 'url' | 'port' | 'restart' | 'freeze' | 'thaw'> => {
  const there = (): Nats => {
    const one = server()
    if (one === undefined) throw new Error('the server is there when tests run')
    return one
  }
  return {
    get url() {
      return there().url
    },
    get port() {
      return there().port
    },
    restart: (signal) => there().restart(signal),
    freeze: () => there().freeze(),
    thaw: () => there().thaw(),
  }
}

export type NatsCluster = {
  readonly servers: readonly Nats[]
  readonly urls: readonly string[]
  /** Waits until most servers name one that runs as JetStream's meta leader. */
  leader(): Promise<Nats>
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Servers `n1`, `n2`, … with routes to each other. Resolves when JetStream has a leader and knows of them all. */
export const startCluster = async (size = 3, options: Omit<NatsOptions, 'name' | 'store'> = {}): Promise<NatsCluster> => {
  const servers = await startTogether(size, options, 3)
  const stop = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.stop())))
  const cluster = { servers, urls: servers.map(({ url }) => url), leader: () => leaderOf(servers), stop, [Symbol.asyncDispose]: stop }
  try {
    await cluster.leader()
    await Promise.all(servers.map((server) => isCurrent(server)))
  } catch (error) {
    await stop()
    throw error
  }
  return cluster
}

/** A server needs the others' route ports before these run, so free ones are picked, and others if somebody was faster. */
const startTogether = async (size: number, options: NatsOptions, attemptsLeft: number): Promise<Nats[]> => {
  const all = await freePorts(size)
  const starts = await Promise.allSettled(all.map((own, index) => start({ ...options, name: `n${index + 1}` }, { own, all })))
  const started = starts.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const failed = starts.find((outcome) => outcome.status === 'rejected')
  if (failed === undefined) return started
  await Promise.all(started.map((server) => server.stop()))
  if (attemptsLeft <= 1) throw failed.reason
  return startTogether(size, options, attemptsLeft - 1)
}

const freePorts = async (count: number): Promise<number[]> => {
  const listeners = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(listeners.map((listener) => once(listener, 'listening')))
  const ports = listeners.map((listener) => (listener.address() as { port: number }).port)
  await Promise.all(listeners.map((listener) => new Promise((resolve) => listener.close(resolve))))
  return ports
}

const leaderTimeoutMs = 60_000

const leaderOf = async (servers: readonly Nats[]): Promise<Nats> => {
  const deadline = performance.now() + leaderTimeoutMs
  for (;;) {
    const named = await Promise.all(servers.map((server) => ask<{ meta_cluster?: { leader?: string } }>(server, '/jsz')))
    const votes = named.map((answer) => answer?.meta_cluster?.leader)
    const leader = servers.find(
      ({ name, running, frozen }) => running && !frozen && votes.filter((vote) => vote === name).length * 2 > servers.length,
    )
    if (leader !== undefined) return leader
    if (performance.now() > deadline) throw new Error(`no JetStream leader; named are ${JSON.stringify(votes)}:\n${servers[0]?.log()}`)
    await pause(50)
  }
}

const isCurrent = async (server: Nats): Promise<void> => {
  const deadline = performance.now() + leaderTimeoutMs
  while ((await ask<{ status: string }>(server, '/healthz'))?.status !== 'ok') {
    if (performance.now() > deadline) throw new Error(`${server.name} does not catch up:\n${server.log()}`)
    await pause(50)
  }
}

/** undefined when it is down, frozen or slow. */
const ask = async <Answer>(server: Nats, path: string): Promise<Answer | undefined> => {
  if (!server.running || server.frozen) return undefined
  const response = fetch(server.monitor + path, { signal: AbortSignal.timeout(1_000) }).then((answer) => answer.json() as Promise<Answer>)
  return response.catch(() => undefined)
}
