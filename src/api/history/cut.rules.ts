/** How long texts are cut on their way out: between whole characters, with a mark that says so. */

/** Where something is missing. */
const cutMark = '\n… (cut here)'

/** The beginning of a text, no character of it in two. @param max UTF-16 units */
export const beginningOf = (text: string, max: number): string => (text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, ''))

/** The same with the mark, where something is missing. */
export const cutTo = (text: string, max: number): string => (text.length <= max ? text : `${beginningOf(text, max)}${cutMark}`)

const encoder = new TextEncoder()
export const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value) ?? '').length
