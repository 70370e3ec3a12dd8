/** An actor is asked for on another node than its own: whatever its context holds, there is an answer; and what is sent there is looked at as it is here. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { emit, setup } from 'xstate'
import { createRuntime, type Runtime } from '../../src/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'

const types = {} as { context: any; events: any }
class Money {
  readonly #cents = 5
  readonly currency = 'EUR'
  toCents = () => this.#cents
}
const circle = () => {
  const one: Record<string, unknown> = { n: 1 }
  one.me = one
  return one
}
const family = (depth: number, parent?: object): object => {
  const one = { name: String(depth), parent, children: [] as object[] }
  if (depth > 0) for (let n = 0; n < 3; n++) one.children.push(family(depth - 1, one))
  return one
}
const kept: Record<string, [make: (spawned: any) => unknown, seen: unknown]> = {
  'a child': [({ spawn }) => spawn('item', { id: 'first' }), { xstate$$type: 1, id: 'first' }],
  'children in a list': [({ spawn }) => [{ ref: spawn('item', { id: 'first' }) }], [{ ref: { xstate$$type: 1, id: 'first' } }]],
  itself: [({ self }) => self, { xstate$$type: 1, id: 'm2' }],
  'a map': [() => new Map([['a', new Set([1])]]), { a: [1] }],
  'a map by objects': [() => new Map([[{ a: 1 }, 2]]), [[{ a: 1 }, 2]]],
  numbers: [() => new Float64Array([0.5, 2]), [0.5, 2]],
  'a large number': [() => 2n ** 90n, String(2n ** 90n)],
  'a symbol and a function': [() => ({ of: Symbol('x'), is: () => 1, n: 1 }), { n: 1 }],
  'a circle': [circle, expect.objectContaining({ n: 1 })],
  'a tree whose parts know their parents': [() => family(3), expect.objectContaining({ name: '3' })],
  'an instance of a class': [() => new Money(), { currency: 'EUR' }],
  'an address': [() => new URL('https://example.com/a'), 'https://example.com/a'],
  'an error with anything': [
    () => Object.assign(new TypeError('no'), { of: new Map([['a', 1]]) }),
    expect.objectContaining({ message: 'no', of: { a: 1 } }),
  ],
}

const machineOf = (make: (spawned: any) => unknown) =>
  setup({ types, actors: { item: setup({}).createMachine({}) } }).createMachine({
    context: (spawned: any) => ({ kept: make(spawned) }),
    on: { say: { actions: emit(({ context }) => ({ type: 'said', kept: context.kept })) } },
  })
const names = Object.keys(kept)
const machines = Object.fromEntries(names.map((name, index) => [`m${index}`, machineOf((kept[name] as any)[0])]))

let node: Runtime<any>
let other: Runtime<any>
beforeAll(async () => {
  const store = createMemoryStore()
  const open = async (resume: boolean) =>
    createRuntime({ transport: await openMemory({ environment: systemEnvironment(), store, shared: true }), machines, resume })
  node = await open(true)
  await vi.waitFor(() => expect(node.nodes()[0]?.partitions).toBe(64))
  other = await open(false)
})
afterAll(async () => {
  await other.close()
  await node.close()
})

test.each(names.map((name, index) => [name, `m${index}`]))('%s in a context: it is read, and its messages are taken', async (name, kind) => {
  const actor = other.actor(kind, 'x')

  expect((await actor.send({ type: 'say' })).seq).toBe(1)
  const { context } = await actor.snapshot()

  expect(context).toEqual({ kept: kept[name]?.[1] })
})

test.each([
  ['a map', { type: 'say', of: new Map() }],
  ['half a character', { type: 'say', of: '\ud800' }],
  ['a circle', { type: 'say', of: circle() }],
])('an event with %s is refused here as it is there', async (_, event) => {
  const refused = (runtime: Runtime<any>) =>
    runtime
      .actor('m0', 'y')
      .send(event)
      .catch((error: unknown) => error)

  const here = await refused(node)
  const there = await refused(other)

  expect(here).toMatchObject({ code: 'bad_request', field: expect.stringMatching(/^of/) })
  expect((there as Error).message).toBe((here as Error).message)
})
