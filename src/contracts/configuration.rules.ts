/** Keys of the configuration, such as `agents.list[main].model`: read, set, laid over each other. Pure. */
import { type Configuration, configurationDefaults, type FullConfiguration } from './configuration.ts'
import { RuntimeError } from './errors.ts'
import { isRecord } from './record.rules.ts'

/** They would reach the prototype of an object. */
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

const refusedKey = (key: string, why: string): RuntimeError =>
  new RuntimeError('bad_request', `'${key.slice(0, 80)}' ${why}`, {
    field: 'key',
    hint: 'write a key such as agents.defaults.model or channels[web].modelOverride',
  })

/** The steps of a key; names that have a dot in them stand in brackets. @throws RuntimeError bad_request */
export const stepsOf = (key: string): string[] => {
  const steps: string[] = []
  for (let at = 0; at < key.length; ) {
    const bracketed = key[at] === '['
    // A dot stands between two names, and nowhere else.
    if (!bracketed && steps.length > 0 && key[at++] !== '.') throw refusedKey(key, 'is not a key')
    const begin = bracketed ? at + 1 : at
    let end = begin
    while (end < key.length && !(bracketed ? ']' : '.[]').includes(key[end] as string)) end++
    if (end === begin || (bracketed && end === key.length) || key[end] === (bracketed ? '' : ']')) throw refusedKey(key, 'is not a key')
    steps.push(key.slice(begin, end))
    at = bracketed ? end + 1 : end
  }
  if (steps.length === 0 || steps.length > 8) throw refusedKey(key, 'is not a key')
  if (steps.some((step) => forbidden.has(step))) throw refusedKey(key, 'is a name that no key may have')
  return steps
}

/** In a list, by the `id` of its elements. */
const within = (value: unknown, step: string): unknown =>
  Array.isArray(value)
    ? value.find((one) => isRecord(one) && one.id === step)
    : isRecord(value) && Object.hasOwn(value, step)
      ? value[step]
      : undefined

export const valueAt = (config: unknown, steps: readonly string[]): unknown => steps.reduce(within, config)

/** The same with one value changed; null takes it away, and what is left empty by that. */
export const withValue = (config: unknown, [step, ...rest]: readonly string[], value: unknown, path: readonly string[] = []): unknown => {
  if (step === undefined) return value ?? undefined
  const isList = path.join('.') === 'agents.list'
  const inner = withValue(within(config, step), rest, value, [...path, step])
  if (isList) {
    const others = (Array.isArray(config) ? config : []).filter((one) => one.id !== step)
    const list = isRecord(inner) && Object.keys(inner).some((name) => name !== 'id') ? [...others, { ...inner, id: step }] : others
    return list.length === 0 ? undefined : list
  }
  const { [step]: _, ...others } = isRecord(config) ? config : {}
  const next = inner === undefined ? others : { ...others, [step]: inner }
  return Object.keys(next).length === 0 ? undefined : next
}

/** Refuses names that reach further than they should, wherever they stand. @throws RuntimeError bad_request */
export const refuseForbidden = (value: unknown, path: readonly string[] = []): void => {
  if (path.length > 20) throw refusedKey(path.join('.'), 'is nested too deep')
  if (Array.isArray(value)) for (const [index, one] of value.entries()) refuseForbidden(one, [...path, String(index)])
  if (!isRecord(value)) return
  for (const name of Object.getOwnPropertyNames(value)) {
    if (forbidden.has(name)) throw refusedKey([...path, name].join('.'), 'is a name that no key may have')
    refuseForbidden(value[name], [...path, name])
  }
}

/** One on top of the other: objects key by key, agents by their id, everything else as a whole. */
const over = (below: unknown, above: unknown): unknown => {
  if (above === undefined) return below
  if (Array.isArray(below) && Array.isArray(above) && [...below, ...above].every((one) => isRecord(one) && 'id' in one)) {
    const names = [...new Set([...below, ...above].map(({ id }) => id as string))]
    return names.map((id) => over(within(below, id), within(above, id)))
  }
  if (!isRecord(below) || !isRecord(above)) return above
  return Object.fromEntries([...new Set([...Object.keys(below), ...Object.keys(above)])].map((name) => [name, over(below[name], above[name])]))
}

/** The configuration that holds: what is stored, above what the app says, above the defaults. */
export const effective = (app: Configuration, stored: Configuration): FullConfiguration =>
  over(over(configurationDefaults, app), stored) as FullConfiguration

/** Every value with its key. */
const leaves = (value: unknown, steps: readonly string[] = []): [string, readonly string[]][] => {
  const inner = (name: string, one: unknown) => leaves(one, [...steps, name])
  if (Array.isArray(value) && value.length > 0 && value.every((one) => isRecord(one) && 'id' in one))
    return value.flatMap(({ id, ...one }) => inner(id as string, one))
  if (isRecord(value)) return Object.entries(value).flatMap(([name, one]) => inner(name, one))
  return [[keyOf(steps), steps]]
}
const keyOf = (steps: readonly string[]): string =>
  steps.reduce(
    (key, step, at) =>
      key === '' ? step : /[.[\]]/.test(step) || (steps[at - 2] === 'agents' && steps[at - 1] === 'list') ? `${key}[${step}]` : `${key}.${step}`,
    '',
  )

type ConfigurationSource = 'config' | 'app' | 'default'

/** By key, who says what holds. */
export const sourcesOf = (app: Configuration, stored: Configuration): Record<string, ConfigurationSource> =>
  Object.fromEntries(
    leaves(effective(app, stored)).map(([key, steps]) => [
      key,
      valueAt(stored, steps) !== undefined ? 'config' : valueAt(app, steps) !== undefined ? 'app' : 'default',
    ]),
  )
