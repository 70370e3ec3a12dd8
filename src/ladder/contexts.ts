/** What callers brought along for the code of authors: by the run, in this process, and never stored. */
type CallerContext = Readonly<Record<string, unknown>>

const lent = new Map<string, Map<object, CallerContext>>()
const nothing: CallerContext = Object.freeze({})

/** @param owner whose run it is: another executable may have one of the same name @returns what takes it back */
export const lend = (owner: object, runId: string, context: CallerContext): (() => void) => {
  const owners = lent.get(runId) ?? new Map<object, CallerContext>()
  lent.set(runId, owners.set(owner, Object.freeze({ ...context })))
  return () => {
    owners.delete(owner)
    if (owners.size === 0 && lent.get(runId) === owners) lent.delete(runId)
  }
}

/** @param reader its own run comes first; a run inside of another one reads what that one was given */
export const lentTo = (reader: object, runId: string): CallerContext => {
  const owners = lent.get(runId)
  return owners?.get(reader) ?? owners?.values().next().value ?? nothing
}
