/** The gate between promises and tests: see requirements.ts. */
import { expect, test } from 'vitest'
import { type Requirement, requirements } from './requirements.ts'
import { filesUnder, reachableFrom, textOf } from './tidy/sources.ts'
import { titlesOfTests } from './tidy/titles.ts'

const known = new Map(requirements.map((requirement) => [requirement.id, requirement]))
const order = [...known.keys()]
/** What looks like one of our ids: a typing error in one shall not pass as no citation. */
const idShape = /^(?:INV-\d+|K\d\d|(?:BAD|SHOW|OC|CH|WL)-[A-Z0-9-]+)$/

/** The ids in the square brackets of a title; `A…B` stands for all from A to B in the order of the table. */
const citedIn = (text: string): string[] =>
  [...text.matchAll(/\[([A-Z][A-Z0-9-]*(?:(?:…|,\s*|\s+)[A-Z][A-Z0-9-]*)*)\]/g)].flatMap(([, list = '']) =>
    list.split(/[,\s]+/).flatMap((part) => {
      const [from = '', to] = part.split('…')
      if (to === undefined) return idShape.test(from) ? [from] : []
      const range = order.slice(order.indexOf(from), order.indexOf(to) + 1)
      return known.has(from) && known.has(to) && range.length > 0 ? range : [part]
    }),
  )

/** What vitest runs, and the contracts that are run from there. */
const suites = filesUnder('test').filter((path) => path.endsWith('.test.ts') && path !== 'test/requirements.test.ts')
const contracts = [...reachableFrom(suites)].filter((path) => path.endsWith('.contract.ts'))

const citations = new Map<string, string[]>()
for (const file of [...suites, ...contracts])
  for (const id of new Set(titlesOfTests(textOf(file)).flatMap(citedIn)))
    citations.set(id, [...(citations.get(id) ?? []), file.replace(/^test\//, '')])

test('the citations of a title are read one by one, in lists and as ranges', () => {
  expect(citedIn("test('[INV-1] a', …) test('[INV-2, INV-3] b')")).toEqual(['INV-1', 'INV-2', 'INV-3'])
  expect(citedIn('[K02…K04]')).toEqual(['K02', 'K03', 'K04'])
  expect(citedIn('[INV-99] const [A, B] = x; list[INDEX]')).toEqual(['INV-99'])
  expect(citedIn('[K04…K99]')).toEqual(['K04…K99'])
})

test('only titles of tests that are run cite: no comment, no text within, nothing that is skipped, planned or empty', () => {
  const code = `
    // [INV-1] is shown below
    test('[INV-2] is shown', () => { expect('[INV-3]').toBe(1) })
    test.skip('[INV-4]', () => { expect(1).toBe(1) })
    test.todo('[INV-5]')
    describe.skip('[INV-6]', () => { test('[INV-7]', () => { expect(1).toBe(1) }) })
    describe('[INV-8]', () => { test.concurrent(\`[INV-9] \${n}\`, async () => { expect(1).toBe(1) }) })
    describe('[INV-10]', () => { it.skipIf(true)('[INV-11]', () => { expect(1).toBe(1) }) })
    test('[INV-12]', { skip: true }, () => { expect(1).toBe(1) })
    test('[INV-13]', () => {})
    test('[INV-14]', ({ skip }) => { skip(); expect(1).toBe(1) })
    test.each([['[INV-15] a', 1], ['b', '[INV-16]']])('%s', (_, n) => { expect(n).toBe(1) })
    claim('[INV-17]', async () => { expect(1).toBe(1) })
    if (known) test('[INV-18]', named)
    /* test('[INV-19]', () => { expect(1).toBe(1) }) */
    plan('[INV-20]', () => { expect(1).toBe(1) })
  `

  expect(titlesOfTests(code).flatMap(citedIn)).toEqual(['INV-2', 'INV-8', 'INV-9', 'INV-15', 'INV-17', 'INV-18'])
})

test('every id stands once in the table', () => {
  expect(requirements.length).toBe(known.size)
})

test('tests cite only ids of the table', () => {
  expect([...citations].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${files.join(', ')}`)).toEqual([])
})

test('every promise that is due has a test', () => {
  const open = requirements.filter(({ id }) => !citations.has(id))
  console.log(table(open))
  expect(open.filter(({ due }) => due).map(({ id, text }) => `${id}: ${text}`)).toEqual([])
})

const table = (open: Requirement[]): string =>
  [
    `${requirements.length - open.length} of ${requirements.length} promises are cited by a test`,
    ...requirements.flatMap(({ id, differently }) => (differently && citations.has(id) ? [`  ${id.padEnd(20)} differently: ${differently}`] : [])),
    ...open.map(({ id, issue, due, text }) => `  ${id.padEnd(20)} issue ${issue}${due ? ' DUE' : ''}  ${text}`),
  ].join('\n')
