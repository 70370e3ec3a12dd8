/**
 * The storeys of `src/` and who may import whom (docs/design/architecture.md, "The storeys"): a file imports from the storeys above its own, never from
 * below or beside, and there is no circle.
 */
import { importsIn, resolveImport, textOf } from './sources.ts'

type Storey = {
  name: string
  files: RegExp
  /** Other storeys that it may import from; its own is always allowed. */
  from: string[]
  /** Packages that it may import; left out where any may be. `node:` modules count. */
  packages?: RegExp
}

const node = 'node:'
const ports = ['actors', 'transport', 'models']
const agents = ['contracts', ...ports, 'machines', 'tools']
const runtime = [...agents, 'cluster', 'runtime']
const edges = [...runtime, 'chat', 'ladder', 'api', 'client', 'composition']

export const storeys: Storey[] = [
  { name: 'contracts', files: /^src\/contracts\//, from: [], packages: /^zod$/ },
  // Any machine made durable; stores and buses; the model port. They do not know each other.
  { name: 'actors', files: /^src\/actors\//, from: ['contracts'] },
  { name: 'transport', files: /^src\/transport\//, from: ['contracts'] },
  { name: 'models', files: /^src\/models\//, from: ['contracts'] },
  // An agent's machines with their effects beside them, and its tools.
  { name: 'machines', files: /^src\/machines\//, from: ['contracts', ...ports] },
  { name: 'tools', files: /^src\/tools\//, from: ['contracts', 'actors'] },
  { name: 'cluster', files: /^src\/cluster\//, from: agents },
  { name: 'runtime', files: /^src\/runtime\//, from: [...agents, 'cluster'] },
  // Whole systems, on public doors alone.
  { name: 'chat', files: /^src\/chat\//, from: runtime },
  // What any author outside could write: it imports what they do. What code executes while it works is known by the context that Node keeps of it.
  { name: 'ladder', files: /^src\/ladder\//, from: ['composition'], packages: /^(?:xstate|zod|croner|node:util|node:async_hooks|node:crypto)$/ },
  { name: 'api', files: /^src\/api\//, from: runtime },
  { name: 'client', files: /^src\/client\//, from: [...runtime, 'api'] },
  { name: 'composition', files: /^src\/[\w.-]+\.ts$/, from: [...runtime, 'chat', 'ladder', 'api', 'client'] },
  { name: 'cli', files: /^src\/cli\//, from: edges },
  { name: 'testing', files: /^src\/testing\//, from: edges },
]

/** By its last name a file is pure, whatever its storey: no clock, no chance, no process, and only these packages. So is the list of all charts. */
export const isPure = (file: string): boolean => /\.(?:machine|setup|context|rules)\.ts$|^src\/all-machines\.ts$/.test(file)
const purePackages = /^(?:xstate|zod)$/

/** Contracts are words, each file for itself; what stands in `src/` itself is no folder. */
const isDoor = (file: string): boolean => file.endsWith('/index.ts') || file.startsWith('src/contracts/') || storeyOf(file)?.name === 'composition'

/** Imports that break a rule on purpose, with the reason. */
export const exceptions: Record<string, string> = {
  'src/cli/main.ts → src/runtime/version.ts': '`--version`, `--help` and wrong usage answer at once: the index would load the whole runtime',
  // So does a command that a node answers.
  'src/cli/connect.ts → src/client/connect.ts': 'the index would load what follows a run, which is made of the whole runtime',
  'src/cli/connect.ts → src/runtime/variables.ts': 'the index would load the whole runtime',
  'src/client/connect.ts → src/runtime/variables.ts': 'the index would load the whole runtime',
  'src/client/connect.ts → src/api/http/token.ts': 'the index would load the gateway',
}

/** Imports that break a rule until what they need has a place of its own: no new one comes in, and one that has gone has to be crossed out. */
export const owed: string[] = []

const storeyOf = (file: string): Storey | undefined => storeys.find(({ files }) => files.test(file))

/** The broken rules of one file, each with the way out; `used` collects the exceptions that were needed. */
export const brokenRules = (file: string, used = new Set<string>(), text = textOf(file)): string[] => {
  const storey = storeyOf(file)
  if (!storey) return [`${file} belongs to no storey: add its folder to test/tidy/layers.ts`]
  return importsIn(text).flatMap(({ path, typeOnly }) => {
    const target = resolveImport(file, path)
    const arrow = `${file} → ${target ?? path}`
    if (Object.hasOwn(exceptions, arrow) || owed.includes(arrow)) {
      used.add(arrow)
      return []
    }
    if (target === undefined) {
      const packages = isPure(file) ? purePackages : storey.packages
      if (!packages || packages.test(path) || (typeOnly && path.startsWith(node))) return []
      return [`${arrow}: it may import only the packages ${packages.source}`]
    }
    if (!target.startsWith('src/')) return [`${arrow}: src imports nothing from outside src`]
    const other = storeyOf(target)
    if (other && other.name !== storey.name && !isDoor(target) && !(isPure(file) && isPure(target)))
      return [`${arrow}: another storey is entered by an index.ts, or, of pure files by pure files, by name`]
    if (other && (other.name === storey.name || storey.from.includes(other.name))) return []
    return [`${arrow}: ${storey.name} may import only from ${[storey.name, ...storey.from].join(', ')}`]
  })
}

/** Every circle of imports among these files, types included, as the files in it. */
export const circlesIn = (files: readonly string[], targetsOf = targetsIn): string[][] => {
  const circles: string[][] = []
  const depth = new Map<string, number>()
  const low = new Map<string, number>()
  const path: string[] = []
  const visit = (file: string): void => {
    depth.set(file, depth.size)
    low.set(file, depth.size - 1)
    path.push(file)
    for (const target of targetsOf(file)) {
      if (!files.includes(target)) continue
      if (!depth.has(target)) visit(target)
      if (path.includes(target)) low.set(file, Math.min(low.get(file) as number, low.get(target) as number))
    }
    if (low.get(file) !== depth.get(file)) return
    const circle = path.splice(path.indexOf(file))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const file of files) if (!depth.has(file)) visit(file)
  return circles
}

const targetsIn = (file: string): string[] => importsIn(textOf(file)).flatMap(({ path }) => resolveImport(file, path) ?? [])
