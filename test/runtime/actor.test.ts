/** Machines of an author under the public runtime. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { assign, emit, fromPromise, setup } from 'xstate'
import { decodeCommit } from '../../src/actors/journal/codec.ts'
import { createRuntime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { testRuntime } from '../../src/testing/index.ts'

test.each(['crash', 'close'] as const)(
  '[INV-13] a machine that changes its event in place changes a copy of its own, now and after a %s',
  async (end) => {
    const machine = setup({
      types: { context: {} as { seen: number[] }, events: {} as { type: 'add'; items: number[] } | { type: 'more'; item: number } },
    }).createMachine({
      context: { seen: [] },
      on: {
        add: { actions: assign({ seen: ({ event }) => event.items.reverse() }) },
        more: {
          actions: assign({
            seen: ({ context, event }) => {
              context.seen.push(event.item)
              return context.seen
            },
          }),
        },
      },
    })
    await using kit = await testRuntime({ machines: { list: machine } })
    const items = [1, 2]
    const list = () => kit.runtime.actor('list', 'x')
    await kit.clock.until(list().send({ type: 'add', items }))
    await kit.clock.until(list().send({ type: 'more', item: 3 }))
    if (end === 'crash') await kit.crash()
    await kit.restart()

    await kit.clock.until(list().send({ type: 'more', item: 4 }))

    expect(items).toEqual([1, 2])
    expect((await kit.clock.until(list().snapshot()))?.context).toEqual({ seen: [2, 1, 3, 4] })
    expect((await kit.clock.until(kit.runtime.replay(list().address))).verdict).toBe('identical')
  },
)

test.each(['crash', 'close'] as const)(
  'an action that failed and was to run again does so in the next life, after a %s in between [INV-1]',
  async (end) => {
    const ran: number[] = []
    let life = 1
    const machine = setup({
      actions: {
        act: () => {
          ran.push(life)
          if (life === 1) throw new Error('not yet')
        },
      },
    }).createMachine({ on: { go: { actions: 'act' } } })
    await using kit = await testRuntime({ machines: { doer: machine } })
    await kit.clock.until(kit.runtime.actor('doer', 'x').send({ type: 'go' }))
    await kit.clock.settle()
    if (end === 'crash') await kit.crash()
    else await kit.clock.until(kit.runtime.close())
    life = 2

    await kit.restart()
    await kit.clock.advance(5000)

    expect(ran.at(0)).toBe(1)
    expect(ran.at(-1)).toBe(2)
  },
)

test.each(['crash', 'close'] as const)(
  'an asynchronous action still runs when its host ends, and again in the next life, whatever was committed since, after a %s [INV-1]',
  async (end) => {
    const ran: string[] = []
    const machine = setup({
      actions: {
        slow: () => {
          ran.push('slow begins')
          return new Promise(() => undefined) as unknown as void
        },
        quick: () => void ran.push('quick'),
      },
    }).createMachine({ on: { slow: { actions: 'slow' }, quick: { actions: 'quick' }, plain: { actions: assign({}) } } })
    await using kit = await testRuntime({ machines: { doer: machine } })
    const doer = kit.runtime.actor('doer', 'x')
    for (const type of ['slow', 'quick', 'plain']) await kit.clock.until(doer.send({ type }))
    if (end === 'crash') await kit.crash()
    else await kit.clock.until(kit.runtime.close())
    ran.length = 0

    await kit.restart()
    await kit.clock.advance(5000)

    expect(ran).toEqual(['slow begins'])
  },
)

test('[INV-1] what is read is what its sequence number says, however many write and read at once', async () => {
  const machine = setup({ types: { context: {} as { n: number } } }).createMachine({
    context: { n: 0 },
    on: { add: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
  })
  const folder = mkdtempSync(join(tmpdir(), 'statecast-read-'))
  const runtime = await createRuntime({ transport: `embedded:${folder}`, machines: { counter: machine } })
  const counter = runtime.actor('counter', 'x')
  await counter.send({ type: 'add' })
  const seen: { n: number; seq: number }[] = []
  let writing = true
  const write = async (_: unknown, writer: number) => {
    for (let round = 0; round < 150; round++) {
      await counter.send({ type: 'add' })
      if (writer % 2) await sleep(Math.random() * 2)
    }
  }
  const read = async () => {
    while (writing) {
      const { context, seq } = await counter.snapshot()
      seen.push({ n: context.n, seq })
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const reading = Array.from({ length: 5 }, read)
  await Promise.all(Array.from({ length: 5 }, write))
  writing = false
  await Promise.all(reading)

  const inputsAt = [0]
  for (const { seq, bytes } of await partsOf(runtime).transport.journal.read(counter.address, 1))
    inputsAt[seq] = (inputsAt[seq - 1] ?? 0) + decodeCommit(bytes, { address: 'counter/x', seq }).inputs.length
  await runtime.close()
  rmSync(folder, { recursive: true })
  expect(seen.filter(({ n, seq }) => n !== inputsAt[seq])).toEqual([])
  expect(seen.length).toBeGreaterThan(500)
})

test('[INV-13] nobody who is given a part of a machine can change it: effects, actions, readers, listeners', async () => {
  type Context = { items: number[] }
  const spoil = (value: unknown) => void (value as Context).items.push(99)
  const machine = setup({
    types: { context: {} as Context },
    actors: { sort: fromPromise<number, Context>(async ({ input }) => (spoil(input), input.items.length)) },
    actions: {
      spoilContext: ({ context }) => spoil(context),
      spoilParams: (_, params: Context) => spoil(params),
      tell: emit(({ context }: { context: Context }) => ({ type: 'told', items: context.items })),
    },
  }).createMachine({
    context: () => ({ items: [3, 1, 2] }),
    on: { act: { actions: ['spoilContext', { type: 'spoilParams', params: ({ context }) => ({ items: context.items }) }, 'tell'] } },
    invoke: { src: 'sort', input: ({ context }) => context },
  })
  await using kit = await testRuntime({ machines: { list: machine } })
  const list = kit.runtime.actor('list', 'x')
  const spoilt: unknown[] = []
  void (async () => {
    for await (const { event } of list.events()) {
      spoil(event)
      spoilt.push(event)
    }
  })()
  const { emitted } = await kit.clock.until(list.send({ type: 'act' }))
  for (const event of emitted) spoil(event)
  spoil((await kit.clock.until(list.snapshot())).context)
  await kit.clock.until(list.send({ type: 'act' }))
  await kit.clock.settle()

  expect(spoilt.length).toBeGreaterThan(0)
  expect((await kit.clock.until(list.snapshot())).context).toEqual({ items: [3, 1, 2] })
  expect((await kit.clock.until(kit.runtime.replay(list.address))).difference).toBeUndefined()
  await kit.crash()
  await kit.restart()
  expect((await kit.clock.until(kit.runtime.actor('list', 'x').snapshot())).context).toEqual({ items: [3, 1, 2] })
})

test('an event that a machine names in order to ignore it is taken; an id that nobody could repeat is refused', async () => {
  const machine = setup({}).createMachine({ on: { nop: {} } })
  await using kit = await testRuntime({ machines: { idle: machine } })
  const idle = kit.runtime.actor('idle', 'x')

  expect(await kit.clock.until(idle.send({ type: 'nop' }))).toMatchObject({ seq: 1 })
  for (const id of ['', {}, 7, 'x'.repeat(1000)])
    await expect(idle.send({ type: 'nop' }, { id: id as string })).rejects.toMatchObject({ code: 'bad_request', field: 'id' })
})

test('an action may return any thenable: it is run and waited for', async () => {
  const ran: string[] = []
  const machine = setup({
    // As query builders have it: nothing happens until somebody asks for the end.
    // oxlint-disable-next-line unicorn/no-thenable -- that is what it is about
    actions: { lazy: () => Object.fromEntries([['then', (done: () => void) => (ran.push('ran'), done())]]) as unknown as void },
  }).createMachine({ on: { go: { actions: 'lazy' } } })
  await using kit = await testRuntime({ machines: { lazy: machine } })

  await kit.clock.until(kit.runtime.actor('lazy', 'x').send({ type: 'go' }))
  await kit.clock.settle()

  expect(ran).toEqual(['ran'])
})
