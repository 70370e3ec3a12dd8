/**
 * What `npm test` may cost, by folder. `test/tidy/budget.test.ts` holds files and isolated files to it; each run prints its seconds and processes beside it
 * (`test/support/budget.reporter.ts`). docs/design/tests.md says how to stay within it.
 */
export type Budget = {
  /** Test files. */
  files: number
  /** Those with a process of their own. */
  isolated: number
  /** CPU time of a quiet run on two cores, in seconds, children included. */
  seconds: number
  /** Processes that tests start, servers included. */
  processes: number
}

/** By folder below test/; `.` is test/ itself. */
export const budgets: Readonly<Record<string, Budget>> = {}
