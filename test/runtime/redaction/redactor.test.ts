/** Traces for others to see: nothing of what somebody said is left in them, and they lead to the same states. */
import { expect, test } from 'vitest'
import { assign, setup, spawnChild } from 'xstate'
import { z } from 'zod'
import { decodeCommit, type Registration, replay, rewrite } from '../../../src/actors/index.ts'
import { journalOf, journalOfFile } from '../../../src/client/index.ts'
import type { Address } from '../../../src/contracts/subjects.ts'
import { agent, fromTask, type Runtime, tool } from '../../../src/index.ts'
import { redactorOf } from '../../../src/runtime/redaction/redactor.ts'
import { testRuntime } from '../../../src/testing/index.ts'

type Options = Omit<Parameters<typeof redactorOf>[0], 'address' | 'registration' | 'textMax'> & { textMax?: number }

/** The journal of an actor, redacted, and what a replay of that says. */
const redact = async (runtime: Runtime, address: Address, { textMax = 2000, ...options }: Options = {}) => {
  const frames = await journalOf({ command: (name, input) => runtime.command(name, input) }, address).read(address, 1, { limit: 10_000 })
  const registration: Registration = { ...runtime.registration(address.kind), determinismCheck: undefined }
  const rewriting = redactorOf({ address, registration, textMax, ...options })
  const { frames: written, difference } = rewrite(address, frames, registration, rewriting)
  const bytes = Buffer.concat(written.map((frame) => frame.bytes)).toString('latin1')
  const journal = journalOfFile({ frames: written.map((frame) => ({ seq: frame.seq, bytes: Buffer.from(frame.bytes).toString('base64') })) })
  const replayed = async () => replay(journal, rewriting.address, registration)
  const commits = () => written.map((frame) => decodeCommit(frame.bytes, { address: `${address.kind}/${rewriting.address.id}`, seq: frame.seq }))
  return { written, recorded: frames.length, difference, bytes, replayed, commits, address: rewriting.address }
}

const pay = tool({
  name: 'pay_back',
  description: 'Pays money back.',
  input: z.object({ customer: z.string(), amount: z.number(), 'Wolfram Eschenbach': z.string().optional() }),
  approval: true,
  execute: ({ customer }) => ({ [`${customer}@parzival.example`]: 4_711_081_5, iban: 'DE02120300000000202051' }),
})

const fields = { customer: 'Condwiramurs', amount: 73_512, 'Wolfram Eschenbach': 'grail' }

test('a conversation with a tool, an approval, a refusal and a failure is redacted, and leads to the same states', async () => {
  await using kit = await testRuntime({
    agents: [agent({ name: 'main', model: 'test/a', instructions: 'Guard the Munsalvaesche password.', tools: [pay] })],
    models: {
      'test/a': [
        { text: 'I shall pay Condwiramurs', calls: [{ name: 'pay_back', input: fields }] },
        { text: 'Condwiramurs has her money', reasoning: 'Kundrie said so' },
        { calls: [{ name: 'pay_back', input: { ...fields, customer: 'Gahmuret' } }] },
        { text: 'Then not, Gahmuret' },
        { error: { status: 401 } },
      ],
    },
  })
  const session = kit.session('agent:main:web:direct:trevrizent')
  const decide = async (decision: 'approve' | 'deny') => {
    const [waiting] = await kit.clock.until(
      (async () => {
        for (;;) {
          const { approvals } = await kit.runtime.command<{
            approvals: { sessionKey: string; callId: string; inputHash: string; attempt: number }[]
          }>('approvals.list')
          if (approvals.length > 0) return approvals
          await new Promise((resolve) => kit.clock.setTimeout(() => resolve(undefined), 1))
        }
      })(),
    )
    const { sessionKey, callId, inputHash, attempt } = waiting as NonNullable<typeof waiting>
    await kit.runtime.command('approvals.resolve', { sessionKey, callId, inputHash, attempt, decision, note: 'said Anfortas', by: 'Sigune' })
  }
  const first = await session.send('Please refund Condwiramurs 73512', { idempotencyKey: 'gurnemanz-1' })
  await decide('approve')
  await kit.clock.until(first.result())
  const second = await session.send('And Gahmuret too')
  await decide('deny')
  await kit.clock.until(second.result())
  await kit.clock.until((await session.send('Feirefiz?')).result().catch(() => undefined))

  const { difference, written, recorded, bytes, replayed, address } = await redact(kit.runtime, session.address)

  expect(difference).toBeUndefined()
  expect(written).toHaveLength(recorded)
  expect(await replayed()).toMatchObject({ verdict: 'identical', commits: recorded })
  expect(address.id).not.toContain('trevrizent')
  for (const word of [
    'Condwiramurs',
    'Gahmuret',
    'Feirefiz',
    'Kundrie',
    'Anfortas',
    'Sigune',
    'trevrizent',
    'gurnemanz',
    'grail',
    'parzival',
    'refund',
  ])
    expect({ word, found: bytes.toLowerCase().includes(word.toLowerCase()) }).toEqual({ word, found: false })
  for (const word of ['Eschenbach', 'Wolfram', 'DE02120300000000202051', 'money', 'Munsalvaesche'])
    expect({ word, found: bytes.includes(word) }).toEqual({ word, found: false })
})

