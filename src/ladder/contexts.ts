/** What callers brought along for the code of authors: by the run, in this process, and never stored. */
import { Newest } from './newest.ts'

type CallerContext = Readonly<Record<string, unknown>>

const lent = new Map<string, Newest<object, CallerContext>>()
const nothing: CallerContext = Object.freeze({})

/**
 * Of several callers who wait for one run, what the last of them brought along counts; when he leaves, what the one before him did.
 * @param owner whose run it is: another executable may have one of the same name @returns what takes it back
 */
export const lend = (owner: object, runId: string, context: CallerContext): (() => void) => {
  const owners = lent.get(runId) ?? new Newest<object, CallerContext>()
  lent.set(runId, owners)
  const takeBack = owners.add(owner, Object.freeze({ ...context }))
  return () => {
    takeBack()
    if (owners.isEmpty && lent.get(runId) === owners) lent.delete(runId)
  }
}

/** @param reader its own run comes first; a run inside of another one reads what that one was given */
export const lentTo = (reader: object, runId: string): CallerContext => {
  const owners = lent.get(runId)
  return owners?.get(reader) ?? owners?.any ?? nothing
}
