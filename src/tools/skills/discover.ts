/** Reads the folders that hold skills. One that is broken is skipped, and said to be. */
import { createHash } from 'node:crypto'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRuntimeError, messageOf } from '../../contracts/errors.ts'
import type { SkillProblem } from '../../contracts/skill.ts'
import { isInside, readInside } from './inside.ts'
import { parseSkill } from './parse-skill.ts'
import type { FoundSkill, SkillKind } from './skill.ts'

/** @property shown how the model is told of the folder */
export type SkillFolder = { kind: SkillKind; path: string; shown: string }

export const manualFile = 'SKILL.md'
/** In all folders together. */
const skillsMax = 500

/** @param folders the nearest first: so are the skills, and several may have one name */
export const discoverSkills = async (folders: readonly SkillFolder[]): Promise<{ found: FoundSkill[]; problems: SkillProblem[] }> => {
  const found: FoundSkill[] = []
  const problems: SkillProblem[] = []
  for (const folder of folders) {
    const root = await realpath(folder.path).catch(() => undefined)
    if (root === undefined) continue
    for (const name of await namesIn(root)) {
      const path = join(folder.path, name)
      if (found.length >= skillsMax) {
        problems.push({ path, kind: folder.kind, problem: `there are more than ${skillsMax} skills`, hint: 'take away those that nobody uses' })
        return { found, problems }
      }
      const read = await readSkillIn(root, name, folder)
      if (read === undefined) continue
      if ('problem' in read) problems.push({ path, kind: folder.kind, ...read })
      else found.push(read)
    }
  }
  return { found, problems }
}

const namesIn = async (root: string): Promise<string[]> => {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map(({ name }) => name)
    .sort()
}

type Refusal = { problem: string; hint: string }

/** @returns undefined for a folder that is none of a skill */
const readSkillIn = async (root: string, name: string, { kind, shown }: SkillFolder): Promise<FoundSkill | Refusal | undefined> => {
  try {
    const folder = await realpath(join(root, name))
    if (!isInside(root, folder))
      return { problem: 'it is a link to somewhere else', hint: 'copy the folder, or name where it is in skills.directories' }
    if (!(await stat(folder)).isDirectory()) return undefined
    const names = await readdir(folder)
    if (!names.includes(manualFile))
      return names.some((one) => one.toLowerCase() === 'skill.md') ? { problem: 'its file is not called SKILL.md', hint: 'rename it' } : undefined
    const text = await readInside(folder, manualFile)
    const manual = parseSkill(text, name)
    if ('problem' in manual) return manual
    return { ...manual, kind, folder, location: `${shown}/${name}/${manualFile}`, hash: createHash('sha256').update(text).digest('hex') }
  } catch (error) {
    const hint = isRuntimeError(error) ? error.hint : undefined
    return { problem: messageOf(error).slice(0, 300), hint: hint ?? 'look at the folder and who may read it' }
  }
}
