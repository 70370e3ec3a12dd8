/** Workflows that are killed, and workflows that have changed while a run of them was under way. */
import { expect, test } from 'vitest'
import { ladder, type Workflow, workflow } from '../../../src/ladder/index.ts'
import { aLadder, killedAt, timeless } from '../a-ladder.ts'

/** Steps of every sort; what each did is written down by the key of the work. */
const aShop = (did: string[]): Workflow<unknown, unknown> =>
  workflow({
    name: 'shop',
    state: { sum: 0 },
    steps: [
      {
        name: 'charge',
        run: ({ state, attempt, key }) => {
          did.push(`charge ${key} ${attempt}`)
          if (attempt === 1) throw new Error('busy')
          state.sum += 5
        },
        retry: { attempts: 2 },
      },
      {
        name: 'tell',
        parallel: [
          { name: 'mail', run: ({ key }) => did.push(`mail ${key}`) && 'mailed' },
          { name: 'invoice', run: ({ state, key }) => void (did.push(`invoice ${key}`), (state.sum += 1)) },
        ],
        nextStep: () => ({ goto: 'pause' }),
      },
      { name: 'never', run: () => did.push('never') },
      { name: 'pause', sleep: 1_000 },
      { name: 'due', sleepUntil: () => 0 },
      { name: 'ship', run: ({ state, key }) => (did.push(`ship ${key}`), state.sum) },
    ],
  })

test('[WL-113] killed at any commit it comes to the same report; what had been written down is not done again', async () => {
  const calm: string[] = []
  const shop = aShop(calm)
  await using kit = await aLadder(shop)
  const whole = await kit.clock.until(shop.execute(undefined, { runId: 'r' }))
  const { seq } = await kit.runtime.actor('shop', 'r').snapshot()

  let killed = 0
  for (let commit = 1; ; commit++) {
    const did: string[] = []
    const again = aShop(did)
    await using doomed = await aLadder(again)
    const result = await killedAt(doomed, () => again.execute(undefined, { runId: 'r' }), commit)
    if (!result) break
    killed++
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    // The same work under the same key, at most once more than without the crash.
    expect(new Set(did), `killed at commit ${commit}`).toEqual(new Set(calm))
    expect(did.length - calm.length, `killed at commit ${commit}: ${did.join(', ')}`).toBeLessThanOrEqual(2)
    expect(await doomed.runtime.replay({ kind: 'shop', id: 'r' })).toMatchObject({ verdict: 'identical' })
  }
  expect(killed).toBe(seq)
})

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
    const drift = { code: 'WORKFLOW_DRIFT', category: 'drift', context: { runId: 'r' }, hint: expect.stringContaining('let runs end') }
    const asked: (() => Promise<unknown>)[] = [
      () => after.resume('r'),
      () => after.look('r'),
      () => after.cancel('r'),
      () => after.pending('r'),
      () => after.decide('r', { callId: 'c', decision: 'approve' }),
      () => after.send('r', { type: 'paid' }),
    ]
    for (const ask of asked) await expect(kit.clock.until(ask())).rejects.toMatchObject(drift)
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
