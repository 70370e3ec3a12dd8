/** A root is forgotten with its journal, and nothing that was acknowledged meanwhile is lost by it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import type { Host } from '../../../src/actors/host/host.ts'
import { registerMachine } from '../../../src/actors/registration.ts'
import type { Root } from '../../../src/actors/root/root.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import type { Address } from '../../../src/contracts/subjects.ts'
import type { Journal } from '../../../src/contracts/transport.ts'
import { aWorld, codeOf, outcome, type World } from '../support.ts'

const address = { kind: 'counter', id: 'one' }
const types = {} as { context: any; events: any }
const counting = registerMachine(
  'counter',
  setup({ types }).createMachine({ context: { n: 0 }, on: { add: { actions: assign({ n: ({ context }: any) => context.n + 1 }) } } }),
)
const add = (world: World, host: Host) => outcome(world, host.send(address, { type: 'add' }))
const sleep = async (world: World, host: Host) => world.clock.until((await host.get(address)).close())
const lengthOf = async (world: World) => (await world.commits(address)).length

/** A journal whose removals wait for a word before they begin. */
const held = () => {
  const waiting: (() => void)[] = []
  const wrap = (journal: Journal): Journal => ({
    ...journal,
    remove: async (removed: Address) => {
      await new Promise<void>((resolve) => void waiting.push(resolve))
      await journal.remove(removed)
    },
  })
  return { waiting, wrap }
}

test.each(['in memory', 'asleep again'])('what took a message since it was looked at is kept (%s)', async (where) => {
  const world = await aWorld()
  const host = await world.host([counting])
  await add(world, host)
  const seen = await world.journal.head(address)
  await add(world, host)
  if (where === 'asleep again') await sleep(world, host)

  const forgotten = await host.forget(address, seen)

  expect(await lengthOf(world)).toBe(2)
  expect(forgotten).toBe(false)
})

