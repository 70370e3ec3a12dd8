/** Who may import whom. The order of the rows is the arrow of the architecture, §9: a file imports only from what stands above it. */
import { importsIn, resolveImport, textOf } from './sources.ts'

type Layer = {
  name: string
  files: RegExp
  /** Other layers it may import from; its own is always allowed. */
  from: string[]
  /** Packages it may import; left out where any may be. `node:` modules count. */
  packages?: RegExp
}

const node = 'node:'
const core = ['contracts', 'rules', 'machines', 'actors']
const adapters = ['transport', 'models', 'tools', 'channels']

export const layers: Layer[] = [
  { name: 'contracts', files: /^src\/contracts\//, from: [], packages: /^zod$/ },
  // What follows from what, as pure functions: statecharts use them, and effects.
  { name: 'rules', files: /^src\/rules\//, from: ['contracts'], packages: /^zod$/ },
  // A statechart may use nothing that acts; what only reads charts may hash.
  { name: 'machines', files: /^src\/machines\//, from: ['contracts', 'rules'], packages: /^(xstate|zod)$/ },
  { name: 'actors', files: /^src\/actors\//, from: ['contracts', 'rules', 'machines'] },
  // Adapters do not know each other nor the core: actors get them as arguments.
  { name: 'transport', files: /^src\/transport\//, from: ['contracts', 'rules'] },
  { name: 'models', files: /^src\/models\//, from: ['contracts', 'rules'] },
  { name: 'tools', files: /^src\/tools\//, from: ['contracts', 'rules'] },
  { name: 'channels', files: /^src\/channels\//, from: ['contracts', 'rules'] },
  // index.ts is matched here first, so it is no part of the runtime.
  { name: 'index', files: /^src\/index\.ts$/, from: [...core, ...adapters, 'runtime', 'gateway', 'inspector', 'cli', 'testing'] },
  { name: 'runtime', files: /^src\/(runtime\/|[\w.-]+\.ts$)/, from: [...core, ...adapters] },
  { name: 'inspector', files: /^src\/inspector\//, from: [...core, ...adapters, 'runtime'] },
  { name: 'gateway', files: /^src\/gateway\//, from: [...core, ...adapters, 'runtime', 'inspector'] },
  // The outermost edge: `up` opens the gateway.
  { name: 'cli', files: /^src\/cli\//, from: [...core, ...adapters, 'runtime', 'gateway', 'inspector'] },
  { name: 'testing', files: /^src\/testing\//, from: [...core, ...adapters, 'index', 'runtime', 'gateway', 'inspector', 'cli'] },
]

/** Imports that break a rule on purpose, with the reason. */
export const exceptions: Record<string, string> = {
  'src/machines/signature.ts → node:crypto': 'a hash is a pure function of its input',
}

const layerOf = (file: string): Layer | undefined => layers.find(({ files }) => files.test(file))

/** The broken rules of one file, each with the way out; `used` collects the exceptions that were needed. */
export const brokenRules = (file: string, used = new Set<string>(), text = textOf(file)): string[] => {
  const layer = layerOf(file)
  if (!layer) return [`${file} belongs to no layer: add its folder to test/tidy/layers.ts`]
  return importsIn(text).flatMap(({ path, typeOnly }) => {
    const target = resolveImport(file, path)
    const arrow = `${file} → ${target ?? path}`
    if (Object.hasOwn(exceptions, arrow)) {
      used.add(arrow)
      return []
    }
    if (target === undefined) {
      if (!layer.packages || layer.packages.test(path) || (typeOnly && path.startsWith(node))) return []
      return [`${arrow}: ${layer.name} may import only the packages ${layer.packages.source}`]
    }
    if (!target.startsWith('src/')) return [`${arrow}: src imports nothing from outside src`]
    const other = layerOf(target)
    if (other && (other.name === layer.name || layer.from.includes(other.name))) return []
    return [`${arrow}: ${layer.name} may import only from ${[layer.name, ...layer.from].join(', ')}`]
  })
}
