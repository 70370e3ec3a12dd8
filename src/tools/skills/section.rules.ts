/** What the model is told of skills: the same text for the same skills, so that what a provider has cached stays of use. */
import { readSkillName, type SkillSection } from '../../contracts/skill.ts'
import type { Skill } from './skill.ts'

/** Characters of all lines together; those that find no room are only named. */
const linesMax = 30_000
const shownMax = 150

const introduction = `# Skills

Instructions for particular tasks. Where a task fits one of them, read it first with the tool ${readSkillName}, then do as it says; read one at a time.
`

/** @param skills that may be used, by name */
export const skillSection = (skills: readonly Skill[]): SkillSection | undefined => {
  const shown = skills.filter(({ modelInvocable }) => modelInvocable)
  if (shown.length === 0) return undefined
  const items: { name: string; chars: number }[] = []
  const lines: string[] = []
  const others: string[] = []
  let chars = 0
  for (const { name, description, location } of shown) {
    const line = `- ${name}: ${description.replace(/\s+/g, ' ')} (${location})`
    if (items.length >= shownMax || chars + line.length > linesMax) {
      others.push(name)
      continue
    }
    chars += line.length + 1
    lines.push(line)
    items.push({ name, chars: line.length + 1 })
  }
  const rest = others.length === 0 ? [] : [`There are also: ${others.join(', ')}.`]
  return { name: 'skills', text: [introduction, ...lines, ...rest].join('\n'), items }
}
