/** What of a tool's answer goes over the wire to those who watch it: bounded text, the size of a picture instead of its data. `chat.output` has all of it. */

const textMax = 8000
const errorMax = 400
const depthMax = 6

/** @returns the value itself where nothing is to be left out */
export const shownOutput = (output: unknown): unknown => {
  const light = withoutPictures(output, 0)
  const error = errorOf(light)
  if (error !== undefined) return { ...(light as object), error: { ...error, message: cut(error.message, errorMax) } }
  if (typeof light === 'string') return cut(light, textMax)
  const text = JSON.stringify(light) ?? ''
  return text.length <= textMax ? light : cut(text, textMax)
}

const cut = (text: string, charsMax: number): string => {
  if (text.length <= charsMax) return text
  const note = `… (${text.length} characters in all)`
  return `${text.slice(0, charsMax - note.length).toWellFormed()}${note}`
}

const errorOf = (output: unknown): { message: string } | undefined => {
  const { error } = (typeof output === 'object' && output !== null ? output : {}) as { error?: unknown }
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { message?: unknown }
  return typeof message === 'string' ? (error as { message: string }) : undefined
}

/** A part that is a picture, as MCP and the providers write it, says how many bytes it has. */
const withoutPictures = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return /^data:image\/[^,]{0,100},/.test(value) ? { omitted: 'image', bytes: bytesOf(value) } : value
  if (typeof value !== 'object' || value === null || depth > depthMax) return value
  if (Array.isArray(value)) {
    const parts = value.map((part) => withoutPictures(part, depth + 1))
    return parts.every((part, index) => part === value[index]) ? value : parts
  }
  const { type, mimeType, mediaType, data } = value as Record<string, unknown>
  const isPicture = type === 'image' || [mimeType, mediaType].some((media) => typeof media === 'string' && media.startsWith('image/'))
  if (isPicture && typeof data === 'string') {
    const { data: _, ...rest } = value as Record<string, unknown>
    return { ...rest, omitted: true, bytes: bytesOf(data) }
  }
  const entries = Object.entries(value).map(([name, part]): [string, unknown] => [name, withoutPictures(part, depth + 1)])
  return entries.every(([name, part]) => part === (value as Record<string, unknown>)[name]) ? value : Object.fromEntries(entries)
}

const bytesOf = (base64: string): number => {
  const data = base64.slice(base64.startsWith('data:') ? base64.indexOf(',') + 1 : 0)
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.floor(((data.length - padding) * 3) / 4)
}
