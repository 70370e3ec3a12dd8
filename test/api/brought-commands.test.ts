/** Commands that extensions bring, through the doors of a node. */
import { expect, expectTypeOf, test, vi } from 'vitest'
import { z } from 'zod'
import { command, createRuntime, type Extension, RuntimeError } from '../../src/index.ts'
import { checkExtensions } from '../../src/runtime/index.ts'
import { aGateway } from './http/harness.ts'
import { aSocket } from './ws/a-socket.ts'

const aShop = (bought: unknown[] = []): Extension => ({
  name: 'shop',
  commands: {
    'shop.list': command({ input: z.strictObject({}).describe('what there is'), scope: 'read', run: () => ({ goods: ['tea'] }) }),
    'shop.buy': command({
      input: z.strictObject({ what: z.enum(['tea']), many: z.number().int().default(1) }),
      scope: 'write',
      run: ({ what, many }, { runtime, access }) => {
        expectTypeOf(what).toEqualTypeOf<'tea'>()
        expect(runtime.session('main').key).toBeTypeOf('string')
        bought.push([what, many, access?.scopes])
        return { bought: many }
      },
    }),
    'shop.break': command({
      input: z.strictObject({ how: z.string() }),
      scope: 'admin',
      run: ({ how }) => {
        throw how === 'known' ? new RuntimeError('conflict', 'it is broken already') : new Error('out of order')
      },
    }),
  },
})

test('a command of an extension is asked like one of the node: over HTTP, over the socket and in the process', async () => {
  const bought: unknown[] = []
  const { gateway, rpc, runtime } = await aGateway({}, { extensions: [aShop(bought)] })
  const { request } = await aSocket(gateway.url)

  expect(await rpc('shop.list')).toMatchObject({ status: 200, json: { goods: ['tea'] } })
  expect(await request('shop.buy', { what: 'tea', many: 2 })).toMatchObject({ ok: true, payload: { bought: 2 } })
  expect(await runtime.command('shop.buy', { what: 'tea' })).toEqual({ bought: 1 })
  expect(bought).toMatchObject([
    ['tea', 2, expect.arrayContaining(['write'])],
    ['tea', 1, undefined],
  ])
  expect(await rpc('shop.buy', { what: 'coffee' })).toMatchObject({ status: 400, json: { error: { code: 'bad_request', field: 'what' } } })
  expect(await rpc('shop.break', { how: 'known' })).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } })
  expect(await rpc('shop.break', { how: 'not' })).toMatchObject({ status: 500, json: { error: { code: 'internal' } } })
  const unknown = await rpc('shop.bye')
  expect(unknown).toMatchObject({ status: 404, json: { error: { hint: expect.stringContaining('shop.buy') } } })
})

test('it needs its scope over every door, and is not for a token of some sessions', async () => {
  const { gateway, rpc, call } = await aGateway({}, { extensions: [aShop()] })
  const made = async (given: object) => (await rpc('tokens.create', given)).json.token as string
  const reader = await made({ name: 'reader', scopes: ['read'] })
  const bound = await made({ name: 'bound', scopes: ['read', 'write'], sessions: ['main'] })
  const as = (token: string, name: string, input: object) =>
    call('POST', `/rpc/${name}`, { body: JSON.stringify(input), headers: { authorization: `Bearer ${token}` } })

  expect((await as(reader, 'shop.list', {})).status).toBe(200)
  expect(await as(reader, 'shop.buy', { what: 'nonsense' })).toMatchObject({ status: 403, json: { error: { code: 'forbidden' } } })
  expect((await as(bound, 'shop.list', {})).status).toBe(403)
  // Somebody who has the token of the node, and asks for less.
  const { request } = await aSocket(gateway.url, { scopes: ['read'] })
  expect(await request('shop.list')).toMatchObject({ ok: true })
  expect(await request('shop.buy', { what: 'tea' })).toMatchObject({ ok: false, error: { code: 'forbidden' } })
})

test('a node that drains refuses what counts as work, and still answers questions', async () => {
  const bought: unknown[] = []
  const gate = Promise.withResolvers<void>()
  const slow: Extension = { name: 'slow', start: async () => () => gate.promise }
  const runtime = await createRuntime({ transport: 'memory:', extensions: [aShop(bought), slow] })
  const drained = runtime.drain()
  await vi.waitFor(() => expect(runtime.command('shop.buy', { what: 'tea' })).rejects.toMatchObject({ code: 'closed' }))
  expect(await runtime.command('shop.list')).toEqual({ goods: ['tea'] })
  expect(bought).toEqual([])
  gate.resolve()
  await drained
})

test('what is wrong with a command is said when the runtime is made', () => {
  const good = { input: z.object({}), scope: 'read', run: () => 1 }
  const check =
    (commands: object, more: object[] = []) =>
    () =>
      checkExtensions([{ name: 'one', commands } as Extension, ...(more as Extension[])], [])
  expect(check({ 'shop.list': good })).not.toThrow()
  expect(check({ list: good })).toThrow(expect.objectContaining({ code: 'bad_request', hint: expect.stringContaining('ladder.execute') }))
  expect(check({ 'chat.send': good })).toThrow(expect.objectContaining({ code: 'conflict' }))
  expect(check({ 'shop.list': good }, [{ name: 'two', commands: { 'shop.list': good } }])).toThrow(/both|two extensions/)
  expect(check({ 'shop.list': { ...good, scope: 'everything' } })).toThrow(/scope/)
  expect(check({ 'shop.list': { ...good, input: {} } })).toThrow(/zod/)
  expect(check({ 'shop.list': { ...good, run: 'no' } })).toThrow(/function/)
  expect(check({ 'shop.list': { ...good, other: 1 } })).toThrow(/other/)
})
