/** Machines that change in place what they were given: nobody else has it, so it comes out the same now, after a kill and from a snapshot. */
import { describe, expect, test } from 'vitest'
import { type AnyStateMachine, assign, fromCallback, fromPromise, raise, sendTo, setup } from 'xstate'
import { replay } from '../../src/actors/journal/replay.ts'
import { registerMachine } from '../../src/actors/registration.ts'
import type { AnyEvent } from '../../src/contracts/journal.ts'
import { RuntimeError } from '../../src/index.ts'
import { aWorld, outcome } from './support.ts'

const types = {} as { context: any; events: any; input: any }
const address = { kind: 'm', id: 'one' }
/** Changes every kind of thing that can be changed, a bit more each time. */
const spoil = (part: any): any => {
  part.list?.push(part.list.length)
  part.when?.setUTCDate(part.when.getUTCDate() + 1)
  if (part.bytes) part.bytes[0]++
  if (part.error) part.error.message += '!'
  if (part.refusal) part.refusal.data.tries++
  return part
}
const anEvent = () => ({
  type: 'take',
  list: [7],
  when: new Date(0),
  bytes: new Uint8Array([1]),
  error: new Error('no'),
  refusal: new RuntimeError('timeout', 'late', { data: { tries: 1 } }),
})
const keeping = (which: (args: any) => any): any => ({ actions: assign({ kept: which }) })
const again: any = { again: keeping(({ context }) => spoil(context.kept)) }

type Story = { machine: () => AnyStateMachine; input?: () => unknown; events: AnyEvent[] }
const stories: Record<string, Story> = {
  'its event': {
    machine: () => setup({ types }).createMachine({ context: {}, on: { take: keeping(({ event }) => spoil(event)), ...again } }),
    events: [anEvent(), { type: 'again' }, { type: 'again' }],
  },
  'its input': {
    machine: () => setup({ types }).createMachine({ context: ({ input }: any) => ({ kept: spoil(input) }), on: again }),
    input: anEvent,
    events: [{ type: 'again' }, { type: 'again' }],
  },
  'its literal context': {
    machine: () => setup({ types }).createMachine({ context: { kept: { list: [] } }, on: again }),
    events: [{ type: 'again' }, { type: 'again' }],
  },
  'the result of an effect': {
    machine: () =>
      setup({ types, actors: { work: fromPromise(async () => ({ ...anEvent(), type: undefined })) } }).createMachine({
        context: {},
        invoke: { src: 'work', onDone: keeping(({ event }) => spoil(event.output)) },
        on: again,
      }),
    events: [{ type: 'again' }, { type: 'again' }],
  },
  'the error of an effect': {
    machine: () =>
      setup({ types, actors: { work: fromPromise(async () => Promise.reject(new Error('no'))) } }).createMachine({
        context: { kept: {} },
        invoke: { src: 'work', onError: keeping(({ event }) => spoil({ error: event.error })) },
        on: again,
      }),
    events: [{ type: 'again' }],
  },
  'an event that comes later': {
    machine: () =>
      setup({ types }).createMachine({
        context: {},
        on: {
          take: { actions: raise(({ event }: any) => ({ ...event, type: 'later' }), { delay: 10 }) },
          later: keeping(({ event }) => spoil(event)),
          ...again,
        },
      }),
    events: [anEvent(), { type: 'again' }],
  },
}

describe.each(Object.entries(stories))('%s', (_, { machine, input, events }) => {
  test.each(['kill', 'close'] as const)('[INV-13] changed in place, it is the same after a %s', async (end) => {
    const world = await aWorld()
    const registration = registerMachine('m', machine())
    let host = await world.host([registration], { limits: { snapshotEvery: end === 'close' ? 1 : 1000 } })
    const given = input?.()
    const create = () => outcome(world, host.create(address, given))
    await create()
    await world.clock.advance(20)
    const sent = structuredClone(events)
    for (const event of events) {
      expect(await outcome(world, host.send(address, event))).toHaveProperty('value')
      await world.clock.advance(20)
    }
    const now: any = await outcome(world, host.read(address))
    const later = { ...address, id: 'two' }
    await outcome(world, host.create(later, given))
    await world.clock.advance(20)
    if (end === 'kill') host.abandon()
    else await world.clock.until(host.close())

    // A process that has seen none of this.
    host = await world.host([registerMachine('m', machine())])
    const after: any = await outcome(world, host.read(address))

    expect(after.value.snapshot).toEqual(now.value.snapshot)
    expect(structuredClone(events)).toEqual(sent)
    if (input) expect(given).toEqual(input())
    expect(await replay(world.journal, address, registerMachine('m', machine()))).toMatchObject({ verdict: 'identical' })
    expect(await replay(world.journal, later, registerMachine('m', machine()))).toMatchObject({ verdict: 'identical' })
    expect(await outcome(world, host.send(address, { type: 'again' }))).toHaveProperty('value')
  })
})

test('[INV-13] an effect that changes in place what it is sent changes neither the machine nor what it is sent again', async () => {
  const world = await aWorld()
  const got: unknown[] = []
  const line = fromCallback<any>(({ receive }) =>
    receive((event) => {
      got.push(structuredClone(event))
      spoil(event.kept)
    }),
  )
  const registration = registerMachine(
    'm',
    setup({ types, actors: { line } }).createMachine({
      context: { kept: { list: [1] } },
      invoke: { src: 'line', id: 'line' },
      on: { tell: { actions: sendTo('line', ({ context }: any) => ({ type: 'told', kept: context.kept })) }, ...again },
    }),
  )
  const host = await world.host([registration])
  for (const type of ['tell', 'again', 'tell']) await outcome(world, host.send(address, { type }))
  const told = got.slice()
  host.abandon()

  const next = await world.host([registration])
  await world.clock.settle()

  expect(told).toEqual([
    { type: 'told', kept: { list: [1] } },
    { type: 'told', kept: { list: [1, 1] } },
  ])
  expect(got.slice(told.length)).toEqual(told)
  expect(((await outcome(world, next.read(address))) as any).value.snapshot.context).toEqual({ kept: { list: [1, 1] } })
})
