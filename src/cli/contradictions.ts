/** Settings that say two things at once: nobody can know which one was meant, so none is taken. */
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import { RuntimeError } from '../contracts/errors.ts'

/** One setting, as somebody made it. `what` never holds the value itself: there may be a password in it. */
type Setting<Value> = { by: string; value: Value | undefined }

/** @returns the one value that all who gave one agree on @throws RuntimeError bad_request when two differ */
export const agreed = <Value>(field: string, ...settings: Setting<Value>[]): Value | undefined => {
  const given = settings.filter(({ value }) => value !== undefined)
  const [first] = given
  const other = given.find(({ value }) => !isDeepStrictEqual(value, first?.value))
  if (first && other) throw contradiction(field, first.by, other.by)
  return first?.value
}

export const contradiction = (field: string, one: string, other: string): RuntimeError =>
  new RuntimeError('bad_request', `${one} and ${other} contradict each other`, { field, hint: `leave one of them out: ${one}, or ${other}` })

/** @returns a check of the options of a command line that has been read @throws RuntimeError bad_request, from the check */
export const watchOptions = (program: Command): (() => void) => {
  const given = new Map<string, { flag: string; value: unknown }[]>()
  // One that takes several values is a list, and adds to itself.
  for (const command of [program, ...program.commands])
    for (const option of command.options.filter(({ variadic, defaultValue }) => !variadic && !Array.isArray(defaultValue)))
      command.on(`option:${option.name()}`, (value: unknown) => {
        const known = given.get(option.attributeName()) ?? []
        given.set(option.attributeName(), [...known, { flag: option.long ?? option.flags, value: value ?? null }])
      })
  return () => {
    for (const [field, [first, ...more]] of given)
      for (const { flag, value } of more) {
        if (first === undefined || (flag === first.flag && value === first.value)) continue
        if (flag !== first.flag) throw contradiction(field, first.flag, flag)
        throw new RuntimeError('bad_request', `${flag} was given twice, with different values`, { field, hint: `give ${flag} once` })
      }
  }
}
