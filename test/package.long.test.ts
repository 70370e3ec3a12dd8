/** What `npm pack` puts into the tarball: everything that its pages link to, and nothing else of the repository. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aGateway } from './client/a-gateway.ts'
import { codeIn, type Packed, pack, removeFolder, runIn } from './support/package.ts'
import { repository, textOf } from './tidy/sources.ts'

let packed: Packed
/** The files of the tarball, with the packages of the repository beside them. */
let unpacked = ''
beforeAll(async () => {
  packed = await pack()
  unpacked = join(packed.folder, 'unpacked')
  mkdirSync(unpacked)
  await runIn(packed.folder, 'tar', ['-xzf', packed.tarball, '-C', unpacked, '--strip-components=1'])
  symlinkSync(join(repository, 'node_modules'), join(unpacked, 'node_modules'))
}, 300_000)
afterAll(() => removeFolder(packed.folder))

/** Relative links of a page, as paths from the root; those inside of code are none. */
const linksOf = (page: string, text = textOf(page)): string[] =>
  [...text.replace(/```.*?```|`[^`\n]*`/gs, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link.replace(/#.*$/, ''))
    .filter((link) => link !== '' && !/^[a-z]+:/.test(link))
    .map((link) => join(dirname(page), link))

test('every link of a packed page leads to something that is packed', () => {
  const pages = packed.files.filter((path) => path.endsWith('.md'))
  const isThere = (link: string): boolean => packed.files.some((path) => path === link || path.startsWith(link.endsWith('/') ? link : `${link}/`))

  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/guides/app.md', 'examples/README.md']))
  expect(pages.flatMap((page) => linksOf(page).flatMap((link) => (isThere(link) ? [] : [`${page}: ${link}`])))).toEqual([])
})

test('a link that leads nowhere is seen, wherever the page stands', () => {
  expect(linksOf('docs/a/b.md', 'see [c](../c.md#part), [d](https://d.example), [e](#here), `[f](f.md)`\n```\n[g](g.md)\n```\n')).toEqual([
    'docs/c.md',
  ])
})

test('every entry point and the command are in it; sources, tests and benchmarks are not', () => {
  type Entry = string | { [condition: string]: Entry }
  const filesOf = (entry: Entry): string[] => (typeof entry === 'string' ? [entry] : Object.values(entry).flatMap(filesOf))
  type Manifest = { exports: Record<string, Entry>; bin: object; browser: Record<string, string> }
  const { exports, bin, browser } = JSON.parse(textOf('package.json')) as Manifest
  const builtForBrowsers = Object.entries(browser)
    .flat()
    .filter((path) => path.startsWith('./dist/'))
  const named = [...builtForBrowsers, ...Object.values(exports).flatMap(filesOf), ...Object.values(bin)]

  expect(packed.files).toEqual(expect.arrayContaining(named.map((path) => path.replace(/^\.\//, ''))))
  expect(packed.files.filter((path) => /^(?:src|test|scripts|bench)\/|\.tsbuildinfo$/.test(path) && path !== 'bench/README.md')).toEqual([])
})

test('no declaration behind an entry point spells out the type of a chart, whose parameters differ between versions of XState', () => {
  const { exports } = JSON.parse(textOf('package.json')) as { exports: Record<string, { types?: string }> }
  const textIn = (path: string): string => readFileSync(join(packed.folder, 'source', path), 'utf8')
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const [, target = ''] of textIn(path).matchAll(/(?:from|import)\s*\(?["'](\.[^"']+)\.(?:js|ts)["']/g))
      visit(join(dirname(path), `${target}.d.ts`))
  }
  for (const { types } of Object.values(exports)) if (types) visit(join(types))

  expect(reached.size).toBeGreaterThan(100)
  expect([...reached].filter((path) => /\b(?:StateMachine|SetupReturn)</.test(textIn(path)))).toEqual([])
})

test('a program with nothing but the package talks to a node, as the guide says', async () => {
  const [code = ''] = codeIn('docs/guides/client.md')
  const node = await aGateway()
  writeFileSync(join(unpacked, 'program.ts'), code.replace('http://127.0.0.1:4111', node.url))

  const said = await runIn(unpacked, process.execPath, ['program.ts'], { STATECAST_TOKEN: node.token })
  await node.close()

  expect(said).toContain('echo what is 6*7?\n')
})
