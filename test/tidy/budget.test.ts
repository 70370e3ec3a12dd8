/** The budgets of the short tier, as far as the files themselves tell; seconds and processes are printed by each run. */
import { expect, test } from 'vitest'
import { budgets } from '../budget.ts'
import { budgetTable, exceeded, type FileCost, folderOf, rowsOf, slowest } from '../support/budget.reporter.ts'
import { apart, isolationReason, together } from '../tiers.ts'
import { filesUnder, linesMatching, textOf } from './sources.ts'

const short = [...together, ...apart]

test('each folder of the short tier stays within its budget of files and isolated files', () => {
  const count = (files: readonly string[], folder: string) => files.filter((file) => folderOf(file) === folder).length
  const folders = [...new Set(short.map(folderOf))].sort()
  const table = folders.map((folder) => ({ folder, files: count(short, folder), isolated: count(apart, folder) }))
  for (const { folder, files, isolated } of table) {
    const { files: filesMax = 0, isolated: isolatedMax = 0, seconds = 0, processes = 0 } = budgets[folder] ?? {}
    const budget = `${files}/${filesMax} files, ${isolated}/${isolatedMax} isolated, ${seconds} CPU s, ${processes} processes`
    console.log(`${folder.padEnd(12)} ${budget}`)
  }
  expect(
    table.filter(({ folder, files, isolated }) => files > (budgets[folder]?.files ?? 0) || isolated > (budgets[folder]?.isolated ?? 0)),
    'more files than test/budget.ts allows: add the tests to a file that is there, or raise the number (docs/design/tests.md)',
  ).toEqual([])
  expect(
    Object.keys(budgets).filter((folder) => !folders.includes(folder)),
    'budgets of folders that are gone',
  ).toEqual([])
})

test('the budgets of all folders add up to at most 480 CPU-seconds', () => {
  expect(Object.values(budgets).reduce((sum, { seconds }) => sum + seconds, 0)).toBeLessThanOrEqual(480)
})

test('a file is isolated by a reason in its first comment, and by nothing else', () => {
  expect(isolationReason('/** Memory of a process. Isolated: it measures the heap of its process. */\nimport x')).toBe(
    'it measures the heap of its process.',
  )
  expect(isolationReason('/**\n * Memory.\n * Isolated: it measures.\n */\n')).toBe('it measures.')
  expect(isolationReason('/** Isolated: */\n')).toBeUndefined()
  expect(isolationReason("/** Memory. */\nimport x from 'y'\n// Isolated: too late\n")).toBeUndefined()
})

test('no helper has a hook at its top: files share a process, in which it would run for the first file alone', () => {
  const helpers = filesUnder('test').filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'test/setup.ts')
  expect(linesMatching(helpers, /^(?:before|after)(?:Each|All)\(/), 'take afterThisTest() or afterThisFile() of test/support/cleanup.ts').toEqual([])
})

test('no test replaces a module: Node loads them, and a file that shares its process would replace it for others', () => {
  const files = filesUnder('test').filter((file) => file.endsWith('.ts') && textOf(file).includes('vi.'))
  expect(linesMatching(files, /\bvi\.(?:mock|doMock|hoisted)\(/)).toEqual([])
})

const file = (path: string, cpuMs: number, processes = 0): FileCost => ({
  file: path,
  tests: 2,
  skipped: ['one: why'],
  wallMs: 10,
  isolated: false,
  cost: { cpuMs, processes },
})
const budget = { files: 2, isolated: 0, seconds: 2, processes: 1 }

test('costs are added up by folder, the dearest first', () => {
  const rows = rowsOf([
    file('test/a/x.test.ts', 1_000),
    file('test/b/c/y.test.ts', 3_000, 2),
    file('test/a/z.test.ts', 500),
    file('test/top.test.ts', 1),
  ])

  expect(rows.map(({ folder, files, seconds, processes, tests, skipped }) => [folder, files, seconds, processes, tests, skipped])).toEqual([
    ['b', 1, 3, 2, 2, 1],
    ['a', 2, 1.5, 0, 4, 2],
    ['.', 1, 0.001, 0, 2, 1],
  ])
})

test('a folder above its budget is named with the measures in which it is; seconds may be half as many more on a busy machine', () => {
  const [row] = rowsOf([file('test/a/x.test.ts', 2_900, 1)])
  const [dear] = rowsOf([file('test/a/x.test.ts', 3_100, 2)])
  if (!row || !dear) throw new TypeError('one row each')

  expect(exceeded(row, budget)).toEqual([])
  expect(exceeded(dear, budget)).toEqual(['seconds', 'processes'])
  expect(exceeded(row, undefined)).toEqual(['no budget'])
  expect(budgetTable([dear], { a: budget })).toMatch(/^a .*above its budget: seconds, processes$/m)
})

test('the slowest files are listed with their time', () => {
  expect(slowest([file('test/a/x.test.ts', 100), file('test/a/y.test.ts', 900)], 1)).toBe('  0.9 CPU s, 0.0 s: test/a/y.test.ts')
})
