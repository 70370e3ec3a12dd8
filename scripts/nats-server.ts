/**
 * Finds a recent nats-server, or gets one: `node scripts/nats-server.ts` prints its path and version. Distributions' stable releases carry
 * servers too old for us, hence the way over Debian's newer suites.
 */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openApt, upstreamVersion } from './apt-package.ts'

/** The first that has all we use of JetStream. */
export const oldestVersion = '2.11'

export type NatsServerOptions = {
  /** Like the variable PATH. */
  searchPath?: string
  /** Holds `<version>/nats-server`. */
  cacheFolder?: string
  /** Puts a nats-server into the folder and resolves to its path there. */
  fetch?: (folder: string) => Promise<string>
  report?: (line: string) => void
}

/**
 * The path of a nats-server of at least {@link oldestVersion}: the first on PATH, else one fetched earlier, else one fetched now, which takes
 * some seconds. Callers in several processes fetch once.
 * @throws Error saying how to get one
 */
export const natsServer = (options?: NatsServerOptions): Promise<string> => {
  if (options !== undefined) return find(options)
  found ??= find({}).catch((error: unknown) => {
    found = undefined
    throw error
  })
  return found
}
let found: Promise<string> | undefined

const find = async ({
  // The sbin folders hold Debian's and are on the PATH of root alone.
  searchPath = [process.env.PATH, '/usr/local/sbin', '/usr/sbin'].join(delimiter),
  cacheFolder = fileURLToPath(new URL('../node_modules/.cache/statecast/nats-server', import.meta.url)),
  fetch = fetchFromDebian,
  report = (line) => process.stderr.write(`nats-server: ${line}\n`),
}: NatsServerOptions): Promise<string> => {
  const refused: string[] = []
  const ready = (await onPath(searchPath, refused)) ?? (await inCache(cacheFolder))
  if (ready !== undefined) return ready
  const unlock = await lock(cacheFolder)
  try {
    // While we waited for the lock its holder may have fetched it.
    return (await inCache(cacheFolder)) ?? (await store(cacheFolder, fetch, report))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const ways = [
      `install nats-server ${oldestVersion} or later so that it is on PATH (brew install nats-server, go install, a release of its makers)`,
      `or put the binary at ${join(cacheFolder, '<version>', 'nats-server')}`,
      'or run on a Debian whose apt sources reach an archive with the suites testing or unstable: it is then fetched by itself, which failed here',
    ]
    throw new Error(`no nats-server: ${[...ways, ...refused, reason].join('\n  ')}`, { cause })
  } finally {
    await unlock()
  }
}

/** undefined when the file is no nats-server that runs here. */
export const versionOf = async (path: string): Promise<string | undefined> => {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000 })
    return /^nats-server: v(\d+\.\d+\.\d+\S*)/m.exec(stdout)?.[1]
  } catch {
    return undefined
  }
}

export const isRecent = (version: string): boolean => compareVersions(version, oldestVersion) >= 0

/** By their numbers; what follows them (`-rc.1`, `~rc1`) does not count. */
const compareVersions = (a: string, b: string): number => {
  const [left = [], right = []] = [a, b].map((version) => (/^\d+(\.\d+)*/.exec(version)?.[0] ?? '0').split('.').map(Number))
  const index = left.findIndex((part, place) => part !== (right[place] ?? 0))
  return index === -1 ? 0 : left[index]! - (right[index] ?? 0)
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

const onPath = async (searchPath: string, refused: string[]): Promise<string | undefined> => {
  for (const folder of searchPath.split(delimiter).filter(Boolean)) {
    const path = join(folder, 'nats-server')
    if (!(await isExecutable(path))) continue
    const version = await versionOf(path)
    if (version !== undefined && isRecent(version)) return path
    refused.push(`(${path} ${version === undefined ? 'does not run' : `is ${version}, too old`})`)
  }
  return undefined
}

const inCache = async (cacheFolder: string): Promise<string | undefined> => {
  const versions = (await readdir(cacheFolder).catch(() => [])).filter((name) => /^\d/.test(name) && isRecent(name))
  for (const version of versions.sort(compareVersions).reverse()) {
    const path = join(cacheFolder, version, 'nats-server')
    // Run rather than looked at: node_modules may be shared with a machine of another kind.
    if ((await versionOf(path)) !== undefined) return path
  }
  return undefined
}

const store = async (cacheFolder: string, fetch: (folder: string) => Promise<string>, report: (line: string) => void): Promise<string> => {
  report(`none of ${oldestVersion} or later on PATH; fetching one, once`)
  const started = performance.now()
  // Next to its later place, as a rename works only within one file system.
  const folder = await mkdtemp(join(cacheFolder, '.fetch-'))
  try {
    const fetched = await fetch(folder)
    const version = await versionOf(fetched)
    if (version === undefined) throw new Error('the nats-server that was fetched does not run here')
    if (!isRecent(version)) throw new Error(`the nats-server that was fetched is ${version}, too old`)
    const target = join(cacheFolder, version)
    const complete = join(folder, version)
    await mkdir(complete)
    await rename(fetched, join(complete, 'nats-server'))
    // The first wins: a folder with something in it is not replaced, and what is in it is the same server.
    await rename(complete, target).catch(async (error: unknown) => {
      if ((await versionOf(join(target, 'nats-server'))) === undefined) throw error
    })
    report(`${version} fetched in ${((performance.now() - started) / 1000).toFixed(1)} s`)
    return join(target, 'nats-server')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const fetchFromDebian = async (folder: string): Promise<string> => {
  const apt = await openApt(folder, ['testing', 'unstable'])
  const versions = await apt.versions('nats-server')
  const reasons: string[] = []
  // The newest may be made for a C library newer than ours.
  for (const version of versions.filter((candidate) => isRecent(upstreamVersion(candidate)))) {
    const files = await apt.unpack('nats-server', version)
    for (const place of ['usr/sbin', 'usr/bin']) {
      const path = join(files, place, 'nats-server')
      if ((await versionOf(path)) !== undefined) return path
    }
    reasons.push(`${version} does not run here`)
  }
  throw new Error(`testing and unstable have no nats-server for us: ${reasons.join(', ') || `only ${versions.join(', ')}`}`)
}

/** How long a holder may take; longer than all its steps' own limits let it. */
const lockTimeoutMs = 600_000

/**
 * One fetch at a time among processes. Only a saving: were two to fetch at once (both found the same lock stale, one of them removing the
 * other's new one), the first rename would win.
 */
const lock = async (cacheFolder: string): Promise<() => Promise<void>> => {
  const file = join(cacheFolder, '.lock')
  await mkdir(dirname(file), { recursive: true })
  const deadline = performance.now() + lockTimeoutMs
  for (;;) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' })
      return () => rm(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    // Between its creation and its writing the file is empty: a holder that lives.
    const holder = Number(await readFile(file, 'utf8').catch(() => ''))
    if (performance.now() > deadline || (holder !== 0 && !isAlive(holder))) await rm(file, { force: true })
    else await pause(100)
  }
}

/** Whether a process with that id runs, of any user. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

if (import.meta.main) {
  const path = await natsServer()
  console.log(`${path} ${await versionOf(path)}`)
}
