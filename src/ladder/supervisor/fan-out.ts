/** `fanOut()`: several of the same, for supervisors that let them work at once. */
import { LadderError } from '../errors.ts'
import type { Intent } from './definition.ts'

/** Numbers from 1 to so many, where that is known. */
type UpTo<Count extends number, Before extends readonly 1[] = []> = number extends Count
  ? number
  : Before['length'] extends Count
    ? never
    : [...Before, 1]['length'] | UpTo<Count, [...Before, 1]>

type FanOut = {
  <const Unit extends object, const Name extends string, const Count extends number>(
    unit: Unit,
    count: Count,
    name: Name,
  ): Record<`${Name}${Extract<UpTo<Count>, number>}`, Unit>
  <Input, State>(unit: Intent<Input, State, string>, count: number): Record<string, Intent<Input, State, string>>
}

/**
 * Intents `name1` to `nameN` that all do the same: `intents: { ...fanOut(searcher, 3, 'search') }`.
 * @param name default: that of the executable, or of the function, of which types know nothing @throws LadderError SUPERVISOR_CONFIG
 */
export const fanOut: FanOut = (unit: object, count: number, name = nameOf(unit)): Record<string, never> => {
  const wrong = (message: string, hint: string): LadderError => new LadderError('SUPERVISOR_CONFIG', message, { hint })
  if (!Number.isInteger(count) || count < 1) throw wrong(`${String(count)} is no number of copies`, 'it is a whole number from 1 on')
  if (typeof name !== 'string' || name === '') throw wrong('what is copied has no name', "give one: fanOut(unit, 3, 'search')")
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index + 1}`, unit as never]))
}

const nameOf = (unit: unknown): string | undefined => {
  const { name, agent, run } = (unit ?? {}) as { name?: string; agent?: { name: string }; run?: { name: string } }
  return name ?? agent?.name ?? run?.name
}
