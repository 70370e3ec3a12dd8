/** Which states and transitions a set of traces has been through. */
import { expect, test } from 'vitest'
import { setup } from 'xstate'
import { Coverage, mergedCoverage } from '../../../src/actors/index.ts'
import type { MachineCoverage } from '../../../src/contracts/inspection.ts'
import { type Address, formatAddress } from '../../../src/contracts/subjects.ts'
import { fromTask, type Runtime } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'

type Event = { type: 'ask'; amount: number } | { type: 'approve' } | { type: 'deny' } | { type: 'again' }

/** With a machine below it, regions, a history, and something that asks itself. */
const payment = setup({ actors: { pay: fromTask(async () => 'paid') } }).createMachine({
  id: 'payment',
  initial: 'paying',
  states: { paying: { invoke: { src: 'pay', onDone: 'paid', onError: 'failed' } }, paid: { type: 'final' }, failed: { type: 'final' } },
})
const refund = setup({
  types: { events: {} as Event },
  actors: { payment },
  guards: { isLarge: ({ event }) => event.type === 'ask' && event.amount >= 100 },
}).createMachine({
  id: 'refund',
  initial: 'waiting',
  states: {
    waiting: { on: { ask: [{ guard: 'isLarge', target: 'deciding' }, { target: 'paying' }], again: { target: 'waiting', reenter: true } } },
    deciding: { on: { approve: 'paying', deny: 'refused' } },
    paying: { invoke: { id: 'payment', src: 'payment', onDone: 'paid' } },
    paid: {
      type: 'parallel',
      states: { mail: { initial: 'due', states: { due: { always: 'sent' }, sent: {} } }, books: {} },
    },
    refused: { type: 'final' },
  },
})

const withRefunds = async (stories: Record<string, Event[]>) => {
  const kit = await testRuntime({ machines: { refund } })
  for (const [id, events] of Object.entries(stories)) for (const event of events) await kit.runtime.actor('refund', id).send(event)
  await kit.clock.until(kit.runtime.settled(60_000))
  return kit
}

const cover = async (runtime: Runtime, ids: string[]): Promise<MachineCoverage[]> => {
  const coverage = new Coverage(runtime.registration('refund'))
  const { journal } = partsOf(runtime).transport
  for (const id of ids) {
    const address: Address = { kind: 'refund', id }
    await coverage.add({ address: formatAddress(address), frames: (from, limit) => journal.read(address, from, { limit }) })
  }
  return coverage.result()
}
const brief = (one: MachineCoverage | undefined) => ({
  sessions: one?.sessions,
  states: Object.fromEntries(one?.states.map(({ id, visits }) => [id, visits]) ?? []),
  transitions: Object.fromEntries(one?.transitions.map(({ ref, taken }) => [`${ref.source} ${ref.eventType} ${ref.index}`, taken]) ?? []),
})

const small: Event[] = [{ type: 'again' }, { type: 'ask', amount: 5 }]
const denied: Event[] = [{ type: 'ask', amount: 500 }, { type: 'deny' }]

test('states entered and transitions taken are counted in all machines below a root, those of no trace too', async () => {
  await using kit = await withRefunds({ a: small, b: denied })

  const [root, below] = await cover(kit.runtime, ['a', 'b'])

  expect(root?.machine).toMatchObject({ id: 'refund', signature: kit.runtime.registration('refund').signature })
  expect(brief(root)).toEqual({
    sessions: 2,
    states: {
      refund: 2,
      'refund.waiting': 3,
      'refund.deciding': 1,
      'refund.paying': 1,
      'refund.paid': 1,
      'refund.paid.mail': 1,
      'refund.paid.mail.due': 1,
      'refund.paid.mail.sent': 1,
      'refund.paid.books': 1,
      'refund.refused': 1,
    },
    transitions: {
      'refund.waiting ask 0': 1,
      'refund.waiting ask 1': 1,
      'refund.waiting again 0': 1,
      'refund.deciding approve 0': 0,
      'refund.deciding deny 0': 1,
      'refund.paying xstate.done.actor.payment 0': 1,
      'refund.paid.mail.due  0': 1,
    },
  })
  expect(brief(below)).toMatchObject({ sessions: 1, states: { 'payment.paying': 1, 'payment.paid': 1, 'payment.failed': 0 } })
})

test('the rare ones stand first, with at most five of the sessions that have them', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  await using kit = await withRefunds({ ...Object.fromEntries(ids.map((id) => [id, small])), odd: denied })

  const [root] = await cover(kit.runtime, [...ids, 'odd'])

  expect(root?.transitions[0]).toMatchObject({ ref: { source: 'refund.deciding', eventType: 'approve' }, taken: 0, sessions: [] })
  expect(root?.transitions.find(({ ref }) => ref.eventType === 'deny')).toMatchObject({ taken: 1, sessions: ['refund/odd'] })
  expect(root?.transitions.at(-1)).toMatchObject({ taken: 7, sessions: ids.slice(0, 5).map((id) => `refund/${id}`) })
})

test('coverage of two sets of traces, merged, is that of all of them', async () => {
  await using kit = await withRefunds({ a: small, b: denied, c: denied })

  const merged = mergedCoverage(await cover(kit.runtime, ['a']), await cover(kit.runtime, ['b', 'c']))

  expect(merged.map(brief)).toEqual((await cover(kit.runtime, ['a', 'b', 'c'])).map(brief))
})

test('a trace that ends in damage, is empty or is too long counts for nothing, and says why', async () => {
  await using kit = await withRefunds({ a: denied })
  const coverage = new Coverage(kit.runtime.registration('refund'))
  const address = { kind: 'refund', id: 'a' }
  const frames = await partsOf(kit.runtime).transport.journal.read(address, 1)
  const damaged = frames.map((frame) => (frame.seq === 2 ? { ...frame, bytes: frame.bytes.subarray(9) } : frame))

  await expect(coverage.add({ address: 'refund/a', frames: async () => damaged })).rejects.toMatchObject({ code: 'corrupt_at' })
  await expect(coverage.add({ address: 'refund/a', frames: async () => [] })).rejects.toMatchObject({ code: 'not_found' })
  await expect(coverage.add({ address: 'refund/a', frames: async () => frames }, 1)).rejects.toMatchObject({ code: 'too_large' })
  expect(coverage.result()[0]).toMatchObject({ sessions: 0 })
})
