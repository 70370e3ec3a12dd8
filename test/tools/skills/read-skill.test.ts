/** What a node says that is to read a skill which another node has. */
import { expect, test } from 'vitest'
import { fileBytesMax } from '../../../src/tools/skills/inside.ts'
import { readSkillTool } from '../../../src/tools/skills/read-skill.ts'
import type { Skill } from '../../../src/tools/skills/skill.ts'
import { aFolder, putSkill } from '../../support/skill-folder.ts'

const aSkill = async (name: string, files: Record<string, string> = {}, more: Partial<Skill> = {}): Promise<Skill> => ({
  name,
  description: name,
  requires: {},
  modelInvocable: true,
  userInvocable: true,
  kind: 'workspace',
  folder: await putSkill(await aFolder(), name, { files }),
  location: `skills/${name}/SKILL.md`,
  hash: '',
  eligible: true,
  ...more,
})
const reading = (usable: Skill[], all = usable) => {
  const { execute } = readSkillTool(() => ({ usable, all }))
  return async (input: { name: string; file?: string }) => execute(input, {} as never)
}

test('[CH-58] a skill that is not on this node, or cannot be used there, is said to be missing, with what to do', async () => {
  const broken = await aSkill('broken', {}, { eligible: false, why: 'not on the PATH: gh' })
  const other = await aSkill('other')
  const read = reading([], [broken, other])

  await expect(read({ name: 'gone' })).rejects.toMatchObject({ code: 'not_found', hint: expect.stringContaining('need the same skills') })
  await expect(read({ name: 'broken' })).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('not on the PATH: gh') })
  await expect(read({ name: 'other' })).rejects.toMatchObject({ code: 'forbidden' })
})

test.each([
  '../x',
  '/etc/passwd',
  'a/../../x',
  '..\\x',
  'C:\\x',
  '~/x',
  '.env',
  'a/.git/config',
  'a\0b',
  'references',
  'nothing.md',
  'big.txt',
  'bytes.bin',
])('[CH-58] no way out, and nothing that is no text: %s', async (file) => {
  const skill = await aSkill('one', { '.env': 'KEY', 'references/a.md': 'a', 'big.txt': 'x'.repeat(fileBytesMax + 1), 'bytes.bin': 'a\0b' })

  await expect(reading([skill])({ name: 'one', file })).rejects.toMatchObject({
    code: expect.stringMatching(/forbidden|not_found|bad_request|too_large/),
  })
  await expect(reading([skill])({ name: 'one', file: 'references/a.md' })).resolves.toMatchObject({ text: 'a' })
})
