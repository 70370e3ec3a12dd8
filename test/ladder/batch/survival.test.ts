/** Large batches, and those that have changed while a run of them was under way. Those that are killed: ../survival/. */
import { expect, test } from 'vitest'
import { batch, ladder, workflow } from '../../../src/ladder/index.ts'
import { aLadder } from '../a-ladder.ts'

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
