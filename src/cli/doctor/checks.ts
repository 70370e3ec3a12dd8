/** What the doctor looks at. Nothing is changed, and no value of a key is read out. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { commitOf } from '../../actors/index.ts'
import { tokenFile } from '../../api/http/index.ts'
import { checkAddress, folderOf, isNats, nodeOf } from '../../client/index.ts'
import { errorBody } from '../../contracts/errors.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { allHeads, systemEnvironment } from '../../runtime/index.ts'
import { createRuntime, type Health, type RuntimeOptions } from '../../runtime.ts'
import { freeBytesMinimum, measureFreeBytes, readOwner } from '../../transport/embedded/index.ts'
import { addressOf, connect, defaultUrl } from '../connect.ts'
import type { Globals } from '../globals.ts'
import { loadApp } from '../load-app.ts'
import { commandEnvironment, commandLogger } from '../runtime-environment.ts'
import { surroundings } from '../surroundings.ts'
import { actors } from './actors.ts'
import { bad, type Finding, ok, warn } from './finding.ts'
import { mcp } from './mcp.ts'
import { models } from './models.ts'
import { nats } from './nats.ts'
import { sandboxes } from './sandboxes.ts'

export type DoctorOptions = Globals & { offline?: boolean }

export async function* examine(globals: DoctorOptions): AsyncGenerator<Finding> {
  yield node()
  let app: RuntimeOptions = {}
  try {
    app = await loadApp(globals.app)
    await tryApp(app)
    yield ok('app', Object.keys(app).length > 0 ? `defines ${Object.keys(app).join(', ')}` : 'none; the default agent answers')
  } catch (error) {
    const { message, hint = 'mend the file' } = errorBody(error)
    yield bad('app', message, hint)
  }
  yield* store(globals, app)
  yield* models(app, globals)
  yield* mcp(app, globals)
  yield* sandboxes(app)
  yield clock()
}

/** What a node would refuse at its start, such as a machine that cannot be made durable. @throws RuntimeError not_durable, bad_request … */
const tryApp = async ({ environment: _, transport: __, ...app }: RuntimeOptions): Promise<void> => {
  const runtime = await createRuntime({ ...app, environment: commandEnvironment(), transport: 'memory:', resume: false })
  await runtime.close()
}

const node = (): Finding => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18)
    ? ok('node', process.versions.node)
    : bad('node', `${process.versions.node} is too old`, 'install Node 22.18 or newer')
}

async function* store(globals: Globals, app: RuntimeOptions): AsyncGenerator<Finding> {
  const address = addressOf(globals, app)
  const url = typeof address === 'string' ? address : defaultUrl
  try {
    checkAddress(url)
  } catch (error) {
    const { message, hint = '' } = errorBody(error)
    yield bad('data', message, hint)
    return
  }
  const folder = folderOf(url, surroundings().cwd())
  if (isNats(url)) {
    yield* nats(globals, url, app)
    return
  }
  if (folder === undefined) {
    yield /^(memory:|https?:)/.test(url)
      ? ok('data', url.split(':')[0] ?? '')
      : bad('data', 'this transport is not in this build', 'use embedded:<folder>')
    return
  }
  yield* place(folder)
  if (!existsSync(join(folder, 'statecast.db'))) return
  const owner = readOwner(folder)
  const running = owner ? await nodeOf(folder) : undefined
  if (running) yield ok('node on this data', `process ${running.pid} at ${running.url}`)
  else if (owner) {
    yield warn('node on this data', `process ${owner.pid} has the folder and takes no commands`, `wait for it to end, or stop it (kill ${owner.pid})`)
    return
  }
  const damaged = new Set<string>()
  const report = running ? nodeHealth(globals) : integrity(folder, damaged)
  for await (const finding of report) {
    yield finding
    if (finding.check === 'store' && finding.status === 'bad') return
  }
  yield* actors(globals, damaged)
}

function* place(folder: string): Generator<Finding> {
  const shown = resolve(folder)
  const found = nearestExisting(shown)
  try {
    accessSync(found, constants.W_OK | constants.X_OK)
    yield ok('data', found === shown ? `${shown} is writable` : `${shown} will be made at the first start`)
  } catch {
    yield bad('data', `${found} is not writable`, 'give this user the right to write there, or choose another folder with --url embedded:<folder>')
  }
  const free = measureFreeBytes(found)
  const text = `${Math.round(free / 1024 ** 2)} MiB free`
  yield free < freeBytesMinimum
    ? bad('space', `${text}, ${freeBytesMinimum / 1024 ** 2} MiB are needed to promise durability`, 'free some space')
    : free < 10 * freeBytesMinimum
      ? warn('space', text, 'it will soon be too little')
      : ok('space', text)
  for (const file of [shown, tokenFile(shown)])
    if (process.platform !== 'win32' && existsSync(file) && (statSync(file).mode & 0o077) !== 0)
      yield warn('permissions', `${file} can be read by other users`, `chmod go-rwx ${file}`)
}

const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)))

async function* nodeHealth(globals: Globals): AsyncGenerator<Finding> {
  try {
    const client = await connect(globals)
    try {
      const health = await client.command<Health>('health', {})
      yield health.writable ? ok('store', health.durability) : bad('store', health.detail ?? 'not writable', 'see the log of the node')
      if (!health.ready && health.writable)
        yield warn('node', health.detail ?? 'not ready', 'what runs there may end, which takes 30 s at most; then start it again (statecast up)')
    } finally {
      await client.close()
    }
  } catch (error) {
    const { message, hint = 'see the log of the node' } = errorBody(error)
    yield bad('store', message, hint)
  }
}

/** Every head and the last commit of every journal: quick, and finds a file that was cut off or overwritten. */
async function* integrity(folder: string, damaged: Set<string>): AsyncGenerator<Finding> {
  const { openEmbedded } = await import('../../transport/embedded/index.ts')
  try {
    const transport = await openEmbedded({ folder, environment: systemEnvironment({ log: commandLogger() }) })
    try {
      const { durability, writable, detail } = await transport.health()
      yield writable ? ok('store', durability) : bad('store', detail ?? 'not writable', 'free some space, or look at the disk')
      let count = 0
      for await (const { address, seq } of allHeads(transport.journal)) {
        count++
        const name = formatAddress(address)
        const last = await transport.journal.last(address).catch(errorBody)
        if (last === undefined || 'code' in last || last.seq !== seq || !readable(last, address)) {
          damaged.add(name)
          yield bad(
            'journal',
            `${name} is damaged at its end (commit ${seq})`,
            'restore a backup, or delete this session; the others are not touched',
          )
        }
      }
      yield ok('journals', `${count} read`)
      const dead = await transport.inbox.deadLetters({ limit: 100 })
      if (dead.length > 0)
        yield warn(
          'inbox',
          `${dead.length === 100 ? '100 or more' : dead.length} messages could not be delivered`,
          `the last: ${dead.at(-1)?.reason.slice(0, 200)}`,
        )
    } finally {
      await transport.close()
    }
  } catch (error) {
    const { message, hint = 'restore a backup of the folder' } = errorBody(error)
    yield bad('store', message, hint)
  }
}

const readable = (frame: Frame, address: Address): boolean => {
  try {
    return commitOf(frame, address).seq === frame.seq
  } catch {
    return false
  }
}

const clock = (): Finding => {
  const year = new Date().getUTCFullYear()
  // Nothing breaks with a wrong clock: recorded times and timers are off.
  return year < 2025 || year > 2100
    ? warn('clock', `it is ${new Date().toISOString()} by this machine`, 'set the clock: recorded times and timers follow it')
    : ok('clock', new Date().toISOString())
}
