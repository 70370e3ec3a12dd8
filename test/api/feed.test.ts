import { expect, test } from 'vitest'
import { listen } from '../../src/api/feed.ts'
import type { Place } from '../../src/api/place.ts'
import { agent, createRuntime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { testRuntime } from '../../src/testing/index.ts'

const address = { kind: 'session', id: 's' }

const world = () =>
  testRuntime({
    agents: [agent({ name: 'main', model: 't/m' })],
    models: { 't/m': [{ text: 'one', delayMs: 100 }, { text: 'two' }, { text: 'three' }] },
  })
type World = Awaited<ReturnType<typeof world>>

/** All durable events after a place, up to the end of the turn that answers `last`. */
const heard = async (kit: World, after: Place, last: string): Promise<string[]> => {
  const listening = listen(partsOf(kit.runtime), address, after)
  const names: string[] = []
  for await (const { type, seq, part, ids } of listening.events) {
    if (seq !== undefined) names.push(`${type}@${seq}.${part}`)
    if (type === 'final' && (ids as string[]).includes(last)) break
  }
  listening.stop()
  return names
}

test('[INV-8] from any place on, a reader hears the same events once each, over crashes and snapshots', async () => {
  await using kit = await world()
  await kit.clock.until(kit.session('s').send('first', { idempotencyKey: 'a' }))
  for (let crash = 0; crash < 2; crash++) {
    await kit.crash()
    await kit.restart()
  }
  await kit.clock.until(kit.session('s').wait('a'))
  await kit.clock.until((await kit.clock.until(kit.session('s').send('second', { idempotencyKey: 'b' }))).result())

  const all = await kit.clock.until(heard(kit, { seq: 0, part: -1 }, 'b'))

  expect(new Set(all).size).toBe(all.length)
  expect(all.map((name) => name.split('@')[0])).toEqual(['accepted', 'started', 'final', 'accepted', 'started', 'final'])
  for (const [index, name] of all.slice(0, -1).entries()) {
    const [seq, part] = name.split('@')[1]!.split('.').map(Number)
    expect(await kit.clock.until(heard(kit, { seq: seq!, part: part! }, 'b'))).toEqual(all.slice(index + 1))
  }
})

test('[INV-8] what happens while the past is read is neither lost nor told twice', async () => {
  await using kit = await world()
  await kit.clock.until((await kit.clock.until(kit.session('s').send('first', { idempotencyKey: 'a' }))).result())

  const reading = heard(kit, { seq: 0, part: -1 }, 'b')
  await kit.clock.until((await kit.clock.until(kit.session('s').send('second', { idempotencyKey: 'b' }))).result())

  expect((await reading).map((name) => name.split('@')[0])).toEqual(['accepted', 'started', 'final', 'accepted', 'started', 'final'])
})

test('a runtime that closes ends whatever waits for it, with the reason', async () => {
  const runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', model: 't/m' })],
    models: { 't/m': [{ text: 'never', delayMs: 60_000 }] },
  })
  const run = await runtime.session('s').send('hi')
  const waiting = [run.result(), runtime.session('s').wait(run.id)].map((one) => one.catch((error: unknown) => error))
  const events = (async () => {
    const heard: unknown[] = []
    for await (const event of runtime.session('s').events()) heard.push(event)
    return heard
  })()

  await runtime.close()

  expect(await Promise.all(waiting)).toMatchObject([
    { code: 'closed', retryable: true },
    { code: 'closed', retryable: true },
  ])
  expect(await events).toEqual([])
})
