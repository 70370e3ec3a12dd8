/** All benchmarks run and stand beside their floors. What they measure is not asserted here: time belongs to the machine. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { inChild } from '../bench/child.ts'

const root = join(import.meta.dirname, '..')
/** Machines with few cores run other tests meanwhile. */
const patienceMs = 180_000

const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: root, env: { ...process.env, BENCH_QUICK: '1' } })

const bench = async (name: string): Promise<string> => (await run(`bench/${name}.bench.ts`)).stdout

test.each([
  [
    '[SHOW-BENCH-TURN] a durable turn is measured beside its bare appends',
    'durable-turn',
    'floor: the bare appends',
    'statecast, on disk and synced',
  ],
  ['[SHOW-BENCH-EVENT] an event of a root is measured beside plain XState', 'root-event', 'plain XState', 'root, 100 in flight'],
  ['[SHOW-BENCH-RECOVERY] recovery is measured per input, beside plain XState', 'recovery', 'floor: the same events', 'a root, one input a commit'],
  ['turns are measured beside a bare actor and grouped appends, each in its own process', 'turns', 'floor: XState, grouped', 'statecast, in memory'],
  ['deltas are measured beside a generator and an emitter', 'deltas', 'floor: a bare EventEmitter', 'statecast, an await a delta'],
  ['the first delta is measured beside a bare provider, over HTTP', 'first-delta', 'floor: doStream()', 'statecast, in memory'],
  ['a long session is brought back beside a bare read', 'long-session', 'floor: snapshot and', 'back from a kill'],
])(
  '%s',
  async (_, name, floor, subject) => {
    const printed = await bench(name)

    expect(printed).toContain(floor)
    expect(printed).toContain(subject)
    expect(printed).toMatch(/× +\d+\.\d\d/)
  },
  patienceMs,
)

test(
  'memory of live, passivated and many sessions is measured in processes of their own',
  async () => {
    const printed = await bench('memory')

    expect(printed).toContain('a session: machine, transcript, ledger')
    expect(printed).toContain('a passivated session')
    expect(printed).toMatch(/^ {2}300 sessions +\d/m)
  },
  patienceMs,
)

test(
  'bytes are measured beside what was said',
  async () => {
    const printed = await bench('bytes')

    expect(printed).toMatch(/what was said: .* 505\n/)
    expect(printed).toContain('the goal is at most 1,630')
  },
  patienceMs,
)

test(
  'the soak runs for as long as it is told and ends with its memory',
  async () => {
    const { stdout } = await run('bench/soak.ts', '--minutes', '0.03')

    expect(stdout).toContain('RSS, last sample')
    expect(stdout).toContain('Too short for a slope')
  },
  patienceMs,
)

test('the runner asks one question at a time, names machine and versions, and refuses what it does not know', async () => {
  const { stdout } = await run('bench/run.ts', '--only', 'commits')
  expect(stdout).toMatch(/cores, .*\nNode \d+.*SQLite.*xstate/)
  expect(stdout).toContain('5 of 5 goals met')
  expect(stdout).not.toContain('kept in')

  await expect(run('bench/run.ts', '--only', 'nonsense')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('there are: turns') })
})

test('a contender that dies, fails or is no module is an error with a reason', async () => {
  const program = new URL('../bench/turns/measured.ts', import.meta.url)
  const input = { module: 'data:text/javascript,export const open = () => { throw new Error("no such peer") }', variant: '', folder: '', sizes: {} }

  await expect(inChild(program, input)).rejects.toThrow('no such peer')
  await expect(inChild(program, { ...input, module: 'data:text/javascript,process.exit(3)' })).rejects.toThrow('ended with 3')
  await expect(inChild(program, { ...input, module: 'nowhere' })).rejects.toThrow("Cannot find package 'nowhere'")
})

test('a contender that loses a delta has no figures', async () => {
  const program = new URL('../bench/turns/measured.ts', import.meta.url)
  const lossy = `export const open = ({ deltas, delta }) => ({ talk: () => ({ say: async (message, heard) => {
    for (let index = 1; index < deltas; index++) heard(delta)
    return delta.repeat(deltas)
  } }) })`
  const sizes = { warmUpMs: 1, turns: 1, sessions: 1, each: 1, long: 1, longTurns: 20 }

  await expect(inChild(program, { module: `data:text/javascript,${encodeURIComponent(lossy)}`, variant: '', folder: '', sizes })).rejects.toThrow(
    '495 of 500 characters',
  )
})
