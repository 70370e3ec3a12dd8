/** Prints after a run what each folder cost beside its budget, and the slowest files. */
import { relative } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { type Budget, budgets } from '../budget.ts'
import { repository } from '../tidy/sources.ts'
import type { Cost } from './cost.ts'

export type FileCost = { file: string; tests: number; skipped: readonly string[]; wallMs: number; isolated: boolean; cost: Cost }
export type Row = { folder: string; files: number; isolated: number; tests: number; skipped: number; seconds: number; processes: number }

/** @param file from the root of the repository @returns its folder below test/, `.` for test/ itself */
export const folderOf = (file: string): string => {
  const [, folder, ...rest] = file.split('/')
  return rest.length > 0 ? (folder as string) : '.'
}

export const rowsOf = (files: readonly FileCost[]): Row[] => {
  const rows = new Map<string, Row>()
  for (const { file, tests, skipped, isolated, cost } of files) {
    const folder = folderOf(file)
    const row = rows.get(folder) ?? { folder, files: 0, isolated: 0, tests: 0, skipped: 0, seconds: 0, processes: 0 }
    row.files += 1
    row.isolated += isolated ? 1 : 0
    row.tests += tests
    row.skipped += skipped.length
    row.seconds += cost.cpuMs / 1_000
    row.processes += cost.processes
    rows.set(folder, row)
  }
  return [...rows.values()].sort((a, b) => b.seconds - a.seconds)
}

const measures = ['files', 'isolated', 'seconds', 'processes'] as const
/** A busy machine makes the same work dearer, so seconds have a margin. */
const margin = 1.5

/** The measures in which a folder is above its budget. */
export const exceeded = (row: Row, budget: Budget | undefined): string[] =>
  budget === undefined ? ['no budget'] : measures.filter((measure) => row[measure] > budget[measure] * (measure === 'seconds' ? margin : 1))

const cell = (value: number | string): string => String(typeof value === 'number' ? Math.round(value * 10) / 10 : value).padStart(10)

/** @param known by folder; a part of the suite has no use for it */
export const budgetTable = (rows: readonly Row[], known: Readonly<Record<string, Budget>> = budgets): string => {
  const line = ({ folder, files, isolated, tests, skipped, seconds, processes }: Row): string => {
    const budget = known[folder]
    const over = exceeded({ folder, files, isolated, tests, skipped, seconds, processes }, budget)
    return [
      folder.padEnd(12),
      ...[files, isolated, tests, skipped, seconds, budget?.seconds ?? '-', processes, budget?.processes ?? '-'].map(cell),
      over.length > 0 ? `  above its budget: ${over.join(', ')}` : '',
    ].join('')
  }
  const sum = (measure: keyof Omit<Row, 'folder'>): number => rows.reduce((total, row) => total + row[measure], 0)
  const total = [sum('files'), sum('isolated'), sum('tests'), sum('skipped'), sum('seconds'), '', sum('processes'), '']
  return [
    ['folder'.padEnd(12), ...['files', 'isolated', 'tests', 'skipped', 'CPU s', 'budget', 'processes', 'budget'].map(cell)].join(''),
    ...rows.map(line),
    ['all'.padEnd(12), ...total.map(cell)].join(''),
  ].join('\n')
}

/** @returns the five files that took the most CPU time, a line each */
export const slowest = (files: readonly FileCost[], count = 5): string =>
  [...files]
    .sort((a, b) => b.cost.cpuMs - a.cost.cpuMs)
    .slice(0, count)
    .map(({ file, wallMs, cost }) => `  ${(cost.cpuMs / 1_000).toFixed(1)} CPU s, ${(wallMs / 1_000).toFixed(1)} s: ${file}`)
    .join('\n')

export class BudgetReporter implements Reporter {
  #someByName = false

  onInit({ config }: Vitest): void {
    this.#someByName = config.testNamePattern !== undefined
  }

  /** The long tier has a reporter of its own. */
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.filter(({ project }) => project.name !== 'long').map(costOf)
    if (files.length === 0) return
    const executed = files.reduce((sum, { tests }) => sum + tests, 0)
    // Whoever names a test knows that the others do not run.
    const skipped = this.#someByName ? [] : files.flatMap((file) => file.skipped)
    console.log(`\n${executed} tests ran, ${skipped.length} were skipped${skipped.length > 0 ? ':' : ''}`)
    for (const line of skipped) console.log(`  ${line}`)
    console.log(`the slowest of ${files.length} files:\n${slowest(files)}`)
    // A budget is for all of `npm test`, not for a few files or the long tier.
    if (files.length >= fewest) console.log(`\n${budgetTable(rowsOf(files))}`)
  }
}
const fewest = 300

/** @returns the skipped tests of a file, with the reason where one is given */
export const skippedIn = (module: TestModule): string[] =>
  [...module.children.allTests()].flatMap((test) => {
    const result = test.result()
    return result.state === 'skipped' ? [`${module.relativeModuleId}: ${test.fullName}${result.note ? `: ${result.note}` : ''}`] : []
  })

const costOf = (module: TestModule): FileCost => {
  const skipped = skippedIn(module)
  return {
    file: relative(repository, module.moduleId),
    tests: [...module.children.allTests()].length - skipped.length,
    skipped,
    wallMs: module.diagnostic().duration,
    isolated: module.project.name === 'apart',
    cost: module.meta().cost ?? { cpuMs: 0, processes: 0 },
  }
}