test('of roots that are forgotten while they are in memory nothing stays there', async () => {
  const world = await aWorld()
  const host = await world.host([counting])
  const roots: WeakRef<Root>[] = []
  for (let each = 0; each < 50; each++) {
    const one = { kind: 'counter', id: `one-${each}` }
    await outcome(world, host.send(one, { type: 'add' }))
    roots.push(new WeakRef(await host.get(one)))
    await host.forget(one)
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // What a promise has just held is let go of in the next turn of the loop.
  await new Promise((resolve) => void setImmediate(resolve))
  collect()
  expect(roots.filter((root) => root.deref() !== undefined).length).toBeLessThan(5)
})

test('what began anew since it was looked at is kept, also when its journal is as long as the one before', async () => {
  const world = await aWorld()
  const host = await world.host([counting])
  await add(world, host)
  const seen = await world.journal.head(address)
  await world.clock.advance(1000)
  await host.forget(address)
  await add(world, host)
  await sleep(world, host)

  await host.forget(address, seen)

  expect(await lengthOf(world)).toBe(1)
})

test.each(['asked for', 'because nobody needs it'])(
  'messages that come while a root is forgotten (%s) begin it anew, in their order',
  async (why) => {
    const world = await aWorld()
    const gate = held()
    const host = await world.host([counting], { journal: gate.wrap })
    await add(world, host)
    await sleep(world, host)
    const forgetting = host.forget(address, why === 'asked for' ? undefined : await world.journal.head(address))
    await world.clock.settle()
    const order: number[] = []
    const sent = [1, 2].map(async (n) => {
      const result = await add(world, host)
      order.push(n)
      return result
    })
    await world.clock.settle()
    gate.waiting.shift()?.()
    const results = await Promise.all(sent)

    expect(await lengthOf(world)).toBe(1)
    expect(results).toMatchObject([{ value: { seq: 1 } }, { value: { seq: 1 } }])
    expect(order).toEqual([1, 2])
    expect((await host.read(address)).snapshot).toMatchObject({ context: { n: 2 } })
    expect(await forgetting).toBe(true)
  },
)

test('one removal of a root is under way at a time, so that none meets what began after another', async () => {
  const world = await aWorld()
  const gate = held()
  const host = await world.host([counting], { journal: gate.wrap })
  await add(world, host)
  await sleep(world, host)
  const seen = await world.journal.head(address)
  const forgetting = [host.forget(address), host.forget(address), host.forget(address, seen)]
  await world.clock.settle()
  const underWay = gate.waiting.length
  gate.waiting.shift()?.()
  await world.clock.settle()
  gate.waiting.shift()?.()

  expect(underWay).toBe(1)
  expect(await Promise.all(forgetting)).toEqual([true, true, false])
})

test('a removal that fails leaves the root as it was, for whoever waited as well', async () => {
  const world = await aWorld()
  const fails = (journal: Journal): Journal => ({ ...journal, remove: () => Promise.reject(new Error('no')) })
  const host = await world.host([counting], { journal: fails })
  await add(world, host)
  await sleep(world, host)
  const forgetting = codeOf(world, host.forget(address))

  expect(await add(world, host)).toMatchObject({ value: { seq: 2 } })
  expect(await forgetting).not.toBe('ok')
})

/** It ends at `end`; with `delete` its journal says that it is to be removed. */
const ending = {
  ...registerMachine(
    'counter',
    setup({ types }).createMachine({
      context: { n: 0 },
      initial: 'open',
      states: { open: { on: { add: {}, end: 'over' } }, over: { type: 'final', output: ({ event }: any) => event.delete } },
      output: ({ event }: any) => event.output,
    }),
  ),
  isDeleted: (output: unknown) => output === true,
}

/** A process that ended between the last word of a root and its removal. */
const cutOff = async (world: World, last: object = { type: 'end', delete: true }) => {
  const host = await world.host([ending])
  await add(world, host)
  await outcome(world, host.send(address, { ...last, type: 'end' }))
  host.abandon()
}

test('[INV-13] a removal that was cut off is finished when the next host starts', async () => {
  const world = await aWorld()
  await cutOff(world)
  const forgotten: string[] = []

  await world.host([ending], { events: { forgotten: ({ id }) => void forgotten.push(id) } })

  expect(await world.journal.head(address)).toBeUndefined()
  expect(forgotten).toEqual(['one'])
})

test('[INV-13] messages that find a removal cut off begin the root again, in their order', async () => {
  const world = await aWorld()
  let failing = true
  const failsFirst = (journal: Journal): Journal => ({
    ...journal,
    remove: (removed) => (failing ? Promise.reject(new RuntimeError('log_unavailable', 'away', { retryable: true })) : journal.remove(removed)),
  })
  await cutOff(world)
  const host = await world.host([ending], { journal: failsFirst })
  const refused = await codeOf(world, host.send(address, { type: 'add' }))
  failing = false

  const results = await Promise.all([add(world, host), add(world, host)])

  expect(refused).toBe('log_unavailable')
  expect(results).toMatchObject([{ value: { seq: 1 } }, { value: { seq: 1 } }])
  expect((await host.read(address)).snapshot).toMatchObject({ status: 'active' })
})

test('[INV-13] a removal that fails at the start is tried again', async () => {
  const world = await aWorld()
  let tries = 0
  const fails = (journal: Journal): Journal => ({
    ...journal,
    remove: async (removed) => {
      tries += 1
      if (tries === 1) throw new RuntimeError('log_unavailable', 'away', { retryable: true })
      return journal.remove(removed)
    },
  })
  await cutOff(world)
  await world.host([ending], { journal: fails })

  await world.clock.advance(60_000)

  expect(await world.journal.head(address)).toBeUndefined()
})

test('a root to be removed that leaves memory asks to be found all the same', async () => {
  const world = await aWorld()
  const host = await world.host([ending])
  await outcome(world, host.send(address, { type: 'end', delete: true }))
  await world.clock.until(host.close())

  await world.host([ending])

  expect(await world.journal.head(address)).toBeUndefined()
})

test('a root that ended for another reason stays', async () => {
  const world = await aWorld()
  await cutOff(world, {})
  const host = await world.host([ending])

  expect(await outcome(world, host.send(address, { type: 'add' }))).toMatchObject({ code: 'closed', error: { hint: expect.any(String) } })
  expect(await lengthOf(world)).toBe(2)
})

test.each([
  ['goes before its journal', 'log_unavailable', ['beside'], false],
  ['waits for its journal where the store is full', 'log_full', ['beside', 'journal', 'beside'], true],
] as const)('what there is of a root beside its journal %s', async (_, code, order, removed) => {
  const world = await aWorld()
  const steps: string[] = []
  let full = true
  const host = await world.host([counting], {
    journal: (journal) => ({ ...journal, remove: (gone) => (steps.push('journal'), (full = false), journal.remove(gone)) }),
    events: { removing: async () => (steps.push('beside'), full ? Promise.reject(new RuntimeError(code, 'no')) : undefined) },
  })
  await add(world, host)

  expect(await codeOf(world, host.forget(address))).toBe(removed ? 'ok' : code)

  expect(steps).toEqual(order)
  expect((await world.journal.head(address)) === undefined).toBe(removed)
})
