/** How long does a session of 10,000 turns take to come back from disk, with the snapshots that it has? */

import { cpSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { decode, decodeCommit } from '../src/actors/journal/codec.ts'
import type { Runtime } from '../src/index.ts'
import { partsOf } from '../src/runtime/index.ts'
import { amount, ask, type Table } from './measure.ts'
import { benchRuntime, delta, instantModel, turn, withFolder } from './workload.ts'

const turns = amount(10_000)
const limitMs = 20
const turnMs = 10
const key = 'long'
/** Short answers: what counts is how many turns there were. */
const model = instantModel([delta, delta])

/** @param resume false leaves the session asleep until somebody asks for it */
const open = (folder: string, resume = true): Promise<Runtime> => benchRuntime({ transport: `embedded:${folder}`, resume }, model)

/** As a conversation of some length is, it is compacted now and then. */
const compactEvery = 200

const talk = async (runtime: Runtime, count: number): Promise<void> => {
  for (let index = 1; index <= count; index++) {
    await turn(runtime, key, 'plain', 2 * delta.length)
    if (index % compactEvery !== compactEvery / 2) continue
    await runtime.session(key).compact()
    while ((await runtime.session(key).view()).state !== 'awaiting-input') await new Promise((resolve) => setImmediate(resolve))
  }
}

/** ms of something that is done once, in a runtime that has just opened the folder. */
const afterOpening = (folder: string, work: (runtime: Runtime) => Promise<unknown>) => async (): Promise<number> => {
  const runtime = await open(folder, false)
  const start = performance.now()
  await work(runtime)
  const took = performance.now() - start
  // As a kill would: closing would save a snapshot.
  partsOf(runtime).host.abandon()
  await runtime.close()
  return took
}

/** ms to read the newest snapshot and the commits after it, and to decode them. */
const bareRead = (folder: string) => (): number => {
  const database = new DatabaseSync(join(folder, 'statecast.db'), { readOnly: true })
  const start = performance.now()
  const snapshot = database.prepare('SELECT seq, bytes FROM snapshots').get()
  decode(snapshot?.bytes as Uint8Array)
  const frames = database.prepare('SELECT seq, bytes FROM frames WHERE seq > ? ORDER BY seq').all(Number(snapshot?.seq))
  for (const { seq, bytes } of frames) decodeCommit(bytes as Uint8Array, { address: `session/${key}`, seq: Number(seq) })
  const took = performance.now() - start
  database.close()
  return took
}

/** Where syncing costs nothing, for a journal that is only to be made, not measured. */
const inMemory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const view = (runtime: Runtime) => runtime.session(key).view()

export const run = (): Promise<Table[]> =>
  withFolder(async (folder) => {
    const [closed, killed] = [join(folder, 'closed'), join(folder, 'killed')]
    await withFolder(async (fast) => {
      const runtime = await open(fast)
      await talk(runtime, turns)
      await runtime.close()
      for (const place of [closed, killed]) cpSync(fast, place, { recursive: true })
    }, inMemory)
    // Two commits a turn and a snapshot every hundred: killed when the most commits lie behind the last one.
    const again = await open(killed)
    await talk(again, 49)
    partsOf(again).host.abandon()
    await again.close()
    const rows = {
      closed: 'back from the snapshot of a clean end',
      killed: 'back from a kill, 98 commits after the snapshot',
      history: 'back from a clean end, its conversation read as well, as the next turn needs it',
    }
    return [
      await ask({
        title: `a session of ${turns.toLocaleString('en')} turns back from disk, in a process that has just opened the folder`,
        unit: 'ms',
        contenders: [
          { name: 'floor: snapshot and 98 commits read and decoded', round: bareRead(killed) },
          { name: rows.closed, round: afterOpening(closed, view) },
          { name: rows.killed, round: afterOpening(killed, view) },
          { name: rows.history, round: afterOpening(closed, async (runtime) => [await view(runtime), await runtime.session(key).history()]) },
        ],
        goals: [
          ...[rows.closed, rows.killed].map((row) => ({ row, of: 'median', bound: 'at most', limit: limitMs }) as const),
          { row: rows.history, of: 'median', bound: 'at most', limit: turnMs },
        ],
        note: `The conversation is compacted every ${compactEvery} turns. It is folded from the end of the journal, as far as it reaches back, for the first turn after a start, and then kept.`,
      }),
    ]
  })

if (import.meta.main) await run()
