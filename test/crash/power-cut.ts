/**
 * Pulls the plug on a store that is being written: `node test/crash/power-cut.ts --images 200 [--seed 7]`. The writer is stopped in its tracks at a
 * random moment and its files are copied as they lie there; of some copies the end of the write-ahead log that nobody had been promised is cut off or
 * overwritten, as a disk may leave it. Each image is then opened, and must hold every entry that was acknowledged before.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { anEnvironment, aSession, textOf } from '../transport/harness.ts'
import { seeded } from './runs.ts'

export type PowerCuts = { images: number; cut: number; garbled: number; entries: number; violations: string[] }

const appender = fileURLToPath(new URL('../transport/fixtures/appender.ts', import.meta.url))
const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const database = 'statecast.db'
const log = `${database}-wal`
const mark = `${database}.mark`

type Image = { folder: string; acknowledged: Map<string, number> }

/** @param lifeMax images of one writer, before a fresh one begins */
export const powerCuts = async (images: number, seed: number, lifeMax = 25): Promise<PowerCuts> => {
  const random = seeded(seed)
  const base = mkdtempSync(join(tmpdir(), 'statecast-power-'))
  const sum: PowerCuts = { images: 0, cut: 0, garbled: 0, entries: 0, violations: [] }
  try {
    while (sum.images < images) await aLife(join(base, String(sum.images)), Math.min(lifeMax, images - sum.images), random, sum)
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
  return sum
}

const aLife = async (base: string, images: number, random: () => number, sum: PowerCuts): Promise<void> => {
  const live = join(base, 'live')
  mkdirSync(base)
  // Into a file: a pipe that nobody empties for a moment would stop the writer.
  const said = join(base, 'said')
  const output = openSync(said, 'w')
  const writer = spawn(node, [appender, live, '6'], { stdio: ['ignore', output, 'inherit'] })
  closeSync(output)
  const ended = once(writer, 'exit')
  try {
    while (!readFileSync(said, 'utf8').startsWith('ready\n')) await sleep(5)
    const take = async (name: string): Promise<Image> => {
      writer.kill('SIGSTOP')
      await stopped(writer.pid as number)
      const image = copy(live, join(base, name), acknowledgedIn(said))
      writer.kill('SIGCONT')
      return image
    }
    for (let index = 0; index < images; index++) {
      await sleep(1 + random() * 60)
      const before = await take('before')
      if (random() < 0.4) await judge(before, sum)
      else {
        await sleep(random() * 4)
        const after = await take('after')
        harm(after, before, random, sum)
        await judge(after, sum)
      }
    }
  } finally {
    writer.kill('SIGKILL')
    await ended
  }
}

const stopped = async (pid: number): Promise<void> => {
  while (!/^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) await sleep(1)
}

const acknowledgedIn = (file: string): Map<string, number> => {
  const lines = readFileSync(file, 'utf8').split('\n').slice(1, -1)
  return new Map(lines.map((line) => line.split(' ')).map(([root = '', seq]) => [root, Number(seq)]))
}

/** Where the frames of the present log end: behind them lie those of an older one, whose salts differ (sqlite.org/fileformat2.html#walformat). */
const endOf = (file: string): number => {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  if (bytes.length < 32) return 0
  const frameBytes = 24 + bytes.readUInt32BE(8)
  const salts = bytes.subarray(16, 24)
  let at = 32
  while (at + frameBytes <= bytes.length && bytes.subarray(at + 8, at + 16).equals(salts)) at += frameBytes
  return at
}

const copy = (from: string, to: string, acknowledged: Map<string, number>): Image => {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to)
  // Not the lock and not the shared memory: they end with the machine.
  for (const file of [database, log, mark]) if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file))
  return { folder: to, acknowledged: new Map(acknowledged) }
}

/** What was written since the image before, and perhaps never reached the disk, goes; the promises made by then are the ones that count. */
const harm = (image: Image, before: Image, random: () => number, sum: PowerCuts): void => {
  const file = join(image.folder, log)
  const bytes = endOf(file)
  const promised = endOf(join(before.folder, log))
  // A checkpoint in between has begun the log anew.
  if (promised < 32 || bytes <= promised || !sameLog(image.folder, before.folder) || checkpointed(image.folder, before.folder)) return
  const end = promised + Math.floor(random() * (bytes - promised))
  if (random() < 0.5) {
    truncateSync(file, end)
    sum.cut++
  } else {
    const content = readFileSync(file)
    for (let at = end; at < bytes; at++) content[at] = Math.floor(random() * 256)
    writeFileSync(file, content)
    sum.garbled++
  }
  image.acknowledged = before.acknowledged
  // Written without a sync, so it may be the older one as well.
  copyFileSync(join(before.folder, mark), join(image.folder, mark))
}

const head = (folder: string, file: string, bytes: number): string => readFileSync(join(folder, file)).subarray(0, bytes).toString('hex')
const sameLog = (one: string, other: string): boolean => head(one, log, 32) === head(other, log, 32)
const checkpointed = (one: string, other: string): boolean => !readFileSync(join(one, database)).equals(readFileSync(join(other, database)))

const judge = async ({ folder, acknowledged }: Image, sum: PowerCuts): Promise<void> => {
  sum.images++
  try {
    const transport = await openEmbedded({ folder, environment: anEnvironment() })
    try {
      for (const [root, seq] of acknowledged) {
        const frames = await transport.journal.read(aSession(root), 1)
        sum.entries += seq
        const wrong = frames.findIndex((frame, index) => frame.seq !== index + 1 || textOf(frame.bytes) !== `${root} says ${index + 1}`)
        if (frames.length < seq) sum.violations.push(`${root} had ${seq} acknowledged entries, ${frames.length} are left`)
        if (wrong >= 0) sum.violations.push(`entry ${wrong + 1} of ${root} is not what was written`)
      }
    } finally {
      await transport.close()
    }
  } catch (error) {
    sum.violations.push(`the image cannot be opened: ${String(error)}`)
  }
  rmSync(folder, { recursive: true, force: true })
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { images: { type: 'string', default: '200' }, seed: { type: 'string', default: '7' } } })
  const { images, cut, garbled, entries, violations } = await powerCuts(Number(values.images), Number(values.seed))
  for (const violation of violations) console.log(violation)
  console.log(
    `${images} images opened, the end of the log cut in ${cut} and overwritten in ${garbled}: ${entries} acknowledged entries, ${violations.length} violations`,
  )
  process.exit(violations.length === 0 ? 0 : 1)
}
