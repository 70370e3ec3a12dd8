import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Vite always adds the condition `development`, and with it XState's development build, which warns and checks more than the one users
 * get. Tests shall meet what users run, so it is taken out again once the configuration stands (test/tidy.test.ts sees to it).
 */
const likeUsers = {
  name: 'conditions-of-plain-node',
  configResolved(config: { ssr: { resolve?: Resolve }; environments: Record<string, { resolve: Resolve }> }) {
    for (const resolve of [config.ssr.resolve, ...Object.values(config.environments).map((environment) => environment.resolve)])
      if (resolve?.conditions) resolve.conditions = resolve.conditions.filter((condition) => !condition.startsWith('development'))
  },
}
type Resolve = { conditions?: string[] }

export default defineConfig({
  plugins: [likeUsers],
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // Processes rather than threads: tests kill, chdir, set variables and open databases, and none may touch another's.
    pool: 'forks',
    // Much of the time is waiting for servers and processes; on a machine of two cores the default is one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Only there to end what hangs: real processes start, die and recover in some tests, on machines that have other work.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
    // The same for expect.poll as test/setup.ts has for vi.waitFor.
    expect: { poll: { timeout: 60_000, interval: 50 } },
    setupFiles: ['test/setup.ts'],
    restoreMocks: true,
  },
})
