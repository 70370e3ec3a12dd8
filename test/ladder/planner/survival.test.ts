/** Planners that are killed, and those that have changed while a run of them was under way. One whose plan is approved: ../survival/. */
import { expect, test } from 'vitest'
import type { ModelRequest } from '../../../src/index.ts'
import { agent, ladder, planner } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }

/** Two steps at once, one that fails and leads to another plan, an agent, and a last word about each. */
const aClerk = (did: string[], version = '1') =>
  planner({
    name: 'clerk',
    version,
    model: 'test/plan',
    mode: 'dag',
    replan: { maxReplans: 1 },
    capabilities: {
      get: { description: 'Gets.', use: (input: unknown, { key }) => (did.push(key), input) },
      break: { description: 'Breaks.', use: () => Promise.reject(new Error('no ink')) },
      write: { description: 'Writes.', use: agent({ name: 'writer', model: 'test/writer' }) },
    },
    onStep: ({ error }) => (error ? 'replan' : 'continue'),
  })

const models = (paid: string[]) => ({
  'test/plan': (request: ModelRequest) => {
    const again = JSON.stringify(request.messages).includes('no ink')
    paid.push(again ? 'plan 2' : 'plan 1')
    const first = [
      { id: 'a', capability: 'get', input: 'a' },
      { id: 'b', capability: 'break' },
    ]
    const second = [
      { id: 'b', capability: 'get', input: { $from: 'a' } },
      { id: 'c', capability: 'write', input: { $from: 'b' } },
    ]
    return { text: JSON.stringify({ steps: again ? second : first }), usage }
  },
  'test/writer': () => (paid.push('writer'), { text: 'written', usage }),
})

test('[WL-133] killed at any commit it comes to the same report; no plan that stands is made again, and no step that has ended runs twice', async () => {
  const [calm, once]: [string[], string[]] = [[], []]
  const clerk = aClerk(calm)
  await using kit = await aLadderOf(models(once), clerk)
  const whole = await kit.clock.until(clerk.execute('go', { runId: 'r' }))
  const { seq } = await kit.runtime.actor('clerk', 'r').snapshot()
  expect(whole).toMatchObject({ data: { a: 'a', b: 'a', c: 'written' }, usage: { total: 30 }, report: { status: 'completed', replans: 1 } })
  expect(once).toEqual(['plan 1', 'plan 2', 'writer'])
  expect(calm).toHaveLength(2)

  let killed = 0
  for (let commit = 1; ; commit++) {
    const [did, paid]: [string[], string[]] = [[], []]
    const again = aClerk(did)
    await using doomed = await aLadderOf(models(paid), again)
    const result = await killedAt(doomed, () => again.execute('go', { runId: 'r' }), commit)
    if (!result) break
    killed++
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(new Set(did), `killed at commit ${commit}`).toEqual(new Set(calm))
    // What was on its way is asked once more.
    expect(did.length + paid.length, `killed at commit ${commit}: ${[...did, ...paid].join()}`).toBeLessThanOrEqual(calm.length + once.length + 1)
    expect(await doomed.runtime.replay({ kind: 'clerk', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
  expect(killed).toBe(seq)
})

test('[WL-133] a run that another version has begun is refused before anything runs', async () => {
  const [did, paid]: [string[], string[]] = [[], []]
  const before = aClerk(did)
  await using kit = await aLadderOf({ ...models(paid), 'test/plan': () => (paid.push('plan'), { text: 'none' }) }, before)
  await kit.clock.until(before.execute('go', { runId: 'r' }))
  expect(paid).toEqual(['plan'])
  const after = aClerk(did, '2')
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  await expect(kit.clock.until(after.resume('r'))).rejects.toMatchObject({ code: 'PLANNER_DRIFT', category: 'drift' })
  expect(paid).toEqual(['plan'])
})
