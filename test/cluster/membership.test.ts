/** The registry's word on who is alive and who has which lease, as one node mirrors it. */
import { expect, test, vi } from 'vitest'
import { Membership, nodeTtlMs } from '../../src/cluster/membership.ts'
import { type NodeRecord, roles } from '../../src/contracts/placement.ts'
import type { Registry, RegistryChange } from '../../src/contracts/transport.ts'
import { openMemory } from '../../src/transport/memory/open.ts'
import { aManualClock, anEnvironment, aSignal } from '../transport/harness.ts'

const record = (id: string): NodeRecord => ({ id, roles: [...roles], host: 'h', pid: 1, version: '1', since: 0, draining: false })

const open = async () => {
  const clock = aManualClock()
  const environment = { ...anEnvironment(), clock }
  const { registry } = await openMemory({ environment })
  /** As over a link that loses what it should tell. */
  const deaf: Registry = { ...registry, watch: () => () => undefined }
  const member = (on = registry) => new Membership(on, environment).open()
  return { clock, registry, deaf, member, environment }
}

test('a node is there from its word on, for as long as it renews it, and others hear when it is gone', async () => {
  const { clock, member } = await open()
  const [a, b] = [await member(), await member()]
  let heard = 0
  b.listen(() => heard++)

  const first = await a.announce(record('a'), 0)
  expect(b.members.nodes.map(({ id }) => id)).toEqual(['a'])
  expect(await a.announce(record('a'), 0)).toBeUndefined()
  await a.announce(record('a'), first as number)
  expect(heard).toBe(1)
  clock.advance(nodeTtlMs)

  await vi.waitFor(() => expect(b.isAlive('a')).toBe(false))
  expect(heard).toBe(2)
})

test('[INV-5] a node is sure of its place for as long as its last word stands, counted from when it was sent', async () => {
  const { clock, registry, environment } = await open()
  const held = aSignal()
  const slow: Registry = { ...registry, put: async (...args) => held.promise.then(() => registry.put(...args)) }
  const a = await new Membership(slow, environment).open()
  expect(a.sure).toBe(false)

  const announced = a.announce(record('a'), 0)
  clock.advance(1_000)
  held.give()
  await announced
  expect(a.sure).toBe(true)

  clock.advance(500)
  expect(a.sure).toBe(true)
  clock.advance(200)
  expect(a.sure).toBe(false)
})

test('a lease counts while its holder is alive; of two who write it at once one does, and both know who', async () => {
  const { member } = await open()
  const [a, b] = [await member(), await member()]
  await a.announce(record('a'), 0)

  const leases = await Promise.all([
    a.write(7, (lease) => ({ ...lease, holder: 'a' })),
    b.write(7, (lease) => (lease.holder === null ? { ...lease, holder: 'b' } : undefined)),
  ])

  expect(new Set(leases.map(({ holder }) => holder)).size).toBe(1)
  expect(a.lease(7)).toEqual(b.lease(7))
  expect(a.holder(7)).toBe(a.lease(7).holder === 'a' ? 'a' : undefined)
  expect(a.holder(8)).toBeUndefined()
})

/** A registry whose next read of `key` returns what stands there now, but only once `then` has run: another node writes in between. */
const readBefore = (registry: Registry, key: string, then: () => Promise<unknown>): Registry => {
  let held = true
  return {
    ...registry,
    async get(asked) {
      const found = await registry.get(asked)
      if (asked === key && held) {
        held = false
        await then()
      }
      return found
    },
  }
}

test.each(['a first lease', 'a lease that another node held'])(
  '[INV-5] a node that read %s before another node wrote it does not write over that',
  async (what) => {
    const { registry, deaf, member } = await open()
    const b = await member()
    await b.announce(record('b'), 0)
    if (what !== 'a first lease') await b.write(7, () => ({ holder: 'c', previous: null }))
    const a = await member(readBefore(deaf, 'leases/7', () => b.write(7, () => ({ holder: 'b', previous: null }))))
    await a.announce(record('a'), 0)

    const lease = await a.write(7, (found) => (a.isAlive(found.holder) ? undefined : { holder: 'a', previous: null }))

    expect(lease.holder).toBe('b')
    expect(JSON.parse((await registry.get('leases/7'))?.value ?? 'null')).toMatchObject({ holder: 'b' })
    expect([a.holder(7), b.holder(7)]).toEqual(['b', 'b'])
  },
)

