/** How many commits does a turn need? Counted in the journal on disk, not timed. */

import { decodeCommit } from '../src/actors/journal/codec.ts'
import type { Runtime } from '../src/index.ts'
import { partsOf } from '../src/runtime/index.ts'
import { goal, plainTable, show, type Table } from './measure.ts'
import { benchRuntime, delta, instantModel, turn, withFolder } from './workload.ts'

const address = (id: string) => ({ kind: 'session', id })

const seqOf = async (runtime: Runtime, id: string): Promise<number> => (await partsOf(runtime).transport.journal.head(address(id)))?.seq ?? 0

/** What the second turn of a session adds to its journal: the first one also creates the session. */
const counted = async (message: string, answerDeltas: number): Promise<{ commits: number; deltas: number }> =>
  withFolder(async (folder) => {
    const runtime = await benchRuntime({ transport: `embedded:${folder}` }, instantModel(Array<string>(answerDeltas).fill(delta)))
    await turn(runtime, 'one', message, answerDeltas * delta.length)
    const before = await seqOf(runtime, 'one')
    await turn(runtime, 'one', message, answerDeltas * delta.length)
    const commits = (await seqOf(runtime, 'one')) - before
    const frames = await partsOf(runtime).transport.journal.read(address('one'), 1)
    const inputs = frames.flatMap(({ seq, bytes }) => decodeCommit(bytes, { address: 'session/one', seq }).inputs)
    await runtime.close()
    return { commits, deltas: inputs.filter((input) => 'event' in input && input.event.type === 'delta').length }
  })

export const run = async (): Promise<Table[]> => {
  const cases = [
    { name: 'a plain turn, 100 deltas', message: 'plain', deltas: 100, expected: 2 },
    { name: 'a plain turn, 10,000 deltas', message: 'plain', deltas: 10_000, expected: 2 },
    { name: 'a tool turn: one step, one call', message: 'tool', deltas: 100, expected: 4 },
    { name: 'a tool turn: one step, eight calls at once', message: 'tool 8', deltas: 100, expected: 4 },
  ]
  const figures: [string, number][] = []
  const goals = []
  let stored = 0
  for (const { name, message, deltas, expected } of cases) {
    const { commits, deltas: found } = await counted(message, deltas)
    stored += found
    figures.push([name, commits])
    goals.push(goal(name, commits, 'exactly', expected, 'commits'))
  }
  figures.push(['deltas in the journals of all these', stored])
  goals.push(goal('deltas in the journals', stored, 'exactly', 0, 'deltas'))
  const table = plainTable('commits of a turn', 'commits', figures, goals)
  show(table)
  return [table]
}

if (import.meta.main) await run()
