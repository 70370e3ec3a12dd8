/** A text that somebody else wrote, between fences that it cannot end: they are longer than any in it. */
export const fenced = (text: string): string => {
  let longest = 0
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length)
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}\n${text}\n${fence}`
}
