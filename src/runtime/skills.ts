/** The skills of a runtime: which folders they are in, and who brings the environments of its agents. */

import { join } from 'node:path'
import type { Agent } from '../contracts/agent.ts'
import { commandWords } from '../contracts/command-words.ts'
import type { Environment } from '../contracts/environment.ts'
import { checkSkillOptions, environmentTable, openSkills as open, type SkillSystem } from '../tools/index.ts'
import type { Extension } from './extension.ts'
import type { RuntimeOptions } from './options.ts'

type SkillParts = {
  workspace: string
  environment: Environment
  extensions: readonly Extension[]
  /** Variables of this process. */
  env: Readonly<Record<string, string | undefined>>
}
type Folders = Parameters<typeof open>[0]['folders']

/** Beside `src` and `dist`. */
const bundledFolder = join(import.meta.dirname, '..', '..', 'bundled-skills')

/** Reads what there is. @throws RuntimeError bad_request, conflict */
export const openSkills = (app: Pick<RuntimeOptions, 'skills' | 'transport' | 'agents' | 'environment'>, parts: SkillParts): SkillSystem => {
  const options = checkSkillOptions(app.skills)
  // Nothing from outside comes into a time that is simulated, unless it is asked for.
  const watched = app.skills !== undefined || app.environment?.clock === undefined
  const { environment, extensions, env } = parts
  const wanted = new Map((app.agents ?? []).flatMap(({ name, environment: its }: Agent) => (its === undefined ? [] : [[name, its] as const])))
  const brought = extensions.flatMap(({ name: extension, environments = {} }) =>
    Object.entries(environments).map(([name, manager]) => ({ extension, name, manager })),
  )
  const environments = environmentTable(brought, wanted, environment)
  const folders = options === false ? [] : foldersOf(options, app.transport, parts)
  return open({
    folders,
    options: options === false ? { watch: false } : { watch: watched, ...options },
    environments,
    environment,
    env,
    reserved: [...commandWords],
  })
}

const foldersOf = (
  { managed, directories = [] }: Exclude<ReturnType<typeof checkSkillOptions>, false>,
  transport: RuntimeOptions['transport'],
  { workspace, env }: SkillParts,
): Folders => {
  const url = typeof transport === 'object' ? '' : (transport ?? env.STATECAST_URL ?? 'embedded:./.statecast')
  const [, data] = /^embedded:(.+)$/is.exec(url) ?? []
  const installed = managed ?? (data === undefined ? undefined : join(data, 'skills'))
  return [
    { kind: 'workspace', path: join(workspace, 'skills'), shown: 'skills' },
    ...(installed === undefined ? [] : [{ kind: 'managed' as const, path: installed, shown: 'managed-skills' }]),
    { kind: 'bundled', path: bundledFolder, shown: 'bundled-skills' },
    ...directories.map((path, index) => ({ kind: 'extra' as const, path, shown: index === 0 ? 'extra-skills' : `extra-skills-${index + 1}` })),
  ]
}
