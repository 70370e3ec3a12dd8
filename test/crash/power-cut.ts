/**
 * Pulls the plug on a store that is being written: `node test/crash/power-cut.ts --images 200 [--seed 7]`. The writer runs on a disk that writes down
 * what it is asked for (disk.ts). At a random moment of that the power goes: what was synced is there, and of the rest nothing, or any sectors. Each
 * such image is then opened, and must hold every entry that was acknowledged by then.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { diskFolder } from '../support/scratch.ts'
import { anEnvironment, aSession, textOf } from '../transport/harness.ts'
import { compileShim, Disk, type DiskEvent, readTrace, sectorBytes } from './disk.ts'
import { seeded } from './runs.ts'

/** `lossy` of the images lack something that was written and not synced; in `torn` of them some of that is there. */
export type PowerCuts = { images: number; lossy: number; torn: number; syncs: number; entries: number; violations: string[] }

const appender = fileURLToPath(new URL('../transport/fixtures/appender.ts', import.meta.url))
const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
/** The shared memory ends with the machine. */
const kept = new Set(['statecast.db', 'statecast.db-wal', 'statecast.db-journal', 'statecast.db.mark'])
/** Acknowledgements of one writer: enough for the log to be begun anew some times. */
const lifeLines = 3_000

/** In turns, whatever the disk of this machine is like: all in the writer thread, all on the main thread, as it comes. */
const places = ['thread', 'here', ''] as const

/** @param lifeMax images of one writer, before a fresh one begins */
export const powerCuts = async (images: number, seed: number, lifeMax = 14): Promise<PowerCuts> => {
  const random = seeded(seed)
  const base = diskFolder('statecast-power-')
  const sum: PowerCuts = { images: 0, lossy: 0, torn: 0, syncs: 0, entries: 0, violations: [] }
  try {
    const shim = compileShim(base)
    for (let life = 0; sum.images < images; life++) {
      const folder = join(base, String(sum.images))
      await cutOften(await aLife(folder, shim, places[life % places.length]), folder, Math.min(lifeMax, images - sum.images), random, sum)
      rmSync(folder, { recursive: true, force: true })
    }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
  return sum
}

/** What a writer asked of its disk until it was killed in the middle. */
const aLife = async (base: string, shim: string, place = ''): Promise<DiskEvent[]> => {
  mkdirSync(base)
  const [live, said, trace] = [join(base, 'live'), join(base, 'said'), join(base, 'trace')]
  const output = openSync(said, 'w')
  const env = { ...process.env, LD_PRELOAD: shim, DISK_TRACE: trace, DISK_FILES: join(live, 'statecast.db') }
  const writer = spawn(node, [appender, live, '6', place], { stdio: ['ignore', output, 'inherit'], env })
  closeSync(output)
  const ended = once(writer, 'exit')
  try {
    while (writer.exitCode === null && readFileSync(said, 'utf8').split('\n').length <= lifeLines) await sleep(20)
  } finally {
    writer.kill('SIGKILL')
    await ended
  }
  return readTrace(trace).filter((event) => event.what === 'said' || kept.has(event.file))
}

const cutOften = async (events: DiskEvent[], base: string, images: number, random: () => number, sum: PowerCuts): Promise<void> => {
  const begin = events.findIndex((event) => event.what === 'said')
  const anywhere = Array.from({ length: images }, () => begin + Math.ceil(random() * (events.length - begin))).sort((a, b) => a - b)
  // Every second one just after a write that is not synced; of half of all, some of what was not synced is there.
  const cuts = anywhere.map((cut, index) => (index % 2 === 0 ? cut : afterWrite(events, cut))).sort((a, b) => a - b)
  sum.syncs += events.filter(({ what }) => what === 'synced').length
  const disk = new Disk()
  let said = ''
  let place = 0
  for (const [index, cut] of cuts.entries()) {
    for (; place < cut; place++) {
      const event = events[place]!
      disk.see(event)
      if (event.what === 'said') said += event.text
    }
    const image = join(base, 'image')
    mkdirSync(image)
    let left = 0
    const chance = index % 4 < 2 ? 0 : 0.2 + 0.6 * random()
    const lacking = disk.writeTo(image, () => random() < chance && ++left > 0)
    // The mark is never synced, so it says nothing.
    const lossy = lacking.has('statecast.db-wal') || lacking.has('statecast.db')
    sum.images++
    if (lossy) sum.lossy++
    if (lossy && left > 0) sum.torn++
    await judge(image, acknowledgedIn(said), sum)
    rmSync(image, { recursive: true })
  }
}

/** Right after the next page is written to the log, or where it was when there is none. */
const afterWrite = (events: DiskEvent[], cut: number): number => {
  const next = events.findIndex(
    (event, place) => place >= cut && event.what === 'written' && event.file === 'statecast.db-wal' && event.data.length > sectorBytes,
  )
  return next < 0 ? cut : next + 1
}

const acknowledgedIn = (said: string): Map<string, number> => {
  const lines = said.split('\n').slice(1, -1)
  return new Map(lines.map((line) => line.split(' ')).map(([root = '', seq]) => [root, Number(seq)]))
}

const judge = async (folder: string, acknowledged: Map<string, number>, sum: PowerCuts): Promise<void> => {
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
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { images: { type: 'string', default: '200' }, seed: { type: 'string', default: '7' } } })
  const { images, lossy, torn, syncs, entries, violations } = await powerCuts(Number(values.images), Number(values.seed))
  for (const violation of violations) console.log(violation)
  console.log(
    `${images} images opened after ${syncs} syncs, ${lossy} without what was written and not synced, ${torn} of them with parts of it: ` +
      `${entries} acknowledged entries, ${violations.length} violations`,
  )
  process.exit(violations.length === 0 ? 0 : 1)
}
