import { expect, test } from 'vitest'
import { dedupeKey, remember, type Seen } from '../../../src/chat/desk/dedupe.rules.ts'
import type { Origin } from '../../../src/contracts/reply.ts'

const minutes = (count: number) => count * 60_000
const anOrigin = (changes: Partial<Origin> = {}): Origin => ({ channel: 'web', to: 'ann', messageId: 'm1', ...changes })

test('a message is told apart by all that says where it came from [OC-25]', () => {
  const origins = [{}, { channel: 'mail' }, { account: 'work' }, { to: 'bob' }, { thread: 't' }, { messageId: 'm2' }].map(anOrigin)

  const keys = [...origins.map((origin) => dedupeKey(origin, 's1')), dedupeKey(anOrigin(), 's2')]

  expect(new Set(keys).size).toBe(7)
  expect(dedupeKey(anOrigin({ sender: 'x', mentioned: true }), 's1')).toBe(keys[0])
})

test('no names, whatever they hold, make two messages look alike', () => {
  expect(dedupeKey(anOrigin({ account: 'a","b' }), 's')).not.toBe(dedupeKey(anOrigin({ account: 'a' }), 'b'))
  expect(dedupeKey(anOrigin({ thread: 'null' }), 's')).not.toBe(dedupeKey(anOrigin(), 's'))
})

test('a message without an id is never taken for another [OC-25]', () => {
  const { messageId: _, ...nameless } = anOrigin()
  const key = dedupeKey(nameless, 's1')

  expect(key).toBeUndefined()
  expect(remember([], key, 0)).toEqual({ seen: [], duplicate: false })
})

test('a message that comes again within 20 minutes is a duplicate, and after 21 it is new [OC-25]', () => {
  const first = remember([], 'a', 0)
  const again = remember(first.seen, 'a', minutes(19))
  const late = remember(again.seen, 'a', minutes(21))

  expect([first.duplicate, again.duplicate, late.duplicate]).toEqual([false, true, false])
  expect(late.seen).toEqual([{ key: 'a', at: minutes(21) }])
})

test('the time is 20 minutes and not a moment more; a clock that went back changes nothing', () => {
  const { seen } = remember([], 'a', minutes(20))

  expect(remember(seen, 'a', minutes(40) - 1).duplicate).toBe(true)
  expect(remember(seen, 'a', minutes(40)).duplicate).toBe(false)
  expect(remember(seen, 'a', minutes(5)).duplicate).toBe(true)
})

test('what is remembered goes by age and to 5,000, the oldest first', () => {
  const full: Seen = Array.from({ length: 5000 }, (_, index) => ({ key: `k${index}`, at: 0 }))

  const { seen } = remember(full, 'new', 1)

  expect(seen).toHaveLength(5000)
  expect([seen[0]?.key, seen.at(-1)?.key]).toEqual(['k1', 'new'])
  expect(remember(full, 'new', minutes(20)).seen).toEqual([{ key: 'new', at: minutes(20) }])
  expect(full).toHaveLength(5000)
})
