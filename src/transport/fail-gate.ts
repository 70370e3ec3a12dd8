/** @returns what the caller awaits before it answers; undefined where there is nothing to await, which costs no time; a throw counts as a rejection */
export const gateOf = (hit: () => void | Promise<void>): Promise<void> | undefined => {
  let gate: Promise<void> | undefined
  try {
    gate = hit() ?? undefined
  } catch (error) {
    gate = rejected(error)
  }
  // The caller awaits it only when it has the answer: until then a rejection must not count as unhandled.
  gate?.catch(() => undefined)
  return gate
}

const rejected = async (error: unknown): Promise<void> => {
  throw error
}
