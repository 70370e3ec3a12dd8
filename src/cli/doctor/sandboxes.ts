/** Whether commands of agents can be kept apart from this machine, and whether those that are to be can. */
import type { BenchOptions } from '../../contracts/bench.ts'
import type { RuntimeOptions } from '../../runtime.ts'
import { type SandboxFinding, trySandboxes } from '../../tools/index.ts'
import { bad, type Finding, ok, warn } from './finding.ts'

export async function* sandboxes({ agents = [], config }: RuntimeOptions): AsyncGenerator<Finding> {
  const found = await trySandboxes()
  const working = found.filter(({ works }) => works).map(({ kind }) => kind)
  const told = found.map(({ kind, works, why }) => `${kind}: ${works ? 'works' : why}`).join('; ')
  yield ok('sandbox', working.length > 0 ? told : `none; commands of agents need one, or sandbox: 'off' (${told})`)
  for (const { name, bench } of agents) {
    if (!bench || (bench.shell ?? false) === false) continue
    const mode = modeOf(bench) ?? config?.agents?.defaults?.sandbox?.mode ?? 'auto'
    if (mode === 'off')
      yield warn('sandbox', `commands of the agent '${name}' run on this machine itself`, "a sandbox keeps them apart: sandbox: 'auto'")
    else if (mode === 'auto' ? working.length === 0 : !working.some((kind) => kind === mode))
      yield bad('sandbox', `commands of the agent '${name}' cannot run: ${mode} is not there`, hintFor(mode, found))
  }
}

const modeOf = ({ sandbox }: BenchOptions) => (typeof sandbox === 'string' ? sandbox : sandbox?.mode)

const hintFor = (mode: string, found: SandboxFinding[]): string =>
  found.find(({ kind }) => kind === mode)?.hint ?? found.find(({ hint }) => hint)?.hint ?? 'install bubblewrap'