test('of a message that begins with a slash only the name of a command is left', async () => {
  await using kit = await testRuntime({ agents: [agent({ name: 'main', model: 'test/a' })], models: { 'test/a': () => ({ text: 'aye' }) } })
  const session = kit.session('main')
  for (const said of [
    '/herzeloyde@soltane.example what do you think',
    '/lance/herzeloyde.txt read it',
    '/SOLTANE',
    '/Soltane: hello',
    '/send.soltane',
    '/status',
    '/Think high Soltane',
  ])
    await kit.clock.until((await session.send(said)).result())

  const { difference, bytes, replayed, commits } = await redact(kit.runtime, session.address)

  expect(difference).toBeUndefined()
  expect(await replayed()).toMatchObject({ verdict: 'identical' })
  expect(bytes).not.toMatch(/herzeloyde|soltane|lance|think high/i)
  const told = commits().flatMap(({ inputs }) => inputs.flatMap((input) => ('timer' in input ? [] : [(input.event as { text?: unknown }).text])))
  expect(told.filter((text) => typeof text === 'string')).toEqual([
    ...Array.from({ length: 5 }, () => expect.stringMatching(/^[a-z]+$/)),
    '/status',
    expect.stringMatching(/^\/Think [a-z]+$/),
  ])
})

type Order = { type: 'order'; item: string; customer: string; express: string; rows: { note: string }[]; raw: string; scan: Uint8Array; on: Date }
type Event = Order | { type: 'cancel'; by: string } | { type: 'pin'; code: string }

const order = setup({
  types: { context: {} as { customer: string; by: string }, events: {} as Event },
  actors: {
    ship: fromTask<{ parcel: string }, { customer: string }>(async ({ input }) => {
      if (input.customer === 'Herzeloyde') throw Object.assign(new Error('Herzeloyde is not at home'), { street: 'Soltane 1' })
      return { parcel: `for ${input.customer}` }
    }),
  },
  guards: {
    isExpress: ({ event }) => event.type === 'order' && event.express === 'at once',
    isCustomer: ({ context, event }) => event.type === 'cancel' && event.by === context.customer,
    isPin: ({ event }) => event.type === 'pin' && event.code.startsWith('47'),
  },
  actions: {
    keep: assign({ customer: ({ event, context }) => (event.type === 'order' ? event.customer : context.customer) }),
  },
}).createMachine({
  id: 'order',
  context: { customer: '', by: '' },
  initial: 'open',
  states: {
    open: {
      on: {
        order: [
          { guard: 'isExpress', target: 'shipping', actions: 'keep' },
          { target: 'waiting', actions: 'keep' },
        ],
        pin: { guard: 'isPin', target: 'done' },
      },
    },
    waiting: { on: { cancel: { guard: 'isCustomer', target: 'cancelled' } } },
    shipping: { invoke: { id: 'ship', src: 'ship', input: ({ context }) => ({ customer: context.customer }), onDone: 'done', onError: 'failed' } },
    cancelled: {},
    failed: {},
    done: {},
  },
})

const anOrder = (given: Partial<Order> = {}): Order => ({
  type: 'order',
  item: 'a red suit of armour',
  customer: 'Ither',
  express: 'no',
  rows: [{ note: 'Ither must not know' }],
  raw: JSON.stringify({ lance: 'Ither of Gaheviez', count: 3 }),
  scan: new TextEncoder().encode('Ither, scanned'),
  on: new Date(5),
  ...given,
})

const withOrders = () => testRuntime({ machines: { order } })

