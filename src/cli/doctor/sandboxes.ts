/** Whether commands of agents can be kept apart from this machine, and whether those that are to be can. */
import type { BenchOptions, SandboxLimits, SandboxMode } from '../../contracts/bench.ts'
import type { RuntimeOptions } from '../../runtime.ts'
import { limitsOfCommands, type SandboxFinding, trySandboxes } from '../../tools/index.ts'
import { bad, type Finding, ok, warn } from './finding.ts'

export async function* sandboxes({ agents = [], config }: RuntimeOptions): AsyncGenerator<Finding> {
  const found = await trySandboxes()
  const working = found.filter(({ works }) => works).map(({ kind }) => kind)
  const told = found.map(({ kind, works, why }) => `${kind}: ${works ? 'works' : why}`).join('; ')
  yield ok('sandbox', working.length > 0 ? told : `none; commands of agents need one, or sandbox: 'off' (${told})`)
  const withShell = agents.flatMap(({ name, bench }) => (bench && (bench.shell ?? false) !== false ? [{ name, bench }] : []))
  const configured = config?.agents?.defaults?.sandbox
  const kinds = new Set<SandboxMode>(working.slice(0, 1))
  for (const { bench } of withShell) {
    const mode = modeOf(bench) ?? configured?.mode ?? 'auto'
    if (mode === 'off' || working.some((kind) => kind === mode)) kinds.add(mode)
  }
  if (kinds.size === 0) kinds.add('off')
  for (const kind of kinds) if (kind !== 'auto') yield limitsIn(kind, found, configured?.limits)
  for (const { name, bench } of withShell) {
    const mode = modeOf(bench) ?? configured?.mode ?? 'auto'
    if (mode === 'off')
      yield warn('sandbox', `commands of the agent '${name}' run on this machine itself`, "a sandbox keeps them apart: sandbox: 'auto'")
    else if (mode === 'auto' ? working.length === 0 : !working.some((kind) => kind === mode))
      yield bad('sandbox', `commands of the agent '${name}' cannot run: ${mode} is not there`, hintFor(mode, found))
  }
}

/** Which limits hold for commands, and what enforces each. */
const limitsIn = (kind: Exclude<SandboxMode, 'auto'>, found: SandboxFinding[], limits: SandboxLimits | undefined): Finding => {
  const rows = limitsOfCommands(kind, found.find((one) => one.kind === kind)?.hasTmpSize ?? false, limits)
  const count = (enforcement: string) => rows.filter((row) => row.enforcement === enforcement && row.value !== null).length
  const missing = count('none')
  const message = `${kind}: ${count('kernel')} enforced by the kernel, ${count('watched')} watched by the node, ${missing} not enforced`
  const hint = 'run the node where it may create cgroups, or commands in a container'
  return { ...(missing === 0 ? ok('sandbox limits', message) : warn('sandbox limits', message, hint)), rows }
}

const modeOf = ({ sandbox }: BenchOptions) => (typeof sandbox === 'string' ? sandbox : sandbox?.mode)

const hintFor = (mode: string, found: SandboxFinding[]): string =>
  found.find(({ kind }) => kind === mode)?.hint ?? found.find(({ hint }) => hint)?.hint ?? 'install bubblewrap'
