/**
 * Values that JSON cannot hold are shown as what they are, wherever an actor is looked at.
 * Sources: statelyai/xstate#2127, statelyai/xstate#3076, rlaffers/xstate-ninja#10 (FC-15).
 */
import { expect, test } from 'vitest'
import { emit, setup } from 'xstate'
import { aGateway } from '../api/http/harness.ts'
import { aSocket } from '../api/ws/a-socket.ts'

const circle = () => {
  const self: Record<string, unknown> = { name: 'me' }
  self.self = self
  self.twice = [self, self]
  return self
}
const odd = () => ({
  big: 10n,
  map: new Map([['a', 1n]]),
  set: new Set(['b']),
  error: new TypeError('no'),
  expression: /a+/g,
  address: new URL('https://example.org/a'),
  date: new Date(0),
  bytes: new Uint8Array(3),
  buffer: new ArrayBuffer(4),
  numbers: [Number.NaN, Number.POSITIVE_INFINITY, -0],
  circle: circle(),
  nothing: undefined,
})
const shown = {
  big: '10n',
  map: [['a', '1n']],
  set: ['b'],
  error: { name: 'TypeError', message: 'no' },
  expression: '/a+/g',
  address: 'https://example.org/a',
  date: '1970-01-01T00:00:00.000Z',
  bytes: { bytes: 3 },
  buffer: { bytes: 4 },
  numbers: ['NaN', 'Infinity', 0],
  circle: { name: 'me', self: '(circle)', twice: ['(circle)', '(circle)'] },
}

const keeper = setup({ types: { context: {} as ReturnType<typeof odd>, events: {} as { type: 'tell' } } }).createMachine({
  context: odd,
  initial: 'open',
  states: {
    open: { on: { tell: { target: 'told', actions: emit(() => ({ type: 'values', ...odd(), circle: 'none' })) } } },
    told: { type: 'final' },
  },
  output: odd,
})

test('by actors.get, at a moment of its trace, and on its socket', async () => {
  const { rpc, gateway } = await aGateway({}, { machines: { keeper } })
  await rpc('actors.send', { kind: 'keeper', id: 'k', event: { type: 'nothing' } })

  const got = await rpc('actors.get', { kind: 'keeper', id: 'k' })
  expect([got.status, got.json]).toMatchObject([200, { value: 'open', context: shown }])
  const moment = await rpc('trace.moment', { kind: 'keeper', id: 'k', seq: 1 })
  expect([moment.status, moment.json.actors?.[0]]).toMatchObject([200, { context: shown }])
  const { request } = await aSocket(gateway.url)
  expect(await request('actors.get', { kind: 'keeper', id: 'k' })).toMatchObject({ ok: true, payload: { context: shown } })

  const told = await rpc('actors.send', { kind: 'keeper', id: 'k', event: { type: 'tell' } })
  expect(told.status).toBe(200)
  const done = await rpc('actors.get', { kind: 'keeper', id: 'k' })
  expect([done.status, done.json]).toMatchObject([200, { status: 'done', output: shown }])
})
