/** Nodes whose word is late: who has hung up is gone before it expires, who is only slow is not. */
import { expect, test, vi } from 'vitest'
import { Membership, nodeTtlMs } from '../../src/cluster/membership.ts'
import { watchPeers } from '../../src/cluster/peer.effects.ts'
import { type NodeRecord, roles } from '../../src/contracts/placement.ts'
import { openMemory } from '../../src/transport/memory/open.ts'
import { aManualClock, anEnvironment } from '../transport/harness.ts'

const record = (id: string): NodeRecord => ({ id, roles: [...roles], host: 'h', pid: 1, version: '1', since: 0, draining: false })

const open = async (listens: () => boolean) => {
  const clock = aManualClock()
  const environment = { ...anEnvironment(), clock }
  const { registry } = await openMemory({ environment })
  const [me, other] = [await new Membership(registry, environment).open(), await new Membership(registry, environment).open()]
  let asked = 0
  const stop = watchPeers({
    membership: me,
    environment,
    listens: async () => {
      asked++
      return listens()
    },
  })
  let own = (await me.announce(record('me'), 0))!
  const said = (await other.announce(record('other'), 0))!
  /** Our own word is given every second, and the other one's if it is in time. */
  const pass = async (ms: number, speaks: (now: number) => Promise<unknown> = async () => undefined) => {
    for (let now = 0; now < ms; now += 50) {
      clock.advance(50)
      if (now % 1_000 === 950) own = (await me.announce(record('me'), own))!
      await speaks(now)
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    }
  }
  return { me, other, said, pass, stop, asked: () => asked }
}

test('a node that was killed has hung up: it is gone before its word expires', async () => {
  const { me, pass, stop } = await open(() => false)
  expect(me.isAlive('other')).toBe(true)

  await pass(2_100)

  expect(2_100).toBeLessThan(nodeTtlMs)
  expect(me.isAlive('other')).toBe(false)
  stop()
})

test('a node that listens has all the time of its word, and then is gone', async () => {
  const { me, pass, stop } = await open(() => true)

  await pass(nodeTtlMs - 100)
  expect(me.isAlive('other')).toBe(true)

  await pass(200)
  await vi.waitFor(() => expect(me.isAlive('other')).toBe(false))
  stop()
})

test('a node in time is not asked, and one that has spoken again is not buried for its silence before', async () => {
  let connected = true
  const { me, other, said, pass, stop, asked } = await open(() => connected)
  let known = said
  await pass(3_000, async (now) => void (now % 1_000 === 900 && (known = (await other.announce(record('other'), known))!)))
  expect(asked()).toBe(0)

  connected = false
  // Its link broke, and it speaks again after the first question, before the second one is answered.
  await pass(2_200, async (now) => void (now === 1_500 && (known = (await other.announce(record('other'), known))!)))

  expect(asked()).toBeGreaterThan(0)
  expect(me.isAlive('other')).toBe(true)
  stop()
})

test('a node that was suspected in vain is asked again: it is killed afterwards, and is gone before its word expires', async () => {
  let connected = true
  const { me, pass, stop, asked } = await open(() => connected)
  await pass(1_300)
  expect(asked()).toBeGreaterThan(0)
  expect(me.isAlive('other')).toBe(true)

  connected = false
  await pass(1_200)

  expect(1_300 + 1_200).toBeLessThan(nodeTtlMs)
  expect(me.isAlive('other')).toBe(false)
  stop()
})

test('a node that closes asks about no other node any more', async () => {
  const { pass, stop, asked } = await open(() => true)
  await pass(1_300)
  const before = asked()
  expect(before).toBeGreaterThan(0)

  stop()
  await pass(1_000)

  expect(asked()).toBe(before)
})

test('a node that closes in the middle of a suspicion takes no record away', async () => {
  const { me, pass, stop, asked } = await open(() => false)
  await pass(1_300)
  expect(asked()).toBe(1)

  stop()
  await pass(1_200)

  expect(me.isAlive('other')).toBe(true)
})

test('[INV-5] nobody is gone for others while it is sure of its place', async () => {
  const { me, other, pass, stop } = await open(() => false)
  let both = 0
  await pass(3_000, async () => void (other.sure && !me.isAlive('other') && both++))

  expect(other.sure).toBe(false)
  expect(me.isAlive('other')).toBe(false)
  expect(both).toBe(0)
  stop()
})

test('a node by itself looks at nobody, and one among others once for each of their words', async () => {
  const clock = aManualClock()
  let looks = 0
  const counted = (callback: () => void) => () => {
    looks++
    callback()
  }
  const counting = { ...clock, setTimeout: (callback: () => void, ms: number) => clock.setTimeout(counted(callback), ms) }
  const environment = { ...anEnvironment(), clock: counting }
  const { registry } = await openMemory({ environment: { ...environment, clock } })
  const quiet = { ...environment, clock }
  const [me, other] = [await new Membership(registry, quiet).open(), await new Membership(registry, quiet).open()]
  let own = (await me.announce(record('me'), 0))!
  const stop = watchPeers({ membership: me, environment, listens: async () => true })
  const pass = async (seconds: number, speaks: () => Promise<unknown>) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000)
      own = (await me.announce(record('me'), own))!
      await speaks()
    }
  }
  await pass(10, async () => undefined)
  expect(looks).toBe(0)

  let known = 0
  await pass(10, async () => void (known = (await other.announce(record('other'), known))!))

  expect(looks).toBeGreaterThan(4)
  expect(looks).toBeLessThan(12)
  stop()
})
