/** The gate between promises and tests: see requirements.ts. */
import { expect, test } from 'vitest'
import { type Requirement, requirements } from './requirements.ts'
import { filesUnder, textOf } from './tidy/sources.ts'

const known = new Map(requirements.map((requirement) => [requirement.id, requirement]))
const order = [...known.keys()]
/** What looks like one of our ids: a typing error in one shall not pass as no citation. */
const idShape = /^(?:INV-\d+|K\d\d|(?:BAD|SHOW|OC)-[A-Z0-9-]+)$/

/** The ids in the square brackets of a text; `A…B` stands for all from A to B in the order of the table. */
const citedIn = (text: string): string[] =>
  [...text.matchAll(/\[([A-Z][A-Z0-9-]*(?:(?:…|,\s*|\s+)[A-Z][A-Z0-9-]*)*)\]/g)].flatMap(([, list = '']) =>
    list.split(/[,\s]+/).flatMap((part) => {
      const [from = '', to] = part.split('…')
      if (to === undefined) return idShape.test(from) ? [from] : []
      const range = order.slice(order.indexOf(from), order.indexOf(to) + 1)
      return known.has(from) && known.has(to) && range.length > 0 ? range : [part]
    }),
  )

const citations = new Map<string, string[]>()
for (const file of filesUnder('test').filter((path) => /\.(?:test|contract|scenario)\.ts$/.test(path) && path !== 'test/requirements.test.ts'))
  for (const id of new Set(citedIn(textOf(file)))) citations.set(id, [...(citations.get(id) ?? []), file.replace(/^test\//, '')])

test('the citations of a text are read one by one, in lists and as ranges', () => {
  expect(citedIn("test('[INV-1] a', …) test('[INV-2, INV-3] b')")).toEqual(['INV-1', 'INV-2', 'INV-3'])
  expect(citedIn('[K02…K04]')).toEqual(['K02', 'K03', 'K04'])
  expect(citedIn('[INV-99] const [A, B] = x; list[INDEX]')).toEqual(['INV-99'])
  expect(citedIn('[K04…K99]')).toEqual(['K04…K99'])
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
