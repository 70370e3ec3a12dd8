import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import type { VitestPluginContext } from 'vitest/node'
import { Progress } from './test/progress.ts'
import { SlowestFirst } from './test/sequence.ts'
import { BudgetReporter } from './test/support/budget.reporter.ts'
import { keepScratchInMemory } from './test/support/scratch.ts'
import { apart, long, together } from './test/tiers.ts'

// Node reads its address when a process starts: what one worker or child has compiled, the next one need not.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/statecast/compiled', import.meta.url))

keepScratchInMemory()

/**
 * Vite adds the condition `development`, and vitest starts its workers with it, so Node would load XState's development build, which checks more than the
 * one that users get. It is taken out again once the configuration stands (test/tidy.test.ts tests it).
 */
const likeUsers = {
  name: 'conditions-of-plain-node',
  configResolved(config: { ssr: { resolve?: Resolve }; environments: Record<string, { resolve: Resolve }> }) {
    for (const resolve of [config.ssr.resolve, ...Object.values(config.environments).map((environment) => environment.resolve)])
      if (resolve?.conditions) resolve.conditions = resolve.conditions.filter((condition) => !condition.startsWith('development'))
  },
}
type Resolve = { conditions?: string[] }

/** Beside the reporters that the command line chooses. */
const ownReporters = {
  name: 'reporters-of-the-tiers',
  configureVitest({ project, vitest }: VitestPluginContext) {
    if (project.name === 'long') vitest.config.reporters.push(new Progress())
    if (project.name === 'together') vitest.config.reporters.push(new BudgetReporter())
  },
}

/** The commit draws parts and seeds of the long tier; an unpacked tarball has none. */
const commit = spawnSync('git', ['rev-parse', '--verify', '--quiet', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).stdout?.trim() ?? ''

const project = (
  name: string,
  include: string[],
  isolate: boolean,
  more: { globalSetup?: string; maxWorkers?: number; sequence?: { groupOrder: number } } = {},
) => ({
  extends: true as const,
  test: { name, include, isolate, ...more },
})

export default defineConfig({
  plugins: [likeUsers, ownReporters],
  test: {
    // `npm test` runs the first two, `npm run test:long` the last; which file is in which: test/tiers.ts.
    projects: [
      project('together', together, false),
      project('apart', apart, true),
      // Its files wait for take-overs, kills and browsers more than they compute.
      project('long', long, true, {
        globalSetup: 'test/web/services.ts',
        maxWorkers: Math.max(5, availableParallelism()),
        sequence: { groupOrder: 1 },
      }),
    ],
    environment: 'node',
    // Processes rather than threads: tests kill, chdir, set variables and open databases, and none may touch another's.
    pool: 'forks',
    // Many short-lived runtimes: with room for the young, less of them is copied.
    execArgv: ['--max-semi-space-size=64'],
    // Much of the time is waiting for servers and processes: on a small machine more of them run than it has cores.
    maxWorkers: Math.max(4, availableParallelism()),
    // Only there to end what hangs: real processes start, die and recover in some tests, on machines that have other work.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
    // The same for expect.poll as test/setup.ts has for vi.waitFor.
    expect: { poll: { timeout: 60_000, interval: 50 } },
    sequence: { sequencer: SlowestFirst },
    setupFiles: ['test/setup.ts'],
    // Node itself loads sources and tests, as it does for users: nothing is transformed, and no module can be replaced.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    provide: { commit, sweep: process.env.STATECAST_SWEEP ?? '', seed: process.env.STATECAST_SEED ?? '' },
    restoreMocks: true,
  },
})
