/** Which skills there are for whom: names won by the nearest source, filters that intersect, and commands for users. */
import type { SkillCommand } from '../../contracts/skill.ts'
import type { FoundSkill, Skill } from './skill.ts'

/** @param found in the order of their sources, the nearest first @returns one of each name, by name */
export const nearestOf = <One extends Pick<FoundSkill, 'name'>>(found: readonly One[]): One[] => {
  const byName = new Map<string, One>()
  for (const one of found) if (!byName.has(one.name)) byName.set(one.name, one)
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** What all of these allow; those that are left out allow everything. */
export const intersection = (...filters: readonly (readonly string[] | undefined)[]): string[] | undefined => {
  const given = filters.filter((filter) => filter !== undefined)
  const [first, ...others] = given
  return first && [...new Set(first)].filter((name) => others.every((other) => other.includes(name)))
}

export const usable = (skills: readonly Skill[], filter: readonly string[] | undefined): Skill[] =>
  skills.filter(({ name, eligible }) => eligible && (filter === undefined || filter.includes(name)))

const commandMax = 32

/** @param taken words that mean something else @returns a name for each, in their order; numbered where it is taken */
export const commandNames = (names: readonly string[], taken: readonly string[]): string[] => {
  const used = new Set(taken)
  return names.map((name) => {
    const plain =
      name
        .toLowerCase()
        .replace(/[^a-z0-9_]+/g, '_')
        .slice(0, commandMax) || 'skill'
    let command = plain
    for (let number = 2; used.has(command); number++) command = `${plain.slice(0, commandMax - `_${number}`.length)}_${number}`
    used.add(command)
    return command
  })
}

/** `/name args` at the very beginning. */
export const commandIn = (text: string, skills: readonly Skill[]): SkillCommand | undefined => {
  const said = text.trim()
  const [start = '', word = ''] = /^\/([a-z0-9_]{1,32})(?=\s|:\s|:?$)/i.exec(said) ?? []
  const args = said.slice(start.length).replace(/^:/, '')
  const skill = word === '' ? undefined : skills.find(({ command }) => command === word.toLowerCase())
  if (skill?.command === undefined) return undefined
  const { name, command, commandTool } = skill
  return { skill: name, command, args: args.trim(), ...(commandTool === undefined ? {} : { tool: commandTool }) }
}
