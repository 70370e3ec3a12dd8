/** What is kept, and what is not. */
import { expect, test } from 'vitest'
import { raise, setup } from 'xstate'
import { z } from 'zod'
import { agent, createRuntime, tool } from '../../src/index.ts'
import { type TestRuntime, testRuntime } from '../../src/testing/index.ts'

const dayMs = 24 * 3_600_000
const pay = tool({ name: 'pay', description: 'pays', input: z.object({}), approval: true, execute: () => 'paid' })
const sleeper = setup({ types: { events: {} as { type: 'wake' | 'ring' } } }).createMachine({
  on: { wake: { actions: raise({ type: 'ring' }, { delay: 400 * dayMs }) }, ring: {} },
})

const world = (retention?: { idleDays: number }) =>
  testRuntime({
    agents: [agent({ name: 'main', model: 't/m', tools: [pay] })],
    machines: { sleeper },
    models: {
      't/m': ({ messages }) =>
        messages.at(-1)?.role === 'user' && JSON.stringify(messages).includes('pay') ? { calls: [{ name: 'pay' }] } : { text: 'yes' },
    },
    ...(retention ? { retention } : {}),
  })

/** Days in which nothing runs: a clock that stands at every second of them would take a while. */
const later = async (kit: TestRuntime, days: number) => {
  await kit.close()
  await kit.clock.advance(days * dayMs)
  await kit.restart()
  await kit.clock.advance(1000)
}

test('what nobody needed for longer than the policy is gone with its journal; what has a timer, or waits for a person, is not', async () => {
  await using kit = await world({ idleDays: 30 })
  const say = async (key: string, text: string) => kit.clock.until(kit.session(key).send(text))
  await say('old', 'hello')
  await say('asked', 'please pay')
  await kit.clock.until(kit.runtime.actor('sleeper', 'one').send({ type: 'wake' }))
  await later(kit, 20)
  await say('young', 'hello')
  await later(kit, 15)

  const left = (await kit.runtime.services.transport.journal.list()).map(({ address }) => `${address.kind}/${address.id}`)

  expect(left).toEqual(['session/asked', 'session/young', 'sleeper/one'])
  const again = await kit.clock.until((await say('old', 'hello again')).result())
  expect(again).toMatchObject({ status: 'completed', transcriptLength: 2 })
})

test('without a policy everything is kept', async () => {
  await using kit = await world()
  await kit.clock.until(kit.session('s').send('hello'))
  await later(kit, 400)

  expect(await kit.commits('s')).toBe(2)
})

test.each([0, -1, Number.NaN, '7' as never])('a policy of %s days is refused', async (idleDays) => {
  await expect(createRuntime({ transport: 'memory:', retention: { idleDays } })).rejects.toMatchObject({
    code: 'bad_request',
    hint: expect.any(String),
  })
})
