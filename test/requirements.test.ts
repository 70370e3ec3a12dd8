/** The gate between promises and tests: see requirements.ts. */
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Requirement, requirements } from './requirements.ts'
import { isLong } from './support/tier.ts'
import { filesUnder, reachableFrom, textOf } from './tidy/sources.ts'
import { titlesOfTests } from './tidy/titles.ts'

const known = new Map(requirements.map((requirement) => [requirement.id, requirement]))
const order = [...known.keys()]
/** What looks like one of our ids: a typing error in one shall not pass as no citation. */
const idShape = /^(?:INV-\d+|K\d\d|(?:BAD|SHOW|OC|CH|WL|ED|SV)-[A-Z0-9-]+)$/

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

const suites = filesUnder('test').filter((path) => path.endsWith('.test.ts') && path !== 'test/requirements.test.ts')
const short = suites.filter((path) => !isLong(path))
const contractsOf = (file: string): string[] => [...reachableFrom([file], 'test/')].filter((path) => path.endsWith('.contract.ts'))

/** By suite, itself and the contracts that it runs. */
const parts = new Map(suites.map((suite) => [suite, [suite, ...contractsOf(suite)]]))
const idsOf = new Map([...new Set([...parts.values()].flat())].map((file) => [file, new Set(titlesOfTests(textOf(file)).flatMap(citedIn))]))

/** By id, the suites that show it. */
const citations = new Map<string, string[]>()
for (const [suite, files] of parts)
  for (const id of new Set(files.flatMap((file) => [...(idsOf.get(file) ?? [])]))) citations.set(id, [...(citations.get(id) ?? []), suite])

const shownBy = (id: string, among: readonly string[]): string[] => (citations.get(id) ?? []).filter((suite) => among.includes(suite))

/** NATS stands in the name of each suite that needs a server; `reachableFrom` would not tell, since helpers for both import it. */
const needsNats = (suite: string): boolean => /[./]nats\b/.test(suite)

/** The back-ends of each contract, by the suite that runs it in `npm test`. */
const backends: Record<string, string[]> = {
  'transport/bus': ['memory', 'embedded', 'nats'],
  'transport/blobs': ['memory', 'embedded', 'nats'],
  'transport/fork': ['memory', 'embedded', 'nats'],
  'transport/inbox': ['memory', 'embedded', 'nats'],
  'transport/journal': ['memory', 'embedded', 'nats'],
  'transport/lifecycle': ['memory', 'embedded', 'nats'],
  'transport/loss': ['memory', 'embedded', 'nats'],
  'transport/registry': ['memory', 'embedded', 'nats'],
  'transport/transport': ['memory', 'embedded', 'nats'],
  'ladder/stores/store': ['memory-store', 'registry-store', 'registry-store.nats', 'redis-store', 'sqlite-store'],
  'ladder/memory/vectors': ['vectors', 'vectors.nats', '../stores/redis-store'],
  'tools/source': ['sources'],
  'client/client': ['in-process.client', 'http.client', 'nats.client.nats'],
}

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

test('each row that is due has a test, in `npm test` unless it is long by nature', () => {
  const due = requirements.filter((requirement) => requirement.due)
  const open = due.filter(({ id, long }) => shownBy(id, long ? suites : short).length === 0)
  console.log(table(due, open))
  expect(open.map(({ id, text }) => `${id}: ${text}`)).toEqual([])
})

test('each row that a store keeps has a test in `npm test` on the embedded transport and on NATS', () => {
  const missing = requirements.flatMap(({ id, onBoth }) => {
    const suites = onBoth ? shownBy(id, short) : []
    return onBoth && !(suites.some(needsNats) && suites.some((suite) => !needsNats(suite))) ? [`${id}: ${suites.join(', ')}`] : []
  })
  expect(missing).toEqual([])
})

test('each contract runs in `npm test` on all of its back-ends', () => {
  const contracts = filesUnder('test').filter((path) => path.endsWith('.contract.ts'))
  const name = (path: string) => path.replace(/^test\//, '').replace(/\.contract\.ts$/, '')
  expect(contracts.map(name).filter((contract) => !backends[contract])).toEqual([])
  const missing = Object.entries(backends).flatMap(([contract, suites]) =>
    suites.flatMap((suite) => {
      const file = join('test', dirname(contract), `${suite}.test.ts`)
      return parts.get(file)?.includes(`test/${contract}.contract.ts`) ? [] : [`${contract} in ${file}`]
    }),
  )
  expect(missing).toEqual([])
})

test('each row that is done differently names a page in docs/decisions that names the row', () => {
  const pages = filesUnder('docs/decisions')
  const wrong = requirements.flatMap(({ id, differently, decision }) => {
    if (differently === undefined) return []
    const page = pages.find((path) => path.startsWith(`docs/decisions/${String(decision).padStart(4, '0')}-`))
    return page !== undefined && new RegExp(`\\b${id}\\b`).test(textOf(page)) ? [] : [`${id}: ${page ?? `no page ${decision}`}`]
  })
  expect(wrong).toEqual([])
})

const table = (due: Requirement[], open: Requirement[]): string =>
  [
    `tests show ${due.length - open.length} of ${due.length} rows that are due; ${requirements.length - due.length} more come with their issues`,
    ...due.flatMap(({ id, differently, decision }) =>
      differently === undefined ? [] : [`  ${id.padEnd(20)} differently: ${differently} (decision ${decision})`],
    ),
    ...open.map(({ id, issue, text }) => `  ${id.padEnd(20)} issue ${issue} DUE  ${text}`),
  ].join('\n')
