/**
 * The JSON Schema of a tool as the provider of a model takes it. Each refuses a whole request for one keyword that it does not know; what is left out here is
 * checked by zod all the same when the call comes.
 */
import { isRecord } from '../contracts/record.rules.ts'

type Schema = Record<string, unknown>
type Family = 'any' | 'google' | 'xai'

const bounds = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains']
/** Keywords that go, by family. Nobody needs the names of the dialect. */
const unknownTo: Record<Family, ReadonlySet<string>> = {
  any: new Set(['$schema', '$id', '$comment']),
  xai: new Set(['$schema', '$id', '$comment', ...bounds]),
  google: new Set(
    (
      '$schema $id $comment $anchor $defs definitions patternProperties additionalProperties unevaluatedProperties ' +
      'propertyNames examples default minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern ' +
      'format uniqueItems minProperties maxProperties contentEncoding contentMediaType not if then else contains dependentRequired dependentSchemas prefixItems readOnly writeOnly'
    )
      .split(' ')
      .concat(bounds),
  ),
}
/** Keywords under which names of an author stand, and no keywords. */
const named = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords under which data stand. */
const data = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired'])
const depthMax = 60
/** Parts of one schema: references to references double with each step. What is beyond stands for anything. */
const partsMax = 10_000

/** @param model reference, provider/model-id @returns an object schema with `properties`; what was given is not changed */
export const schemaFor = (schema: Schema, model: string): Schema => {
  const family = familyOf(model)
  const known = kept.get(schema)?.get(family)
  if (known) return known
  const made = objectOf(normalised(schema, { family, root: schema, open: [], room: { left: partsMax } }, 0) as Schema)
  const forms = kept.get(schema) ?? new Map<Family, Schema>()
  kept.set(schema, forms.set(family, made))
  return made
}
/** A schema is normalised once for each family, not with every request: a cache of the provider lives from requests that begin alike. */
const kept = new WeakMap<Schema, Map<Family, Schema>>()

const familyOf = (model: string): Family => {
  const [provider = '', ...id] = model.split('/')
  if (/google|gemini|vertex/i.test(provider) || /gemini/i.test(id.join('/'))) return 'google'
  return /^xai$/i.test(provider) || /grok/i.test(id.join('/')) ? 'xai' : 'any'
}

/** @property open references that are being followed: one that comes again is recursive, and stands for anything */
type Within = { family: Family; root: Schema; open: readonly string[]; room: { left: number } }

const normalised = (value: unknown, within: Within, depth: number): unknown => {
  if (Array.isArray(value)) return value.map((one) => normalised(one, within, depth + 1))
  if (!isRecord(value)) return value
  if (depth > depthMax || --within.room.left < 0) return {}
  const { family, root, open } = within
  if (family === 'google' && typeof value.$ref === 'string') {
    const { $ref, ...beside } = value
    const found = open.includes($ref) ? undefined : lookUp(root, $ref)
    return normalised({ ...(isRecord(found) ? found : {}), ...beside }, { ...within, open: [...open, $ref] }, depth + 1)
  }
  const entries = Object.entries(value).flatMap(([keyword, inner]): [string, unknown][] => {
    if (unknownTo[family].has(keyword)) return []
    if (family === 'google' && keyword === 'const') return [['enum', [inner]]]
    if (family === 'google' && keyword === 'oneOf') return [['anyOf', normalised(inner, within, depth + 1)]]
    if (family === 'google' && keyword === 'type' && Array.isArray(inner)) return [['type', inner.find((type) => type !== 'null') ?? 'string']]
    if (data.has(keyword)) return [[keyword, inner]]
    if (named.has(keyword) && isRecord(inner))
      return [[keyword, Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, normalised(one, within, depth + 1)]))]]
    return [[keyword, normalised(inner, within, depth + 1)]]
  })
  return Object.fromEntries(entries)
}

/** No provider takes a choice at the top: it becomes one object with all that any of them has, of which is required what all require. */
const objectOf = (schema: Schema): Schema => {
  const { anyOf, oneOf, allOf, ...rest } = schema
  const partsOf = (given: unknown): Schema[] => (Array.isArray(given) ? given.filter(isRecord).map(objectOf) : [])
  const choices = [...partsOf(anyOf), ...partsOf(oneOf)]
  const together = partsOf(allOf)
  const own = isRecord(rest.properties) ? rest.properties : {}
  const properties = Object.assign({}, ...[...choices, ...together].map((part) => part.properties), own) as Schema
  const shared = choices.map(requiredOf)
  const required = [
    ...requiredOf(rest),
    ...together.flatMap(requiredOf),
    ...(shared[0] ?? []).filter((name) => shared.every((names) => names.includes(name))),
  ]
  const { required: _, ...kept } = rest
  const names = [...new Set(required)].filter((name) => Object.hasOwn(properties, name))
  return { ...kept, type: 'object', properties, ...(names.length === 0 ? {} : { required: names }) }
}

const requiredOf = ({ required }: Schema): string[] => (Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [])

const lookUp = (root: Schema, ref: string): unknown => {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  const names = ref
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>((at, name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined), root)
}
