/** The benchmarks run and stand beside their floors. What they measure is not asserted here: time belongs to the machine. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

const bench = async (file: string): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'bench', file)], { env: { ...process.env, BENCH_QUICK: '1' } })
  return stdout
}

test.each([
  [
    '[SHOW-BENCH-TURN] a durable turn is measured beside its bare appends',
    'durable-turn.bench.ts',
    'floor: the bare appends',
    'statecast, on disk and synced',
  ],
  ['[SHOW-BENCH-EVENT] an event of a root is measured beside plain XState', 'root-event.bench.ts', 'plain XState', 'root, 100 in flight'],
  [
    '[SHOW-BENCH-RECOVERY] recovery is measured per input, beside plain XState',
    'recovery.bench.ts',
    'floor: the same events',
    'a root, one input a commit',
  ],
])('%s', async (_, file, floor, subject) => {
  const printed = await bench(file)

  expect(printed).toContain(floor)
  expect(printed).toContain(subject)
  expect(printed).toMatch(/× \d+\.\d\d/)
})

test('a durable plain turn is two commits and a tool turn four, whatever was streamed', async () => {
  const printed = await bench('durable-turn.bench.ts')

  expect(printed).toMatch(/plain turn of 100 deltas: 2 commits/)
  expect(printed).toMatch(/tool turn of 100 deltas: 4 commits/)
})
