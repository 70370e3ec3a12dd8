/** What is told of an agent while it works, and the hooks of its author. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { agent, type LadderEvent, type Report, type TripUsage } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 10, outputTokens: 5 }
const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => 'seen' })
const lose = tool({ name: 'lose', description: 'Loses.', input: z.object({}), onCrash: 'retry', execute: () => Promise.reject(new Error('gone')) })
const script = () => [
  { text: 'I look.', calls: [{ name: 'look' }, { name: 'lose' }], usage },
  { text: 'It is gone.', usage },
]

test('[WL-130] each thing that happens is told, in its order', async () => {
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [look, lose], toolPolicy: {} })
  await using kit = await aLadderOf({ 'test/a': script() }, clerk)
  const events: LadderEvent[] = []
  await kit.clock.until(clerk.execute('go', { runId: 'r', on: { '*': (event) => events.push(event) } }))

  const types = events
    .map(({ type }) => type.replace('agent.', ''))
    .filter((type, index, all) => type !== 'trip.streaming' || all[index - 1] !== type)
  const [first, second] = [types.slice(0, 4), types.slice(-4)]
  expect(first).toEqual(['starting', 'trip.started', 'trip.streaming', 'trip.completed'])
  expect(second).toEqual(['trip.started', 'trip.streaming', 'trip.completed', 'completed'])
  // Both tools run at once: each is called before it has ended.
  const between = events.filter(({ type }) => type.startsWith('agent.tool.')).map(({ type, tool: name }) => `${type} ${String(name)}`)
  expect(types).toHaveLength(4 + between.length + 4)
  expect(between).toHaveLength(4)
  for (const [name, end] of [
    ['look', 'called'],
    ['lose', 'failed'],
  ])
    expect(between.indexOf(`agent.tool.calling ${name}`)).toBeLessThan(between.indexOf(`agent.tool.${end} ${name}`))
  expect(events.find(({ type }) => type === 'agent.trip.completed')).toMatchObject({ trip: 1, model: 'test/a', usage: { total: 15 } })
})

test('[WL-130] a run that fails says so last', async () => {
  const clerk = agent({ name: 'clerk', model: 'test/a' })
  await using kit = await aLadderOf({ 'test/a': [{ error: { code: 'provider_auth', message: 'who?' } }] }, clerk)
  const types: string[] = []
  await kit.clock.until(clerk.execute('go', { on: { '*': ({ type }) => types.push(type) } }))
  expect(types).toEqual(['agent.starting', 'agent.trip.started', 'agent.error'])
})

test('[WL-130] onUsage is told of each trip, onComplete once of the run; a run that fails is not complete', async () => {
  const [trips, reports]: [TripUsage[], Report[]] = [[], []]
  let [asked, isDown] = [0, false]
  const clerk = agent({
    name: 'clerk',
    model: 'test/a',
    tools: [look, lose],
    price: { input: 1, output: 2 },
    onUsage: (trip) => trips.push(trip),
    onComplete: (report) => reports.push(report),
  })
  await using kit = await aLadderOf(
    { 'test/a': () => (isDown ? { error: { code: 'provider_auth', message: 'who?' } } : (script()[asked++] as never)) },
    clerk,
  )
  const { report } = await kit.clock.until(clerk.execute('go', { runId: 'r' }))
  await kit.clock.until(clerk.execute('go', { runId: 'r' }))
  await kit.runtime.settled(1_000)

  expect(trips.map(({ trip, model, usage: used }) => [trip, model, used.total, used.cost?.total])).toEqual([
    [1, 'test/a', 15, expect.closeTo(0.00002, 12)],
    [2, 'test/a', 15, expect.closeTo(0.00002, 12)],
  ])
  expect(reports).toEqual([report])

  isDown = true
  expect(await kit.clock.until(clerk.execute('go'))).toMatchObject({ error: { code: 'PROVIDER_AUTH' } })
  await kit.runtime.settled(1_000)
  expect(reports).toHaveLength(1)
})

test('[WL-130] what a hook throws changes nothing, and is said once', async () => {
  const clerk = agent({
    name: 'clerk',
    model: 'test/a',
    tools: [look, lose],
    onUsage: () => {
      throw new Error('no ink')
    },
    onComplete: () => Promise.reject(new Error('no paper')),
  })
  await using kit = await aLadderOf({ 'test/a': script() }, clerk)
  expect(await kit.clock.until(clerk.execute('go'))).toMatchObject({ data: 'It is gone.' })
  await kit.runtime.settled(1_000)
  const warned = kit.log.filter(({ message }) => message?.includes("of the agent 'clerk'")).map(({ fields }) => (fields as { error?: string }).error)
  expect(warned).toEqual(['no ink', 'no paper'])
  expect(() => agent({ name: 'a', onUsage: 1 as never })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
})
