/** The pipeline of a turn under the root host: what is durable of a delivery, what it costs, and what a crash leaves to do. */
import { expect, test } from 'vitest'
import { registerMachine } from '../../../src/actors/registration.ts'
import { deliver } from '../../../src/chat/delivery/delivery.effects.ts'
import { deliveryMachine } from '../../../src/chat/delivery/delivery.machine.ts'
import type { AnyEvent } from '../../../src/contracts/journal.ts'
import { type TestChannelOptions, testChannel } from '../../../src/testing/index.ts'
import { aWorld } from '../../actors/support.ts'

const address = { kind: 'delivery', id: 'r' }
const finish = { type: 'delivery.finish', leading: [], payloads: [{ text: 'This is A.\n\nThis is B.' }], trailing: [{ text: '3 tokens' }] }

/** A store, a channel that outlives the hosts, and the pipeline of one turn as a root of its own. */
const aTurn = async (options: TestChannelOptions = {}) => {
  const world = await aWorld()
  const { clock, environment } = world
  const channel = testChannel(clock, options)
  const listeners = new Set<(event: AnyEvent) => void>()
  const hear = (_: string, listener: (event: AnyEvent) => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const effect = deliver({ channel: () => channel, hear, clock, random: environment.random.next, log: environment.log })
  const delivery = { streaming: true, min: 10, max: 200, coalesce: { minChars: 1, maxChars: 10 } }
  const input = { session: 's', runId: 'r', route: { channel: 'test', to: 'ada' }, delivery }
  const live: AnyEvent[] = []
  const registration = registerMachine('delivery', deliveryMachine.provide({ actors: { deliver: effect } }), { defaultInput: () => input })
  return {
    world,
    channel,
    live,
    open: async () => {
      const host = await world.host([registration], { events: { live: (_root, _path, event) => void live.push(event) } })
      await clock.until(host.create(address))
      return { host, send: (event: AnyEvent) => clock.until(host.send(address, event)) }
    },
    say: (attempt: number, text: string) => {
      for (const listener of listeners) listener({ type: 'delta', runId: 'r', attempt, index: 0, kind: 'text', text })
    },
    sends: () => channel.sends.map(({ kind, payload }) => `${kind}: ${payload.text}`),
  }
}

test('[OC-04, OC-65] a host that takes over sends what had not arrived, and nothing twice', async () => {
  const turn = await aTurn()
  const { clock } = turn.world
  const first = await turn.open()
  await first.send({ type: 'model.started', attempt: 1, model: 'test/model' })
  turn.say(1, 'This is A.\n\nThis is')
  await clock.advance(10)
  expect(turn.sends()).toEqual(['block: This is A.'])
  first.host.abandon()

  const second = await turn.open()
  await clock.advance(10)
  turn.say(2, 'This is A.\n\nThis is')
  await second.send({ type: 'model.ended', text: 'This is A.\n\nThis is B.' })
  await second.send(finish)
  await clock.until(async () => (await second.host.read(address)).snapshot?.status === 'done')

  expect(turn.sends()).toEqual(['block: This is A.', 'block: This is B.', 'final: 3 tokens'])
  expect((await second.host.read(address)).snapshot).toMatchObject({
    value: 'closed',
    output: { counts: { tool: 0, block: 2, final: 1 }, failed: 0, lost: 0, aborted: false, skipped: {} },
  })
  expect(turn.live.filter(({ type }) => type === 'block')).toHaveLength(3)
  await clock.until(second.host.close())
})

test('what was being sent when the process died is sent again, under the same key', async () => {
  const turn = await aTurn()
  const { clock } = turn.world
  turn.channel.hang()
  const first = await turn.open()
  await first.send({ ...finish, trailing: [] })
  await clock.advance(10)
  first.host.abandon()

  const second = await turn.open()
  await clock.until(async () => (await second.host.read(address)).snapshot?.status === 'done')

  expect(turn.sends()).toEqual(['final: This is A.\n\nThis is B.', 'final: This is A.\n\nThis is B.'])
  expect(new Set(turn.channel.sends.map(({ key }) => key)).size).toBe(1)
  await clock.until(second.host.close())
})

test.each([
  ['where a send may be repeated, what arrived is written down with the next commit', true, 0],
  ['else it is written down at once', false, 1],
])('%s', async (_, repeatable, commits) => {
  const turn = await aTurn({ repeatable })
  const { clock } = turn.world
  const { host, send } = await turn.open()
  const { seq } = await send({ type: 'model.started', attempt: 1, model: 'test/model' })

  turn.say(1, 'This is A.\n\nThis is B.\n\n')
  await clock.advance(10)
  const { seq: said } = await send({ type: 'model.ended' })
  await send({ ...finish, trailing: [] })
  await clock.until(async () => (await host.read(address)).snapshot?.status === 'done')

  expect(said - seq - 1).toBe(commits)
  expect((await host.read(address)).snapshot).toMatchObject({ output: { counts: { block: 2 } } })
  await clock.until(host.close())
})
