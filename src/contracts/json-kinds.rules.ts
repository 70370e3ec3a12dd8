/** Kinds of zod for which no JSON is valid: a model or another process could never send one (triggerdotdev/trigger.dev#4939, mastra-ai/mastra#17020). */
import { z } from 'zod'

/** @property path of the field, from the outside in; empty for the schema itself @property instead what to write */
export type Unsendable = { path: string; kind: string; instead: string }

const cures: Readonly<Record<string, string>> = {
  date: 'z.coerce.date(), or z.iso.datetime() for a text',
  bigint: 'z.coerce.bigint(), or z.string() for its digits',
  map: 'z.record(z.string(), …), or a list of pairs',
  set: 'z.array(…)',
  file: 'z.string() for its path or address',
  symbol: 'z.string() or z.enum([…])',
  undefined: 'nothing: leave the field out, or make it .optional()',
  void: 'nothing: leave the field out, or make it .optional()',
  nan: 'z.number(), or z.null()',
  promise: 'what it resolves to',
  function: 'z.string() that names it',
}

type Definition = { type: string; coerce?: boolean; in?: z.core.$ZodType }
type Made = { def: Definition; bag?: { Class?: { name: string } } }

/** Classes that JSON can produce. */
const plain = new Set<unknown>([Object, Array])

/** Finds the first part of a schema whose input JSON cannot represent. Coerced kinds accept JSON values. */
export const unsendableIn = (schema: z.ZodType): Unsendable | undefined => {
  const found: (Unsendable & { at: readonly (string | number)[] })[] = []
  /** Paths of values that a transform of the author produces: they are validated, never sent. */
  const prepared: (readonly (string | number)[])[] = []
  const look = ({ zodSchema, path }: { zodSchema: z.core.$ZodType; path: readonly (string | number)[] }): void => {
    const { def, bag } = zodSchema._zod as unknown as Made
    if (def.in?._zod.def.type === 'transform') prepared.push([...path])
    const made = def.type === 'custom' ? bag?.Class : undefined
    const instead = made && !plain.has(made) ? 'a schema of plain values, and make the instance of it in your code' : cures[def.type]
    // One of several, none of which is sent, is a field that may be left out.
    if (instead === undefined || def.coerce || ((def.type === 'undefined' || def.type === 'void') && path.includes('anyOf'))) return
    found.push({ at: [...path], path: fieldOf(path), kind: made ? `z.instanceof(${made.name})` : `z.${def.type}()`, instead })
  }
  try {
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: look })
  } catch {
    // A schema without any JSON Schema is rejected where the tool is defined.
  }
  const first = found.find(({ at }) => !prepared.some((before) => before.every((part, index) => at[index] === part)))
  return first && { path: first.path, kind: first.kind, instead: first.instead }
}

/** Names of fields, out of a path in the JSON Schema. */
const fieldOf = (path: readonly (string | number)[]): string =>
  path.flatMap((part, index) => (path[index - 1] === 'properties' ? [String(part)] : part === 'items' ? ['[]'] : [])).join('.')
