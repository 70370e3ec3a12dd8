/** The system prompt, composed of named sections: those that seldom change come first, and nothing in it depends on the hour. */

import { definedOf } from '../../contracts/defined.ts'
import type { ToolDescription } from '../../contracts/model.ts'
import type { PromptFile, PromptHashes, PromptOptions, PromptReport, PromptSection } from '../../contracts/prompt.ts'
import { isSubAgent } from '../../contracts/session-key.rules.ts'

/** Characters of one file that stand in the prompt, with the remark that it was cut. */
const fileCharsMax = 20_000

type Parts = {
  /** As the author wrote them. */
  instructions: string
  options?: PromptOptions | undefined
  hasTools?: boolean
  /** Sections that others bring, such as `skills`. */
  more?: readonly PromptSection[]
  files?: readonly PromptFile[]
  /** Where the conversation takes place, such as a group. */
  intro?: string | undefined
  /** Key of the session. */
  session?: string
  /** For a run that nobody reads: no skills, no files, no rules of conversation. */
  minimal?: boolean | undefined
}

type FileReport = PromptReport['files'][number]
type ComposedPrompt = { text: string; sections: PromptSection[]; files: FileReport[] }

/** Where nothing but instructions is there, they are the prompt as they stand. */
export const composePrompt = ({
  instructions,
  options = {},
  hasTools = false,
  more = [],
  files = [],
  intro,
  minimal,
  session = '',
}: Parts): ComposedPrompt => {
  // An agent that works for another one gets the least prompt, unless its author chose the mode. Few keys are looked into.
  const usual = session.includes('sub-agent') && isSubAgent(session) ? 'minimal' : 'full'
  const small = minimal === true || (options.mode ?? usual) === 'minimal'
  const { identity = '', tools = '', conversation = '' } = options
  const workspace = small ? { text: '', files: [] } : filesSection(files, [identity, instructions])
  const all: PromptSection[] = [
    { name: 'identity', text: identity },
    { name: 'tools', text: hasTools ? tools : '' },
    ...(small ? [] : more),
    { name: 'workspace', text: workspace.text },
    { name: 'conversation', text: small ? '' : conversation },
    { name: 'instructions', text: instructions },
    { name: 'place', text: intro ?? '' },
  ]
  const sections = withoutRepeats(all)
  const [only] = sections
  const text = sections.length === 1 && only?.name === 'instructions' ? only.text : sections.map((section) => section.text.trim()).join(joint)
  return { text, sections, files: workspace.files }
}

/** Between two sections. */
const joint = '\n\n'

const withoutRepeats = (all: readonly PromptSection[]): PromptSection[] => {
  const names = new Set<string>()
  const texts = new Set<string>()
  return all.filter(({ name, text }) => {
    const bare = text.trim()
    if (bare === '' || names.has(name) || texts.has(bare)) return false
    names.add(name)
    texts.add(bare)
    return true
  })
}

/** @param said texts that stand elsewhere in the prompt: a file that says the same is not said again */
const filesSection = (files: readonly PromptFile[], said: readonly string[]): { text: string; files: FileReport[] } => {
  const paths = new Set<string>()
  const texts = new Set(said.map((text) => text.trim()).filter((text) => text !== ''))
  const blocks: string[] = []
  const reports = files.map(({ path, chars, text }): FileReport => {
    const none = { path, raw: chars, injected: 0, truncated: false }
    if (text === undefined) return { ...none, missing: true }
    const bare = text.trim()
    if (paths.has(path) || texts.has(bare)) return { ...none, repeated: true }
    paths.add(path)
    texts.add(bare)
    if (bare === '') return none
    const shown = cut(bare, path, chars)
    blocks.push(`## ${path}\n\n${shown}`)
    return { path, raw: chars, injected: shown.length, truncated: shown !== bare }
  })
  return { text: blocks.length === 0 ? '' : `# Files of the workspace\n\n${blocks.join(joint)}`, files: reports }
}

const cut = (text: string, path: string, chars: number): string => {
  if (text.length <= fileCharsMax) return text
  const remark = `\n\n[cut here: ${path} has ${chars} characters]`
  return `${text.slice(0, fileCharsMax - remark.length).toWellFormed()}${remark}`
}

/** Tells two texts apart; nothing is at stake where it fails to. FNV-1a, 32 bits, beside the length. */
const hashOf = (text: string): string => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return `${text.length.toString(36)}-${(hash >>> 0).toString(36)}`
}

type ToolSize = Omit<PromptReport['tools'][number], 'tokens'> & { hash: string }
/** A tool does not change, and its schema may be long. */
const toolSizes = new WeakMap<ToolDescription, ToolSize>()

const sizeOfTool = (tool: ToolDescription): ToolSize => {
  const known = toolSizes.get(tool)
  if (known) return known
  const text = JSON.stringify(tool)
  const { properties } = tool.inputSchema as { properties?: object }
  const size: ToolSize = {
    name: tool.name,
    chars: text.length,
    schema: JSON.stringify(tool.inputSchema).length,
    properties: Object.keys(properties ?? {}).length,
    hash: hashOf(text),
  }
  toolSizes.set(tool, size)
  return size
}

/** What a provider keeps in its cache, as far as we send it: with another model, section or tool the cache is of no use. */
export const prefixHashes = (
  { model, compactions = 0 }: { model: string; compactions?: number },
  { sections }: ComposedPrompt,
  tools: readonly ToolDescription[],
): PromptHashes => ({
  model,
  ...(compactions === 0 ? {} : { compaction: String(compactions) }),
  ...(tools.length === 0 ? {} : { tools: hashOf(tools.map((tool) => sizeOfTool(tool).hash).join()) }),
  ...Object.fromEntries(sections.map(({ name, text }) => [name === 'tools' ? 'tool rules' : name, hashOf(text)])),
})

/** Parts that came, went or changed, in alphabetical order. */
export const changedParts = (before: PromptHashes, after: PromptHashes): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((part) => before[part] !== after[part]).sort()

const tokensOf = (chars: number): number => Math.ceil(chars / 4)
const sized = <Rest extends object>(rest: Rest, chars: number): Rest & { chars: number; tokens: number } => ({
  ...rest,
  chars,
  tokens: tokensOf(chars),
})

/** @param about.at ms since the epoch */
export const promptReport = (
  { text, sections, files }: ComposedPrompt,
  tools: readonly ToolDescription[],
  about: { at: number; model: string; hashes: PromptHashes },
): PromptReport => {
  const alone = sections.length === 1
  const described = tools.map(sizeOfTool)
  const skills = sections.flatMap(({ items = [] }) => items)
  const chars = text.length + described.reduce((sum, tool) => sum + tool.chars, 0)
  return {
    ...about,
    ...sized({}, chars),
    sections: sections.map((section, place) =>
      sized({ name: section.name }, alone ? text.length : section.text.trim().length + (place === 0 ? 0 : joint.length)),
    ),
    files: files.map((file) => definedOf(file) as FileReport),
    skills: skills.map(({ name, chars: size }) => sized({ name }, size)),
    tools: described.map(({ name, schema, properties, chars: size }) => sized({ name, schema, properties }, size)),
  }
}
