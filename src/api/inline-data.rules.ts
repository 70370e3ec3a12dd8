/** Files that stand as text in what a tool answers: clients get their type and size. One rule for events and for history. */

const typeFields = ['mimeType', 'mediaType', 'media_type', 'mime_type', 'format']
const dataFields = ['data', 'base64', 'image', 'content', 'blob', 'b64_json', 'bytes']
const depthMax = 50
/** Characters from which on a text may be a file. */
const charsMin = 100

/** @returns the value without the data of files; the same value where it holds none */
export const withoutInlineData = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return withoutDataIn(value)
  if (typeof value !== 'object' || value === null || depth > depthMax) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutInlineData(item, depth + 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const object = value as Record<string, unknown>
  const data = dataFieldOf(object)
  const entries = Object.entries(object).map(([name, item]): [string, unknown] => [name, name === data ? item : withoutInlineData(item, depth + 1)])
  if (data !== undefined) {
    const rest = Object.fromEntries(entries.filter(([name]) => name !== data))
    return { ...rest, omitted: true, bytes: sizeOf(object[data]) }
  }
  return entries.every(([name, item]) => item === object[name]) ? value : Object.fromEntries(entries)
}

/** The field that holds a file, as MCP, the providers and Node write one. */
const dataFieldOf = (object: Record<string, unknown>): string | undefined => {
  if (object.type === 'Buffer' && Array.isArray(object.data)) return 'data'
  const types = typeFields.map((name) => object[name]).filter((type) => typeof type === 'string')
  const isPicture = object.type === 'image' || types.some((type) => type.startsWith('image/'))
  return dataFields.find((name) => {
    const data = object[name]
    if (typeof data !== 'string' || !isBase64(data)) return false
    return (isPicture && name !== 'content') || (data.length >= charsMin && (types.length > 0 || name === 'b64_json'))
  })
}

const isBase64 = (text: string): boolean => text !== '' && !/[^\w+/=\s-]/.test(text)

/** Bytes that it stands for. */
const sizeOf = (data: unknown): number => {
  if (Array.isArray(data)) return data.length
  return typeof data === 'string' ? Math.floor((data.replace(/[\s=]/g, '').length * 3) / 4) : 0
}

const dataUrl = /data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.+-]+)*;base64,([\w+/-]{100,}={0,2})/gi
/** A picture may be drawn in plain text; its address is then nothing else. */
const plainUrl = /^data:(image\/[\w.+-]+)(?:;[\w=.+-]+)*,(\S*)$/i
/** How PNG, JPEG, GIF, WebP and PDF begin: servers give them without any word on what they are. */
const bareFile = /(?<![\w+/])(iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi0)[A-Za-z0-9+/]{96,}={0,2}/g
const bareTypes: Readonly<Record<string, string>> = {
  iVBORw0KGgo: 'image/png',
  '/9j/': 'image/jpeg',
  R0lGOD: 'image/gif',
  UklGR: 'image/webp',
  JVBERi0: 'application/pdf',
}

const named = (type: string, bytes: number): string => `[${type.toLowerCase()}, ${bytes} bytes]`

/** The text with type and size in place of the files that stand in it. */
export const withoutDataIn = (text: string): string => {
  const plain = text.length > charsMin ? plainUrl.exec(text) : null
  if (plain && !/;base64,/i.test(text)) return named(plain[1] ?? '', (plain[2] ?? '').length)
  if (text.length < charsMin) return text
  const short = /;base64,/i.test(text) ? text.replace(dataUrl, (_, type: string, data: string) => named(type, sizeOf(data))) : text
  return short.replace(bareFile, (file, magic: string) => named(bareTypes[magic] ?? '', sizeOf(file)))
}
