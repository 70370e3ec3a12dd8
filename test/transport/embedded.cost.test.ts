/** What a turn costs on disk, counted: the same on every machine. The numbers may only fall. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { agent, createRuntime } from '../../src/index.ts'
import { Pace } from '../../src/transport/embedded/pace.ts'
import { folders } from './folder.ts'

const aFolder = folders()
const pageBytes = 4096
const [logHeadBytes, frameHeadBytes] = [32, 24]

/** Pages in the write-ahead log. Behind them stand those of before it was begun anew, which have another salt. */
const pagesIn = (folder: string): number => {
  const log = openSync(join(folder, 'statecast.db-wal'), 'r')
  try {
    const salt = (at: number): string => {
      const bytes = Buffer.alloc(8)
      readSync(log, bytes, 0, 8, at)
      return bytes.toString('hex')
    }
    const current = salt(16)
    let pages = 0
    for (let at = logHeadBytes; at < fstatSync(log).size && salt(at + 8) === current; at += frameHeadBytes + pageBytes) pages += 1
    return pages
  } finally {
    closeSync(log)
  }
}

const aRuntime = async () => {
  const folder = aFolder()
  const text = 'word '.repeat(100)
  const runtime = await createRuntime({
    transport: `embedded:${folder}`,
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': () => ({ text, usage: { inputTokens: 10, outputTokens: 100 } }) },
  })
  onTestFinished(() => runtime.close())
  const turn = async (key: string) => expect((await (await runtime.session(key).send('hello')).result()).text).toBe(text)
  return { folder, turn }
}

test.each([
  ['one session', 1],
  ['forty sessions in turns', 40],
])('a plain turn of %s writes at most 5.6 pages, for two commits', async (_, sessions) => {
  const { folder, turn } = await aRuntime()
  for (let index = 0; index < sessions; index += 1) await turn(`s${index}`)
  const before = pagesIn(folder)

  const turns = 80
  for (let index = 0; index < turns; index += 1) await turn(`s${index % sessions}`)

  expect((pagesIn(folder) - before) / turns).toBeLessThanOrEqual(5.6)
})

/** Messages to a thread and from one: each wakes one that sleeps. */
const countWakes = () => {
  const out = vi.spyOn(Worker.prototype, 'postMessage')
  const back = vi.spyOn(Worker.prototype, 'emit')
  onTestFinished(() => void vi.restoreAllMocks())
  return () => out.mock.calls.length + back.mock.calls.filter(([event]) => event === 'message').length
}

test('a commit of a plain turn wakes no other thread on a quick disk, but for one checkpoint in some hundred', async () => {
  // However slow this one is.
  vi.spyOn(Pace.prototype, 'took').mockReturnValue()
  const { turn } = await aRuntime()
  await turn('one')
  const wakes = countWakes()

  for (let index = 0; index < 50; index += 1) await turn('one')

  expect(wakes()).toBeLessThanOrEqual(2)
})

test('where the writer thread commits, a commit wakes it once, and it answers once', async () => {
  vi.spyOn(Pace.prototype, 'here').mockReturnValue(false)
  const { turn } = await aRuntime()
  await turn('one')
  const wakes = countWakes()

  for (let index = 0; index < 50; index += 1) await turn('one')

  expect(wakes() / (2 * 50)).toBeLessThanOrEqual(2.1)
})

test('two hundred turns at once share their pages: at most 2 a turn', async () => {
  const { folder, turn } = await aRuntime()
  const all = () => Promise.all(Array.from({ length: 200 }, (_, index) => turn(`s${index}`)))
  await all()
  const before = pagesIn(folder)

  await all()

  expect((pagesIn(folder) - before) / 200).toBeLessThanOrEqual(2)
})
