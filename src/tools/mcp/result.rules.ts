/** What an MCP server answers to a call, as the result of a tool. */
import { blobNote, withoutBlobs } from '../../contracts/blobs.rules.ts'
import { withDigitsAsText } from '../../contracts/exact-json.ts'
import { isRecord } from '../../contracts/record.rules.ts'

type Part = { type: string; [key: string]: unknown }
export type McpResult = { content?: readonly Part[] | undefined; structuredContent?: unknown; isError?: boolean | undefined }

const depthMax = 50
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** What is no text is not kept: models are told that it was there. */
const shown = (part: Part): string => {
  switch (part.type) {
    case 'text':
      return withoutBlobsIn(text(part.text))
    case 'image':
    case 'audio':
      return blobNote(`${part.type} ${text(part.mimeType)}`, text(part.data))
    case 'resource': {
      const { uri, text: content, blob, mimeType } = (part.resource ?? {}) as Record<string, unknown>
      return content === undefined
        ? blobNote(`resource ${text(uri)} ${text(mimeType)}`, text(blob))
        : `[resource ${text(uri)}]\n${withoutBlobsIn(text(content))}`
    }
    case 'resource_link':
      return `[resource ${text(part.uri)}${part.name === undefined ? '' : ` "${text(part.name)}"`}]`
    default:
      return `[${part.type.slice(0, 40)}, not kept]`
  }
}

const shownParts = ({ content = [] }: McpResult): string[] => content.map(shown)
export const textOfResult = (result: McpResult): string => shownParts(result).join('\n')

/** Text or structured content, and both only where each has something that the other lacks. */
export const outputOf = (result: McpResult): unknown => {
  const parts = shownParts(result)
  const said = parts.join('\n')
  if (result.structuredContent === undefined) return said
  const structuredContent = withoutBlobs(withNotes(result.structuredContent))
  if (said === '' || isPartOf(said, structuredContent)) return structuredContent
  const leaves = leavesOf(structuredContent)
  if (leaves.length > 0 && leaves.every((leaf) => isIn(leaf, said))) return said
  return parts.every((part) => leaves.includes(part)) ? structuredContent : { text: said, structuredContent }
}

/** Servers write structured content as JSON for clients that read text alone, binary data included. */
const withoutBlobsIn = (content: string): string => {
  const value = jsonIn(content)
  const light = withoutBlobs(withNotes(value))
  return light === value ? text(withoutBlobs(content)) : (jsonOf(light) ?? '')
}

const jsonIn = (content: string): unknown => {
  if (!/^\s*[[{]/.test(content)) return undefined
  try {
    return JSON.parse(withDigitsAsText(content))
  } catch {
    return undefined
  }
}

const hasBlob = ({ type, data, resource }: Record<string, unknown>): boolean =>
  ((type === 'image' || type === 'audio') && typeof data === 'string') ||
  (type === 'resource' && isRecord(resource) && typeof resource.blob === 'string')

/** Parts of content within a structure get the note that they get outside of it. */
const withNotes = (value: unknown, depth = 0): unknown => {
  if (depth > depthMax) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => withNotes(item, depth + 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!isRecord(value)) return value
  if (hasBlob(value)) return shown(value as Part)
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [name, withNotes(field, depth + 1)])
  return fields.every(([name, field]) => field === value[name]) ? value : Object.fromEntries(fields)
}

/** Whether the text is the JSON of the structure, or of a value near its top. */
const isPartOf = (said: string, structured: unknown): boolean => {
  const value = jsonIn(said)
  const wanted = value === undefined ? undefined : jsonOf(value)
  if (wanted === undefined) return false
  const holds = (one: unknown, depth: number): boolean =>
    jsonOf(one) === wanted ||
    (depth < wrappersMax && typeof one === 'object' && one !== null && Object.values(one).some((field) => holds(field, depth + 1)))
  return holds(structured, 0)
}
/** Levels above the value that a server repeats as text. */
const wrappersMax = 2

const jsonOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    // It is too deep, and is rejected with the result.
    return undefined
  }
}

/** Every text, number and truth value of a structure. */
const leavesOf = (value: unknown, depth = 0): unknown[] => {
  if (typeof value === 'object' && value !== null && depth <= depthMax) return Object.values(value).flatMap((one) => leavesOf(one, depth + 1))
  return value === null || value === undefined || value === '' ? [] : [value]
}

const wordCharacter = /[\p{L}\p{N}]/u

/** Whether a text has the value as whole words, as it is or as JSON writes it. */
const isIn = (leaf: unknown, said: string): boolean => {
  const plain = String(leaf)
  return [plain, JSON.stringify(plain).slice(1, -1)].some((wanted) => {
    for (let at = said.indexOf(wanted); at >= 0; at = said.indexOf(wanted, at + 1))
      if (!continues(said[at - 1], wanted[0]) && !continues(wanted.at(-1), said[at + wanted.length])) return true
    return false
  })
}

/** `1` is not in `12`, `0.1` and `1.5`. */
const continues = (before = ' ', after = ' '): boolean =>
  (wordCharacter.test(before) && wordCharacter.test(after)) || /^(?:\.\d|\d\.)$/.test(before + after)
