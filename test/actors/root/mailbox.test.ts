/** What effects say and nobody can store: the machine takes its `onError`, and the log says of what, of whom and where. */
import { expect, test } from 'vitest'
import { assign, fromCallback, fromObservable, fromPromise, setup } from 'xstate'
import { registerMachine } from '../../../src/actors/registration.ts'
import { aWorld, outcome } from '../support.ts'

class Money {
  amount = 7
}
const circle: Record<string, unknown> = {}
circle.self = circle
const address = { kind: 'm', id: 'one' }

/** One invocation of an effect, and what its machine was told. */
const run = async (work: any) => {
  const world = await aWorld()
  const machine = setup({ types: {} as { context: { error: any }; events: any }, actors: { work } }).createMachine({
    context: { error: undefined },
    initial: 'busy',
    states: {
      busy: {
        invoke: {
          src: 'work',
          id: 'work',
          onDone: 'done',
          onError: { target: 'failed', actions: assign({ error: ({ event }: any) => event.error }) },
        },
      },
      done: {},
      failed: {},
    },
  })
  const host = await world.host([registerMachine('m', machine)])
  await outcome(world, host.create(address))
  await world.clock.settle()
  const { value, context } = (await world.clock.until(host.read(address))).snapshot as { value: string; context: { error: any } }
  return { value, error: context.error, logged: world.logged.filter(({ level }) => level === 'error') }
}

test.each<[string, () => unknown, string, RegExp]>([
  ['a function', () => ({ order: { pay: () => 1 } }), 'order.pay', /order\.pay is a function/],
  ['an instance of a class', () => ({ total: new Money() }), 'total', /total is an instance of Money/],
  ['a circle', () => ({ list: [circle] }), 'list[0].self', /contains itself/],
  ['a function and nothing else', () => () => 1, '', /the value is a function/],
  ['5 MB', () => ({ text: 'x'.repeat(5_000_000) }), 'text', /is larger than/],
])('a promise that resolves with %s fails typed, with a hint and the place, and it is logged', async (_name, result, field, why) => {
  const { value, error, logged } = await run(fromPromise(async () => result()))

  expect(value).toBe('failed')
  expect(error).toMatchObject({ code: 'tool_output', message: expect.stringMatching(why), hint: expect.stringContaining('plain data') })
  expect(error.field ?? '').toBe(field)
  expect(logged).toEqual([
    {
      level: 'error',
      message: 'what an effect said cannot be stored, so it fails',
      fields: { actor: 'm/one', path: '/work#1', error: error.toJSON() },
    },
  ])
})

test.each([
  ['a callback that sends back a function', fromCallback(({ sendBack }: any) => sendBack({ type: 'news', item: { f: () => 1 } })), 'item.f'],
  [
    'an observable that comes to an instance',
    fromObservable(() => ({ subscribe: ({ next }: any) => (next({ m: new Money() }), { unsubscribe() {} }) }) as any),
    'm',
  ],
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- that is what it is about
  ['a promise that rejects with what is no error, and no data', fromPromise(() => Promise.reject({ m: new Money() })), 'm'],
])('%s fails in the same way', async (_name, work, field) => {
  const { value, error, logged } = await run(work)

  expect(value).toBe('failed')
  expect(error).toMatchObject({ code: 'tool_output', field })
  expect(logged).toMatchObject([{ fields: { path: '/work#1', error: { field } } }])
})

test('a failure that is an ordinary one is the affair of the machine alone', async () => {
  const { value, error, logged } = await run(fromPromise(() => Promise.reject(new Error('no money'))))

  expect(value).toBe('failed')
  expect(error.message).toBe('no money')
  expect(logged).toEqual([])
})
