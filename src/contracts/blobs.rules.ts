/** Binary data in the result of a tool: a model reads a note with type and size instead of base64. */
import { fromBase64 } from './bytes.ts'
import { isRecord } from './record.rules.ts'

/** Shorter texts, such as hashes, stay. */
const charsMin = 100
const depthMax = 50
const typeFields = ['mimeType', 'mediaType', 'media_type', 'mime_type', 'contentType', 'content_type']
const blobFields = ['blob', 'base64', 'b64_json']
const dataFields = ['data', 'image', 'content', 'bytes', 'body', ...blobFields]
const dataUrl = /data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/]{100,}={0,2})/g
/** How the base64 of a file begins, which has no type beside it. */
const beginnings: readonly [string, string][] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi0', 'application/pdf'],
]

/** Bytes of which base64 is the text: it ends with up to two `=`. */
const bytesIn = (base64: string): number => Math.floor((base64.replace(/\s/g, '').replace(/={1,2}$/, '').length * 3) / 4)

export const blobNote = (kind: string, base64: string): string => `[${kind}, ${bytesIn(base64)} bytes, not kept]`

const isBase64 = (value: unknown): value is string => typeof value === 'string' && value.length >= charsMin && !/[^A-Za-z0-9+/=\s]/.test(value)

/** Base64 without a type beside it: words and hex digits look alike, so its bytes must not be a text. */
const isBareBlob = (text: string): boolean => {
  if (text.length % 4 !== 0 || !isBase64(text) || /\s/.test(text) || ![/[A-Z]/, /[a-z]/, /\d/].every((kind) => kind.test(text))) return false
  if (beginnings.some(([beginning]) => text.startsWith(beginning))) return true
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(fromBase64(text))
    return false
  } catch {
    return text.length >= 2 * charsMin
  }
}

const typeOf = (object: Record<string, unknown>): string | undefined =>
  typeFields.map((name) => object[name]).find((type): type is string => typeof type === 'string')

const fieldNote = (object: Record<string, unknown>, name: string, value: string): string | undefined => {
  if (!isBase64(value)) return undefined
  const type = typeOf(object)
  const isSaid = type !== undefined || [object.type, object.encoding].includes('base64')
  return (isSaid && dataFields.includes(name)) || blobFields.includes(name) ? blobNote(type ?? 'binary data', value) : undefined
}

const noteIn = (text: string): string => {
  if (isBareBlob(text)) return blobNote(beginnings.find(([beginning]) => text.startsWith(beginning))?.[1] ?? 'binary data', text)
  return text.includes(';base64,') ? text.replace(dataUrl, (_, type: string | undefined, data: string) => blobNote(type ?? 'text/plain', data)) : text
}

/** @returns the value itself where it has no binary data */
export const withoutBlobs = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return noteIn(value)
  if (depth > depthMax || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutBlobs(item, depth + 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!isRecord(value)) return value
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [
    name,
    (typeof field === 'string' ? fieldNote(value, name, field) : undefined) ?? withoutBlobs(field, depth + 1),
  ])
  return fields.every(([name, field]) => field === value[name]) ? value : Object.fromEntries(fields)
}
