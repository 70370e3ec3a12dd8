/** Machines of an author under the public runtime. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { testRuntime } from '../../src/testing/index.ts'

test('[INV-13] a machine that changes its event in place fails on it, instead of being in a state that no replay arrives at', async () => {
  const machine = setup({ types: { context: {} as { seen: number[] }, events: {} as { type: 'add'; items: number[] } } }).createMachine({
    context: { seen: [] },
    on: { add: { actions: assign({ seen: ({ event }) => event.items.reverse() }) } },
  })
  await using kit = await testRuntime({ machines: { list: machine } })
  const list = kit.runtime.actor('list', 'x')

  await expect(kit.clock.until(list.send({ type: 'add', items: [1, 2] }))).rejects.toMatchObject({ code: 'bad_request' })

  expect((await kit.clock.until(kit.runtime.replay(list.address).catch(() => ({ verdict: 'none' })))).verdict).not.toBe('different')
})

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
