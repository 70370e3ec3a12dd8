/** What `skills.list` answers. */
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ListedSkill } from '../contracts/skill.ts'
import type { SessionContext } from '../machines/index.ts'
import type { RuntimeParts } from '../runtime/index.ts'

/** @param key of a session: which of them its run may use, and with which state of the skills it began @throws RuntimeError not_found */
export const listSkills = async (parts: RuntimeParts, key: string | undefined) => {
  const { skills, ...rest } = parts.skills.list()
  const all = [...skills, ...ofTools(parts)].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (key === undefined) return { ...rest, skills: all }
  const { snapshot } = await parts.directory.read({ kind: 'session', id: key })
  const context = snapshot?.context as SessionContext | undefined
  if (context === undefined)
    throw new RuntimeError('not_found', `there is no session '${key.slice(0, 80)}'`, { hint: 'it begins with its first message' })
  const { skillFilter, skillsVersion } = context.run?.profile ?? context.queue[0]?.profile ?? {}
  const allowed = skillFilter === undefined ? all : all.filter(({ name, parameters }) => parameters !== undefined || skillFilter.includes(name))
  return { ...rest, skills: allowed, ...definedOf({ inUse: skillsVersion, filter: skillFilter }) }
}

/** Tools that come from elsewhere: each is one of what can be done, as a skill is. */
const ofTools = ({ agents }: Pick<RuntimeParts, 'agents'>): ListedSkill[] => {
  const found = new Map<string, ListedSkill>()
  for (const { tools } of agents.values())
    for (const { name, description, inputSchema } of tools.describe()) {
      const [, kind, source] = /^(mcp|lsp)(?::(.+))?$/.exec(tools.get(name)?.source ?? '') ?? []
      if (kind !== undefined)
        found.set(`${kind}/${name}`, { name, description, kind, source: source ?? kind, eligible: true, parameters: inputSchema })
    }
  return [...found.values()]
}
