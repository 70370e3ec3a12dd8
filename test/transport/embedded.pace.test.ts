/** Where a commit is made: on the main thread when it is light and the disk quick, else in the writer thread; and that nobody can tell by the answers. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { Pace } from '../../src/transport/embedded/pace.ts'
import { folders } from './folder.ts'
import { anEnvironment, aSession, awake, bytesOf } from './harness.ts'
import { appendAll, shown } from './journal.contract.ts'

const aFolder = folders()

/** A store whose disk is quick, however busy this machine is; and what is said to its writer thread. */
const aStore = async () => {
  const pace = new Pace()
  const said = vi.spyOn(Worker.prototype, 'postMessage')
  const folder = aFolder()
  const transport = await openEmbedded({
    folder,
    environment: anEnvironment(),
    writer: { pace: { here: (requests, sizeBytes) => pace.here(requests, sizeBytes), took: () => undefined } },
  })
  onTestFinished(async () => {
    await transport.close()
    vi.restoreAllMocks()
  })
  const append = (seq: number, id = 'one', bytes = bytesOf(`frame ${seq}`)) => transport.journal.append(aSession(id), seq - 1, bytes, awake)
  return { folder, transport, append, batches: () => said.mock.calls.filter(([message]) => typeof message === 'object').length }
}
const many = (count: number, act: (index: number) => Promise<unknown>) => Promise.all(Array.from({ length: count }, (_, index) => act(index)))
const readBack = async ({ journal }: Transport, id = 'one') => shown(await journal.read(aSession(id), 1))
const frames = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}:frame ${index + 1}`)

test('a commit that is alone wakes no other thread', async () => {
  const { transport, append, batches } = await aStore()

  for (let seq = 1; seq <= 20; seq += 1) expect(await append(seq)).toEqual({ outcome: 'ok' })

  expect(batches()).toBe(0)
  expect(await readBack(transport)).toEqual(frames(20))
})

test('what is much goes to the thread, and what is asked meanwhile follows it there; then commits are made here again', async () => {
  const { transport, append, batches } = await aStore()

  await many(40, (index) => append(1, `s${index}`))
  const afterMany = batches()
  await append(1, 'big', new Uint8Array(1024 * 1024))
  const afterBig = batches()
  const meanwhile = [many(40, (index) => append(2, `s${index}`)), new Promise(setImmediate).then(() => append(1))]
  await Promise.all(meanwhile)
  const afterBoth = batches()
  for (let seq = 2; seq <= 5; seq += 1) await append(seq)

  expect([afterMany, afterBig]).toEqual([1, 2])
  expect(afterBoth).toBeGreaterThanOrEqual(3)
  expect(batches()).toBe(afterBoth)
  expect(await readBack(transport)).toEqual(frames(5))
  expect(await readBack(transport, 's39')).toEqual(frames(2))
})

test('appends, removals and snapshots that are made here and there in turns see each other', async () => {
  const { transport, append } = await aStore()
  const { journal } = transport
  const there = (seq: number, id: string) =>
    many(20, (index) => (index === 0 ? append(seq, id) : journal.saveSnapshot(aSession('none'), 1, bytesOf('x'))))

  for (let round = 0; round < 3; round += 1) {
    await append(1)
    await there(2, 'one')
    await append(3)
    expect(await append(3)).toEqual({ outcome: 'fenced', last: 3 })
    await there(4, 'one')
    expect(await readBack(transport)).toEqual(frames(4))
    if (round === 1) await many(20, (index) => journal.remove(aSession(index === 0 ? 'one' : 'none')))
    else await journal.remove(aSession())
    expect(await journal.head(aSession())).toBeUndefined()
  }
  await there(1, 'last')
  await transport.close()
})

test('while another program has the file, the main thread does not wait for it', async () => {
  const { folder, transport, append, batches } = await aStore()
  await append(1)
  const other = new DatabaseSync(join(folder, 'statecast.db'))
  other.exec('BEGIN IMMEDIATE')

  const waiting = append(2)
  while (batches() === 0) await new Promise(setImmediate)
  other.exec('COMMIT')
  other.close()

  expect(await waiting).toEqual({ outcome: 'ok' })
  expect(await readBack(transport)).toEqual(frames(2))
})

test('the write-ahead log is begun anew although commits never pause', async () => {
  const { folder, transport, append } = await aStore()
  const bytes = new Uint8Array(100_000)

  for (let seq = 1; seq <= 500; seq += 1) await append(seq, 'one', bytes)

  const [writtenPages, pageBytes] = [500 * 27, 4_120]
  expect(statSync(join(folder, 'statecast.db-wal')).size).toBeLessThan((writtenPages / 2) * pageBytes)
  expect(await transport.journal.head(aSession())).toMatchObject({ seq: 500 })
})

test('while another program reads what was before, the log grows; it is begun anew when that one has ended', async () => {
  const { folder, transport, append } = await aStore()
  await append(1)
  const logPages = () => statSync(join(folder, 'statecast.db-wal')).size / 4_120
  const other = new DatabaseSync(join(folder, 'statecast.db'), { readOnly: true })
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM frames').get()

  for (let seq = 2; seq <= 250; seq += 1) await append(seq, 'one', new Uint8Array(100_000))
  const whileRead = logPages()
  other.close()
  for (let seq = 251; seq <= 500; seq += 1) await append(seq, 'one', new Uint8Array(100_000))

  expect(whileRead).toBeGreaterThan(6_000)
  expect(logPages()).toBeLessThan(whileRead + 3_000)
  expect(await transport.journal.head(aSession())).toMatchObject({ seq: 500 })
})

test('a store that is closed right after a commit here has its log emptied, and opens again [INV-20]', async () => {
  const { folder, transport, append } = await aStore()
  await append(1)
  await many(40, (index) => append(1, `s${index}`))
  await append(2)
  await transport.close()

  const again = await openEmbedded({ folder, environment: anEnvironment() })
  await appendAll(again.journal, ['a'], aSession('new'))

  expect(await readBack(again)).toEqual(frames(2))
  await again.close()
  expect(statSync(join(folder, 'statecast.db-wal'), { throwIfNoEntry: false })).toBeUndefined()
})

test('a slow disk holds the main thread up for some commits only, until it is quick again', () => {
  const pace = new Pace()
  const commits = (tookMs: number): number => {
    let count = 0
    for (const before = pace.here(1, 100); pace.here(1, 100) === before; count += 1) pace.took(tookMs, 1)
    return count
  }
  for (let count = 0; count < 100; count += 1) pace.took(0.2, 1)

  const untilSlow = commits(3)
  const untilQuick = commits(0.2)

  expect([untilSlow, untilQuick]).toEqual([2, 2])
  expect(commits(1_000)).toBe(1)
})

test('many requests in one commit say nothing about the disk, and are not light; nor are many bytes', () => {
  const pace = new Pace()

  for (let count = 0; count < 20; count += 1) pace.took(50, 200)

  expect(pace.here(16, 100_000)).toBe(true)
  expect([pace.here(17, 100), pace.here(1, 200_000)]).toEqual([false, false])
})
