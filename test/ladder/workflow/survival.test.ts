/** Workflows that have changed while a run of them was under way. Those that are killed: ../survival/. */
import { expect, test } from 'vitest'
import { ladder, workflow } from '../../../src/ladder/index.ts'
import { aLadder } from '../a-ladder.ts'

test('[WL-114] a run that other steps have begun is refused before anything runs, under another version too', async () => {
  const ran: string[] = []
  const made = (version: string, ...names: string[]) =>
    workflow({ name: 'letters', version, steps: names.map((name) => ({ name, run: () => (ran.push(name), Promise.reject(new Error('stop'))) })) })
  const before = made('1', 'a', 'b')
  await using kit = await aLadder(before)
  await kit.clock.until(before.execute(undefined, { runId: 'r' }))

  for (const after of [made('1', 'b', 'a'), made('2', 'a', 'b')]) {
    await kit.restart({ extensions: [ladder({ executables: [after] })] })
    ran.length = 0
    await expect(kit.clock.until(after.resume('r'))).rejects.toMatchObject({ code: 'WORKFLOW_DRIFT', category: 'drift', context: { runId: 'r' } })
    expect(ran).toEqual([])
  }
})

test('[WL-114, WL-113] where the app says so, a run that other steps have begun goes on with these, and replays from where it began', async () => {
  const ran: string[] = []
  const made = (third: string, fails: boolean) =>
    workflow({
      name: 'changing',
      steps: [
        { name: 'one', run: () => void ran.push('one') },
        { name: 'two', run: () => (ran.push('two'), fails ? Promise.reject(new Error('not yet')) : 'done') },
        { name: third, run: () => void ran.push(third) },
      ],
    })
  const before = made('three', true)
  await using kit = await aLadder(before)
  expect((await kit.clock.until(before.execute(undefined, { runId: 'r' }))).error).toMatchObject({ code: 'STEP_FAILED' })
  const after = made('four', false)
  await kit.restart({ extensions: [ladder({ executables: [after], onDrift: 'force' })] })
  expect((await kit.clock.until(after.resume('r'))).report).toMatchObject({
    status: 'completed',
    children: [{ name: 'one' }, { name: 'two' }, { name: 'four' }],
  })
  expect(ran).toEqual(['one', 'two', 'two', 'four'])
})
