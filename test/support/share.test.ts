import { expect, test } from 'vitest'
import { drawPart } from './share.ts'

const file = 'test/x.long.test.ts'
const commit = '6f34fb7cd99f3f401d14ffcc8de21cf4a6cefc80'
const aDraw = { file, parts: 12, sweep: '', commit }
const partOf = (changes: Partial<typeof aDraw>) => {
  const { part, of } = drawPart({ ...aDraw, ...changes }).part
  return `${part}/${of}`
}

test('a commit always draws the same part', () => {
  expect(partOf({})).toBe(partOf({}))
})

test('commits draw every part', () => {
  const commits = Array.from({ length: 300 }, (_, place) => (place * 2_654_435_761).toString(16).padStart(8, '0').slice(-8))

  expect(new Set(commits.map((one) => partOf({ commit: one }))).size).toBe(12)
})

test('all parts together include each place once', () => {
  const parts = Array.from({ length: 5 }, (_, index) => drawPart({ ...aDraw, sweep: `${index + 1}/5` }).part)

  for (let place = 0; place < 20; place++) expect(parts.filter((part) => part.includes(place))).toHaveLength(1)
})

test('a file of npm test covers the first part, whatever the commit is', () => {
  expect(partOf({ file: 'test/x.test.ts' })).toBe('1/12')
})

test('without a commit the long tier covers the first part and says so', () => {
  expect(drawPart({ ...aDraw, commit: '' })).toMatchObject({ part: { part: 1, of: 12 }, why: expect.stringContaining('no Git commit') })
})

test('STATECAST_SWEEP=all covers everything', () => {
  expect(partOf({ sweep: 'all' })).toBe('1/1')
  expect(partOf({ sweep: 'all', file: 'test/x.test.ts' })).toBe('1/1')
})

test('STATECAST_SWEEP chooses a part', () => {
  expect(partOf({ sweep: '3/7' })).toBe('3/7')
})

test.each(['0/3', '4/3', '3', 'x', '1/0', '1.5/3'])('STATECAST_SWEEP=%s is rejected', (sweep) => {
  expect(() => partOf({ sweep })).toThrow(`invalid STATECAST_SWEEP '${sweep}'`)
})