test('a change that arrives late replaces neither a newer lease nor a newer record of a node', async () => {
  const { registry, member } = await open()
  const a = await member()
  const late: RegistryChange[] = []
  const changes = new Map<string, (change: RegistryChange) => void>()
  const b = await member({
    ...registry,
    watch: (prefix, listener) => {
      changes.set(prefix, listener)
      return registry.watch(prefix, (change) => {
        late.push(change)
        listener(change)
      })
    },
  })
  const first = await a.announce(record('a'), 0)
  await a.write(3, () => ({ holder: 'a', previous: null }))
  await a.announce({ ...record('a'), draining: true }, first as number)
  await a.write(3, () => ({ holder: null, previous: 'a' }))
  await vi.waitFor(() => expect(late).toHaveLength(4))

  for (const change of late.slice(0, 2)) changes.get(change.key.slice(0, change.key.indexOf('/') + 1))?.(change)

  expect(b.lease(3)).toEqual({ holder: null, previous: 'a' })
  expect(b.members.nodes).toMatchObject([{ id: 'a', draining: true }])
})

test('an expiry that arrives after the node has announced itself again does not make it gone', async () => {
  const { registry, member } = await open()
  const changes = new Map<string, (change: RegistryChange) => void>()
  const b = await member({
    ...registry,
    watch: (prefix, listener) => {
      changes.set(prefix, listener)
      return registry.watch(prefix, listener)
    },
  })
  const a = await member()
  const first = (await a.announce(record('a'), 0)) as number
  await a.announce(record('a'), first)
  await vi.waitFor(() => expect(b.isAlive('a')).toBe(true))

  changes.get('nodes/')?.({ key: 'nodes/a', value: undefined, revision: first })

  expect(b.isAlive('a')).toBe(true)
})

test('a node that announces itself while it is dismissed for its silence stays', async () => {
  const { member } = await open()
  const [a, b] = [await member(), await member()]
  const first = (await a.announce(record('a'), 0)) as number
  await a.announce(record('a'), first)

  await b.dismiss('a', first)

  expect([a.isAlive('a'), b.isAlive('a')]).toEqual([true, true])
  await b.refresh()
  expect(b.isAlive('a')).toBe(true)
})

test('a look at everything forgets no node and no lease that came while it looked', async () => {
  const { registry, deaf, member } = await open()
  const a = await member()
  const changes = new Map<string, (change: RegistryChange) => void>()
  let meanwhile: (() => Promise<unknown>) | undefined
  const b = await member({
    ...deaf,
    watch: (prefix, listener) => {
      changes.set(prefix, listener)
      return () => undefined
    },
    list: async (prefix) => {
      const found = await registry.list(prefix)
      if (prefix !== 'nodes/') await meanwhile?.()
      return found
    },
  })
  await a.announce(record('a'), 0)
  await b.refresh()
  await registry.delete('nodes/a')
  meanwhile = async () => {
    const revision = await registry.put('nodes/a', JSON.stringify(record('a')), {})
    changes.get('nodes/')?.({ key: 'nodes/a', value: JSON.stringify(record('a')), revision })
  }

  await b.refresh()

  expect(b.isAlive('a')).toBe(true)
})

test('word that got lost is made good by a look at everything', async () => {
  const { clock, deaf, member } = await open()
  const [a, b] = [await member(), await member(deaf)]
  const seen = await a.announce(record('a'), 0)
  await a.write(3, () => ({ holder: 'a', previous: null }))
  expect(b.isAlive('a')).toBe(false)

  await b.refresh()
  expect([b.isAlive('a'), b.holder(3)]).toEqual([true, 'a'])
  expect(seen).toBeDefined()
  clock.advance(nodeTtlMs)

  await vi.waitFor(async () => {
    await b.refresh()
    expect(b.isAlive('a')).toBe(false)
  })
})

