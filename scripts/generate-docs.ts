/**
 * Writes the pages that are made from the sources: `docs/statecharts/` from the machines, `docs/reference/` from the error codes,
 * the message schemas and the list of commands, `docs/performance.md` and the costs in README.md from the kept answers of the benchmarks.
 * With `--check` it writes nothing and fails when a page differs. Run as `npm run docs`.
 */
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnyStateMachine } from 'xstate'
import { pagePath, performancePage } from '../bench/page.ts'
import { readmePage } from '../bench/readme.ts'
import { type Chart, chart, nodesOf } from '../src/actors/charts/chart.ts'
import { placeChart, toSvg } from '../src/actors/charts/layout/index.ts'
import { machineSignature } from '../src/actors/charts/signature.ts'
import { errorCodes } from '../src/contracts/errors.ts'
import { cachingElk } from './caching-elk.ts'
import { httpPage } from './http-page.ts'
import { messagesPage } from './messages-page.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const note = '<!-- made by `npm run docs`: change the source, not this page -->'

/** Every generated page by its path from the repository. */
export const generatedPages = async (): Promise<Map<string, string>> => {
  const machines = Object.entries(await ourMachines()).sort(([a], [b]) => (a < b ? -1 : 1))
  const pages = new Map(machines.map(([name, machine]) => [`docs/statecharts/${name}.md`, chartPage(name, machine)]))
  for (const [name, machine] of machines) pages.set(`docs/statecharts/${name}.svg`, await drawingOf(machine))
  if (machines.length > 0) pages.set('docs/statecharts/README.md', chartIndex(machines.map(([name]) => name)))
  const performance = performancePage()
  if (performance !== undefined) pages.set(pagePath, performance)
  return pages
    .set('docs/reference/errors.md', errorPage())
    .set('docs/reference/http.md', httpPage(note))
    .set('docs/reference/messages.md', messagesPage(note))
    .set('README.md', readmePage())
}

/** The pages that differ from what is on disk, those that nothing makes any more included. */
export const stalePages = async (root = repository): Promise<string[]> => {
  const pages = await generatedPages()
  const differing = await Promise.all([...pages].map(async ([path, text]) => ((await textOf(join(root, path))) === text ? [] : [path])))
  return [...differing.flat(), ...orphans(root, pages)].sort()
}

export const writePages = async (root = repository): Promise<string[]> => {
  const stale = await stalePages(root)
  const pages = await generatedPages()
  for (const path of stale) {
    const text = pages.get(path)
    if (text === undefined) await rm(join(root, path))
    else {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
  }
  return stale
}

/** The page of one machine; exported for machines that are not in our list. */
export const chartPage = (name: string, machine: AnyStateMachine): string => {
  const drawn = chart(machine)
  const about = drawn.root.description ? `${drawn.root.description}\n\n` : ''
  return `# ${name}

${note}

${about}Signature \`${machineSignature(machine)}\`. A file of its own opens the drawing at any size: [${name}.svg](${name}.svg).

![The statechart ${name}: states, events, guards and what is done on the way](${name}.svg)

| state | on | guard | next | does |
| --- | --- | --- | --- | --- |
${rows(drawn)
  .map((cells) => `| ${cells.map(cell).join(' | ')} |\n`)
  .join('')}`
}

/** Laid out once a process: some machines are large. */
const drawings = new WeakMap<AnyStateMachine, Promise<string>>()
const drawingOf = (machine: AnyStateMachine): Promise<string> => {
  const known = drawings.get(machine) ?? placeChart(cachingElk, chart(machine), 'labels').then((placed) => toSvg(placed))
  drawings.set(machine, known)
  return known
}

const rows = ({ id, root }: Chart): string[][] => {
  const short = (node: string) => (node === id ? '(any)' : node.startsWith(`${id}.`) ? node.slice(id.length + 1) : node)
  return [...nodesOf(root)].flatMap((node) => [
    ...(node.entry.length > 0 ? [[short(node.id), '*entry*', '', '', node.entry.join(', ')]] : []),
    ...node.invoke.map(({ src }) => [short(node.id), '*while here*', '', '', `invoke ${src}`]),
    ...node.transitions.map(({ event, guard, targets, reenter, actions, description }) => [
      short(node.id),
      event,
      guard ?? '',
      targets.map(short).join(', ') + (reenter ? ' (enters again)' : ''),
      actions.join(', ') + (description ? `${actions.length > 0 ? ': ' : ''}${description}` : ''),
    ]),
    ...(node.exit.length > 0 ? [[short(node.id), '*exit*', '', '', node.exit.join(', ')]] : []),
    ...(node.type === 'final' ? [[short(node.id), '', '', '*end*', '']] : []),
  ])
}

const cell = (text: string): string => text.replace(/\s+/g, ' ').replace(/\|/g, '\\|').replace(/</g, '&lt;')

const chartIndex = (names: string[]): string => `# Statecharts

${note}

${names.map((name) => `- [${name}](${name}.md)\n`).join('')}`

const errorPage = (): string => `# Error codes

${note}

Every refusal and failure carries one of these codes, on every interface as \`{"error": {"code", "message", "hint?", "retryable", "field?", "data?"}}\`.
Codes are stable within a major version; messages are not.

| code | means |
| --- | --- |
${Object.entries(errorCodes)
  .map(([code, meaning]) => `| \`${code}\` | ${meaning} |\n`)
  .join('')}`

const ourMachines = async (): Promise<Record<string, AnyStateMachine>> => {
  const index = new URL('../src/all-machines.ts', import.meta.url)
  if (!existsSync(index)) return {}
  const { machines } = (await import(index.href)) as { machines?: Record<string, AnyStateMachine> }
  if (!machines) throw new TypeError('src/all-machines.ts does not export `machines`')
  return machines
}

const textOf = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)
const orphans = (root: string, pages: Map<string, string>): string[] =>
  existsSync(join(root, 'docs/statecharts'))
    ? readdirSync(join(root, 'docs/statecharts'))
        .map((name) => `docs/statecharts/${name}`)
        .filter((path) => /\.(?:md|svg)$/.test(path) && !pages.has(path))
    : []

/** The command: what it prints, and its exit code. */
export const docsCommand = async (argv: readonly string[], root = repository): Promise<{ lines: string[]; code: number }> => {
  if (!argv.includes('--check')) return { lines: (await writePages(root)).map((path) => `wrote ${path}`), code: 0 }
  const stale = await stalePages(root)
  return stale.length === 0 ? { lines: [], code: 0 } : { lines: [...stale.map((path) => `${path} is not up to date`), 'cure: npm run docs'], code: 1 }
}

if (import.meta.main) {
  const { lines, code } = await docsCommand(process.argv.slice(2))
  for (const line of lines) console.log(line)
  process.exitCode = code
}
