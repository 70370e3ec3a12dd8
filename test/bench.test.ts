/** The benchmarks run and stand beside their floors. What they measure is not asserted here: time belongs to the machine. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { figure, goal, median, percentile, rowOf, type Table } from '../bench/measure.ts'
import { performancePage } from '../bench/page.ts'
import { peers } from '../bench/peers/install.ts'
import { apart, questions } from '../bench/questions.ts'
import { readmePage } from '../bench/readme.ts'
import { changedSince, sourcesOf } from '../bench/sources.ts'

const root = join(import.meta.dirname, '..')
/** Machines with few cores run other tests meanwhile. */
const patienceMs = 180_000

const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: root, env: { ...process.env, BENCH_QUICK: '1' } })

const bench = async (name: string): Promise<string> => (await run(`bench/${name}.bench.ts`)).stdout

test(
  'a durable plain turn is two commits and a tool turn four, whatever was streamed and however many tools were called at once',
  async () => {
    const printed = await bench('commits')

    expect(printed).toMatch(/a plain turn, 10,000 deltas +2\n/)
    expect(printed).toMatch(/eight calls at once +4\n/)
    expect(printed).not.toContain('NOT MET')
  },
  patienceMs,
)

test('every question has its file, and those that are no part of the run are told apart', () => {
  for (const name of Object.keys(questions)) {
    const file = join(root, 'bench', apart.has(name) ? `${name}.ts` : `${name}.bench.ts`)
    expect(readFileSync(file, 'utf8')).toContain('/**')
  }
})

test('peers are pinned to exact versions, and none of them comes with the package', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'bench/peers/package.json'), 'utf8')) as { dependencies: Record<string, string> }
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>
  const wanted = peers.flatMap(({ packages }) => packages)

  expect(wanted.filter((name) => !/^\d+\.\d+\.\d+$/.test(dependencies[name] ?? ''))).toEqual([])
  expect(Object.keys(dependencies).filter((name) => !wanted.includes(name))).toEqual([])
  const ours = Object.keys({ ...own.dependencies, ...own.peerDependencies })
  expect(peers.map(({ packages: [name] }) => name).filter((name) => ours.includes(name ?? ''))).toEqual([])
})

test('medians, percentiles and ratios are those of the rounds', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 2, 3])).toBe(2.5)
  expect(percentile([...Array(100).keys()], 0.99)).toBe(98)
  expect(percentile([7], 0.99)).toBe(7)
  // Each round by itself: a machine that was slow in one was slow for both.
  expect(
    rowOf(
      'x',
      [2, 40, 6],
      [
        [
          [2, 40, 6],
          [1, 20, 3],
        ],
        null,
      ],
    ),
  ).toEqual({ name: 'x', median: 6, min: 2, max: 40, ratios: [2, null] })
  expect([1_234_567, 12.345, 1.2345, 2, Number.NaN].map(figure)).toEqual(['1,234,567', '12.3', '1.23', '2', '–'])
})

test('the page says what was not met and what could not be measured, each figure beside its command', () => {
  const table: Table = {
    title: 'a turn',
    unit: 'µs',
    rounds: 3,
    ratios: ['ratio to the first'],
    rows: [rowOf('floor', [1, 2, 3], [[[1], [1]]]), { name: 'a peer', failed: 'npm install failed: 404 | no such thing' }],
    goals: [goal('statecast, against the floor', 7, 'at most', 6, 'times'), goal('commits', 2, 'exactly', 2, 'commits')],
    note: 'All arrived.',
  }
  const command = 'npm run bench -- --only turns'
  const answer = { question: 'What?', command, at: '2026-01-02T03:04:05.000Z', commit: 'abc', machine: 'a box', versions: 'Node 0', load: 1.25 }

  const page = performancePage({ turns: { ...answer, tables: [table] } })

  expect(page).toContain('1 of 2 goals are met. These are not:')
  expect(page).toContain('| turns | a turn | statecast, against the floor | 7 times | at most 6 |')
  expect(page).toContain('`npm run bench -- --only turns`, 2026-01-02 03:04 UTC, commit abc, load 1.3, medians of 3 rounds.')
  expect(page).toContain('| floor | 2 | 1–3 | × 1 |')
  expect(page).toContain('| a peer | not measured: npm install failed: 404 \\| no such thing |  |  |')
  expect(page).toContain('- **Goal not met**: statecast, against the floor: 7 times, the goal is at most 6.')
  expect(page).toContain('a box; Node 0')
  expect(performancePage({})).toBeUndefined()
})

test('figures say which commit they are of, and a page that shows those of other sources says so', () => {
  const command = 'npm run bench -- --only turns'
  const answer = {
    question: 'What?',
    command,
    at: '2026-01-02T03:04:05.000Z',
    commit: 'abc',
    machine: 'a box',
    versions: 'Node 0',
    load: 0,
    tables: [],
  }
  const page = (sources?: string) => performancePage({ turns: { ...answer, ...(sources === undefined ? {} : { sources }) } }, 'these')

  expect(page('these')).not.toContain(`**${changedSince}`)
  expect(page('others')).toContain(` rounds. **${changedSince}.**`)
  expect(page()).toContain(`**${changedSince}.**`)
  expect(readmePage({ turns: { ...answer, sources: 'others' } }, 'these')).toContain(`Measured at commit abc. **${changedSince}.**`)
  expect(readmePage({ turns: { ...answer, sources: 'these' } }, 'these')).not.toContain(changedSince)
})

test('sources are the same until the name or the text of one of them changes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-sources-'))
  writeFileSync(join(folder, 'a.ts'), 'a')
  const first = sourcesOf(folder)

  expect(sourcesOf(folder)).toBe(first)
  writeFileSync(join(folder, 'a.ts'), 'b')
  expect(sourcesOf(folder)).not.toBe(first)
  writeFileSync(join(folder, 'a.ts'), 'a')
  renameSync(join(folder, 'a.ts'), join(folder, 'b.ts'))
  expect(sourcesOf(folder)).not.toBe(first)
  rmSync(folder, { recursive: true })
})
