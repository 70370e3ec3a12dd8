import { expect, test } from 'vitest'
import { effective, stepsOf, valueAt, withValue } from '../../src/contracts/configuration.rules.ts'

test.each([
  ['agents.defaults.model', ['agents', 'defaults', 'model']],
  ['agents.list[main].model', ['agents', 'list', 'main', 'model']],
  ['channels[my.channel].modelOverride[room 1]', ['channels', 'my.channel', 'modelOverride', 'room 1']],
  ['typing', ['typing']],
])('[CH-27] the steps of %s', (key, steps) => {
  expect(stepsOf(key)).toEqual(steps)
})

test.each(['', '.', 'a.', '.a', 'a..b', 'a[', 'a[]', 'a]', 'a[b', 'a[b]c', 'a.b]', '__proto__', 'a.constructor', 'a.b.c.d.e.f.g.h.i'])(
  '[CH-27] %j is no key',
  (key) => {
    expect(() => stepsOf(key)).toThrow(expect.objectContaining({ code: 'bad_request', field: 'key' }))
  },
)

test('[CH-27] a value is set, and with null it is gone with what is empty without it; agents go by their id', () => {
  const set = withValue({}, stepsOf('agents.list[main].heartbeat.model'), 'a/b')
  expect(set).toEqual({ agents: { list: [{ id: 'main', heartbeat: { model: 'a/b' } }] } })
  expect(valueAt(set, ['agents', 'list', 'main', 'heartbeat', 'model'])).toBe('a/b')
  expect(withValue(set, stepsOf('agents.list[main].heartbeat.model'), null)).toBeUndefined()
  expect(effective({ agents: { list: [{ id: 'main', model: 'a/a' }] } }, set as any).agents?.list).toEqual([
    { id: 'main', model: 'a/a', heartbeat: { model: 'a/b' } },
  ])
})
