/** What authors and callers write, checked in one way wherever it stands: options by their names, each of the kind that it has to be. `undefined` is as good as left out. */
import { type LadderCode, LadderError, wordsOf } from './errors.ts'

/** @property write said after `it is` of a value that is none */
export type Kind = { is: (value: unknown) => boolean; write: string }

type KeyOf<Options> = Options extends unknown ? keyof Options & string : never
/** One for each option: one that is left out here does not compile. */
export type KindsOf<Options> = Readonly<Record<KeyOf<Options>, Kind>>
/** @property others whether there are options that somebody else looks at */
export type Place = { who: string; code: LadderCode; context?: Record<string, unknown> | undefined; others?: true }

/** Made by the `agent()` of `statecast`, which is easily taken for the one of the ladder. */
export const isSessionAgent = (value: unknown): boolean => isRecord(value) && typeof value.instructions === 'string' && isRecord(value.profile)
export const sessionAgentHint = 'it is an agent of statecast, which talks in sessions: make it with agent() of statecast/ladder'

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

/** Looked at elsewhere. */
export const anything: Kind = { is: () => true, write: 'what its documentation says' }
export const text: Kind = { is: (value) => typeof value === 'string', write: 'a text' }
export const flag: Kind = { is: (value) => typeof value === 'boolean', write: 'true or false' }
export const list: Kind = { is: Array.isArray, write: 'a list' }
export const schema: Kind = {
  is: (value) => typeof (value as { '~standard'?: { validate?: unknown } } | null)?.['~standard']?.validate === 'function',
  write: 'a schema of zod 4, or of any library that follows Standard Schema',
}
export const ms: Kind = { is: (value) => isNumber(value) && value >= 0, write: 'ms, from 0 on' }
export const aboveZero: Kind = { is: (value) => isNumber(value) && value > 0, write: 'a number above 0' }
export const signal: Kind = { is: (value) => value instanceof AbortSignal, write: 'the signal of an AbortController' }
export const clock: Kind = { is: (value) => typeof value === 'function', write: 'a function that says ms since the epoch: () => Date.now()' }
export const handlers: Kind = {
  is: (value) => isRecord(value) && Object.values(value).every((handler) => handler === undefined || typeof handler === 'function'),
  write: "handlers by the type of an event: { 'agent.completed': ({ runId }) => … }",
}
export const store: Kind = { is: isRecord, write: 'a store' }
/** @param example as its author may write it */
export const code = (example: string): Kind => ({ is: (value) => typeof value === 'function', write: `a function: ${example}` })
/** A record of which each value can be read. */
export const readable = (example: string): Kind => ({
  is: (value) => isRecord(value) && Object.values(value).length >= 0,
  write: `an object: ${example}`,
})
export const record = (example: string): Kind => ({ is: isRecord, write: `an object: ${example}` })
export const oneOf = (...all: readonly unknown[]): Kind => ({
  is: (value) => all.includes(value),
  write: all.map((one) => (typeof one === 'string' ? `'${one}'` : String(one))).join(', '),
})
export const count = (least: number, most = Number.MAX_SAFE_INTEGER): Kind => ({
  is: (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  write: `a whole number from ${least} ${most === Number.MAX_SAFE_INTEGER ? 'on' : `to ${most}`}`,
})
export const either = (...all: readonly Kind[]): Kind => ({
  is: (value) => all.some(({ is }) => is(value)),
  write: all.map(({ write }) => write).join(', or '),
})

/** @returns those that were given, each read once @throws LadderError with the code of the place */
export const optionsIn = <Options extends object>(given: unknown, kinds: KindsOf<Options>, place: Place): Options => {
  const { who, code: of, context } = place
  const refused = (message: string, hint: string): LadderError => new LadderError(of, message, { hint, ...(context && { context }) })
  const known = Object.keys(kinds)
  try {
    if (!isRecord(given)) throw refused(`${who} is ${shown(given)}`, `write an object with ${known.join(', ')}`)
    const found = Object.entries(given).filter(([, value]) => value !== undefined)
    for (const [option, value] of found) {
      const kind = Object.hasOwn(kinds, option) ? (kinds as Record<string, Kind>)[option] : undefined
      if (!kind && place.others) continue
      if (!kind) throw refused(`${who} has '${option.slice(0, 40)}', which means nothing there`, meantBy(option, known))
      if (!kind.is(value)) throw refused(`${option} of ${who} is ${shown(value)}`, `it is ${kind.write}`)
    }
    return Object.fromEntries(found) as Options
  } catch (thrown) {
    if (thrown instanceof LadderError) throw thrown
    throw refused(`${who} cannot be read: ${wordsOf(thrown)}`, 'write a plain object, without getters that throw')
  }
}

/** A value by itself. @throws LadderError */
export const valueIn = <Value>(given: unknown, kind: Kind, what: string, of: LadderCode): Value => {
  if (kind.is(given)) return given as Value
  throw new LadderError(of, `${what} is ${shown(given)}`, { hint: `give ${kind.write}` })
}

/** A value in a message: what it is, and no more of it than can be read. */
export const shown = (value: unknown): string => {
  if (typeof value === 'string') return `'${value.slice(0, 40)}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return String(value).slice(0, 40)
}

export const meantBy = (option: string, known: readonly string[]): string => {
  const near = known.find((one) => distance(one.toLowerCase(), option.slice(0, 40).toLowerCase()) <= 2)
  return near === undefined ? `there are: ${known.join(', ')}` : `did you mean ${near}?`
}

/** Letters that differ. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (const [index, letter] of Array.from(one).entries()) {
    const next = [index + 1]
    for (let column = 1; column <= other.length; column++)
      next.push(Math.min((row[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1), (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    row = next
  }
  return row.at(-1) ?? 0
}
