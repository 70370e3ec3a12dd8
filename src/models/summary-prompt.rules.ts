/** How a model is asked to shorten a conversation, and how one can tell that it was. */

const asked =
  'You shorten a conversation so that it can go on. Write down what a colleague must know who takes over now: what the user wants, decisions and their reasons, facts and figures, names and paths word for word, what was tried, what is open. No preface.'

/** @param instructions of the user who asked for the summary */
export const summaryInstructions = (instructions?: string): string => `${asked}${instructions === undefined ? '' : `\nKeep in mind: ${instructions}`}`

export const asksForSummary = (instructions: string): boolean => instructions.startsWith(asked)