test('an event of an author keeps its form, the words of his guards, equal texts and numbers; what was said is gone from texts, JSON and bytes', async () => {
  await using kit = await withOrders()
  await kit.runtime.actor('order', 'ither-7').send(anOrder())
  await kit.runtime.actor('order', 'ither-7').send({ type: 'cancel', by: 'Ither' })
  await kit.runtime.actor('order', 'two').send(anOrder({ customer: 'Herzeloyde', express: 'at once' }))
  await kit.clock.until(kit.runtime.settled(60_000))

  const cancelled = await redact(kit.runtime, { kind: 'order', id: 'ither-7' })
  const failed = await redact(kit.runtime, { kind: 'order', id: 'two' })

  expect(await cancelled.replayed()).toMatchObject({ verdict: 'identical', states: { '/': 'cancelled' } })
  expect(await failed.replayed()).toMatchObject({ verdict: 'identical', states: { '/': 'failed' } })
  for (const { bytes, address } of [cancelled, failed])
    expect(`${address.id} ${bytes}`).not.toMatch(/ither|armour|know|Gaheviez|scanned|Herzeloyde|Soltane/i)
  const [input] = cancelled.commits()[0]?.inputs ?? []
  const { event } = input as unknown as { event: Order }
  expect(event).toMatchObject({ type: 'order', on: new Date(5), rows: [{ note: expect.any(String) }] })
  expect(event.item).toHaveLength(anOrder().item.length)
  expect(JSON.parse(event.raw)).toEqual({ lance: expect.any(String), count: 3 })
})

test('where a guard reads what was said, the redacted trace would lead elsewhere: that is told with its place, and the author may keep it', async () => {
  await using kit = await withOrders()
  const address = { kind: 'order', id: 'three' }
  await kit.runtime.actor('order', 'three').send({ type: 'pin', code: '4711 open' })

  expect(await redact(kit.runtime, address)).toMatchObject({ difference: { seq: 1, path: '/', recorded: 'done', now: 'open' } })
  const kept = await redact(kit.runtime, address, { options: { keep: ['order.pin.code'] } })
  expect(await kept.replayed()).toMatchObject({ verdict: 'identical', states: { '/': 'done' } })
  expect(kept.bytes).toContain('4711 open')
  expect(await redact(kit.runtime, address, { options: { keep: ['order.pin.*'], redact: ['*.code'] } })).toMatchObject({ difference: { seq: 1 } })
})

const refundWith = (id: string) =>
  setup({ actors: { work: fromTask(async () => 'Ither') } }).createMachine({
    id,
    initial: 'waiting for go',
    states: { 'waiting for go': { on: { go: 'paying_back' } }, paying_back: { invoke: { src: 'work', onDone: 'paid' } }, paid: { type: 'final' } },
  })

test.each(['shop/refund', '</script>', '50%#1'])('a machine called %j is redacted: what its paths have to escape are its words', async (id) => {
  await using kit = await testRuntime({ machines: { refund: refundWith(id) } })
  await kit.runtime.actor('refund', 'r/1').send({ type: 'go' })
  await kit.clock.until(kit.runtime.settled(60_000))

  const { difference, bytes, replayed } = await redact(kit.runtime, { kind: 'refund', id: 'r/1' })

  expect(difference).toBeUndefined()
  expect(await replayed()).toMatchObject({ verdict: 'identical', states: { '/': 'paid' } })
  expect(bytes).not.toContain('Ither')
})

const parcels = setup({
  types: { events: {} as { type: 'send'; parcel: string } },
  actors: { ship: fromTask(async () => 'there') },
}).createMachine({ id: 'parcels', on: { send: { actions: spawnChild('ship', { id: ({ event }) => event.parcel }) } } })

test('an actor that was called by somebody loses its name in its path too, whatever characters it has', async () => {
  await using kit = await testRuntime({ machines: { parcels } })
  for (const parcel of ['ither/gaheviez', 'soltane#7', '100%kundrie']) await kit.runtime.actor('parcels', 'all').send({ type: 'send', parcel })
  await kit.clock.until(kit.runtime.settled(60_000))

  const { difference, bytes, replayed } = await redact(kit.runtime, { kind: 'parcels', id: 'all' })

  expect(difference).toBeUndefined()
  expect(await replayed()).toMatchObject({ verdict: 'identical' })
  expect(bytes).not.toMatch(/ither|gaheviez|soltane|kundrie/i)
})

test('a long text is cut, and nobody can find out by trying what stands for it', async () => {
  await using kit = await withOrders()
  await kit.runtime.actor('order', 'four').send(anOrder({ item: 'x'.repeat(100_000) }))

  const [one, other] = [await redact(kit.runtime, { kind: 'order', id: 'four' }), await redact(kit.runtime, { kind: 'order', id: 'four' })]

  expect(one.bytes.length).toBeLessThan(5000)
  expect(one.bytes).not.toBe(other.bytes)
  expect(await one.replayed()).toMatchObject({ verdict: 'identical' })
})
