/** What may come in. A bad event costs its sender a typed error and the machine nothing. */
import { expect, test } from 'vitest'
import { assign, createActor, setup } from 'xstate'
import { z } from 'zod'
import { checkEvent, vouchFor } from '../../src/actors/event-validation.ts'
import { decode, encode } from '../../src/actors/journal/codec.ts'
import { inputSizeMax, isPlain, plainCopy } from '../../src/actors/journal/journal-value.ts'
import { registerMachine } from '../../src/actors/registration.ts'
import { constant } from '../../src/contracts/constant.ts'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { aWorld, codeOf, outcome } from './support.ts'

const machine = setup({ types: {} as { context: { got: unknown[] }; events: any } }).createMachine({
  id: 'box',
  context: { got: [] },
  on: { put: { actions: assign({ got: ({ context, event }: any) => [...context.got, event.value] }) }, 'part.*': { actions: assign({}) } },
})
const open = registerMachine('box', machine)
const strict = registerMachine('box', machine, { strict: true })
const schematic = registerMachine('schematic', machine, { events: z.strictObject({ type: z.literal('put'), value: z.string() }) })

class Thing {
  x = 1
}
const circle: Record<string, unknown> = {}
circle.self = { circle }
let deep: unknown = 1
for (let depth = 0; depth < 200; depth++) deep = { deep }

const bad: [string, unknown, string][] = [
  ['a reserved type', { type: 'xstate.stop' }, 'bad_request'],
  ['a reserved done event', { type: 'xstate.done.actor.x', output: 1 }, 'bad_request'],
  ['a type of ours', { type: 'statecast.effect.failed' }, 'bad_request'],
  ['the wildcard', { type: '*' }, 'bad_request'],
  ['a string', 'put', 'bad_request'],
  ['null', null, 'bad_request'],
  ['undefined', undefined, 'bad_request'],
  ['a number', 7, 'bad_request'],
  ['an array', [{ type: 'put' }], 'bad_request'],
  ['no type', { value: 1 }, 'bad_request'],
  ['an empty type', { type: '' }, 'bad_request'],
  ['a type that is no string', { type: { toString: () => 'put' } }, 'bad_request'],
  ['a type of 5,000 characters', { type: 'p'.repeat(5000) }, 'bad_request'],
  ['a function', { type: 'put', value: () => 1 }, 'bad_request'],
  ['a symbol', { type: 'put', value: Symbol('x') }, 'bad_request'],
  ['a bigint', { type: 'put', value: 10n }, 'bad_request'],
  ['a class instance', { type: 'put', value: new Thing() }, 'bad_request'],
  ['a Map', { type: 'put', value: new Map() }, 'bad_request'],
  ['half a character', { type: 'put', value: ['whole 😀', { text: 'half \ud83d' }] }, 'bad_request'],
  ['half a character as a name', { type: 'put', value: { '\udc00': 1 } }, 'bad_request'],
  ['a circle', { type: 'put', value: circle }, 'bad_request'],
  ['a key named __proto__', { type: 'put', value: JSON.parse('{"__proto__":{"admin":true}}') }, 'bad_request'],
  ['200 levels', { type: 'put', value: deep }, 'bad_request'],
  ['5 MB of text', { type: 'put', value: 'x'.repeat(5_000_000) }, 'too_large'],
  ['5 MB of bytes', { type: 'put', value: new Uint8Array(5_000_000) }, 'too_large'],
  ['a million numbers', { type: 'put', value: Array(1_000_000).fill(0.5) }, 'too_large'],
  ['an array of a billion holes', { type: 'put', value: Array(1_000_000_000) }, 'too_large'],
]

test.each(bad)('[BAD-RESERVED] %s is refused with a typed error, and the state stays untouched', async (_name, event, code) => {
  const world = await aWorld()
  const host = await world.host([open])
  const address = { kind: 'box', id: 'one' }
  await outcome(world, host.send(address, { type: 'put', value: 1 }))

  const refused = await outcome(world, host.send(address, event))

  expect(refused).toMatchObject({ code })
  const root = await host.get(address)
  expect(root.seq).toBe(1)
  expect(root.replica?.actor.getSnapshot().context).toEqual({ got: [1] })
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})

