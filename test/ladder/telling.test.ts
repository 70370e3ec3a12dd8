/** A workflow that waits for an event may stand in any other run, and is told by whoever knows that one. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent, batch, type Executable, planner, supervisor, workflow } from '../../src/ladder/index.ts'
import { aLadderOf, comesTo } from './a-ladder.ts'

const payment = workflow({
  name: 'payment',
  description: 'Waits until it is paid.',
  steps: [{ name: 'wait', waitFor: 'paid', schema: z.object({ amount: z.number() }) }],
})
const paid = { amount: 5 }
const plan = { steps: [{ id: 'one', capability: 'pay', input: {} }] }

const models = {
  'test/clerk': [{ calls: [{ name: 'payment', input: { text: 'go' } }] }, { text: 'thanks' }],
  'test/plan': [{ text: JSON.stringify(plan) }],
}

const holders: Record<string, () => { top: Executable<never, unknown>; input: unknown; data: unknown }> = {
  'a step of a workflow': () => ({ top: workflow({ name: 'top', steps: [{ name: 'pay', agent: payment }] }), input: {}, data: paid }),
  'two steps at once': () => ({
    top: workflow({
      name: 'top',
      steps: [
        {
          name: 'both',
          parallel: [
            { name: 'one', agent: payment },
            { name: 'two', agent: payment },
          ],
        },
      ],
    }),
    input: {},
    data: { one: paid, two: paid },
  }),
  'a workflow in a workflow': () => ({
    top: workflow({ name: 'top', steps: [{ name: 'deep', agent: workflow({ name: 'middle', steps: [{ name: 'pay', agent: payment }] }) }] }),
    input: {},
    data: paid,
  }),
  'an intent of a supervisor': () => ({
    top: supervisor({
      name: 'top',
      state: { amount: 0 },
      intents: { pay: { agent: payment, output: z.object({ amount: z.number() }) } },
      route: () => 'pay',
      evaluate: () => ({ satisfied: true }),
    }),
    input: {},
    data: paid,
  }),
  'a tool of an agent': () => ({ top: agent({ name: 'top', model: 'test/clerk', tools: [payment] }), input: 'go', data: 'thanks' }),
  'an item of a batch': () => ({ top: batch(payment, { name: 'top' }), input: [1, 2], data: [paid, paid] }),
  'a capability of a planner': () => ({
    top: planner({ name: 'top', model: 'test/plan', capabilities: { pay: { description: 'Waits for money.', use: payment } } }),
    input: 'go',
    data: { one: paid },
  }),
}

test.each(Object.entries(holders))('as %s it gets what its holder is sent, also after a crash', async (_, held) => {
  const { top, input, data } = held()
  await using kit = await aLadderOf(models, top)
  const begun = Promise.withResolvers<void>()
  const waits = ({ workflow: name }: Record<string, unknown>) => name === 'payment' && begun.resolve()
  top.execute(input as never, { runId: 'r', on: { 'workflow.step.starting': waits } }).catch(() => undefined)
  await kit.clock.until(begun.promise)
  await kit.crash()
  await kit.restart()

  await expect(kit.clock.until(top.send('r', { type: 'payed' }))).rejects.toMatchObject({ hint: 'steps wait for paid' })
  await expect(kit.clock.until(top.send('r', { type: 'paid', amount: 'much' }))).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED' })
  await kit.clock.until(top.send('r', { type: 'paid', ...paid }))

  expect((await kit.clock.until(top.resume('r'))).data).toEqual(data)
})

test('where a step of its own and one inside wait for the same, both are told', async () => {
  const top = workflow({
    name: 'top',
    steps: [
      { name: 'inside', agent: payment },
      { name: 'own', waitFor: 'paid' },
    ],
  })
  await using kit = await aLadderOf({}, top)
  const running = top.stream(undefined, { runId: 'r' })
  await kit.clock.until(comesTo(running, 'wait'))

  await kit.clock.until(top.send('r', { type: 'paid', ...paid }))
  await kit.clock.until(comesTo(running, 'own'))
  await kit.clock.until(top.send('r', { type: 'paid', amount: 6 }))

  expect((await kit.clock.until(running.result)).data).toEqual({ amount: 6 })
})
