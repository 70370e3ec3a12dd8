/** What an MCP server answers to a call, as the result of a tool. */
import { withDigitsAsText } from '../../contracts/exact-json.ts'

type Part = { type: string; [key: string]: unknown }
export type McpResult = { content?: readonly Part[] | undefined; structuredContent?: unknown; isError?: boolean | undefined }

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Bytes of which base64 is the text: it ends with up to two `=`. */
const bytesIn = (base64: unknown): number => Math.floor((text(base64).replace(/={1,2}$/, '').length * 3) / 4)

/** What is no text is not kept: models are told that it was there. */
const shown = (part: Part): string => {
  switch (part.type) {
    case 'text':
      return text(part.text)
    case 'image':
    case 'audio':
      return `[${part.type} ${text(part.mimeType)}, ${bytesIn(part.data)} bytes, not kept]`
    case 'resource': {
      const { uri, text: content, blob, mimeType } = (part.resource ?? {}) as Record<string, unknown>
      return content === undefined
        ? `[resource ${text(uri)} ${text(mimeType)}, ${bytesIn(blob)} bytes, not kept]`
        : `[resource ${text(uri)}]\n${text(content)}`
    }
    case 'resource_link':
      return `[resource ${text(part.uri)}${part.name === undefined ? '' : ` "${text(part.name)}"`}]`
    default:
      return `[${part.type.slice(0, 40)}, not kept]`
  }
}

export const textOfResult = ({ content = [] }: McpResult): string => content.map(shown).join('\n')

/** Text, or what is structured; both where the one does not only say the other. */
export const outputOf = (result: McpResult): unknown => {
  const said = textOfResult(result)
  const { structuredContent } = result
  if (structuredContent === undefined) return said
  return said === '' || isSame(said, structuredContent) ? structuredContent : { text: said, structuredContent }
}

/** Servers repeat what is structured as its JSON, for clients that read text alone. */
const isSame = (said: string, structured: unknown): boolean => {
  try {
    return JSON.stringify(JSON.parse(withDigitsAsText(said))) === JSON.stringify(structured)
  } catch {
    return false
  }
}
