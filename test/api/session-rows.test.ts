import { expect, test } from 'vitest'
import { SessionRows } from '../../src/api/session-rows.ts'

const head = (id: string, seq = 1, more: { at?: number; wakeAt?: number | null } = {}) => ({
  address: { kind: 'session', id },
  seq,
  at: 1,
  wakeAt: null,
  ...more,
})

test('a row is read once, by whoever asks first, and again when its session has changed', async () => {
  const rows = new SessionRows<string>()
  const read: string[] = []
  const ask = (seq: number, more = {}) =>
    rows.row(head('a', seq, more), async () => {
      read.push(`${seq}`)
      return `row ${seq}`
    })

  expect(await Promise.all([ask(1), ask(1), ask(1)])).toEqual(['row 1', 'row 1', 'row 1'])
  expect(await ask(2)).toBe('row 2')
  await ask(2)
  expect(read).toEqual(['1', '2'])
  // It was deleted, and began anew; then it has work to do.
  await ask(2, { at: 2 })
  await ask(2, { at: 2, wakeAt: 0 })
  expect(read).toEqual(['1', '2', '2', '2'])
})

test('at most eight are read at a time, and each in its turn', async () => {
  const rows = new SessionRows<number>()
  const doors = Array.from({ length: 20 }, () => Promise.withResolvers<void>())
  const begun: number[] = []
  let reading = 0
  let most = 0
  const all = doors.map((door, index) =>
    rows.row(head(`s${index}`), async () => {
      begun.push(index)
      most = Math.max(most, ++reading)
      await door.promise
      reading--
      return index
    }),
  )
  expect(begun).toHaveLength(8)
  for (const door of doors) door.resolve()
  await Promise.all(all)
  expect(most).toBe(8)
  expect(begun).toEqual(doors.map((_, index) => index))
})

test('what fails is not kept, and gives its place to the next', async () => {
  const rows = new SessionRows<string>()
  for (let count = 0; count < 10; count++) await expect(rows.row(head('a'), () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await rows.row(head('a'), async () => 'there')).toBe('there')
})

test('the row that was asked for longest ago goes first', async () => {
  const rows = new SessionRows<string>(2)
  const read: string[] = []
  const ask = (id: string) =>
    rows.row(head(id), async () => {
      read.push(id)
      return id
    })
  for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(id)
  expect(read).toEqual(['a', 'b', 'c', 'b'])
})
