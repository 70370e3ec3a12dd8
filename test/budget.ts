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
export const budgets: Readonly<Record<string, Budget>> = {
  '.': { files: 7, isolated: 0, seconds: 10, processes: 10 },
  actors: { files: 43, isolated: 0, seconds: 10, processes: 10 },
  api: { files: 83, isolated: 0, seconds: 10, processes: 10 },
  bench: { files: 2, isolated: 0, seconds: 10, processes: 10 },
  chaos: { files: 1, isolated: 0, seconds: 10, processes: 10 },
  chat: { files: 44, isolated: 0, seconds: 10, processes: 10 },
  cli: { files: 35, isolated: 0, seconds: 10, processes: 10 },
  client: { files: 16, isolated: 0, seconds: 10, processes: 10 },
  cluster: { files: 14, isolated: 0, seconds: 10, processes: 10 },
  contracts: { files: 11, isolated: 0, seconds: 10, processes: 10 },
  crash: { files: 5, isolated: 0, seconds: 10, processes: 10 },
  ladder: { files: 90, isolated: 0, seconds: 10, processes: 10 },
  machines: { files: 29, isolated: 0, seconds: 10, processes: 10 },
  models: { files: 15, isolated: 0, seconds: 10, processes: 10 },
  mutants: { files: 1, isolated: 0, seconds: 10, processes: 10 },
  reply: { files: 28, isolated: 0, seconds: 10, processes: 10 },
  runtime: { files: 58, isolated: 0, seconds: 10, processes: 10 },
  simulation: { files: 2, isolated: 0, seconds: 10, processes: 10 },
  support: { files: 5, isolated: 0, seconds: 10, processes: 10 },
  testing: { files: 4, isolated: 0, seconds: 10, processes: 10 },
  tidy: { files: 3, isolated: 0, seconds: 10, processes: 10 },
  tools: { files: 23, isolated: 0, seconds: 10, processes: 10 },
  transport: { files: 27, isolated: 0, seconds: 10, processes: 10 },
  web: { files: 4, isolated: 0, seconds: 10, processes: 10 },
}
