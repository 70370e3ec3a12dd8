/** Folders with skills, in a temporary place. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export const aFolder = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'statecast-skills-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** @param matter lines of YAML beside name and description */
export const manual = (name: string, { matter = '', body = `How to ${name}.`, description = `For ${name}.` } = {}): string =>
  `---\nname: ${name}\ndescription: ${description}\n${matter}${matter === '' || matter.endsWith('\n') ? '' : '\n'}---\n\n${body}\n`

/** @param folder one that holds skills @returns the folder of this one */
export const putSkill = async (
  folder: string,
  name: string,
  about: Parameters<typeof manual>[1] & { text?: string; files?: Record<string, string> } = {},
) => {
  const own = join(folder, name)
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'SKILL.md'), about.text ?? manual(name, about))
  for (const [path, text] of Object.entries(about.files ?? {})) {
    await mkdir(join(own, path, '..'), { recursive: true })
    await writeFile(join(own, path), text)
  }
  return own
}
