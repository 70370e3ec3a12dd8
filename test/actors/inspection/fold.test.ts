/** Looking at a journal: any moment of it, and what each commit did, with what guards said. */
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { Fold } from '../../../src/actors/index.ts'
import type { Candidate, Step } from '../../../src/contracts/inspection.ts'
import { type Address, formatAddress } from '../../../src/contracts/subjects.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import type { Runtime } from '../../../src/runtime.ts'
import { testRuntime } from '../../../src/testing/index.ts'
import { story, work, worker } from '../../runtime/harness.ts'

const types = {} as { context: { paid: number; refunds: number }; events: { type: 'pay'; amount: number } | { type: 'refund' } | { type: 'close' } }

/** With regions, a history and an eventless transition, which no table steps through. */
const order = setup({
  types,
  guards: {
    mayRefund: ({ context }) => context.refunds < 1 && context.paid > 0,
    isEnough: ({ context, event }) => context.paid + (event as { amount: number }).amount >= 10,
    isSettled: ({ context }) => context.paid >= 10,
  },
}).createMachine({
  id: 'order',
  context: { paid: 0, refunds: 0 },
  type: 'parallel',
  states: {
    money: {
      initial: 'open',
      states: {
        open: {
          on: {
            pay: [
              { guard: 'isEnough', target: 'paid', actions: assign({ paid: ({ context, event }) => context.paid + event.amount }) },
              { actions: assign({ paid: ({ context, event }) => context.paid + event.amount }) },
            ],
          },
        },
        paid: { on: { refund: { guard: 'mayRefund', actions: assign({ refunds: ({ context }) => context.refunds + 1 }) } } },
      },
    },
    parcel: {
      initial: 'waiting',
      states: { waiting: { always: { guard: 'isSettled', target: 'sent' } }, sent: { after: { 1000: 'there' } }, there: {} },
    },
  },
})

const foldOf = (runtime: Runtime, address: Address): Fold => {
  const { journal } = partsOf(runtime).transport
  return new Fold({
    address: formatAddress(address),
    registration: runtime.registration(address.kind),
    frames: (from, limit) => journal.read(address, from, { limit }),
  })
}
const brief = ({ verdict, guard, reads = [] }: Candidate): string =>
  [verdict, guard, ...reads.map(({ path, value }) => `${path}=${JSON.stringify(value)}`)].filter(Boolean).join(' ')
const decisions = (steps: Step[]) =>
  steps.flatMap((step) =>
    step.type === 'microstep'
      ? [
          {
            on: step.event.type,
            taken: step.taken.map(({ source, eventType, index }) => `${source} ${eventType}[${index}]`),
            asked: step.candidates.map(brief),
          },
        ]
      : [],
  )

test('each commit says what was asked, what guards read, and what was taken', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o-1')
  for (const event of [{ type: 'pay', amount: 4 }, { type: 'pay', amount: 7 }, { type: 'refund' }, { type: 'refund' }] as const)
    await kit.clock.until(actor.send(event))
  const fold = foldOf(kit.runtime, actor.address)

  const [first, second, third, fourth] = [await fold.steps(1), await fold.steps(2), await fold.steps(3), await fold.steps(4)]

  expect(first?.steps[0]).toEqual({
    type: 'actor',
    path: '/',
    parent: undefined,
    src: undefined,
    machine: { id: 'order', signature: expect.stringMatching(/^[0-9a-f]{16}$/) },
  })
  expect(decisions(first?.steps ?? [])).toMatchInlineSnapshot(`
    [
      {
        "asked": [
          "no isSettled context.paid=0",
        ],
        "on": "xstate.init",
        "taken": [],
      },
      {
        "asked": [
          "no isEnough context.paid=0 event.amount=4",
          "free",
        ],
        "on": "pay",
        "taken": [
          "order.money.open pay[1]",
        ],
      },
      {
        "asked": [
          "no isSettled context.paid=4",
        ],
        "on": "pay",
        "taken": [],
      },
    ]
  `)
  expect(decisions(second?.steps ?? [])).toMatchInlineSnapshot(`
    [
      {
        "asked": [
          "yes isEnough context.paid=4 event.amount=7",
          "unasked",
        ],
        "on": "pay",
        "taken": [
          "order.money.open pay[0]",
        ],
      },
      {
        "asked": [
          "yes isSettled context.paid=11",
        ],
        "on": "pay",
        "taken": [
          "order.parcel.waiting [0]",
        ],
      },
    ]
  `)
  expect(decisions(third?.steps ?? [])).toMatchInlineSnapshot(`
    [
      {
        "asked": [
          "yes mayRefund context.refunds=0 context.paid=11",
        ],
        "on": "refund",
        "taken": [
          "order.money.paid refund[0]",
        ],
      },
    ]
  `)
  expect(decisions(fourth?.steps ?? [])).toMatchInlineSnapshot(`
    [
      {
        "asked": [
          "no mayRefund context.refunds=1",
        ],
        "on": "refund",
        "taken": [],
      },
    ]
  `)
})

