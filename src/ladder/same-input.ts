/** A name that is used again: for the same input it stands for what became of that, and for another one it is refused. */
import { hashOf, type Placeholders } from '../index.ts'
import { LadderError } from './errors.ts'
import type { RunInput } from './run.rules.ts'

/**
 * Of the input as its caller gives it, by value: the order of keys, and what is undefined, do not count. Undefined where it is no JSON: then it is not compared.
 * @param placeholders what it is told beside it, which makes another question of the same input
 */
export const inputHashOf = (input: unknown, placeholders?: Placeholders): string | undefined => {
  try {
    const hash = hashOf(JSON.parse(JSON.stringify(input ?? null)))
    return placeholders ? `${hash}${beside}${hashOf(placeholders)}` : hash
  } catch {
    return undefined
  }
}

export const isOtherInput = (before: string | undefined, now: string | undefined): boolean =>
  before !== undefined && now !== undefined && before !== now

const beside = ' and '
const inputIn = (hash = ''): string => hash.split(beside)[0] as string

/** @param field what names it */
export const otherInput = (owner: string, field: 'runId' | 'requestId', id: string, what = 'another input'): LadderError =>
  new LadderError('INPUT_CONFLICT', `'${owner}' was given ${what} under the ${field} '${id.slice(0, 80)}'`, {
    hint: `give another ${field} for ${what}; with the same it answers with what became of that`,
    context: { [field]: id },
  })

/** Throws where a run of that name was begun with another input. @throws LadderError INPUT_CONFLICT */
export const sameInput =
  (owner: string, { runId, inputHash }: Pick<RunInput, 'runId' | 'inputHash'>) =>
  ({ inputHash: before }: Pick<RunInput, 'inputHash'>): void => {
    if (isOtherInput(before, inputHash))
      throw otherInput(owner, 'runId', runId, inputIn(before) === inputIn(inputHash) ? 'other placeholders' : undefined)
  }
