/** What a text may be that somebody sends: its limits, in characters. */

export const textMax = 200_000
/** Characters of the name of a tool call: it holds the key of its session and the id of its run. */
export const callIdMax = 4000
export const noteMax = 2000

/** A text that was cut between two UTF-16 units has half a character at its end, which no journal can hold. */
export const isWhole = (text: string): boolean => text.isWellFormed()
export const wholeOnly = 'must be well-formed Unicode, without half a character (a lone surrogate)'
