/** A definition as its author wrote it. */
import { type LadderCode, LadderError } from './errors.ts'
import { isRecord, type Kind, type KindsOf, optionsIn, type Place } from './given.ts'

/** @param maker as the author calls it @returns a copy without what is undefined @throws LadderError LADDER_CONFIG where there is no object, else with the given code */
export const written = <Definition extends object>(
  definition: unknown,
  maker: string,
  kinds: KindsOf<Definition>,
  code: LadderCode = 'LADDER_CONFIG',
): Definition => optionsIn(object(definition, maker), kinds, placeOf(definition as object, maker, code))

/** The same where the rest is looked at by whoever gets it. */
export const partlyWritten = <Definition extends object>(definition: unknown, maker: string, kinds: Readonly<Record<string, Kind>>): Definition =>
  optionsIn<Definition>(object(definition, maker), kinds, {
    ...placeOf(definition as object, maker, 'LADDER_CONFIG'),
    others: true,
  })

const object = (definition: unknown, maker: string): object => {
  if (!isRecord(definition)) throw new LadderError('LADDER_CONFIG', `${maker}() has no definition`, { hint: `write ${maker}({ name: '…', … })` })
  return definition
}

const placeOf = ({ name }: { name?: unknown }, maker: string, code: LadderCode): Place => ({
  who: typeof name === 'string' ? `'${name.slice(0, 40)}'` : `${maker}()`,
  code,
})
