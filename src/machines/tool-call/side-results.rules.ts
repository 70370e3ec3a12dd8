/** What a tool tells beside the answer of its run, as far as anybody reads that. */
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { sideTextMax } from '../../contracts/side-question.rules.ts'

/** In one attempt. */
const resultsMax = 20

type SideResult = { question?: string; text: string }

/** The result as it may be told. @param before how many its attempt has told already @throws RuntimeError bad_request, too_large, overloaded */
export const sideResult = ({ question, text }: SideResult, before: number): SideResult => {
  for (const [field, words] of Object.entries({ text, ...definedOf({ question }) })) {
    if (typeof words !== 'string' || words.trim() === '')
      throw new RuntimeError('bad_request', `the ${field} of a side result must be a text that is not empty`, {
        field,
        hint: 'sideResult({ text: "…" })',
      })
    if (words.length > sideTextMax)
      throw new RuntimeError('too_large', `the ${field} of a side result has ${words.length} characters, ${sideTextMax} are allowed`, {
        field,
        hint: 'tell the main point, and return the rest as the result of the tool',
      })
  }
  if (before >= resultsMax)
    throw new RuntimeError('overloaded', `a tool tells at most ${resultsMax} side results in one attempt`, { hint: 'put several into one' })
  return { text: text.toWellFormed(), ...definedOf({ question: question?.toWellFormed() }) }
}
