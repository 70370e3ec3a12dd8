/** The tool with which a model reads a skill, and the files that it names. */
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import { readSkillName } from '../../contracts/skill.ts'
import type { Tool, ToolContext } from '../../contracts/tool.ts'
import { nearest } from '../nearest.ts'
import { tool } from '../tool.ts'
import { manualFile } from './discover.ts'
import { fileBytesMax, filesInside, readInside } from './inside.ts'
import type { Skill } from './skill.ts'

/**
 * `{ name, file? }` → `{ name, folder, file, text, files }`; `files` are the others that it has, with its manual only.
 * @param known the skills of a run, and those that it may not use, with the reason
 */
export const readSkillTool = (known: (run: ToolContext['skills']) => { usable: readonly Skill[]; all: readonly Skill[] }): Tool =>
  tool({
    name: readSkillName,
    category: 'skills',
    description: 'Reads the instructions of a skill before they are followed, or with `file` a file that they name, such as references/api.md.',
    input: z.object({
      name: z.string().min(1).max(200).describe('name of the skill, as listed'),
      file: z.string().min(1).max(1000).optional().describe('path inside the folder of the skill; default: its SKILL.md'),
    }),
    execute: ({ name, file = manualFile }, context) => {
      const { usable, all } = known(context.skills)
      const skill = usable.find((one) => one.name === name)
      if (skill === undefined) throw missing(name, usable, all)
      const text = readInside(skill.folder, file)
      if (file !== manualFile) return { name, folder: skill.folder, file, text }
      return { name, folder: skill.folder, file, text, files: filesInside(skill.folder).filter((path) => path !== manualFile) }
    },
    source: 'skills',
    onCrash: 'retry',
    outputBytesMax: 6 * fileBytesMax + 64 * 1024,
  })

const missing = (name: string, usable: readonly Skill[], all: readonly Skill[]): RuntimeError => {
  const shown = name.slice(0, 80)
  const there = all.find((one) => one.name === name)
  if (there?.eligible)
    return new RuntimeError('forbidden', `the skill '${shown}' may not be used here`, {
      hint: 'a filter of the agent, channel or message leaves it out',
    })
  if (there)
    return new RuntimeError('not_found', `the skill '${shown}' cannot be used on this node: ${there.why}`, { hint: 'mend that, or do without it' })
  const names = usable.map((one) => one.name)
  const near = nearest(name, names)
  return new RuntimeError('not_found', `there is no skill '${shown}' on this node`, {
    hint:
      near.length > 0
        ? `did you mean ${near.join(' or ')}?`
        : `there are: ${names.slice(0, 20).join(', ') || 'none'}; nodes that share conversations need the same skills`,
  })
}
