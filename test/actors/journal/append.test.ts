/** What an append may answer, and what a root makes of it. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { registerMachine } from '../../../src/actors/registration.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import type { Appended, Journal } from '../../../src/contracts/transport.ts'
import { aWorld, codeOf, outcome, Puppets } from '../support.ts'

const address = { kind: 'counter', id: 'one' }
const counting = (puppets: Puppets) =>
  registerMachine(
    'counter',
    setup({
      types: {} as { context: any; events: any },
      actors: { work: puppets.promise('work') },
      actions: { act: puppets.action('act') },
    }).createMachine({
      id: 'counter',
      context: { n: 0, results: [] },
      initial: 'idle',
      on: { add: { actions: [assign({ n: ({ context }: any) => context.n + 1 }), 'act'] } },
      states: {
        idle: { on: { work: 'busy' } },
        busy: {
          invoke: {
            src: 'work',
            onDone: { target: 'idle', actions: assign({ results: ({ context, event }: any) => [...context.results, event.output] }) },
          },
        },
      },
    }),
  )

type Fault = 'ok' | 'lost' | 'unsent' | 'full' | 'read-fails'
/** Answers appends as told, one fault each; `ok` when none is left. */
const faulty =
  (faults: Fault[]) =>
  (journal: Journal): Journal => ({
    ...journal,
    append: async (...args): Promise<Appended> => {
      const fault = faults.shift() ?? 'ok'
      if (fault === 'full') throw new RuntimeError('log_full', 'no space', { retryable: true })
      if (fault === 'unsent') return { outcome: 'unknown', cause: new Error('timeout') }
      const answer = await journal.append(...args)
      return fault === 'ok' ? answer : { outcome: 'unknown', cause: new Error('timeout') }
    },
    last: async (...args) => {
      if (faults[0] !== 'read-fails') return journal.last(...args)
      faults.shift()
      throw new Error('no answer')
    },
  })

test.each<[string, Fault[]]>([
  ['stored, the answer lost', ['lost']],
  ['not stored', ['unsent']],
  ['not stored, several times', ['unsent', 'unsent', 'unsent', 'unsent']],
  ['stored, and the read-back fails at first: our own retry looks like being fenced', ['lost', 'read-fails', 'ok']],
  ['lost and unsent in turns', ['unsent', 'lost', 'unsent', 'read-fails', 'lost']],
])('[INV-1, INV-2] an unknown outcome is looked up, never believed: %s', async (_name, faults) => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([counting(puppets)], { journal: faulty(faults) })

  const receipts = [await outcome(world, host.send(address, { type: 'add' })), await outcome(world, host.send(address, { type: 'add' }))]

  expect(receipts).toMatchObject([{ value: { seq: 1, duplicate: false } }, { value: { seq: 2, duplicate: false } }])
  expect((await host.get(address)).replica?.actor.getSnapshot().context.n).toBe(2)
  expect(puppets.log).toEqual(['act on add', 'act on add'])
  expect((await world.commits(address)).map(({ seq }) => seq)).toEqual([1, 2])
})

test('[INV-5] whoever is really fenced tells its sender so and acts no more', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const first = await world.host([counting(puppets)])
  const second = await world.host([counting(puppets)])
  await outcome(world, first.send(address, { type: 'add' }))
  const zombie = await first.get(address)
  await outcome(world, second.send(address, { type: 'add' }))

  const code = await codeOf(world, zombie.send({ type: 'add' }))
  const later = await codeOf(world, zombie.send({ type: 'add' }))

  expect([code, later]).toEqual(['fenced', 'fenced'])
  expect(puppets.log).toHaveLength(2 + 1)
  expect((await world.commits(address)).at(-1)?.seq).toBeLessThanOrEqual(3)
})

test('[INV-1] a full store refuses messages at once with log_full; nothing is lost or doubled, and it goes on by itself', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const faults: Fault[] = []
  const host = await world.host([counting(puppets)], { journal: faulty(faults) })
  await outcome(world, host.send(address, { type: 'add' }, { id: 'a' }))
  faults.push('full')

  const refused = await codeOf(world, host.send(address, { type: 'add' }, { id: 'b' }))
  const again = await outcome(world, host.send(address, { type: 'add' }, { id: 'b' }))

  expect(refused).toBe('log_full')
  expect(again).toMatchObject({ value: { duplicate: false } })
  expect((await host.get(address)).replica?.actor.getSnapshot().context.n).toBe(2)
})

test('the result of an effect waits for a store that is full; messages are refused meanwhile, and the effect runs once', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const faults: Fault[] = []
  const host = await world.host([counting(puppets)], { journal: faulty(faults) })
  await outcome(world, host.send(address, { type: 'work' }))
  await world.clock.settle()
  faults.push(...Array.from({ length: 8 }, () => 'full' as const))

  puppets.control('work').resolve('precious')
  await world.clock.advance(500)
  const meanwhile = await codeOf(world, host.send(address, { type: 'add' }))
  await world.clock.advance(20_000)

  expect(meanwhile).toBe('log_full')
  expect((await host.get(address)).replica?.actor.getSnapshot().context.results).toEqual(['precious'])
  expect(puppets.starts).toHaveLength(1)
})

test('a store that stays away ends the patience: the sender is told log_unavailable, the effect begins again when it is back', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const faults: Fault[] = []
  const host = await world.host([counting(puppets)], { journal: faulty(faults), limits: { patienceMs: 5000 } })
  await outcome(world, host.send(address, { type: 'work' }))
  await world.clock.settle()
  faults.push(...Array.from({ length: 10 }, () => 'unsent' as const))

  const sent = outcome(world, host.send(address, { type: 'add' }, { id: 'x' }))
  await world.clock.advance(20_000)
  const told = await sent
  faults.length = 0
  await world.clock.advance(20_000)
  puppets.control('work').resolve('second')
  await world.clock.settle()
  const again = await outcome(world, host.send(address, { type: 'add' }, { id: 'x' }))

  expect(told).toMatchObject({ code: 'log_unavailable' })
  expect(again).toMatchObject({ value: { duplicate: false } })
  expect(puppets.starts.map(({ restarted }) => restarted)).toEqual([false, true])
  expect((await host.get(address)).replica?.actor.getSnapshot().context).toEqual({ n: 1, results: ['second'] })
})
