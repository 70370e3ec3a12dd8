/** Agents that have ended, and agents that have changed while a run of them was under way. Those that are killed: ../survival/. */
import { expect, test } from 'vitest'
import { type ModelRequest, agent as sessionAgent } from '../../../src/index.ts'
import { type Agent, agent, ladder, workflow } from '../../../src/ladder/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'
import { aLadderOf, timeless } from '../a-ladder.ts'

test('[WL-125] a run that has completed answers again without a call; another version is refused', async () => {
  const paid: string[] = []
  const made = (version: string): Agent<string> => agent({ name: 'clerk', version, model: 'test/a' })
  const first = made('1')
  const answer = () => (paid.push('call'), { text: 'yes' })
  await using kit = await aLadderOf({ 'test/a': answer }, first)
  const whole = await kit.clock.until(first.execute('go', { runId: 'r' }))
  expect(timeless(await kit.clock.until(first.execute('go', { runId: 'r' })))).toEqual(timeless(whole))
  expect(paid).toHaveLength(1)

  const second = made('2')
  await kit.restart({ extensions: [ladder({ executables: [second] })] })
  await expect(kit.clock.until(second.execute('go', { runId: 'r' }))).rejects.toMatchObject({ code: 'AGENT_DRIFT', category: 'drift' })
  expect(paid).toHaveLength(1)
})

test('[WL-125] deleteOnComplete: a run that has completed is gone once all who wait for it have the result; others stay', async () => {
  let calls = 0
  const answers = (): { text: string } => {
    calls++
    if (calls === 2) throw new Error('no line')
    return { text: `answer ${calls}` }
  }
  const clerk = agent({ name: 'clerk', model: 'test/a', maxRetries: 0, deleteOnComplete: true })
  await using kit = await aLadderOf({ 'test/a': answers }, clerk)
  const isThere = async (runId: string): Promise<boolean> =>
    clerk.look(runId).then(
      () => true,
      ({ code }) => code !== 'not_found',
    )

  const both = Promise.all([clerk.execute('go', { runId: 'r' }), clerk.stream('go', { runId: 'r' }).result])
  expect((await kit.clock.until(both)).map(({ data }) => data)).toEqual(['answer 1', 'answer 1'])
  expect(await isThere('r')).toBe(false)
  await expect(kit.clock.until(clerk.resume('r'))).rejects.toMatchObject({ code: 'not_found' })

  expect(await kit.clock.until(clerk.execute('go', { runId: 'r' }))).toMatchObject({ error: { code: 'PROVIDER_ERROR' } })
  expect(await isThere('r')).toBe(true)
  expect((await kit.clock.until(clerk.resume('r'))).data).toBe('answer 3')
  expect(await isThere('r')).toBe(false)

  await clerk.start('go', { runId: 'begun' })
  expect((await kit.clock.until(clerk.outcome('begun'))).data).toBe('answer 4')
  expect((await clerk.look('begun'))?.data).toBe('answer 4')
})

test('[WL-125] deleteOnComplete: who executes a run while it is deleted attaches to it, or begins another one', async () => {
  const clerk = agent({ name: 'clerk', model: 'test/a', deleteOnComplete: true })
  await using kit = await aLadderOf({ 'test/a': () => ({ text: 'answer' }) }, clerk)
  for (let later = 0; later < 30; later++) {
    const executed = () => clerk.execute('go', { runId: `r${later}` })
    const told = Promise.withResolvers<void>()
    clerk.on({ 'agent.completed': () => told.resolve() })
    const late = async () => {
      await told.promise
      for (let turns = 0; turns < later; turns++) await Promise.resolve()
      return executed()
    }

    const all = await kit.clock.until(Promise.all([executed(), executed(), late()]))

    expect(
      all.map(({ data }) => data),
      `${later} turns later`,
    ).toEqual(['answer', 'answer', 'answer'])
  }
})

test('[WL-125] deleteOnComplete: a run that is the tool of a session, or that code has called, stays for whoever asks again', async () => {
  const scout = agent({ name: 'scout', description: 'Finds.', model: 'test/scout', deleteOnComplete: true })
  const trip = workflow({ name: 'trip', steps: [{ name: 'ask', run: async () => (await scout.execute('bees')).data }] })
  const main = sessionAgent({ name: 'main', model: 'test/main', tools: [scout.asTool()] })
  const talk = ({ messages }: ModelRequest) =>
    messages.some(({ role }) => role === 'tool') ? { text: 'done' } : { calls: [{ name: 'scout', input: { text: 'bees' } }] }
  await using kit = await testRuntime({
    agents: [main],
    extensions: [ladder({ executables: [scout, trip] })],
    models: { 'test/main': talk, 'test/scout': () => ({ text: 'found' }) },
  })

  const turn = await kit.clock.until(kit.session('s').send('go'))
  await kit.clock.until(turn.result())
  const { report } = await kit.clock.until(trip.execute(undefined))

  expect(await scout.look(`s/${turn.runId}:1:1`)).toMatchObject({ data: 'found' })
  expect(await scout.look(report.children[0]?.children[0]?.runId as string)).toMatchObject({ data: 'found' })
})
