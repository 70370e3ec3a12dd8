/** What a property of fast-check is tried with: the cases of its file, and a failure that says how to repeat them. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { chooseSeeds } from './seeds.ts'
import { fileAt, repeatCommand } from './tier.ts'

/** @param url `import.meta.url` of the test file or contract */
export const casesOf = <Values>(url: string, more: fc.Parameters<Values> = {}): fc.Parameters<Values> => {
  const { seed, cases } = chooseSeeds(url)
  return { seed, numRuns: cases, ...more, reporter: (run) => report(run, seed) }
}

const report = <Values>(run: fc.RunDetails<Values>, seed: number): void => {
  const message = fc.defaultReportMessage(run)
  if (message === undefined) return
  // A contract has no test file of its own.
  const file = fileAt(expect.getState().testPath ?? '')
  const reason = run.errorInstance instanceof Error ? run.errorInstance.message : String(run.errorInstance)
  throw new Error(`${message}\nreason: ${reason}\nrepeat: ${repeatCommand(file, { STATECAST_SEED: seed })}`, { cause: run.errorInstance })
}