test('a moment is the same whether it is come upon forwards, backwards or from a state that was kept', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o-2')
  for (let count = 0; count < 600; count++) await kit.clock.until(actor.send({ type: 'pay', amount: 0.001 }))
  const [one, other] = [foldOf(kit.runtime, actor.address), foldOf(kit.runtime, actor.address)]

  const forwards = [await one.moment(3), await one.moment(260), await one.moment(599)]
  const backwards = [await other.moment(599), await other.moment(260), await other.moment(3)].toReversed()

  expect(backwards).toEqual(forwards)
  expect(forwards[1]).toMatchObject({
    seq: 260,
    actors: [{ path: '/', kind: 'machine', active: ['order', 'order.money', 'order.money.open', 'order.parcel', 'order.parcel.waiting'] }],
  })
  expect(forwards[1]?.possible['/']).toEqual([
    { source: 'order.money.open', eventType: 'pay', index: 0 },
    { source: 'order.money.open', eventType: 'pay', index: 1 },
    { source: 'order.parcel.waiting', eventType: '', index: 0 },
  ])
})

test('a conversation with tools shows its whole tree, and what came from effects', async () => {
  await using told = await story([{ calls: [work('a', 300), work('b')] }, { text: 'done' }], { tools: (world) => [worker()(world)] })
  await told.say('do both')
  await told.quiet()
  const fold = foldOf(told.runtime, told.main.address)
  const { frames } = await told.runtime.command<{ frames: unknown[] }>('trace.frames', { ...told.main.address })

  const seen = new Set<string>()
  for (let seq = 1; seq <= frames.length; seq++) {
    const { actors, possible } = await fold.moment(seq)
    for (const { path, src, kind } of actors) seen.add(`${path} ${src ?? ''} ${kind}`)
    expect(Object.keys(possible).length).toBeGreaterThan(0)
    const { steps } = await fold.steps(seq)
    expect(steps.filter(({ path }) => path === '?')).toEqual([])
    expect(() => structuredClone({ actors, steps })).not.toThrow()
  }

  expect([...seen]).toMatchInlineSnapshot(`
    [
      "/  machine",
      "/turn#1 turn machine",
      "/turn#1/loop#1 loop machine",
      "/turn#1/loop#1/model#1 callModel effect",
      "/turn#1/loop#1/tool-0#1 tool machine",
      "/turn#1/loop#1/tool-0#1/execute#1 execute effect",
      "/turn#1/loop#1/tool-1#1 tool machine",
      "/turn#1/loop#1/tool-1#1/execute#1 execute effect",
      "/turn#1/loop#1/model#2 callModel effect",
    ]
  `)
})

test('what commits did in the middle of turns is the same from a state that was kept there', async () => {
  const answers = [{ calls: [work('a', 300), work('b')] }, { calls: [work('c')] }, { text: 'done' }, { calls: [work('d')] }, { text: 'again' }]
  await using told = await story(answers, { tools: (world) => [worker()(world)] })
  for (const words of ['do both', 'once more']) {
    await told.say(words)
    await told.quiet()
  }
  const { frames } = await told.runtime.command<{ frames: unknown[] }>('trace.frames', { ...told.main.address })
  const fold = foldOf(told.runtime, told.main.address)
  const lookedAt = async (seq: number) => [await fold.steps(seq), await fold.moment(seq)]

  const forwards = []
  for (let seq = 1; seq <= frames.length; seq++) forwards.push(await lookedAt(seq))

  expect(frames.length).toBeGreaterThan(9)
  for (let seq = frames.length; seq >= 1; seq--) expect(await lookedAt(seq)).toEqual(forwards[seq - 1])
})

test('what is not there, or is no number of a commit, is said', async () => {
  await using kit = await testRuntime({ machines: { order } })
  const actor = kit.runtime.actor('order', 'o 3')
  await kit.clock.until(actor.send({ type: 'pay', amount: 1 }))
  const fold = foldOf(kit.runtime, actor.address)

  for (const look of [fold.moment(9), fold.steps(9)])
    await expect(look).rejects.toMatchObject({ code: 'not_found', message: 'order/o 3 has no commit 9', hint: 'its last one is 1' })
  for (const seq of [0, -1, 1.5, Number.NaN]) await expect(fold.moment(seq)).rejects.toMatchObject({ code: 'bad_request', field: 'seq' })
  await expect(fold.moment(1)).resolves.toMatchObject({ seq: 1 })
})
