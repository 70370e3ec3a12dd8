/** What is asked beside a conversation, as people write it. */

/** Characters of a side question, and of what a tool may tell beside its run. */
export const sideTextMax = 8_000

/** What is asked where a message is a side question, '' where it says nothing behind that; undefined for any other. */
export const sideQuestion = (message: string): string | undefined => {
  const [start] = /^\s*\/btw(?=[\s:]|$):?/i.exec(message) ?? []
  return start === undefined ? undefined : message.slice(start.length).trim()
}
export const sideUsage = 'Write the question behind it: /btw what was the second point?'
