/** What those who watch a session are told, where a moment holds more than usual. */
import { expect, test } from 'vitest'
import { SessionFeeds } from '../../../src/api/chat/session-feeds.ts'
import type { GatewayEventName, GatewayEvents } from '../../../src/contracts/gateway.ts'
import { agent } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { type ScriptedSource, testRuntime } from '../../../src/testing/index.ts'
import { afterThisTest } from '../../support/cleanup.ts'

const watched = async (script: ScriptedSource = ({ messages }) => ({ text: `answer ${messages.length}` })) => {
  const kit = await testRuntime({
    agents: [agent({ name: 'main', model: 't/m' })],
    models: { 't/m': script },
  })
  afterThisTest(() => kit.close())
  const feeds = new SessionFeeds(() => kit.runtime, kit.clock)
  const told: { event: GatewayEventName; payload: unknown }[] = []
  const of = <Name extends GatewayEventName>(name: Name): GatewayEvents[Name][] =>
    told.filter(({ event }) => event === name).map(({ payload }) => payload as GatewayEvents[Name])
  await kit.clock.until(feeds.watch('s', { tell: (event, payload) => void told.push({ event, payload }), ended: () => undefined }))
  afterThisTest(() => feeds.close())
  const say = async (text: string, id: string) => {
    const run = await kit.clock.until(kit.session('s').send(text, { idempotencyKey: id }))
    await kit.clock.until(run.result())
    await kit.clock.until(() => of('chat').some(({ runId, state }) => runId === id && state === 'final'))
  }
  return { kit, of, say }
}

/** More than a feed keeps for its reader, in one moment; each belongs to another answer, so that no two become one. */
const flood = ({ kit }: Awaited<ReturnType<typeof watched>>): void => {
  const { outputs } = partsOf(kit.runtime)
  for (let index = 0; index < 20_100; index++)
    outputs.say('session/s', {
      path: '/',
      event: { type: 'delta', runId: 'none', answerId: `none:${index}`, attempt: 1, index: 0, kind: 'text', text: '.' },
    })
}

test('[INV-8] what is durable and was missed in a flood comes again, once and in order', async () => {
  const world = await watched()
  const { kit, of, say } = world
  await say('first', 'a')
  const { outputs } = partsOf(kit.runtime)
  const tell = outputs.say.bind(outputs)
  let accepted = 0
  outputs.say = (name, output) => {
    // In the moment in which the second message is accepted: there is no room for that event.
    if (output.event.type === 'accepted' && accepted++ === 0) flood(world)
    tell(name, output)
  }

  await say('second', 'b')
  await say('third', 'c')

  expect(accepted).toBe(2)
  expect(of('session.message').map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  expect(
    of('chat')
      .filter(({ state }) => state === 'final')
      .map(({ runId }) => runId),
  ).toEqual(['a', 'b', 'c'])
})

test('a flood leaves one listener to the session, and none when nothing watches it any more', async () => {
  const world = await watched()
  const { kit, say } = world
  const { outputs } = partsOf(kit.runtime)
  let listening = 0
  const listen = outputs.listen.bind(outputs)
  outputs.listen = (...given) => {
    listening++
    const leave = listen(...given)
    let left = false
    return () => {
      if (!left) listening--
      left = true
      leave()
    }
  }
  const feeds = new SessionFeeds(() => kit.runtime, kit.clock)
  await kit.clock.until(feeds.watch('s', { tell: () => undefined, ended: () => undefined }))
  expect(listening).toBe(1)

  for (const id of ['a', 'b']) {
    flood(world)
    await say(id, id)
  }

  expect(listening).toBeLessThanOrEqual(2)
  feeds.close()
})

test('two states of one millisecond have times in their order, and so has the end of a turn', async () => {
  const { kit, of, say } = await watched()
  const before = kit.clock.now()

  await say('first', 'a')
  await say('second', 'b')

  const states = of('session.state')
  expect(states.map(({ state }) => state).slice(0, 3)).toEqual(['running.thinking', 'running.answering', 'awaiting-input'])
  const times = states.map(({ timestamp }) => timestamp)
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  expect(new Set(times).size).toBe(times.length)
  // All of it in as good as no time.
  expect(kit.clock.now() - before).toBeLessThan(1_000)
})

test('a watcher learns why the model is asked again, and when', async () => {
  let asked = 0
  const { of, say } = await watched(() => (asked++ === 0 ? { error: { code: 'provider_rate_limit', message: 'slow down' } } : { text: 'there' }))
  await say('hi', 'a')
  const states = of('session.state').map(({ state, detail }) => [state, detail])
  expect(states).toContainEqual(['running.retrying', expect.stringMatching(/^slow down; trying again in \d+ s, attempt 2$/)])
  expect(states.findLastIndex(([state]) => state === 'running.retrying')).toBeLessThan(
    states.findLastIndex(([state]) => state === 'running.answering'),
  )
})
