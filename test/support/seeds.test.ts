import fc from 'fast-check'
import { expect, test } from 'vitest'
import { filesUnder, textOf, withoutComments } from '../tidy/sources.ts'
import { casesOf } from './property.ts'
import { budgets, drawSeeds } from './seeds.ts'

const commit = '6f34fb7cd99f3f401d14ffcc8de21cf4a6cefc80'
const long = { file: 'test/runtime/random.long.test.ts', given: '', commit }
const short = { ...long, file: 'test/runtime/random.test.ts' }

test('a commit always draws the same seed, and another commit another one', () => {
  expect(drawSeeds(long)).toEqual(drawSeeds(long))
  expect(drawSeeds({ ...long, commit: `0${commit}` }).seed).not.toBe(drawSeeds(long).seed)
})

test('npm test plays the same seed whatever the commit is', () => {
  expect(drawSeeds({ ...short, commit: `0${commit}` })).toEqual(drawSeeds(short))
})

test('each tier has its own number of cases', () => {
  expect([drawSeeds(short).cases, drawSeeds(long).cases]).toEqual([25, 300])
})

test('STATECAST_SEED chooses the seed, and the command repeats it', () => {
  expect(drawSeeds({ ...long, given: '7' })).toEqual({
    seed: 7,
    cases: 300,
    repeat: 'STATECAST_SEED=7 npx vitest run test/runtime/random.long.test.ts',
  })
})

test('rejects a STATECAST_SEED that is not a whole number of 32 bits', () => {
  for (const given of ['x', '-1', '1.5', '4294967296'])
    expect(() => drawSeeds({ ...long, given })).toThrow(`invalid STATECAST_SEED '${given}': use a whole number from 0 to 4294967295`)
})

test('a file without a budget is rejected with the row to add', () => {
  expect(() => drawSeeds({ ...long, file: 'test/a/b.test.ts' })).toThrow(`no cases for test/a/b.test.ts: add 'a/b'`)
})

test('a property that fails names the command that repeats it', () => {
  const tooSmall = () =>
    fc.assert(
      fc.property(fc.nat(), (n) => n < 5),
      casesOf(new URL('../actors/order.test.ts', import.meta.url).href),
    )

  expect(tooSmall).toThrow(/Counterexample: \[5\][\s\S]*repeat: STATECAST_SEED=1 npx vitest run test\/support\/seeds\.test\.ts/)
})

test('each property of fast-check takes its cases from the budget', () => {
  const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0
  const users = filesUnder('test').filter((file) => file.endsWith('.ts') && textOf(file).includes('fast-check'))

  expect(users.length).toBeGreaterThan(20)
  expect(users.filter((file) => count(withoutComments(textOf(file)), /\bfc\.assert\(/g) > count(textOf(file), /\bcasesOf\((?!=)/g))).toEqual([])
})

test('each row of the budget names a test file of each tier it pays for, or a contract', () => {
  const files = new Set(filesUnder('test'))
  const missing = Object.entries(budgets).flatMap(([name, { short: inShort, long: inLong }]) => {
    if (name.endsWith('.contract')) return files.has(`test/${name}.ts`) ? [] : [name]
    return [...(inShort ? [`test/${name}.test.ts`] : []), ...(inLong ? [`test/${name}.long.test.ts`] : [])].filter((file) => !files.has(file))
  })

  expect(missing).toEqual([])
})
