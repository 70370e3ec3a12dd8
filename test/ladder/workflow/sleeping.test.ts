/** Many workflows that sleep: none of them is in memory, and all wake in time. */
import { expect, test } from 'vitest'
import { ladder, workflow } from '../../../src/ladder/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'

const minute = 60_000

test('a thousand runs that sleep are in no memory and on no timer of their own, and each goes on when it is due', async () => {
  const woken = new Set<string>()
  const flow = workflow({
    name: 'flow',
    steps: [
      { name: 'order', run: ({ runId }) => runId },
      { name: 'pause', sleep: 20 * minute },
      { name: 'remind', run: ({ runId }) => void woken.add(runId) },
    ],
  })
  await using kit = await testRuntime({ extensions: [ladder({ executables: [flow] })], limits: { idleMs: 1_000 }, checkDeterminism: 'off' })
  const { host } = partsOf(kit.runtime)
  await kit.clock.advance(minute)
  const timers = kit.clock.pending()
  for (let index = 0; index < 1_000; index++) {
    const id = `run-${index}`
    await kit.runtime.actor('flow', id, await flow.runInput(id, undefined)).send({ type: 'execute' })
  }
  await kit.clock.settle()
  expect(host.liveCount).toBe(1_000)
  await kit.clock.advance(5 * minute)

  expect(host.liveCount).toBe(0)
  expect(kit.clock.pending()).toBeLessThanOrEqual(timers)
  expect(woken.size).toBe(0)
  await kit.clock.advance(16 * minute)
  expect(woken.size).toBe(1_000)
  expect(host.liveCount).toBe(0)
  expect((await flow.look('run-999'))?.report.status).toBe('completed')
})
