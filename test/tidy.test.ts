/** The rules that a reviewer would otherwise have to remember. Each failure says what to do. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { and, assign, createMachine, fromPromise, raise, StateMachine } from 'xstate'
import { type Lock, missingEntries } from '../scripts/complete-lock.ts'
import { brokenRules, circlesIn, exceptions, isPure, owed } from './tidy/layers.ts'
import { impureParts } from './tidy/pure-config.ts'
import { filesUnder, importsIn, linesMatching, reachableFrom, repository, textOf, withoutComments } from './tidy/sources.ts'

const exists = (path: string) => existsSync(join(repository, path))
const sources = filesUnder('src').filter((file) => file.endsWith('.ts'))
const machineFiles = sources.filter((file) => file.endsWith('.machine.ts'))

// ---- import direction

test('imports point one way: each storey builds on those above it', () => {
  const used = new Set<string>()
  expect(sources.flatMap((file) => brokenRules(file, used))).toEqual([])
  expect(
    [...Object.keys(exceptions), ...owed].filter((arrow) => !used.has(arrow)),
    'no longer needed in test/tidy/layers.ts',
  ).toEqual([])
})

test('no imports go in a circle, those of types included', () => {
  expect(circlesIn(sources)).toEqual([])
})

test('a circle is found, and only what is in it', () => {
  const imports: Record<string, string[]> = { a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e'], e: [] }
  expect(circlesIn(Object.keys(imports), (file) => imports[file] ?? [])).toEqual([['a', 'b', 'c']])
})

test('imports are found in every form they are written in, and only there', () => {
  const text = `
import { a,
  type B } from './a.ts'
import type C from "./c.ts"
import * as d from 'd'
import './side.ts'
export { e } from './e.ts'
export * as f from './f.ts'
export type { G } from './g.ts'
const h = await import('./h.ts')
type I = import('./i.ts').I
new Worker(new URL('./worker.ts', import.meta.url))
new Worker(new URL(import.meta.url.endsWith('.ts') ? './other.ts' : './other.js', import.meta.url), {})
// import x from './comment.ts'
/* export * from './block.ts' */
const text = "import y from './text.ts'" // from './end.ts'
`
  const found = importsIn(text)
  expect(found.map(({ path }) => path).sort()).toEqual(
    ['./a.ts', './c.ts', 'd', './side.ts', './e.ts', './f.ts', './g.ts', './h.ts', './i.ts', './worker.ts', './other.ts'].sort(),
  )
  expect(found.filter(({ typeOnly }) => typeOnly).map(({ path }) => path)).toEqual(['./c.ts', './g.ts'])
})

test('each kind of forbidden import is noticed', () => {
  const broken = (file: string, path: string) => brokenRules(file, new Set(), `import { x } from '${path}'\n`).length
  expect(broken('src/contracts/a.ts', '../machines/b.ts')).toBe(1)
  expect(broken('src/contracts/a.ts', 'xstate')).toBe(1)
  expect(broken('src/machines/turn/turn.machine.ts', 'node:fs')).toBe(1)
  expect(broken('src/chat/delivery/a.rules.ts', 'pino')).toBe(1)
  expect(broken('src/machines/a.ts', '../chat/b.ts')).toBe(1)
  expect(broken('src/actors/a.ts', '../transport/b.ts')).toBe(1)
  expect(broken('src/tools/a.ts', '../models/b.ts')).toBe(1)
  expect(broken('src/runtime.ts', './cli/main.ts')).toBe(1)
  expect(broken('src/api/a.ts', '../cli/main.ts')).toBe(1)
  expect(broken('src/api/a.ts', '../chat/b.ts')).toBe(1)
  expect(broken('src/cli/a.ts', '../testing/index.ts')).toBe(1)
  expect(broken('src/cluster/a.ts', '../actors/host/host.ts')).toBe(1)
  expect(broken('src/actors/a.ts', '../../test/b.ts')).toBe(1)
  expect(broken('src/unheard-of/a.ts', '../contracts/b.ts')).toBe(1)
  expect(broken('src/runtime.ts', './models/index.ts')).toBe(0)
  expect(broken('src/chat/inbound/a.rules.ts', '../../machines/session/b.rules.ts')).toBe(0)
  expect(broken('src/testing/index.ts', '../actors/index.ts')).toBe(0)
})

// ---- pure machines

test.each(machineFiles)('%s: the config holds names and mappers, nothing that acts', async (file) => {
  const exported = Object.entries((await import(join(repository, file))) as Record<string, unknown>)
  const machines = exported.filter(
    (entry): entry is [string, StateMachine<any, any, any, any, any, any, any, any, any, any, any, any, any, any>] =>
      entry[1] instanceof StateMachine,
  )

  expect(machines.length, `${file} exports no machine`).toBeGreaterThan(0)
  expect(machines.flatMap(([name, machine]) => impureParts(machine.config, name))).toEqual([])
})

test('no chart has a table of its transitions in a comment: docs/statecharts is drawn from the chart, and cannot be out of date', () => {
  expect(machineFiles.filter((file) => /^\s*(?:\*|\/\/)\s*\|.*\|/m.test(textOf(file)))).toEqual([])
})

test('every machine is in the list that docs, CLI and inspector draw', async () => {
  const { machines } = (await import(join(repository, 'src/all-machines.ts'))) as { machines: Record<string, unknown> }
  const listed = new Set(Object.values(machines))
  const missing = await Promise.all(
    machineFiles.map(async (file) => {
      const exported = Object.values((await import(join(repository, file))) as Record<string, unknown>)
      return exported.some((value) => value instanceof StateMachine && listed.has(value)) ? [] : [file]
    }),
  )
  expect(missing.flat()).toEqual([])
})

test('an impure config is noticed, with the path to the place', () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    context: () => ({ n: 0 }),
    states: {
      a: {
        entry: assign({ n: 1 }),
        on: {
          go: { guard: () => true, actions: [{ type: 'fine', params: () => ({}) }, () => undefined] },
          input: { actions: raise({ type: 'x' }) },
          both: { guard: and(['p', 'q']), target: 'b' },
        },
        invoke: { src: fromPromise(async () => 1), input: () => 1 },
      },
      b: { type: 'final', output: () => 1, meta: { any: () => 1 } },
    },
  })
  expect(impureParts(machine.config, 'm').map((message) => message.replace(/:.*/, ''))).toEqual([
    'm.states.a.entry is the action assign() written in place',
    'm.states.a.on.go.guard is a function',
    'm.states.a.on.go.actions[1] is a function',
    'm.states.a.on.input.actions is the action raise() written in place',
    'm.states.a.on.both.guard is a guard made in place',
    'm.states.a.invoke.src is actor logic written in place',
  ])
})

// A clock's own `setTimeout(…)` member, called or defined, is the injected one; the bare function is the real one.
const time =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|(?<![.\w])set(?:Timeout|Interval)\s*\((?![^()]*(?:\([^()]*\)[^()]*)*\)\s*[:{])|globalThis\.set/
const chance = /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b/
const world = /\bset(?:Immediate|Timeout|Interval)\b|(?<![.\w])process\.|\bfetch\s*\(|\bconsole\./

test('charts and rules know no clock, no chance and no process', () => {
  const files = sources.filter(isPure)
  expect([time, chance, world].flatMap((pattern) => linesMatching(files, pattern))).toEqual([])
})

test('actors take time and chance from their environment', () => {
  const files = sources.filter((file) => file.startsWith('src/actors/'))
  expect([time, chance].flatMap((pattern) => linesMatching(files, pattern))).toEqual([])
  expect(files.filter((file) => importsIn(textOf(file)).some(({ path }) => path.startsWith('node:timers')))).toEqual([])
})

test('the real clock is told from an injected one', () => {
  for (const line of ['setTimeout(f, 1)', 'void setTimeout(() => f(), 1)', 'Date.now()', 'globalThis.setTimeout(f, 1)', 'new Date()'])
    expect(line).toMatch(time)
  for (const line of ['clock.setTimeout(f, 1)', 'setTimeout(callback: () => void, ms: number): number {', 'setTimeout: (f, ms) => 1', 'new Date(at)'])
    expect(line).not.toMatch(time)
})

// ---- dead files

test('every source file is reachable from an entry point', () => {
  const { browser } = JSON.parse(textOf('package.json')) as { browser: Record<string, string> }
  const entries = [
    'src/index.ts',
    'src/chat.ts',
    'src/ladder.ts',
    'src/client.ts',
    'src/client.browser.ts',
    'src/nats.ts',
    'src/testing/index.ts',
    'src/cli/main.ts',
    ...Object.values(browser).map((file) => file.slice(2)),
  ]
  // Until the first entry exists there is nothing to be reached from; a runtime without one would be a mistake.
  if (!exists('src/index.ts')) return expect(exists('src/runtime.ts'), 'src/index.ts must export what src/runtime.ts makes').toBe(false)
  const reached = reachableFrom(entries)
  expect(sources.filter((file) => !reached.has(file))).toEqual([])
})

// ---- leftovers

const ours = ['src', 'web', 'test', 'scripts', 'bench', 'examples', 'docs', 'bin', '.ci'].flatMap(filesUnder)
const pages = readdirSync(repository).filter((file) => /\.(md|json|ts)$/.test(file) && file !== 'package-lock.json')
const words = [...ours, ...pages].filter((file) => !file.startsWith('test/fixtures/') && /\.(m?[jt]s|md|json|ya?ml|html|css)$/.test(file))

test('no markers of unfinished work are left', () => {
  // Spelled in two halves, so that this file does not find itself.
  const marker = new RegExp(`\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`)
  expect(linesMatching(words, marker, { comments: true })).toEqual([])
})

test('only the command line prints', () => {
  expect(
    linesMatching(
      sources.filter((file) => !file.startsWith('src/cli/')),
      /\bconsole\.\w+\s*\(/,
    ),
  ).toEqual([])
})

test('no path of one machine is written down', () => {
  const place = /\/(?:home|Users)\/[a-z]\w*\/|(?<![\w.])\/root\/\w|\/work\/(?:main|shared)\b|\/tmp\/bash_jobs/
  expect(
    linesMatching(
      words.filter((file) => file !== 'test/tidy.test.ts'),
      place,
      { comments: true },
    ),
  ).toEqual([])
})

test('the lock file names no download address', () => {
  const lock = textOf('package-lock.json')
  expect(lock.match(/"resolved"|https?:\/\/[^"]*(?:registry|npmjs|\.tgz)[^"]*/g) ?? []).toEqual([])
})

test('the lock file is one that npm ci takes, also where the registry lacks packages of other platforms (cure: node scripts/complete-lock.ts)', () => {
  const lock = JSON.parse(textOf('package-lock.json')) as Lock
  expect([...missingEntries(lock).keys()]).toEqual([])
})

test('every file of ours that a page names is there', () => {
  const named = (page: string, pattern: RegExp) => [...textOf(page).matchAll(pattern)].map(([, path]) => path as string)
  const pagesNaming = words.filter((file) => /^(?:docs\/|CONTRIBUTING\.md$|README\.md$)/.test(file) && file.endsWith('.md'))
  const lost = pagesNaming.flatMap((page) =>
    named(page, /`((?:src|test|bench|scripts|examples|docs|bin)\/[\w./-]+)`/g).flatMap((path) => (exists(path) ? [] : [`${page}: ${path}`])),
  )
  // The pages about how it is built also name files of the folder that they are about.
  const unknown = pagesNaming
    .filter((page) => page.startsWith('docs/design/'))
    .flatMap((page) =>
      named(page, /`([\w./-]+\.ts)`/g).flatMap((path) => (ours.some((file) => `/${file}`.endsWith(`/${path}`)) ? [] : [`${page}: ${path}`])),
    )
  expect([...lost, ...unknown]).toEqual([])
})

// ---- size

/** Files that may be longer than 300 lines, each with the reason. */
const long: Record<string, string> = {}

test('a source file has at most 300 lines; at more, look for a second noun', () => {
  const lengths = sources.map((file) => [file, textOf(file).trimEnd().split('\n').length] as const).filter(([, length]) => length > 300)
  expect(lengths.filter(([file]) => !(file in long)).map(([file, length]) => `${file}: ${length} lines`)).toEqual([])
  expect(
    Object.keys(long).filter((file) => !lengths.some(([name]) => name === file)),
    'no longer needed here',
  ).toEqual([])
})

// ---- the tools themselves

test('comments are blanked without losing lines or strings', () => {
  expect(withoutComments(`a // b\n/* c\n d */ 'e // f' "/* g */"`)).toBe(`a     \n    \n      'e // f' "/* g */"`)
})

test('tests run on a Node that strips types by itself, and on the build of XState that users get', () => {
  expect(process.features.typescript).toBe('strip')
  expect(import.meta.resolve('xstate')).not.toContain('development')
})
