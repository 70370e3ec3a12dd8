/**
 * What `npm test` may cost, by folder. `test/tidy/budget.test.ts` holds files and isolated files to it; each run prints its seconds and processes beside it
 * (`test/support/budget.reporter.ts`). docs/design/tests.md says how to stay within it.
 */
export type Budget = {
  /** Test files. */
  files: number
  /** Those with a process of their own. */
  isolated: number
  /** CPU time of a quiet run on two cores, in seconds, with that of children that have ended; a shared nats-server is in no file's. */
  seconds: number
  /** Processes that tests start, servers included. */
  processes: number
}

/** By folder below test/; `.` is test/ itself. */
export const budgets: Readonly<Record<string, Budget>> = {
  '.': { files: 8, isolated: 0, seconds: 20, processes: 18 },
  actors: { files: 43, isolated: 0, seconds: 26, processes: 2 },
  api: { files: 86, isolated: 0, seconds: 46, processes: 42 },
  bench: { files: 2, isolated: 0, seconds: 6, processes: 5 },
  chaos: { files: 1, isolated: 0, seconds: 12, processes: 11 },
  chat: { files: 44, isolated: 0, seconds: 7, processes: 2 },
  cli: { files: 35, isolated: 0, seconds: 42, processes: 104 },
  client: { files: 16, isolated: 0, seconds: 4, processes: 2 },
  cluster: { files: 15, isolated: 0, seconds: 7, processes: 5 },
  contracts: { files: 13, isolated: 0, seconds: 2, processes: 2 },
  crash: { files: 5, isolated: 0, seconds: 26, processes: 46 },
  earlier: { files: 1, isolated: 0, seconds: 3, processes: 2 },
  field: { files: 18, isolated: 0, seconds: 18, processes: 6 },
  ladder: { files: 90, isolated: 0, seconds: 86, processes: 13 },
  machines: { files: 29, isolated: 0, seconds: 2, processes: 2 },
  models: { files: 16, isolated: 0, seconds: 3, processes: 5 },
  mutants: { files: 1, isolated: 0, seconds: 1, processes: 2 },
  reply: { files: 28, isolated: 0, seconds: 47, processes: 4 },
  runtime: { files: 59, isolated: 0, seconds: 25, processes: 6 },
  simulation: { files: 2, isolated: 0, seconds: 15, processes: 4 },
  support: { files: 6, isolated: 0, seconds: 1, processes: 18 },
  testing: { files: 4, isolated: 0, seconds: 1, processes: 2 },
  tidy: { files: 3, isolated: 0, seconds: 2, processes: 2 },
  tools: { files: 26, isolated: 0, seconds: 32, processes: 420 },
  transport: { files: 29, isolated: 0, seconds: 33, processes: 38 },
  web: { files: 4, isolated: 0, seconds: 3, processes: 2 },
}