test('an event that no state names is taken, as in XState: it changes nothing, its repetition is known, and a replay sees it', async () => {
  const world = await aWorld()
  const host = await world.host([open])
  const address = { kind: 'box', id: 'one' }
  await outcome(world, host.send(address, { type: 'put', value: 1 }))

  const ignored = await outcome(world, host.send(address, { type: 'unheard.of' }, { id: 'once' }))
  const again = await outcome(world, host.send(address, { type: 'unheard.of' }, { id: 'once' }))

  expect(ignored).toMatchObject({ value: { seq: 2, duplicate: false, emitted: [] } })
  expect(again).toMatchObject({ value: { seq: 2, duplicate: true } })
  expect((await host.get(address)).replica?.actor.getSnapshot().context).toEqual({ got: [1] })
  expect((await world.commits(address)).at(1)?.inputs).toMatchObject([{ event: { type: 'unheard.of' } }])
})

test('an event that no state names lets an `always` be looked at, as in XState, and so does its replay', async () => {
  const world = await aWorld()
  const registration = registerMachine(
    'door',
    setup({}).createMachine({
      initial: 'shut',
      states: { shut: { always: { guard: ({ event }: any) => event.key === 7, target: 'open' } }, open: {} },
    }),
  )
  const address = { kind: 'door', id: 'one' }
  const host = await world.host([registration])
  await outcome(world, host.send(address, { type: 'knock' }))
  const shut = (await host.get(address)).replica?.actor.getSnapshot().value

  await outcome(world, host.send(address, { type: 'turn', key: 7 }))
  host.abandon()
  const next = await world.host([registration])

  expect(shut).toBe('shut')
  expect((await world.clock.until(next.read(address))).snapshot?.value).toBe('open')
})

test('a strict registration refuses what no state names, and says what it takes; wildcards of the machine are honoured', () => {
  const about = { code: 'bad_request', hint: 'it takes: part.*, put', field: 'type' }
  expect(() => checkEvent(strict, { type: 'nothing' })).toThrow(expect.objectContaining(about))
  expect(checkEvent(strict, { type: 'part.of.it' }).copy).toEqual({ type: 'part.of.it' })
  expect(checkEvent(strict, { type: 'part' }).copy).toEqual({ type: 'part' })
  expect(() => checkEvent(strict, { type: 'parting' })).toThrow(RuntimeError)
})

test('`xstate.route` from outside goes where XState goes, and survives a restart; other events of XState stay refused', async () => {
  const world = await aWorld()
  const routed = setup({ guards: { never: () => false } }).createMachine({
    initial: 'home',
    states: {
      home: {},
      cart: { id: 'cart', route: {} },
      vault: { id: 'vault', route: { guard: 'never' } },
      hidden: { id: 'hidden' },
    },
  })
  const registration = registerMachine('site', routed, { strict: true })
  const host = await world.host([registration])
  const address = { kind: 'site', id: 'one' }
  const plain = createActor(routed).start()
  const values = []
  for (const to of ['#hidden', '#vault', '#cart', '#nowhere']) {
    const event = { type: 'xstate.route', to } as const
    plain.send(event)
    expect(await outcome(world, host.send(address, event))).toMatchObject({ value: { duplicate: false } })
    values.push([(await world.clock.until(host.read(address))).snapshot?.value, plain.getSnapshot().value])
  }
  host.abandon()
  const next = await world.host([registration])

  expect(values).toEqual([
    ['home', 'home'],
    ['home', 'home'],
    ['cart', 'cart'],
    ['cart', 'cart'],
  ])
  expect((await world.clock.until(next.read(address))).snapshot?.value).toBe('cart')
  expect(await codeOf(world, next.send(address, { type: 'xstate.init' }))).toBe('bad_request')
  expect(() => checkEvent(strict, { type: 'xstate.route', to: '#x' })).toThrow(RuntimeError)
})

test('[BAD-FIELDS] with a schema, the field at fault is named', () => {
  expect(() => checkEvent(schematic, { type: 'put', value: 1 })).toThrow(expect.objectContaining({ code: 'bad_request', field: 'value' }))
  expect(() => checkEvent(schematic, { type: 'put', value: 'x', more: 1 })).toThrow(expect.objectContaining({ code: 'bad_request', field: 'more' }))
  expect(() => checkEvent(schematic, { type: 'part' })).toThrow(expect.objectContaining({ code: 'bad_request', field: 'type' }))
  expect(checkEvent(schematic, { type: 'put', value: 'x' }).copy).toEqual({ type: 'put', value: 'x' })
})

