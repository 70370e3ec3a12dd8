/**
 * Adds to package-lock.json the optional packages of other platforms that the registry in use does not carry. npm leaves them out when it
 * writes the lock and then refuses it in `npm ci` ("Missing: …@ from lock file", npm/cli#9846). An entry with version, os and cpu is enough:
 * npm sees that it does not fit this platform and never asks for it. Run as `node scripts/complete-lock.ts` after each `npm install`;
 * test/tidy.test.ts notices when it was forgotten.
 */
import { readFile, writeFile } from 'node:fs/promises'

type Entry = {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}
export type Lock = { packages: Record<string, Entry> }

/** Paths of the entries that `npm ci` will look for in vain, with what they should hold. */
export const missingEntries = ({ packages }: Lock): Map<string, Entry> => {
  const missing = new Map<string, Entry>()
  for (const [parent, { dev, optionalDependencies = {} }] of Object.entries(packages))
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const path = `node_modules/${name}`
      if (packages[path] || packages[`${parent}/${path}`]) continue
      const { cpu, libc, os } = platformOf(name)
      // In npm's own order of keys, so that its next rewrite changes nothing.
      missing.set(path, { version, ...(cpu && { cpu }), ...(dev && { dev }), ...(libc && { libc }), optional: true, ...(os && { os }) })
    }
  return missing
}

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32']

/** Such packages are named by the platform they are for: `@biomejs/cli-linux-x64-musl`. */
const platformOf = (name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> => {
  const words = name.split(/[^a-z0-9]+/)
  const os = systems.filter((system) => words.includes(system))
  const cpu = processors.filter((processor) => words.includes(processor))
  if (os.length + cpu.length === 0) throw new Error(`${name} names no platform: add its entry to package-lock.json by hand`)
  const libc = words.some((word) => word.startsWith('musl')) ? ['musl'] : words.some((word) => word.startsWith('gnu')) ? ['glibc'] : []
  return { ...(os.length > 0 ? { os } : {}), ...(cpu.length > 0 ? { cpu } : {}), ...(libc.length > 0 ? { libc } : {}) }
}

if (import.meta.main) {
  const file = new URL('../package-lock.json', import.meta.url)
  const lock = JSON.parse(await readFile(file, 'utf8')) as Lock
  const missing = missingEntries(lock)
  const before = Object.entries(lock.packages)
  lock.packages = Object.fromEntries([...before, ...missing].sort(([a], [b]) => a.localeCompare(b, 'en')))
  await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`${missing.size} entries added to package-lock.json`)
}
