/** Values for the `{{name}}` in the instructions of an agent, from whoever asks it. */
import { type Placeholders, placeholdersIn } from '../../index.ts'
import { LadderError, wordsOf } from '../errors.ts'
import type { AnyExecutable } from '../executable.ts'
import { code as codeKind, either, isRecord, meantBy, type Place, record, shown } from '../given.ts'

/** By the names that stand in the instructions. */
export type PlaceholderValues = Readonly<Record<string, string | number | boolean>>
/** As an author writes them beside `agent`. */
type Written = { agent?: AnyExecutable | undefined; placeholders?: PlaceholderValues | ((code: never) => unknown) }

export const placeholderKind = either(record("{ customer: 'Ada' }"), codeKind('({ state }) => ({ customer: state.customer })'))

/** What is wrong with them where they are written. @throws LadderError with the code of the place */
export const checkWritten = ({ agent, placeholders }: Written, place: Place): void => {
  if (placeholders === undefined) return
  if (agent?.type !== 'agent')
    throw new LadderError(place.code, `${place.who} has placeholders, and asks no agent`, {
      hint: 'only what agent() returned has instructions to be filled in',
    })
  if (typeof placeholders !== 'function') agent.filled(placeholders, place)
}

/** What is made of them in a run. @throws LadderError with the code of the place */
export const filling = async ({ agent, placeholders }: Written, code: unknown, place: Place): Promise<{ placeholders?: Placeholders }> => {
  if (placeholders === undefined || !agent) return {}
  return { placeholders: agent.filled(typeof placeholders === 'function' ? await placeholders(code as never) : placeholders, place) }
}

/**
 * All names that stand in the instructions have a value, and there is no other: the model would read one that is misspelt.
 * @throws LadderError with the code of the place
 */
export const checkedPlaceholders = (instructions: string, given: unknown, { who, code }: Place): Placeholders => {
  const wrong = (message: string, hint: string): LadderError => new LadderError(code, message, { hint })
  if (!isRecord(given)) throw wrong(`placeholders of ${who} are ${shown(given)}`, "write an object: { customer: 'Ada' }")
  const read = (from: Record<string, unknown>, name: string): unknown => {
    try {
      return from[name]
    } catch (thrown) {
      throw wrong(`'${name}' of the placeholders of ${who} cannot be read: ${wordsOf(thrown)}`, 'write a plain object, without getters that throw')
    }
  }
  const names = placeholdersIn(instructions)
  const strange = Object.keys(given)
    .find((name) => !names.includes(name))
    ?.slice(0, 40)
  if (strange !== undefined)
    throw wrong(
      `placeholders of ${who} have '${strange}', which the instructions of the agent do not`,
      names.length === 0 ? `write {{${strange}}} into its instructions, where it belongs` : meantBy(strange, names),
    )
  return Object.fromEntries(
    names.map((name) => {
      const value = Object.hasOwn(given, name) ? read(given, name) : undefined
      if (value === undefined)
        throw wrong(
          `placeholders of ${who} have no '${name}', which the instructions of the agent have`,
          `give a value to each of ${names.join(', ')}`,
        )
      const isSaid = typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
      if (!isSaid) throw wrong(`'${name}' of the placeholders of ${who} is ${shown(value)}`, 'give a text, a number, true or false')
      return [name, String(value)]
    }),
  )
}
