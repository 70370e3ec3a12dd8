/** Events that come before the step that waits for them. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent, workflow } from '../../../src/ladder/index.ts'
import { tool } from '../../../src/tools/index.ts'
import { aLadder, aLadderOf, comesTo, killedAt } from '../a-ladder.ts'

const minute = 60_000

const aShop = () =>
  workflow({
    name: 'shop',
    steps: [
      { name: 'pack', sleep: '1m' },
      { name: 'deposit', waitFor: 'paid', schema: z.object({ amount: z.number() }) },
      { name: 'ship', sleep: '1m' },
      { name: 'rest', waitFor: 'paid', timeoutMs: 3 * minute, onFailure: () => ({ end: true }) },
    ],
    output: ({ steps }) => [steps.deposit?.output, steps.rest?.output ?? 'nothing'],
  })

test('an event that comes before its step is kept for it, over a crash; told again under the same id it counts once', async () => {
  const shop = aShop()
  await using kit = await aLadder(shop)
  await kit.clock.until(shop.start(undefined, { runId: 'r' }))

  const late = { code: 'timeout', hint: expect.stringContaining('it goes on') }
  await expect(kit.clock.until(shop.outcome('r', { timeout: 1_000 }))).rejects.toMatchObject(late)
  for (let times = 0; times < 2; times++) await kit.clock.until(shop.send('r', { type: 'paid', amount: 5 }, { id: 'bank-1' }))
  await kit.crash()
  await kit.restart()
  const { data } = await kit.clock.until(shop.execute(undefined, { runId: 'r' }))

  expect(data).toEqual([{ amount: 5 }, 'nothing'])
  expect(await kit.runtime.replay({ kind: 'shop', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('steps that wait for the same event are given one each, in their order, and no more are kept', async () => {
  const shop = aShop()
  await using kit = await aLadder(shop)
  await kit.clock.until(shop.start(undefined, { runId: 'r' }))

  for (const amount of [5, 45, 100]) await kit.clock.until(shop.send('r', { type: 'paid', amount }))
  const { data, report } = await kit.clock.until(shop.execute(undefined, { runId: 'r' }))

  expect(data).toEqual([{ amount: 5 }, { amount: 45 }])
  expect(report.duration).toBe(2 * minute)
})

test('what does not fit is refused before its step as well', async () => {
  const shop = aShop()
  await using kit = await aLadder(shop)
  await kit.clock.until(shop.start(undefined, { runId: 'r' }))

  await expect(kit.clock.until(shop.send('r', { type: 'payed', amount: 5 }))).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED' })
  expect((await kit.runtime.actor('shop', 'r').snapshot()).context).not.toHaveProperty('early')
})

test('killed at any commit, what was kept is taken once', async () => {
  const tells = async (shop: ReturnType<typeof aShop>) => {
    await shop.start(undefined, { runId: 'r' })
    await shop.send('r', { type: 'paid', amount: 5 }, { id: 'bank-1' })
    return shop.execute(undefined, { runId: 'r' })
  }
  for (let commit = 1; ; commit++) {
    const shop = aShop()
    await using kit = await aLadder(shop)
    const result = await killedAt(kit, () => tells(shop), commit)
    if (result === undefined) return expect(commit).toBeGreaterThan(5)
    expect(result.data, `killed at commit ${commit}`).toEqual([{ amount: 5 }, 'nothing'])
    expect(await kit.runtime.replay({ kind: 'shop', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})

test('a run that has stopped keeps what comes meanwhile for the step that it goes on with, and for those that follow', async () => {
  let isOpen = false
  const shop = workflow({
    name: 'shop',
    steps: [
      { name: 'paid', waitFor: 'paid', timeoutMs: 1_000 },
      { name: 'open', run: () => (isOpen ? 'open' : Promise.reject(new Error('closed'))) },
      { name: 'called', waitFor: 'called' },
    ],
    output: ({ steps }) => [steps.paid?.output, steps.called?.output],
  })
  await using kit = await aLadder(shop)

  expect(await kit.clock.until(shop.execute(undefined, { runId: 'r' }))).toMatchObject({ error: { code: 'STEP_TIMEOUT' } })
  await kit.clock.until(shop.send('r', { type: 'paid', late: true }))
  expect(await kit.clock.until(shop.resume('r'))).toMatchObject({ error: { code: 'STEP_FAILED' } })
  await kit.clock.until(shop.send('r', { type: 'called', by: 'ann' }))
  isOpen = true

  expect((await kit.clock.until(shop.resume('r'))).data).toEqual([{ late: true }, { by: 'ann' }])
})

test('a step that has ended is entered again: what came in between may have been meant for the time before, and is not kept', async () => {
  const asked: unknown[] = []
  const survey = workflow({
    name: 'survey',
    steps: [
      { name: 'ask', run: () => void asked.push('asked') },
      { name: 'answer', waitFor: 'answer', timeoutMs: 5_000, onFailure: () => ({ end: true }) },
      { name: 'think', sleep: 1_000, nextStep: () => ({ goto: 'ask' }) },
    ],
  })
  await using kit = await aLadder(survey)
  const running = survey.stream(undefined, { runId: 'r' })
  await kit.clock.until(comesTo(running, 'answer'))
  const thinks = comesTo(running, 'think')
  await kit.clock.until(survey.send('r', { type: 'answer', text: 'yes' }))
  await kit.clock.until(thinks)
  await kit.clock.until(survey.send('r', { type: 'answer', text: 'yes' }))

  expect((await kit.clock.until(running.result)).report.children.find(({ name }) => name === 'answer')).toMatchObject({
    status: 'failed',
    error: { code: 'STEP_TIMEOUT' },
  })
  expect(asked).toHaveLength(2)
})

test('a run inside of a step keeps what it is told before it waits', async () => {
  const inner = workflow({
    name: 'inner',
    steps: [
      { name: 'rest', sleep: '1m' },
      { name: 'paid', waitFor: 'paid' },
    ],
  })
  const outer = workflow({ name: 'outer', steps: [{ name: 'pay', agent: inner }] })
  await using kit = await aLadder(outer)
  const running = outer.stream(undefined, { runId: 'r' })
  await kit.clock.until(comesTo(running, 'rest'))

  await kit.clock.until(outer.send('r', { type: 'paid', amount: 5 }))

  expect((await kit.clock.until(running.result)).data).toEqual({ amount: 5 })
})

test('a step may wait for an event that is called like a decision: neither is taken for the other', async () => {
  const pay = tool({ name: 'pay', description: 'pays', input: z.object({}), approval: true, onCrash: 'retry', execute: () => 'paid' })
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [pay] })
  const order = workflow({
    name: 'order',
    steps: [
      { name: 'pay', agent: clerk, input: () => 'pay' },
      { name: 'boss', waitFor: 'approve' },
    ],
    output: ({ steps }) => [steps.pay?.output, steps.boss?.output],
  })
  const script = [{ calls: [{ name: 'pay', input: {} }] }, { text: 'it is paid' }]
  await using kit = await aLadderOf({ 'test/a': script }, order)
  const asks = Promise.withResolvers<void>()
  const running = order.stream(undefined, { runId: 'r', on: { 'agent.approval.requested': () => asks.resolve() } })
  await kit.clock.until(asks.promise)

  await kit.clock.until(order.send('r', { type: 'approve', by: 'ann' }))
  for (const { callId } of await kit.clock.until(order.pending('r'))) await kit.clock.until(order.decide('r', { callId, decision: 'approve' }))

  expect((await kit.clock.until(running.result)).data).toEqual(['it is paid', { by: 'ann' }])
})
