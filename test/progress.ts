/** Prints a line for each file of the long tier as it ends, and what the tier ran at its end. */
import type { Reporter, TestModule, TestSpecification } from 'vitest/node'
import { skippedIn } from './support/budget.reporter.ts'

/** A file above it, on two quiet cores, leaves one of them idle at the end. */
const fileMaxMs = 180_000

/** The project in vitest.config.ts. */
const tier = 'long'

type Ended = { file: string; ms: number; ran: number; failed: number; skipped: string[] }

const minutes = (ms: number): string => {
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

const endOf = (module: TestModule): Ended => {
  const states = [...module.children.allTests()].map((test) => test.result().state)
  const count = (wanted: string) => states.filter((state) => state === wanted).length
  const failed = count('failed') + (module.errors().length > 0 ? 1 : 0)
  return {
    file: module.relativeModuleId,
    ms: module.diagnostic().duration,
    ran: count('passed') + count('failed'),
    failed,
    skipped: skippedIn(module),
  }
}

export class Progress implements Reporter {
  #began = 0
  #total = 0
  readonly #ended: Ended[] = []

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#began = Date.now()
    this.#total = files.filter(({ project }) => project.name === tier).length
  }

  onTestModuleEnd(module: TestModule): void {
    if (module.project.name !== tier) return
    const end = endOf(module)
    this.#ended.push(end)
    const place = `[${this.#ended.length}/${this.#total}] ${minutes(Date.now() - this.#began)}`
    console.log(
      `${place}  ${end.file}: ${end.ran} ${end.ran === 1 ? 'test' : 'tests'} in ${minutes(end.ms)}${end.failed > 0 ? `, ${end.failed} FAILED` : ''}`,
    )
  }

  onTestRunEnd(): void {
    if (this.#ended.length === 0) return
    const sum = (of: (end: Ended) => number) => this.#ended.reduce((total, end) => total + of(end), 0)
    const slowest = this.#ended.toSorted((one, other) => other.ms - one.ms)
    console.log(
      `long tier: ${sum(({ ran }) => ran)} tests ran in ${this.#ended.length} files, ${sum(({ skipped }) => skipped.length)} skipped, in ${minutes(Date.now() - this.#began)}`,
    )
    for (const line of this.#ended.flatMap(({ skipped }) => skipped)) console.log(`  skipped: ${line}`)
    for (const { file, ms } of slowest.slice(0, 5)) console.log(`  ${minutes(ms)}  ${file}${ms > fileMaxMs ? ' (more than 3 minutes)' : ''}`)
  }
}