test('a lease whose record is taken away has nobody in it, whether that is heard of or found out', async () => {
  const { registry, deaf, member } = await open()
  const [a, b] = [await member(), await member(deaf)]
  await a.announce(record('a'), 0)
  await a.write(3, () => ({ holder: 'a', previous: null }))
  await b.refresh()
  expect([a.holder(3), b.holder(3)]).toEqual(['a', 'a'])

  await registry.delete('leases/3')
  await vi.waitFor(() => expect(a.holder(3)).toBeUndefined())
  await b.refresh()
  expect(b.holder(3)).toBeUndefined()

  await b.write(3, () => ({ holder: 'a', previous: null }))
  await vi.waitFor(() => expect([a.holder(3), b.holder(3)]).toEqual(['a', 'a']))
})

test('a key that names no partition is nobody of them', async () => {
  const { registry, member } = await open()
  const a = await member()
  await a.announce(record('a'), 0)

  for (const key of ['leases/', 'leases/x', 'leases/64', 'leases/-1']) await registry.put(key, JSON.stringify({ holder: 'a', previous: null }))
  await a.refresh()

  expect(a.members.leases.filter(({ holder }) => holder !== null)).toEqual([])
})

test('a record that outlives its node, as after a kill of the server, counts for nothing and is taken away', async () => {
  const { clock, registry, member } = await open()
  // Without a time to live: as a server leaves it that has forgotten.
  await registry.put('nodes/ghost', JSON.stringify(record('ghost')))
  const a = await member()
  let revision = 0
  for (let second = 0; second < 15; second++) {
    revision = (await a.announce(record('a'), revision)) ?? revision
    clock.advance(1_000)
  }

  await vi.waitFor(async () => expect(await registry.get('nodes/ghost')).toBeUndefined())
  expect(a.members.nodes.map(({ id }) => id)).toEqual(['a'])
  await a.refresh()
  expect(a.isAlive('ghost')).toBe(false)
})

test('a registry that stood still makes nobody gone: they have the time of one more word', async () => {
  const { clock, registry, member } = await open()
  const [a, b] = [await member(), await member()]
  await a.announce(record('a'), 0)
  const seen = await b.announce(record('b'), 0)
  // Nobody could say anything for so long; then everybody can.
  clock.advance(nodeTtlMs)
  await vi.waitFor(async () => expect(await registry.list('nodes/')).toEqual([]))

  expect([a.isAlive('a'), a.isAlive('b'), b.isAlive('a')]).toEqual([true, true, true])
  await b.announce(record('b'), 0)
  clock.advance(nodeTtlMs - 1)
  await b.announce(record('b'), (await registry.get('nodes/b'))?.revision ?? 0)
  clock.advance(1)

  expect(a.isAlive('b')).toBe(true)
  expect(b.isAlive('a')).toBe(false)
  expect(seen).toBeDefined()
})

test.each(['garbage', '{}', '[]', 'null', '{"holder":7,"previous":null}', '{"id":"","roles":"all"}'])(
  'a record that is none (%s) is logged, hides nothing, and is written over',
  async (value) => {
    const { registry, member, environment } = await open()
    await registry.put('leases/5', value)
    await registry.put('nodes/x', value)
    await registry.put('leases/99', '{"holder":"a","previous":null}')
    const a = await member()
    await a.announce(record('a'), 0)

    expect(a.members.nodes.map(({ id }) => id)).toEqual(['a'])
    expect(await a.write(5, (lease) => (lease.holder === null ? { ...lease, holder: 'a' } : undefined))).toEqual({ holder: 'a', previous: null })
    expect(environment.lines.some(({ level }) => level === 'error')).toBe(true)
  },
)

