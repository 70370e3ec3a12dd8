/** Schedules that are killed: each due time begins one run, and none is lost. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { schedule, workflow } from '../../../src/ladder/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { aLadder } from '../a-ladder.ts'

const hour = 3_600_000

const aShop = (did: string[]) => {
  const flow = workflow({
    name: 'flow',
    input: z.object({ due: z.string() }),
    steps: [
      { name: 'work', run: ({ input }) => void did.push(input.due) },
      { name: 'rest', sleep: 90 * 60_000 },
      { name: 'end', run: () => 'done' },
    ],
  })
  const nightly = schedule({ name: 'nightly', run: flow, every: '1h', overlap: 'queue', input: ({ due }) => ({ due: due.toISOString() }) })
  return { flow, nightly }
}

const outcome = async (shop: ReturnType<typeof aShop>, kit: Awaited<ReturnType<typeof aLadder>>) => ({
  firings: (await kit.clock.until(shop.nightly.history())).map(({ runId, by, status }) => ({ runId, by, status })),
  runs: (await partsOf(kit.runtime).transport.journal.list({ kind: 'flow' })).map(({ address }) => address.id),
})

test('killed at a commit, each time that is due begins one run, and one that waits for the run before it is begun after that', async () => {
  const calm: string[] = []
  const shop = aShop(calm)
  await using kit = await aLadder(shop.flow, shop.nightly)
  await kit.clock.advance(2.75 * hour)
  const whole = await outcome(shop, kit)
  const firings = ['nightly:2026-01-31T10:05:00Z', 'nightly:2026-01-31T09:05:00Z'].map((runId) => ({ runId, by: 'clock' }))
  expect(whole).toMatchObject({
    firings: [
      { ...firings[0], status: 'running' },
      { ...firings[1], status: 'completed' },
    ],
    runs: { length: 2 },
  })

  let killed = 0
  // Every third one: a schedule that is killed at each is a scenario of test/ladder/survival.
  for (let commit = 1; ; commit += 3) {
    const did: string[] = []
    const again = aShop(did)
    await using doomed = await aLadder(again.flow, again.nightly)
    const end = doomed.clock.now() + 2.75 * hour
    let died = false
    const hang = new Promise<void>(() => undefined)
    doomed.failPoints.call('K02', () => ((died = true), hang), commit)
    await doomed.clock.until(() => died || doomed.clock.now() >= end)
    if (!died) break
    killed++
    await doomed.crash()
    await doomed.restart()
    await doomed.clock.advance(Math.max(0, end - doomed.clock.now()))

    expect(await outcome(again, doomed), `killed at commit ${commit}`).toEqual(whole)
    expect(new Set(did), `killed at commit ${commit}`).toEqual(new Set(calm))
    expect(did.length - calm.length, `killed at commit ${commit}: ${did.join(', ')}`).toBeLessThanOrEqual(1)
    expect(await doomed.runtime.replay({ kind: 'nightly', id: 'main' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
  expect(killed).toBeGreaterThan(4)
})

test('a store that is away when a run is due is asked again, and the run is begun once', async () => {
  const did: string[] = []
  const { flow, nightly } = aShop(did)
  await using kit = await aLadder(flow, nightly)
  const { journal } = partsOf(kit.runtime).transport
  const append = journal.append.bind(journal)
  let refused = 0
  journal.append = (address, ...rest) => {
    if (address.kind !== 'flow' || refused >= 3) return append(address, ...rest)
    refused++
    return Promise.resolve({ outcome: 'unknown', cause: new Error('away') })
  }
  await kit.clock.advance(hour + 5 * 60_000)

  expect(refused).toBe(3)
  expect(did).toHaveLength(1)
  expect(await kit.clock.until(nightly.history())).toMatchObject([{ status: 'running' }])
})
