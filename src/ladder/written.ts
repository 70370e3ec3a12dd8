/** What an author has to write at least. */
import { LadderError } from './errors.ts'

/** @param maker as the author calls it @throws LadderError LADDER_CONFIG where there is no object */
export const written = <Definition>(definition: Definition, maker: string): Definition => {
  if (typeof definition === 'object' && definition !== null) return definition
  throw new LadderError('LADDER_CONFIG', `${maker}() has no definition`, { hint: `write ${maker}({ name: '…', … })` })
}
