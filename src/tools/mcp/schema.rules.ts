/** What an MCP server says of its tools, within bounds: it is shown to models and read by a schema library, and it may have been written to harm either. */

const depthMax = 32
const schemaCharsMax = 64 * 1024
const descriptionCharsMax = 4096
/** Parts of a schema in which everything is written out that it refers to. */
const expandedMax = 5_000

/** Names of things that are not schemas, and hold texts of any kind. */
const texts = new Set(['description', 'title', '$comment'])

/** No control characters, and none that cannot be seen: they are for terminals and models, not for readers. */
const visible = (text: string): string => text.replace(/[^\P{Cc}\n\t]|[^\P{Cf}\u200d]/gu, '').toWellFormed()

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max).toWellFormed()} … (cut)`)

export const descriptionOf = (text: string | undefined, name: string): string => visible(cut(text ?? '', descriptionCharsMax)).trim() || visible(name)

type Bounded = { schema: Record<string, unknown> } | { problem: string }

/** The schema as models are shown it, or why it is not one. Characters are counted on the way: a bomb is not written out to be measured. */
export const boundedSchema = (given: unknown): Bounded => {
  let chars = 0
  const copy = (value: unknown, depth: number): unknown => {
    if (depth > depthMax) throw new Error(`it is nested more than ${depthMax} levels deep`)
    chars += typeof value === 'string' ? value.length + 2 : 4
    if (chars > schemaCharsMax) throw new Error(`it has more than ${schemaCharsMax} characters`)
    if (Array.isArray(value)) return value.map((one) => copy(one, depth + 1))
    if (typeof value === 'string') return visible(value)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        if (key === '__proto__') throw new Error('it has a key "__proto__"')
        chars += key.length + 3
        return [key, typeof inner === 'string' && texts.has(key) ? visible(cut(inner, descriptionCharsMax)) : copy(inner, depth + 1)]
      }),
    )
  }
  try {
    const { $schema: _, ...schema } = (typeof given === 'object' && given !== null ? copy(given, 0) : {}) as Record<string, unknown>
    if (schema.type !== 'object') return { problem: 'it is not the JSON Schema of an object' }
    return { schema: { properties: {}, ...schema } }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'it cannot be read' }
  }
}

/**
 * The schema as it may be checked here, or undefined where checking might take for ever: references in circles, or ones that grow without end.
 * Patterns are left to the server: one can be written so that a short text takes hours.
 */
export const checkableSchema = (schema: Record<string, unknown>): Record<string, unknown> | undefined => {
  let parts = 0
  const follow = (value: unknown, within: readonly string[]): boolean => {
    if (++parts > expandedMax) return false
    if (typeof value !== 'object' || value === null) return true
    const { $ref } = value as { $ref?: unknown }
    if (typeof $ref === 'string') {
      if (within.includes($ref) || !$ref.startsWith('#/')) return false
      if (!follow(at(schema, $ref), [...within, $ref])) return false
    }
    return Object.entries(value).every(([key, inner]) => (key === '$defs' || key === 'definitions' ? true : follow(inner, within)))
  }
  return follow(schema, []) ? (withoutPatterns(schema) as Record<string, unknown>) : undefined
}

const at = (schema: unknown, ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], schema)

/** Maps from names to schemas: their keys are not keywords. */
const maps = new Set(['properties', '$defs', 'definitions', 'dependentSchemas'])

/**
 * Removes the keywords that only the server checks: patterns, pattern properties together with the keywords for all other properties, and formats, which
 * JSON Schema does not enforce by default. Checking half of them would reject input that the server accepts (gsd-build/gsd-2#1354).
 */
const withoutPatterns = (value: unknown, isMap = false): unknown => {
  if (Array.isArray(value)) return value.map((one) => withoutPatterns(one))
  if (typeof value !== 'object' || value === null) return value
  const hasNames = !isMap && 'patternProperties' in value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if (isMap) return [[key, withoutPatterns(inner)]]
      if ((key === 'pattern' || key === 'format') && typeof inner === 'string') return []
      if (key === 'patternProperties' || key === 'propertyNames' || (hasNames && othersOf.has(key))) return []
      return [[key, withoutPatterns(inner, maps.has(key))]]
    }),
  )
}
const othersOf = new Set(['additionalProperties', 'unevaluatedProperties'])
