/** Reads the folders that hold skills. One that is broken is skipped, and said to be. */
import { createHash } from 'node:crypto'
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRuntimeError, messageOf } from '../../contracts/errors.ts'
import type { SkillProblem } from '../../contracts/skill.ts'
import { isInside, namesOf, readInside } from './inside.ts'
import { parseSkill } from './parse-skill.ts'
import type { FoundSkill, SkillKind } from './skill.ts'

/** @property shown how the model is told of the folder */
export type SkillFolder = { kind: SkillKind; path: string; shown: string }

export const manualFile = 'SKILL.md'
/** In all folders together. */
const skillsMax = 500

/** @param folders the nearest first: so are the skills, and several may have one name */
export const discoverSkills = (folders: readonly SkillFolder[]): { found: FoundSkill[]; problems: SkillProblem[] } => {
  const found: FoundSkill[] = []
  const problems: SkillProblem[] = []
  for (const folder of folders) {
    const root = rootOf(folder)
    for (const name of root === undefined ? [] : namesIn(root)) {
      const path = join(folder.path, name)
      if (found.length >= skillsMax) {
        problems.push({ path, kind: folder.kind, problem: `there are more than ${skillsMax} skills`, hint: 'take away those that nobody uses' })
        return { found, problems }
      }
      const read = readSkillIn(root as string, name, folder)
      if (read === undefined) continue
      if ('problem' in read) problems.push({ path, kind: folder.kind, ...read })
      else found.push(read)
    }
  }
  return { found, problems }
}

const rootOf = ({ path }: SkillFolder): string | undefined => {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

const namesIn = (root: string): string[] =>
  namesOf(root)
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map(({ name }) => name)
    .sort()

type Refusal = { problem: string; hint: string }

/** @returns undefined for a folder that is none of a skill */
const readSkillIn = (root: string, name: string, { kind, shown }: SkillFolder): FoundSkill | Refusal | undefined => {
  try {
    const folder = realpathSync(join(root, name))
    if (!isInside(root, folder))
      return { problem: 'it is a link to somewhere else', hint: 'copy the folder, or name where it is in skills.directories' }
    if (!statSync(folder).isDirectory()) return undefined
    const names = readdirSync(folder)
    if (!names.includes(manualFile))
      return names.some((one) => one.toLowerCase() === 'skill.md') ? { problem: 'its file is not called SKILL.md', hint: 'rename it' } : undefined
    const text = readInside(folder, manualFile)
    const manual = parseSkill(text, name)
    if ('problem' in manual) return manual
    return { ...manual, kind, folder, location: `${shown}/${name}/${manualFile}`, hash: createHash('sha256').update(text).digest('hex') }
  } catch (error) {
    const hint = isRuntimeError(error) ? error.hint : undefined
    return { problem: messageOf(error).slice(0, 300), hint: hint ?? 'look at the folder and who may read it' }
  }
}
