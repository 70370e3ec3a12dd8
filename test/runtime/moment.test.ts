/** Time, chance and ids that a machine may use anywhere, since a replay gives it the same ones. */

import { expect, test, vi } from 'vitest'
import { assign, createActor, sendTo, setup } from 'xstate'
import { now, random, uuid } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { type TestRuntime, testRuntime } from '../../src/testing/index.ts'

const types = {} as { context: any; events: any; input: any }
const child = () =>
  setup({ types }).createMachine({
    context: () => ({ born: now(), name: uuid() }),
    on: { note: { actions: assign({ noted: () => [now(), random()] }) } },
  })
/** It asks wherever an author may write a function. */
const lottery = (acted: number[] = []) =>
  setup({
    types,
    actors: { child: child() },
    guards: { lucky: () => random() < 0.5 },
    delays: { sometime: () => 100 + random() * 1000 },
    actions: { act: () => void acted.push(now()) },
  }).createMachine({
    context: () => ({ id: uuid(), born: now(), drawn: [], ids: [], lucky: 0, late: 0 }),
    invoke: { src: 'child', id: 'child' },
    on: {
      draw: {
        actions: [
          assign({ drawn: ({ context }) => [...context.drawn, random()], ids: ({ context }) => [...context.ids, uuid()], at: now }),
          sendTo('child', { type: 'note' }),
          'act',
        ],
      },
      poison: {
        actions: assign(() => {
          throw new Error(uuid())
        }),
      },
    },
    initial: 'a',
    states: {
      a: {
        on: { dare: { guard: 'lucky', target: 'b', actions: assign({ lucky: ({ context }) => context.lucky + 1 }) } },
        after: { sometime: { target: 'b', actions: assign({ late: ({ context }) => context.late + 1 }) } },
      },
      b: { on: { dare: 'a' } },
    },
  })

const tell = async (kit: TestRuntime, types: string[], id = 'x') => {
  for (const type of types) {
    await kit.clock.until(
      kit.runtime
        .actor('lottery', id)
        .send({ type })
        .catch(() => undefined),
    )
    await kit.clock.advance(70)
  }
}
const seen = async (kit: TestRuntime, id = 'x') => {
  const { value, context } = (await kit.clock.until(kit.runtime.actor('lottery', id).snapshot())) as any
  return { value, context }
}
const story = ['draw', 'dare', 'poison', 'draw', 'dare', 'dare', 'draw']

test.each(['crash', 'close'] as const)(
  '[INV-1, INV-13] a machine that asks for time, chance and ids everywhere goes on after a %s as if nothing had been',
  async (end) => {
    await using calm = await testRuntime({ machines: { lottery: lottery() } })
    await using kit = await testRuntime({ machines: { lottery: lottery() } })
    await tell(calm, [...story, ...story])
    await tell(kit, story)
    const before = await seen(kit)
    if (end === 'crash') await kit.crash()
    await kit.restart({ machines: { lottery: lottery() } })

    const after = await seen(kit)
    await tell(kit, story)

    expect(after).toEqual(before)
    expect((await seen(kit)).context.lucky).toBe((await seen(calm)).context.lucky)
    expect((await kit.clock.until(kit.runtime.replay({ kind: 'lottery', id: 'x' }))).verdict).toBe('identical')
  },
)

test('the time is that of the commit, ids are UUIDs that nobody else has, chance is spread over all from 0 to 1', async () => {
  const acted: number[] = []
  await using kit = await testRuntime({ machines: { lottery: lottery(acted) } })
  await tell(kit, Array(40).fill('draw'))
  await tell(kit, ['draw'], 'y')

  const [{ context: x }, { context: y }] = [await seen(kit), await seen(kit, 'y')]
  const ids: string[] = [x.id, ...x.ids, y.id, ...y.ids]
  expect(x.born).toBeLessThan(x.at)
  expect(x.at).toBeLessThanOrEqual(kit.clock.now())
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(ids.length)
  for (const n of x.drawn) expect(n).toBeGreaterThanOrEqual(0)
  expect(Math.max(...x.drawn)).toBeLessThan(1)
  expect(Math.max(...x.drawn) - Math.min(...x.drawn)).toBeGreaterThan(0.7)
  // An action runs when its commit is written, in the real world.
  expect(acted).toHaveLength(41)
  expect(Math.abs((acted[0] as number) - Date.now())).toBeLessThan(3_600_000)
})

test('the same journal gives the same ids to whoever folds it, and one without chance keeps no seed', async () => {
  const plain = setup({ types }).createMachine({ on: { draw: {} } })
  await using kit = await testRuntime({ machines: { lottery: lottery(), plain } })
  await tell(kit, story)
  await kit.clock.until(kit.runtime.actor('plain', 'x').send({ type: 'draw' }))
  const { journal } = partsOf(kit.runtime).transport
  const { decodeCommit } = await import('../../src/actors/journal/codec.ts')
  const commitsOf = async (kind: string) =>
    (await journal.read({ kind, id: 'x' }, 1)).map(({ seq, bytes }) => decodeCommit(bytes, { address: `${kind}/x`, seq }))

  const replayed = await kit.clock.until(kit.runtime.replay({ kind: 'lottery', id: 'x' }))

  expect(replayed.context).toEqual((await seen(kit)).context)
  expect((await commitsOf('lottery')).map(({ seed }) => seed !== undefined).filter(Boolean)).toHaveLength(1)
  expect((await commitsOf('plain')).some(({ seed }) => seed !== undefined)).toBe(false)
})

test('in plain XState they are the real ones', () => {
  vi.useFakeTimers({ now: 1234, toFake: ['Date'] })
  try {
    const actor = createActor(lottery()).start()
    expect(actor.getSnapshot().context).toMatchObject({ born: 1234, id: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect(random()).toBeLessThan(1)
    actor.stop()
  } finally {
    vi.useRealTimers()
  }
})
