/** A SKILL.md: YAML between two lines of hyphens, then Markdown. Whoever wrote it may have meant harm. */
import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { z } from 'zod'
import { messageOf } from '../../contracts/errors.ts'
import { skillName, skillNameMax } from '../../contracts/skill.ts'
import type { SkillManual } from './skill.ts'

/** Loaded on first use: most apps read no YAML, and the package is a tenth of the modules that `import 'statecast'` would load. */
const yaml = (): typeof Yaml => createRequire(import.meta.url)('yaml') as typeof Yaml

/** Characters of the part in YAML. */
const matterMax = 16_384

const Words = z.array(z.string().min(1).max(200)).max(50)
/** Ours, and the same for those that were written for OpenClaw. As a text it is JSON, since the format wants texts there. */
const Own = z.looseObject({
  always: z.boolean().optional(),
  os: Words.optional(),
  primaryEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/)
    .optional(),
  requires: z.looseObject({ bins: Words.optional(), anyBins: Words.optional(), env: Words.optional(), config: Words.optional() }).optional(),
})
const Matter = z.looseObject({
  name: z.string().max(skillNameMax).regex(skillName, 'has a-z, 0-9 and single hyphens between them'),
  description: z.string().trim().min(1).max(1024),
  compatibility: z.string().max(500).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  'user-invocable': z.boolean().optional(),
  'disable-model-invocation': z.boolean().optional(),
  'command-dispatch': z.literal('tool').optional(),
  'command-tool': z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
})

/** @param folder its name, which has to be that of the skill @returns the manual, or what is wrong with it */
export const parseSkill = (text: string, folder: string): SkillManual | { problem: string; hint: string } => {
  const [, matter] = /^\uFEFF?---[^\S\n]*\r?\n([\s\S]*?)\r?\n---[^\S\n]*(?:\r?\n|$)/.exec(text) ?? []
  if (matter === undefined)
    return { problem: 'SKILL.md does not begin with front matter', hint: 'begin it with ---, name: and description:, and --- on a line of its own' }
  if (matter.length > matterMax)
    return { problem: `its front matter is longer than ${matterMax} characters`, hint: 'put what is long below it, or into files beside it' }
  try {
    const document = yaml().parseDocument(matter, { schema: 'core', strict: true, uniqueKeys: true })
    const [error] = document.errors
    if (error) return { problem: `its front matter is no YAML: ${firstLine(error.message)}`, hint: 'mend that line; texts with a colon need quotes' }
    const data: unknown = document.toJS({ maxAliasCount: 0 })
    if (hasReserved(data))
      return { problem: 'its front matter uses a name that JavaScript keeps for itself', hint: 'rename __proto__, constructor or prototype' }
    return manualOf(data, folder)
  } catch (error) {
    return { problem: `its front matter cannot be read: ${firstLine(messageOf(error))}`, hint: 'write plain YAML, without anchors and aliases' }
  }
}

/** What does not fit, for who writes Markdown and not TypeScript. */
const plainly = ({ issues }: z.ZodError, before = ''): string =>
  issues
    .slice(0, 10)
    .map((issue) => `${before}${issue.path.map(String).join('.')} ${misfit(issue)}`.trim())
    .join('; ')

const kinds: Record<string, string> = {
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  record: 'fields with values',
  object: 'fields with values',
}
const misfit = (issue: z.core.$ZodIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `has to be ${kinds[issue.expected] ?? issue.expected}`
    case 'too_small':
      return 'is empty'
    case 'too_big':
      return `is too long: ${issue.origin === 'array' ? 'entries' : 'characters'} ${issue.maximum} at most`
    case 'invalid_value':
      return `has to be ${issue.values.map(String).join(' or ')}`
    case 'invalid_format':
      return issue.message.startsWith('Invalid') ? 'is no name that it may have' : issue.message
    default:
      return issue.message
  }
}

const manualOf = (data: unknown, folder: string): SkillManual | { problem: string; hint: string } => {
  const parsed = Matter.safeParse(data, { reportInput: true })
  if (!parsed.success) return { problem: plainly(parsed.error), hint: 'it needs name and description: see docs/guides/skills.md' }
  const { name, description, metadata = {}, ...matter } = parsed.data
  if (name !== folder) return { problem: `its name is '${name}', and its folder is '${folder.slice(0, 80)}'`, hint: 'let both be the same' }
  if (matter['command-dispatch'] !== undefined && matter['command-tool'] === undefined)
    return { problem: 'command-dispatch is there without command-tool', hint: 'name the tool that its command calls, or leave command-dispatch out' }
  const own = Own.safeParse(ownOf(metadata.statecast ?? metadata.openclaw), { reportInput: true })
  if (!own.success) return { problem: plainly(own.error, 'metadata.statecast.'), hint: 'see docs/guides/skills.md' }
  const { always, os, primaryEnv, requires = {} } = own.data
  const { bins, anyBins, env, config } = requires
  return {
    name,
    description,
    requires: { always, os, bins, anyBins, env, config },
    primaryEnv,
    modelInvocable: matter['disable-model-invocation'] !== true,
    userInvocable: matter['user-invocable'] !== false,
    commandTool: matter['command-dispatch'] === undefined ? undefined : matter['command-tool'],
  }
}

const ownOf = (given: unknown): unknown => (typeof given === 'string' ? JSON.parse(given) : (given ?? {}))

const firstLine = (text: string): string => (text.split('\n')[0] ?? '').replace(/:$/, '').slice(0, 200)

const reserved = new Set(['__proto__', 'constructor', 'prototype'])
const hasReserved = (value: unknown, depth = 0): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth > 20 || Object.keys(value).some((key) => reserved.has(key)) || Object.values(value).some((inner) => hasReserved(inner, depth + 1)))