test('an event that we vouch for passes its schema unseen, this very object and no copy of it; it is copied and looked at all the same', () => {
  const ours = vouchFor({ type: 'put', value: 1 })
  const { copy } = checkEvent(schematic, ours)

  expect(copy).toEqual(ours)
  expect(copy).not.toBe(ours)
  expect(() => checkEvent(schematic, copy)).toThrow(expect.objectContaining({ code: 'bad_request', field: 'value' }))
  expect(() => checkEvent(schematic, decode(encode(ours)))).toThrow(expect.objectContaining({ code: 'bad_request', field: 'value' }))
  expect(() => checkEvent(schematic, vouchFor({ type: 'put', value: 'half \ud83d' }))).toThrow(expect.objectContaining({ field: 'value' }))
  expect(() => checkEvent(schematic, vouchFor({ type: 'put', value: () => 1 }))).toThrow(expect.objectContaining({ field: 'value' }))
})

test('an unknown kind is not found', async () => {
  const world = await aWorld()
  const host = await world.host([open])

  expect(await codeOf(world, host.send({ kind: 'nothing', id: 'x' }, { type: 'put' }))).toBe('not_found')
})

test('what is sent is copied: neither the sender nor the machine can change it later', async () => {
  const world = await aWorld()
  const host = await world.host([open])
  const address = { kind: 'box', id: 'one' }
  const value = { list: [1] }

  const sent = host.send(address, { type: 'put', value })
  value.list.push(2)
  await outcome(world, sent)

  expect((await host.get(address)).replica?.actor.getSnapshot().context).toEqual({ got: [{ list: [1] }] })
})

test('what the machine sees is what the journal gives back, to the last detail', () => {
  const error = Object.assign(new TypeError('x', { cause: new Error('y') }), { code: 'E', status: 500, fn: () => 1, loop: {} })
  error.loop = { error }
  const value = {
    error,
    ours: new RuntimeError('timeout', 'late', { data: { ms: 1 }, retryable: true }),
    abort: new DOMException('stop', 'AbortError'),
    date: new Date(1_700_000_000_123),
    bytes: new Uint8Array([1, 2]),
    zero: -0,
    lone: 'a\ud800b',
    nothing: undefined,
    numbers: [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -1.5],
    holes: Object.assign(Array<number>(3), { 0: 1, 2: 2 }),
  }

  const seen = plainCopy(value)
  const back = decode(encode(seen)) as typeof value

  expect(back).toStrictEqual(seen)
  for (const side of [seen, back]) {
    expect(side.error).toMatchObject({ name: 'TypeError', message: 'x', code: 'E', status: 500, cause: { message: 'y' }, stack: 'TypeError: x' })
    expect('fn' in side.error).toBe(false)
    expect(side.ours).toBeInstanceOf(RuntimeError)
    expect(side.ours).toMatchObject({ code: 'timeout', retryable: true, data: { ms: 1 } })
    expect(side.abort).toMatchObject({ name: 'AbortError', message: 'stop' })
    expect(Object.is(side.zero, 0)).toBe(true)
    expect(side.lone).toBe('a\ufffdb')
  }
  expect(isPlain(seen)).toBe(true)
  for (const other of [value.error, value.abort, value.lone, value.holes, new Set(), Buffer.from('a'), /a/.exec('a')])
    expect(isPlain(other)).toBe(false)
  expect(() => plainCopy('x'.repeat(inputSizeMax + 1))).toThrow(expect.objectContaining({ code: 'too_large' }))
})

test('whether a constant can come back is the same at each look, at any depth and however much there is of it', () => {
  const good = constant({ text: 'x', list: [1, { deep: true }] })
  const bad = constant({ text: 'half \ud83d' })
  const large = constant({ text: 'x'.repeat(inputSizeMax / 2) })
  const inside = (value: unknown, levels: number): unknown => Array.from({ length: levels }).reduce((inner) => ({ inner }), value)

  for (let look = 0; look < 2; look++) {
    expect([good, bad, large].map((value) => isPlain(value))).toEqual([true, false, true])
    expect([{ good }, [good, good], inside(good, 98), inside(good, 99)].map(isPlain)).toEqual([true, true, true, false])
    expect([{ large }, [large, large]].map(isPlain)).toEqual([true, false])
  }
})

test('half a character is refused with its place, also where something is created with it', async () => {
  const world = await aWorld()
  const host = await world.host([open])

  expect(() => checkEvent(open, { type: 'put', value: ['whole', { text: 'half \ud83d' }] })).toThrow(
    expect.objectContaining({ code: 'bad_request', field: 'value[1].text', hint: expect.stringContaining('well-formed') }),
  )
  await expect(host.create({ kind: 'box', id: 'new' }, { name: '\udc00' })).rejects.toMatchObject({ code: 'bad_request', field: 'name' })
})
