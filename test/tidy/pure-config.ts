/** Whether a machine's config is data with names: then it can be drawn, compared and journalled. */

/** Under these keys a function maps context and event to a value; it decides nothing. */
const mappers = new Set(['context', 'input', 'output', 'params'])
/** Their keys are names of the author's, not words of XState: an event may well be called `input`. */
const nameMaps = new Set(['on', 'states', 'after'])
/** What an author may put there is data for people. */
const free = new Set(['meta', 'description', 'tags'])

/** A message for everything in the config that is not a name, plain data or a mapper. */
export const impureParts = (config: object, machine: string): string[] => [...walk(config, machine, false)]

function* walk(value: unknown, path: string, isNameMap: boolean): Generator<string> {
  if (typeof value === 'function') {
    yield `${path} is ${what(value)}: name it in setup() and write the name`
  } else if (Array.isArray(value)) {
    for (const [index, part] of value.entries()) yield* walk(part, `${path}[${index}]`, false)
  } else if (value && typeof value === 'object') {
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) {
      yield `${path} is an instance of ${value.constructor.name}: name it in setup() and write the name`
      return
    }
    if ('getInitialSnapshot' in value) {
      yield `${path} is actor logic written in place: name it in setup() and write the name`
      return
    }
    for (const [key, part] of Object.entries(value)) {
      const here = /^[\w$]+$/.test(key) ? `${path}.${key}` : `${path}['${key}']`
      if (isNameMap) yield* walk(part, here, false)
      else if (free.has(key) || (mappers.has(key) && typeof part === 'function')) continue
      else yield* walk(part, here, nameMaps.has(key))
    }
  }
}

const what = (value: object): string => {
  if ('type' in value && typeof value.type === 'string') return `the action ${value.type.replace(/^xstate\./, '')}() written in place`
  if ('check' in value) return 'a guard made in place'
  return 'a function'
}
