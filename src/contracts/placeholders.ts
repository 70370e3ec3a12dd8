/** `{{name}}` in the instructions of an agent, which one run of it fills in. */
const written = /\{\{\s*([\p{L}_][\p{L}\p{N}_.-]*)\s*\}\}/gu

/** By name, what stands there in the place of it. */
export type Placeholders = Readonly<Record<string, string>>

/** Their names, in the order in which they are first written. */
export const placeholdersIn = (text: string): string[] => [...new Set(Array.from(text.matchAll(written), ([, name]) => name as string))]

/** What is filled in is not looked through again; a name without a value stays as it is written. */
export const filledIn = (text: string, values: Placeholders): string =>
  text.replace(written, (found, name: string) => (Object.hasOwn(values, name) ? (values[name] as string) : found))
