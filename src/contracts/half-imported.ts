/** A journal that is on its way here, of which some commits are missing. */
import { RuntimeError } from './errors.ts'

export const halfImportedError = (name: string): RuntimeError =>
  new RuntimeError('conflict', `${name} is being imported, and not all of it is here yet`, {
    hint: 'import it again to resume where it was cut off, or delete it',
  })
