/** Batches that are killed, large ones, and those that have changed while a run of them was under way. */
import { expect, test } from 'vitest'
import { batch, ladder, workflow } from '../../../src/ladder/index.ts'
import { aLadder, killedAt, timeless } from '../a-ladder.ts'

/** The second fails once, the last one always; what ran is written down by its key. */
const aBatch = (did: string[], version = '1') =>
  batch(
    workflow({
      name: 'one',
      steps: [
        {
          name: 'work',
          run: ({ input, key, runId }) => {
            did.push(key)
            if (input === 3 || runId === 'r/1/1') throw new Error('busy')
            return input
          },
        },
      ],
    }),
    { name: 'all', version, concurrency: 2, retry: { attempts: 2 } },
  )

test('[WL-132] killed at any commit it comes to the same report, and no item that has ended runs twice', async () => {
  const calm: string[] = []
  const all = aBatch(calm)
  await using kit = await aLadder(all)
  const whole = await kit.clock.until(all.execute([0, 1, 2, 3], { runId: 'r' }))
  const { seq } = await kit.runtime.actor('all', 'r').snapshot()
  expect(whole).toMatchObject({ data: [0, 1, 2, null], report: { status: 'failed' } })
  expect(calm).toHaveLength(6)

  let killed = 0
  for (let commit = 1; ; commit++) {
    const did: string[] = []
    const again = aBatch(did)
    await using doomed = await aLadder(again)
    const result = await killedAt(doomed, () => again.execute([0, 1, 2, 3], { runId: 'r' }), commit)
    if (!result) break
    killed++
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(new Set(did), `killed at commit ${commit}`).toEqual(new Set(calm))
    // Two may have been under way.
    expect(did.length, `killed at commit ${commit}`).toBeLessThanOrEqual(calm.length + 2)
    expect(await doomed.runtime.replay({ kind: 'all', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
  expect(killed).toBe(seq)
})

test('[WL-132] a thousand items, of which only those that run are actors', async () => {
  const twice = workflow({ name: 'twice', steps: [{ name: 'work', run: ({ input }) => (input as number) * 2 }] })
  const all = batch(twice, { concurrency: 10 })
  await using kit = await aLadder(all)
  const numbers = Array.from({ length: 1_000 }, (_, index) => index)
  const { data, report } = await kit.clock.until(all.execute(numbers, { runId: 'r' }))
  expect(data).toEqual(numbers.map((number) => number * 2))
  expect(report.children).toHaveLength(1_000)
  expect(Object.keys((await kit.runtime.actor('twice-batch', 'r').snapshot()).children)).toEqual([])
})

test('[WL-132] a run that another version has begun is refused before anything runs', async () => {
  const did: string[] = []
  await using kit = await aLadder(aBatch(did))
  const before = aBatch(did)
  await kit.restart({ extensions: [ladder({ executables: [before] })] })
  await kit.clock.until(before.execute([3], { runId: 'r' }))
  const after = aBatch(did, '2')
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  did.length = 0
  await expect(kit.clock.until(after.resume('r'))).rejects.toMatchObject({ code: 'BATCH_DRIFT', category: 'drift' })
  expect(did).toEqual([])
})
