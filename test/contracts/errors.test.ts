import { describe, expect, test } from 'vitest'
import { errorBody, isRuntimeError, messageOf, RuntimeError } from '../../src/contracts/errors.ts'

const trap = (): never => {
  throw new Error('trap')
}
const withGetter = (key: string): RuntimeError => Object.defineProperty(new RuntimeError('timeout', 'late'), key, { get: trap })
const hostile = new Proxy(new Error('x'), { get: trap, getPrototypeOf: trap, has: trap, getOwnPropertyDescriptor: trap })

/** Looks like one of ours at a glance. */
const forged = (properties: object): Error =>
  Object.assign(new Error('forged'), { name: 'RuntimeError', code: 'timeout', retryable: true }, properties)

describe('what only looks like one of our errors is not taken for one', () => {
  test.each<[string, unknown]>([
    ['name and code without toJSON', forged({})],
    ['a toJSON of its own', forged({ toJSON: () => ({ code: 'no_such_code' }) })],
    ['a toJSON that throws', forged({ toJSON: trap })],
    ['a name that every object has as its code', forged({ code: 'constructor' })],
    ['a plain object', { name: 'RuntimeError', code: 'timeout', message: 'forged' }],
    ['a code that is no code', Object.assign(new RuntimeError('timeout', 'late'), { code: 'toString' })],
    ['a message that is no text', Object.assign(new RuntimeError('timeout', 'late'), { message: { a: 1 } })],
    ['a hint that is no text', Object.assign(new RuntimeError('timeout', 'late'), { hint: 7 })],
    ['data that are no object', Object.assign(new RuntimeError('timeout', 'late'), { data: 'x' })],
    ['one of ours with a toJSON of its own', Object.assign(new RuntimeError('timeout', 'late'), { toJSON: trap })],
    ['a code behind a getter', withGetter('code')],
    ['a message behind a getter', withGetter('message')],
    ['data behind a getter', withGetter('data')],
    ['a proxy that throws at every touch', hostile],
  ])('%s', (_, thrown) => {
    expect(isRuntimeError(thrown)).toBe(false)

    const body = errorBody(thrown, 'tool_failed')

    expect(body).toEqual({ code: 'tool_failed', message: expect.any(String), retryable: false })
  })
})

test('ours are known with everything they say, those of another copy of the package and of a subclass too', () => {
  class Special extends RuntimeError {}
  const details = { hint: 'wait', field: 'f', data: { a: 1 }, retryable: true }
  // What another copy has in common is the brand.
  const copy = Object.assign(Object.create(Object.create(Error.prototype, { [Symbol.for('statecast.RuntimeError')]: { value: true } })), {
    code: 'timeout',
    message: 'late',
    retryable: false,
  })

  for (const error of [new RuntimeError('timeout', 'late', details), new Special('timeout', 'late', details)])
    expect(errorBody(error)).toEqual({ code: 'timeout', message: 'late', ...details })
  expect(errorBody(copy, 'tool_failed')).toEqual({ code: 'timeout', message: 'late', retryable: false })
})

test.each<[unknown, string]>([
  [new TypeError('no'), 'no'],
  ['text', 'text'],
  [undefined, 'undefined'],
  [{ message: 'in an object' }, 'in an object'],
  [Object.create(null), ''],
  [{ toString: trap }, ''],
  [withGetter('message'), ''],
  [hostile, ''],
])('the message of whatever was thrown can be read: %#', (thrown, message) => {
  expect(messageOf(thrown)).toBe(message)
})
