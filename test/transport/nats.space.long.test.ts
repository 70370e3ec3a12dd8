/** A JetStream without room: what is refused, how soon, what still works, and what frees it again. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import type { Transport } from '../../src/contracts/transport.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { createRuntime } from '../../src/runtime.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { type NatsOptions, natsFetchMs, startNats } from '../support/nats.ts'
import { anEnvironment, aSession, awake } from './harness.ts'

beforeAll(() => natsServer(), natsFetchMs)

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const mebibyte = 1024 * 1024
const big = new Uint8Array(200_000).fill(7)

/** A transport on a server of its own, with its journal of `session/one` filled until the server takes no more. */
const aFullOne = async (options: NatsOptions, { who = '' } = {}) => {
  const server = await startNats(options)
  closing.push(() => server.stop())
  const transport = await openNats({ url: server.url.replace('//', `//${who}`), environment: anEnvironment() })
  closing.push(() => transport.close())
  const frames = await fill(transport)
  return { server, transport, frames }
}

/** @returns the frames that were stored, and how the next one was refused */
const fill = async ({ journal }: Transport, address = aSession()): Promise<{ count: number; refusal: unknown }> => {
  for (let count = 0; ; count++) {
    const outcome = await journal.append(address, count, big, awake).catch((error: unknown) => error)
    if ((outcome as { outcome?: string }).outcome !== 'ok') return { count, refusal: outcome }
  }
}

const full = { code: 'log_full', retryable: true, hint: expect.stringMatching(/storage|space/) }

test('a server without room refuses each write at once, can be read, is not ready, and goes on when a session was deleted', async () => {
  const { transport, frames } = await aFullOne({ jetStreamConfig: 'max_file_store: 8MB' })
  const { journal, inbox, blobs, registry } = transport

  const refusals = await Promise.allSettled([
    journal.append({ kind: 'session', id: 'new' }, 0, big, awake),
    journal.append({ kind: 'session', id: 'wakes' }, 0, big, { ...awake, wakeAt: 5 }),
    journal.saveSnapshot(aSession(), 1, big),
    inbox.put('statecast.in.session.one', '1', big),
    blobs.put(big),
    registry.put('key', 'value'),
  ])
  const sick = await transport.health()
  const read = await journal.read(aSession(), 1)
  await journal.remove(aSession())

  expect(frames.refusal).toMatchObject(full)
  for (const refusal of refusals) expect(refusal).toMatchObject({ status: 'rejected', reason: full })
  expect(sick).toMatchObject({ writable: false, detail: expect.stringContaining('no room') })
  expect(read).toHaveLength(frames.count)
  expect(await transport.health()).toMatchObject({ writable: true })
  expect(await journal.append({ kind: 'session', id: 'new' }, 0, big, awake)).toEqual({ outcome: 'ok' })
})

test('an account at its limit is full too, and health says how many bytes are free', async () => {
  const { transport, frames } = await aFullOne(
    { config: `accounts { APP { users: [ { user: app, password: app } ], jetstream { max_file: ${8 * mebibyte} } } }` },
    { who: 'app:app@' },
  )

  const { writable, freeBytes = -1, detail } = await transport.health()

  expect(frames.refusal).toMatchObject(full)
  expect(writable).toBe(false)
  expect(freeBytes).toBeGreaterThanOrEqual(0)
  expect(freeBytes).toBeLessThan(big.length)
  expect(detail).toMatch(/free|room/)
})

test.each(['max_bytes', 'max_msgs'] as const)('a journal at a %s of its own is full, and not overloaded', async (limit) => {
  const most = limit === 'max_bytes' ? 4 * mebibyte : 10
  const server = await startNats()
  closing.push(() => server.stop())
  const first = await openNats({ url: server.url, environment: anEnvironment() })
  await first.close()
  const nc = await connect({ servers: server.url })
  await (await jetstreamManager(nc)).streams.update('STATECAST_JOURNAL', { [limit]: most })
  await nc.close()

  const environment = anEnvironment()
  const transport = await openNats({ url: server.url, environment })
  closing.push(() => transport.close())
  const { refusal } = await fill(transport)

  expect(environment.lines.map(({ message }) => message)).toContainEqual(expect.stringContaining(`${limit} is ${most} and should be -1`))
  expect(refusal).toMatchObject(full)
  if (limit === 'max_bytes') expect(await transport.health()).toMatchObject({ writable: false, freeBytes: expect.any(Number) })
})

test('commands of a node on a full server: what is stored can be read, and health says why nothing more is', async () => {
  const server = await startNats({ jetStreamConfig: 'max_file_store: 8MB' })
  closing.push(() => server.stop())
  const runtime = await createRuntime({ transport: server.url })
  closing.push(() => runtime.close())
  await (await runtime.session('one').send('hello')).result()
  await fill(partsOf(runtime).transport, aSession('big'))

  const history = await runtime.session('one').history()

  expect(history.map(({ role }) => role)).toEqual(['user', 'assistant'])
  expect(await runtime.health()).toMatchObject({ ready: false, writable: false, detail: expect.stringContaining('no room') })
})

const mount = (...args: string[]): boolean => {
  try {
    execFileSync('mount', args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('a server whose disk is full, which it tells no publisher, is log_full all the same; with room and a restart it goes on', async ({ skip }) => {
  const store = mkdtempSync(join(tmpdir(), 'statecast-nats-full-'))
  closing.push(async () => rmSync(store, { recursive: true, force: true }))
  if (!mount('-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', store)) skip('mounting a small disk is not allowed here')
  closing.push(async () => void execFileSync('umount', [store]))
  const { server, transport, frames } = await aFullOne({ store, jetStreamConfig: 'max_file_store: 1GB' })
  const { journal } = transport

  const sick = await transport.health()
  const removal = await journal.remove(aSession()).catch((error: unknown) => error)
  const read = await journal.read(aSession(), 1)
  mount('-o', 'remount,size=100m', store)
  await server.restart()

  expect(frames.refusal).toMatchObject({ ...full, message: expect.stringContaining('disk'), hint: expect.stringContaining('restart') })
  expect(sick).toMatchObject({ writable: false, detail: expect.stringContaining('disk') })
  expect(removal).toMatchObject({ code: 'log_full' })
  expect(read).toHaveLength(frames.count)
  await expect.poll(() => journal.append({ kind: 'session', id: 'new' }, 0, big, awake)).toEqual({ outcome: 'ok' })
  expect(await transport.health()).toMatchObject({ writable: true })
  expect(await journal.read(aSession(), 1)).toHaveLength(frames.count)
})
