/** What an author passes to `tool()` or `agent()`: each option read once, and none that does nothing. */
import { isRuntimeError, messageOf, RuntimeError } from '../contracts/errors.ts'
import { nearest } from './nearest.ts'

/** What to write instead of an option that is not there. @param elsewhere options of other names, by the place in which each is looked for */
export const hintForOption = (name: string, known: readonly string[], elsewhere: Readonly<Record<string, string>>, field = name): string => {
  if (Object.hasOwn(elsewhere, field)) return `write ${elsewhere[field]}`
  const near = nearest(name, known)
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are: ${known.join(', ')}`
}

/**
 * The options by name, each read once: a getter says the same to all that is checked afterwards.
 * @param hintFor what to write instead of one that is not known
 * @throws RuntimeError bad_request for one that is not known: it would be left out in silence, a misspelt approval among them
 */
export const readOptions = (maker: string, given: unknown, known: readonly string[], hintFor: (name: string) => string): Record<string, unknown> => {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new RuntimeError('bad_request', `${maker} takes an object of options`, { hint: `its options are: ${known.join(', ')}` })
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new RuntimeError('bad_request', `${maker} has no option '${unknown.slice(0, 80)}'`, { field: unknown, hint: hintFor(unknown) })
  return Object.fromEntries(known.filter((name) => name in given).map((name) => [name, (given as Record<string, unknown>)[name]]))
}

/** Runs the checks of one maker. @throws RuntimeError bad_request also where options cannot even be read: a getter, a proxy or a `toString` that throws */
export const checkingOptions = <Made>(maker: string, check: () => Made): Made => {
  try {
    return check()
  } catch (cause) {
    if (isRuntimeError(cause)) throw cause
    throw new RuntimeError('bad_request', `the options of ${maker} cannot be read: ${messageOf(cause)}`, { cause, hint: 'pass plain values' })
  }
}
