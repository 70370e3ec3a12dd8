/**
 * Other agent runtimes, each in a scratch folder of its own, with the versions that `package.json` beside this file pins. Nothing of them comes into
 * this repository. `node bench/peers/install.ts` does it ahead of time; `npm run bench -- --peers` does it when needed.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Entry } from '../turns/contender.ts'

type Variant = { name: string; variant: string }
type Peer = {
  name: string
  file: string
  /** The first one is the peer itself, whose version is shown. */
  packages: string[]
  variants: Variant[]
  /** The same for questions about steps, where it has any. */
  ladder?: { file: string; variants: Variant[] }
  env?: Record<string, string>
}

export const peers: Peer[] = [
  {
    name: 'pi-agent-core',
    file: 'pi.mjs',
    packages: ['@mariozechner/pi-agent-core', '@mariozechner/pi-ai'],
    variants: [{ name: 'pi-agent-core', variant: 'memory' }],
  },
  {
    name: 'openai-agents',
    file: 'openai-agents.mjs',
    packages: ['@openai/agents', 'zod'],
    variants: [{ name: 'OpenAI Agents, MemorySession', variant: 'memory' }],
  },
  { name: 'ai', file: 'ai.mjs', packages: ['ai', 'zod'], variants: [{ name: 'AI SDK, ToolLoopAgent', variant: 'memory' }] },
  {
    name: 'langgraph',
    file: 'langgraph.mjs',
    packages: ['@langchain/langgraph', '@langchain/core', '@langchain/langgraph-checkpoint-sqlite', 'langchain', 'zod'],
    variants: [
      { name: 'LangGraph, MemorySaver', variant: 'memory' },
      { name: 'LangGraph, SQLite', variant: 'sqlite' },
      { name: 'LangGraph, SQLite, durability sync', variant: 'sqlite-sync' },
    ],
    ladder: {
      file: 'langgraph-steps.mjs',
      variants: [
        { name: 'LangGraph, MemorySaver', variant: 'memory' },
        { name: 'LangGraph, SQLite', variant: 'sqlite' },
        { name: 'LangGraph, SQLite, durability sync', variant: 'sqlite-sync' },
      ],
    },
    // As it comes, it drops deltas when several runs without latency share a process.
    env: { LANGCHAIN_CALLBACKS_BACKGROUND: 'false', LANGSMITH_TRACING: 'false' },
  },
  {
    name: 'mastra',
    file: 'mastra.mjs',
    packages: ['@mastra/core', '@mastra/libsql', '@mastra/memory', 'zod'],
    variants: [
      { name: 'Mastra, no memory', variant: 'none' },
      { name: 'Mastra, libSQL file', variant: 'libsql' },
    ],
    ladder: { file: 'mastra-steps.mjs', variants: [{ name: 'Mastra, libSQL file', variant: 'libsql' }] },
    env: { MASTRA_TELEMETRY_DISABLED: '1' },
  },
]

/** What several of them import. */
const shared = 'instant-stream.mjs'

type Manifest = { dependencies: Record<string, string>; overrides: Record<string, string> }

const scratch = (): string => process.env.STATECAST_BENCH_PEERS ?? join(tmpdir(), 'statecast-bench-peers')
const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))

const manifestOf = ({ name, packages }: Peer): object => {
  const { dependencies, overrides } = readJson(join(import.meta.dirname, 'package.json')) as Manifest
  return {
    name: `statecast-bench-${name}`,
    private: true,
    type: 'module',
    dependencies: Object.fromEntries(packages.map((one) => [one, dependencies[one]])),
    overrides: name === 'langgraph' ? overrides : {},
  }
}

const installed = (folder: string, one: string): string | undefined => {
  const file = join(folder, 'node_modules', one, 'package.json')
  return existsSync(file) ? (readJson(file) as { version: string }).version : undefined
}

/** @throws Error with the end of what npm said */
const install = (peer: Peer, folder: string): void => {
  const manifest = manifestOf(peer)
  const { dependencies } = manifest as Manifest
  if (Object.entries(dependencies).every(([one, version]) => installed(folder, one) === version)) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  // What is compiled or fetched for a version of Node has to be for this one.
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
  // Their peer ranges do not fit each other's newest releases.
  const flags = ['--no-package-lock', '--legacy-peer-deps', '--no-audit', '--no-fund']
  const { status, stdout, stderr, error } = spawnSync('npm', ['install', ...flags], {
    cwd: folder,
    env: { ...process.env, PATH: path },
    encoding: 'utf8',
    timeout: 300_000,
  })
  if (status !== 0) throw new Error(`npm install failed: ${error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-3).join(' | ')}`)
}

export type Installed = { entries: Entry[]; versions: Record<string, string>; failed: { name: string; reason: string }[] }

/** Its folder, with its libraries in it. @throws Error when it cannot be installed */
export const installPeer = (wanted: string): { folder: string; version: string; env: Record<string, string> } => {
  const peer = peers.find(({ name }) => name === wanted)
  if (!peer) throw new TypeError(`no peer is named '${wanted}'`)
  const [main = ''] = peer.packages
  const folder = join(scratch(), peer.name)
  console.log(`installing ${main} …`)
  install(peer, folder)
  return { folder, version: installed(folder, main) ?? 'unknown', env: peer.env ?? {} }
}

/** Whoever cannot be installed is among the `failed`, with the reason. */
export const installPeers = (question: 'turns' | 'ladder' = 'turns'): Installed => {
  const result: Installed = { entries: [], versions: {}, failed: [] }
  for (const { name: peer, packages, ...own } of peers) {
    const program = question === 'turns' ? own : own.ladder
    if (!program) continue
    try {
      const { folder, version, env } = installPeer(peer)
      // Beside its libraries, where its imports find them.
      for (const file of [program.file, shared]) copyFileSync(join(import.meta.dirname, file), join(folder, file))
      result.versions[packages[0] as string] = version
      for (const { name, variant } of program.variants)
        result.entries.push({ name, module: pathToFileURL(join(folder, program.file)).href, variant, env })
    } catch (error) {
      for (const { name } of program.variants) result.failed.push({ name, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return result
}

if (import.meta.main) {
  const { versions, failed } = installPeers()
  for (const [name, version] of Object.entries(versions)) console.log(`${name} ${version}`)
  for (const { name, reason } of failed) console.log(`${name}: ${reason}`)
  process.exitCode = failed.length > 0 ? 1 : 0
}
