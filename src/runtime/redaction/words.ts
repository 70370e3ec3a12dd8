/** The words of a machine: what stands in its chart and its code was there before anybody said something, and says nothing about him. */
import { chartsBelow, type Registration } from '../../actors/index.ts'
import { errorCodes } from '../../contracts/errors.ts'

type Implementations = Record<'actions' | 'guards' | 'delays' | 'actors', Record<string, unknown>>

/** @returns names of states, events, guards, actions and actors, and the texts that its functions compare with */
export const wordsOf = ({ machine }: Pick<Registration, 'machine'>): Set<string> => {
  const words = new Set<string>(Object.keys(errorCodes))
  for (const text of textsIn(chartsBelow(machine))) {
    words.add(text)
    for (const part of text.split(/[^\p{L}\p{N}_-]+/u)) words.add(part)
  }
  collect(machine.implementations, words, new Set())
  words.delete('')
  return words
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const [key, part] of Object.entries(value)) {
      // Sentences for people.
      if (key !== 'description') yield* textsIn(part)
    }
}

/** A literal in the source of a function. */
const literal = /(['"])((?:(?!\1)[^\\\n]){1,64})\1/g

const collect = (parts: Implementations, words: Set<string>, seen: Set<unknown>): void => {
  if (seen.has(parts)) return
  seen.add(parts)
  for (const name of ['actions', 'guards', 'delays'] as const)
    for (const part of Object.values(parts[name])) for (const [, , text = ''] of sourceOf(part).matchAll(literal)) words.add(text)
  for (const logic of Object.values(parts.actors)) {
    const below = (logic as { implementations?: Implementations } | null)?.implementations
    if (below) collect(below, words, seen)
  }
}

/** XState's own actions are functions that hold the author's. */
const sourceOf = (part: unknown): string => {
  if (typeof part !== 'function') return ''
  const held = Object.values(part as unknown as Record<string, unknown>).flatMap((one) =>
    typeof one === 'object' && one !== null ? Object.values(one) : [one],
  )
  return [part, ...held.filter((one) => typeof one === 'function')].map(String).join('\n')
}
