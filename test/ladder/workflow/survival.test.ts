/** Workflows that have changed while a run of them was under way. Those that are killed: ../survival/. */
import { expect, test } from 'vitest'
import { agent, ladder, workflow } from '../../../src/ladder/index.ts'
import { aLadder, killedAt } from '../a-ladder.ts'

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

const writer = agent({ name: 'writer', model: 'test/a' })
const critic = agent({ name: 'critic', model: 'test/a' })
const run = () => 1
test.each<[string, object, object]>([
  ['does something of another kind', { run }, { sleep: 5 }],
  ['asks where code did it', { run }, { agent: writer }],
  ['asks another agent', { agent: writer }, { agent: critic }],
  ['has another child', { parallel: [{ name: 'x', run }] }, { parallel: [{ name: 'y', run }] }],
  [
    'has one child more',
    { parallel: [{ name: 'x', run }] },
    {
      parallel: [
        { name: 'x', run },
        { name: 'y', run },
      ],
    },
  ],
])('[WL-114] a run is refused where a step that it has not come to %s; what code does in it may be another', async (_, was, is) => {
  const made = (later: object, code = () => Promise.reject(new Error('stop'))) =>
    workflow({ name: 'letters', steps: [{ name: 'a', run: code }, { name: 'b', ...later } as never] })
  const before = made(was)
  await using kit = await aLadder(before)
  await kit.clock.until(before.execute(undefined, { runId: 'r' }))

  const after = made(is)
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  await expect(kit.clock.until(after.look('r'))).rejects.toMatchObject({ code: 'WORKFLOW_DRIFT' })

  const same = made(was, () => Promise.reject(new Error('another word')))
  await kit.restart({ extensions: [ladder({ executables: [same] })] })
  expect(await kit.clock.until(same.look('r'))).toMatchObject({ report: { status: 'failed' } })
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

test('[WL-113] a step that must not run twice does not: killed in the middle of it, it fails and says so, its author may lead on, and resume runs it again', async () => {
  const made = (onFailure?: () => { goto: 'look' }) => {
    const did: string[] = []
    const shop = workflow({
      name: 'shop',
      steps: [
        { name: 'charge', onCrash: 'once', retry: { attempts: 3 }, run: () => did.push('charge'), ...(onFailure && { onFailure }) },
        { name: 'look', run: ({ steps: { charge } }) => charge?.error?.code ?? 'paid' },
      ],
    })
    return { did, shop, execute: () => shop.execute(undefined, { runId: 'r' }) }
  }
  const doubted: number[] = []
  for (const onFailure of [undefined, () => ({ goto: 'look' as const })]) {
    let doubts = 0
    for (let commit = 1; ; commit++) {
      const { did, shop, execute } = made(onFailure)
      await using doomed = await aLadder(shop)
      const result = await killedAt(doomed, execute, commit)
      if (!result) break
      expect(did.length, `killed at commit ${commit}`).toBeLessThanOrEqual(1)
      if (result.data === 'paid') continue
      doubts++
      const doubt = { code: 'STEP_IN_DOUBT', category: 'execution', hint: expect.stringContaining('resume()'), context: { step: 'charge' } }
      if (onFailure) {
        expect(result, `killed at commit ${commit}`).toMatchObject({
          data: 'STEP_IN_DOUBT',
          report: { children: [{ error: doubt, attempts: 1 }, {}] },
        })
        continue
      }
      expect(result, `killed at commit ${commit}`).toMatchObject({ error: doubt })
      const before = did.length
      expect(await doomed.clock.until(shop.resume('r'))).toMatchObject({ data: 'paid' })
      expect(did.length).toBe(before + 1)
      expect(await doomed.runtime.replay({ kind: 'shop', id: 'r' })).toMatchObject({ verdict: 'identical' })
    }
    doubted.push(doubts)
  }
  expect(Math.min(...doubted)).toBeGreaterThan(0)
})

test('a step that says wrongly what a crash means is refused where it is written', () => {
  const inner = workflow({ name: 'inner', steps: [{ name: 'a', run: () => 1 }] })
  for (const step of [
    { name: 'a', run: () => 1, onCrash: 'never' },
    { name: 'a', agent: inner, onCrash: 'once' },
    { name: 'a', sleep: 5, onCrash: 'once' },
  ])
    expect(() => workflow({ name: 'shop', steps: [step as never] })).toThrow(
      expect.objectContaining({ code: 'WORKFLOW_ERROR', hint: expect.stringContaining('onCrash') }),
    )
})
