/** `fanOut()`: several of the same, for supervisors that let them work at once. */
import { LadderError } from '../errors.ts'
import type { Intent } from './definition.ts'

/**
 * Intents `name1` to `nameN` that all do the same: `intents: { ...fanOut(searcher, 3) }`.
 * @param name default: that of the executable, or of the function @throws LadderError SUPERVISOR_CONFIG
 */
export const fanOut = <Input, State>(
  unit: Intent<Input, State, string>,
  count: number,
  name = nameOf(unit),
): Record<string, Intent<Input, State, string>> => {
  const wrong = (message: string, hint: string): LadderError => new LadderError('SUPERVISOR_CONFIG', message, { hint })
  if (!Number.isInteger(count) || count < 1) throw wrong(`${String(count)} is no number of copies`, 'it is a whole number from 1 on')
  if (typeof name !== 'string' || name === '') throw wrong('what is copied has no name', "give one: fanOut(unit, 3, 'search')")
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index + 1}`, unit]))
}

const nameOf = (unit: unknown): string | undefined => {
  const { name, agent, run } = (unit ?? {}) as { name?: string; agent?: { name: string }; run?: { name: string } }
  return name ?? agent?.name ?? run?.name
}
