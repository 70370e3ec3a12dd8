/** What is kept, and what is not. */

import { expect, test } from 'vitest'
import { raise, setup } from 'xstate'
import { z } from 'zod'
import { agent, createRuntime, tool } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { keepRetention } from '../../src/runtime/retention.ts'
import { type TestRuntime, testRuntime } from '../../src/testing/index.ts'

const dayMs = 24 * 3_600_000
const pay = tool({ name: 'pay', description: 'pays', input: z.object({}), approval: true, execute: () => 'paid' })
const sleeper = setup({ types: { events: {} as { type: 'wake' | 'ring' } } }).createMachine({
  on: { wake: { actions: raise({ type: 'ring' }, { delay: 400 * dayMs }) }, ring: {} },
})

const world = (retention?: { idleDays: number }) =>
  testRuntime({
    // A person may take very long to answer.
    agents: [agent({ name: 'main', model: 't/m', tools: [pay], approval: { timeoutMs: 0 }, limits: { wallTimeMs: 400 * dayMs } })],
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

  const left = (await partsOf(kit.runtime).transport.journal.list()).map(({ address }) => `${address.kind}/${address.id}`)

  expect(left).toEqual(['session/asked', 'session/young', 'sleeper/one'])
  expect((await kit.clock.until(kit.session('asked').view())).approvals).toMatchObject([{ name: 'pay' }])
  const again = await kit.clock.until((await say('old', 'hello again')).result())
  expect(again).toMatchObject({ status: 'completed', transcriptLength: 2 })
})

test('the files of a session go with it, and those that another session names stay', async () => {
  await using kit = await world({ idleDays: 30 })
  const { files } = partsOf(kit.runtime)
  const give = async (text: string, ...sessions: string[]) => {
    const { file } = await files.put({ bytes: new TextEncoder().encode(text), fileName: 'notes.txt' }, 'content', { session: 'old' })
    for (const session of sessions) await files.share(session, [file!])
    return file!.id
  }
  const [own, shared] = [await give('only here'), await give('here and there', 'young')]
  await kit.clock.until(kit.session('old').send('hello'))
  await later(kit, 20)
  await kit.clock.until(kit.session('young').send('hello'))
  await later(kit, 15)

  const { transport, files: kept } = partsOf(kit.runtime)
  expect(await kit.commits('old')).toBe(0)
  expect(await kept.list('old')).toEqual([])
  expect([await transport.blobs.has(own), await transport.blobs.has(shared)]).toEqual([false, true])
  expect((await kept.list('young')).map(({ id }) => id)).toEqual([shared])
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

const hourMs = 3_600_000

test.each(['in memory', 'asleep again'])('a message that is accepted after the journals were looked at keeps its session (%s)', async (where) => {
  await using kit = await world()
  await kit.clock.until((await kit.clock.until(kit.session('s').send('hello'))).result())
  await later(kit, 2)
  const parts = partsOf(kit.runtime)
  const looked = Promise.withResolvers<void>()
  const { journal } = parts.transport
  const list: typeof journal.list = async (...args) => {
    const heads = await journal.list(...args)
    await looked.promise
    return heads
  }
  const stop = keepRetention({ ...parts, transport: { ...parts.transport, journal: { ...journal, list } } }, { idleDays: 1 })
  await kit.clock.advance(1)
  await kit.clock.until((await kit.clock.until(kit.session('s').send('and again'))).result())
  if (where === 'asleep again') await kit.clock.advance(120_000)
  const live = parts.host.liveCount
  looked.resolve()
  await kit.clock.settle()
  stop()

  expect(live).toBe(where === 'in memory' ? 1 : 0)
  expect(await kit.commits('s')).toBe(4)
})

test('a message that is in the inbox when its session is forgotten begins it anew', async () => {
  await using kit = await world()
  await kit.clock.until((await kit.clock.until(kit.session('s').send('hello'))).result())
  await later(kit, 2)
  const parts = partsOf(kit.runtime)
  const head = (await parts.transport.journal.head({ kind: 'session', id: 's' }))!
  const forgetting = parts.host.forget(head.address, head)
  await kit.runtime.publish('statecast.in.session.s', new TextEncoder().encode('{"type":"message","text":"anybody there?"}'), 'letter')
  await kit.clock.advance(1000)
  const answer = await kit.clock.until(kit.session('s').wait('letter'))

  expect(await forgetting).toBe(true)
  expect(answer).toMatchObject({ status: 'completed', transcriptLength: 2 })
})

test('what was said in a session that was forgotten is not in the one that begins anew, also for whoever had read it', async () => {
  await using kit = await world({ idleDays: hourMs / dayMs })
  await kit.clock.until((await kit.clock.until(kit.session('s').send('my secret'))).result())
  await kit.clock.advance(120_000)
  const before = await kit.session('s').history()
  await kit.clock.advance(3 * hourMs)
  const run = await kit.clock.until(kit.session('s').send('hello'))
  await kit.clock.until(run.result())

  expect(before).toHaveLength(2)
  expect((await kit.session('s').history()).map((message) => 'text' in message && message.text)).toEqual(['hello', 'yes'])
})
