/** Which tool a model meant, by the name or the id that it gave to a call: one of the permitted ones, or none. Nothing is guessed. */

/** What a call of which no name can be sent back is called in the transcript. */
export const namelessTool = 'unknown_tool'

/** What models were taught elsewhere to call a tool of the same kind. */
const aliases: Readonly<Record<string, string>> = { bash: 'exec', 'apply-patch': 'apply_patch' }

/** Prefixes that models put before a name, with or without a separator, and the number of the call behind it. */
const prefix = /^(?:functions|tools)[._/:-]?/i
/** Ids that providers make up say nothing of a tool. */
const madeUpId = /^(?:call|toolu|tool|fc|chatcmpl)(?:[_-]|\d|$)/i

type Found = { name: string } | 'ambiguous' | undefined

/** Exact, else the only one that differs in case alone. */
const spelledAs = (wanted: string, permitted: readonly string[]): Found => {
  if (permitted.includes(wanted)) return { name: wanted }
  const lower = wanted.toLowerCase()
  const alias = Object.hasOwn(aliases, lower) ? aliases[lower] : undefined
  if (alias !== undefined && permitted.includes(alias)) return { name: alias }
  const alike = permitted.filter((name) => name.toLowerCase() === lower)
  return alike.length === 1 ? { name: alike[0] as string } : alike.length > 1 ? 'ambiguous' : undefined
}

/** The one tool that some of these name, if they do not name two. */
const onlyOneOf = (wanted: readonly string[], permitted: readonly string[]): Found => {
  const found = wanted.filter((one) => one !== '').map((one) => spelledAs(one, permitted))
  if (found.includes('ambiguous')) return 'ambiguous'
  const names = new Set(found.flatMap((one) => (typeof one === 'object' ? [one.name] : [])))
  const [name] = names
  return names.size > 1 ? 'ambiguous' : name === undefined ? undefined : { name }
}

const withoutCounter = (name: string): string => {
  let end = name.length
  if (/[0-9]/.test(name.charAt(end - 1))) while (end > 0 && /[0-9._/:-]/.test(name.charAt(end - 1))) end--
  return name.slice(0, end)
}

/** Without the prefix, without the counter, without both. */
const stripped = (name: string): string[] => [name.replace(prefix, ''), withoutCounter(name), withoutCounter(name.replace(prefix, ''))]

/** What stands behind a dot or a slash, and the same without a counter. */
const suffixes = (name: string): string[] => {
  const parts = name.split(/[./]/)
  return parts.slice(1).flatMap((_, index) => {
    const suffix = parts.slice(index + 1).join('.')
    return [suffix, withoutCounter(suffix)]
  })
}

/** @returns a permitted name, or nothing where none or more than one fits */
const permittedName = (written: string, permitted: readonly string[]): string | undefined => {
  const name = written.trim()
  if (name === '') return undefined
  for (const look of [() => spelledAs(name, permitted), () => onlyOneOf(stripped(name), permitted), () => onlyOneOf(suffixes(name), permitted)]) {
    const found = look()
    if (found === 'ambiguous') return undefined
    if (found !== undefined) return found.name
  }
  return undefined
}

/**
 * The tool that a call is for: by its name (exact, an alias, the case, without the prefix `functions` or `tools` and the number of the call, the end behind
 * a dot or a slash), and where that is empty by its id. @param permitted the only names that can come out
 */
export const toolNameOf = ({ name, callId }: { name: string; callId: string }, permitted: readonly string[]): string | undefined => {
  if (name.trim() !== '') return permittedName(name, permitted)
  return madeUpId.test(callId) ? undefined : permittedName(callId, permitted)
}