test('a node whose own record is overdue calls no other one silent: nobody could announce itself', async () => {
  const { clock, registry, member } = await open()
  await registry.put('nodes/other', JSON.stringify(record('other')))
  const a = await member()
  const first = (await a.announce(record('a'), 0)) as number
  clock.advance(1_500)
  expect(a.late()).toMatchObject([{ node: 'other' }])

  clock.advance(1_000)
  expect(a.late()).toEqual([])
  for (let second = 0; second < 15; second++) clock.advance(1_000)
  await a.announce(record('a'), first)

  expect([a.isAlive('other'), a.isAlive('a')]).toEqual([true, true])
})

test('a node does not take itself for gone when its record expires', async () => {
  const { registry, member } = await open()
  const [a, b] = [await member(), await member()]
  await a.announce(record('a'), 0)

  await registry.delete('nodes/a')

  await vi.waitFor(() => expect(b.isAlive('a')).toBe(false))
  expect(a.isAlive('a')).toBe(true)
})

test('a record that was left behind and cannot be deleted counts for nothing when it is read again', async () => {
  const { clock, registry, member } = await open()
  await registry.put('nodes/ghost', JSON.stringify(record('ghost')))
  const a = await member({ ...registry, delete: () => Promise.reject(new Error('no answer')) })
  let revision = 0
  for (let second = 0; second < 12; second++) {
    revision = (await a.announce(record('a'), revision)) ?? revision
    clock.advance(1_000)
  }
  expect(a.isAlive('ghost')).toBe(false)

  await a.refresh()

  expect(a.isAlive('ghost')).toBe(false)
  await registry.put('nodes/ghost', JSON.stringify(record('ghost')))
  await vi.waitFor(() => expect(a.isAlive('ghost')).toBe(true))
})

test('a node that announces itself in the moment in which it is given up keeps its record', async () => {
  const { clock, registry, member } = await open()
  await registry.put('nodes/slow', JSON.stringify(record('slow')))
  const deleted: unknown[] = []
  const a = await member({
    ...registry,
    async delete(key, ...rest) {
      await registry.put(key, JSON.stringify(record('slow')))
      const done = await registry.delete(key, ...rest)
      deleted.push(done)
      return done
    },
  })
  let revision = 0
  for (let second = 0; second < 12; second++) {
    revision = (await a.announce(record('a'), revision)) ?? revision
    clock.advance(1_000)
  }

  await vi.waitFor(() => expect(deleted).toEqual([false]))
  expect(await registry.get('nodes/slow')).toBeDefined()
  await vi.waitFor(() => expect(a.isAlive('slow')).toBe(true))
})

test('listeners are called when a node begins to drain, and for none of its renewals', async () => {
  const { member } = await open()
  const [a, b] = [await member(), await member()]
  let revision = (await a.announce(record('a'), 0)) as number
  await vi.waitFor(() => expect(b.isAlive('a')).toBe(true))
  let heard = 0
  const stop = b.listen(() => heard++)

  revision = (await a.announce(record('a'), revision)) as number
  revision = (await a.announce({ ...record('a'), draining: true }, revision)) as number
  await vi.waitFor(() => expect(b.members.nodes).toMatchObject([{ draining: true }]))
  expect(heard).toBe(1)
  stop()
  await a.announce(record('a'), revision)
  await vi.waitFor(() => expect(b.members.nodes).toMatchObject([{ draining: false }]))

  expect(heard).toBe(1)
})

test('a membership that is closed watches nothing and has no timer', async () => {
  const { registry, environment } = await open()
  let watching = 0
  const timers = new Set<unknown>()
  const clock = {
    ...environment.clock,
    setTimeout: (callback: () => void, ms: number) => {
      const timer = environment.clock.setTimeout(callback, ms)
      timers.add(timer)
      return timer
    },
    clearTimeout: (timer: unknown) => {
      timers.delete(timer)
      environment.clock.clearTimeout(timer)
    },
  }
  const watch: Registry['watch'] = (...given) => {
    watching++
    const stop = registry.watch(...given)
    return () => {
      watching--
      stop()
    }
  }
  const a = await new Membership({ ...registry, watch }, { ...environment, clock }).open()
  expect(watching).toBe(2)

  a.close()

  expect([watching, timers.size]).toEqual([0, 0])
})
