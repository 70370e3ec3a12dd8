/** What is left of messages that were dropped, and several messages as one prompt. */

const lineMax = 160

/** A text as one line of at most 160 UTF-16 units, well-formed whatever it was. */
export const summaryLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= lineMax) return line.toWellFormed()
  // A pair that the cut goes through is left out as a whole.
  const cut = line.slice(0, lineMax - 1).replace(/[\uD800-\uDBFF]$/, '')
  return `${cut.trimEnd()}…`.toWellFormed()
}

/** How many messages were dropped, and what is left of them. @returns '' when none were */
export const overflowText = (count: number, lines: readonly string[]): string => {
  if (count < 1) return ''
  const kept = lines.filter((line) => line !== '')
  const head = `The queue was full: ${count} ${count === 1 ? 'message was' : 'messages were'} left out`
  return kept.length === 0 ? `${head}.` : [`${head}. In short:`, ...kept.map((line) => `- ${line}`)].join('\n')
}

/** All that waits as one prompt, in order of arrival, after a word about what was dropped. */
export const collectText = ({ items, dropped }: { items: readonly string[]; dropped?: { count: number; lines: readonly string[] } }): string => {
  const overflow = dropped ? overflowText(dropped.count, dropped.lines) : ''
  const numbered = items.map((item, index) => `Message ${index + 1}:\n${item}`)
  const heading = items.length === 0 ? [] : ['These messages came in while you were busy, oldest first.']
  return [...heading, ...(overflow === '' ? [] : [overflow]), ...numbered].join('\n\n')
}
