/** What `createRuntime({ skills })` takes. */
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import { parseInput } from '../../contracts/parse.ts'
import { skillName, skillNameMax } from '../../contracts/skill.ts'

const Name = z.string().max(skillNameMax).regex(skillName, 'must be the name of a skill: a-z, 0-9 and single hyphens')
const Entry = z.strictObject({
  enabled: z.boolean().optional().describe('false switches it off'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be the name of a variable'), z.string().max(32_000))
    .optional()
    .describe('variables for processes of runs that may use it'),
  key: z.string().min(1).max(32_000).optional().describe('the value of the variable that the skill names as `primaryEnv`'),
})
const Options = z.strictObject({
  directories: z.array(z.string().min(1).max(1000)).max(20).optional().describe('further folders with skills; those before them win'),
  managed: z.string().min(1).max(1000).optional().describe('folder of those that are installed for all; default: skills in the data folder'),
  bundled: z
    .union([z.boolean(), z.array(Name).max(100)])
    .optional()
    .describe('which of those that come with Statecast: all, or these; default: none'),
  entries: z.record(Name, Entry).optional().describe('settings by the name of a skill'),
  config: z.record(z.string(), z.unknown()).optional().describe('what skills ask for with `requires: { config: [a.b] }`'),
  watch: z.boolean().optional().describe('whether changes of the folders are noticed while it runs; default: yes'),
})
export type SkillOptions = z.infer<typeof Options>

/** @param given false for no skills at all @throws RuntimeError bad_request, naming the field */
export const checkSkillOptions = (given: SkillOptions | false | undefined): SkillOptions | false => {
  if (given === false) return false
  try {
    return parseInput(z.object({ skills: Options }), { skills: given ?? {} }, 'see docs/guides/skills.md').skills
  } catch (error) {
    // Whatever is wrong with it, its values stay here.
    if (error instanceof RuntimeError) throw error
    throw new RuntimeError('bad_request', 'the option skills does not fit', { field: 'skills', hint: 'see docs/guides/skills.md' })
  }
}
