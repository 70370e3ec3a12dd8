/** @returns what must be waited for before an answer is given; undefined when nothing, so that no time is lost; a throw counts as a rejection */
export const gateOf = (hit: () => void | Promise<void>): Promise<void> | undefined => {
  let gate: Promise<void> | undefined
  try {
    gate = hit() ?? undefined
  } catch (error) {
    gate = rejected(error)
  }
  // Looked at when the answer is there: until then a rejection must not count as unhandled.
  gate?.catch(() => undefined)
  return gate
}

const rejected = async (error: unknown): Promise<void> => {
  throw error
}
