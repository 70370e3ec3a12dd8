/** Patterns in which `*` stands for anything, matched in one pass over the text: a regular expression of several `.*` tries all ways to spread it. */
export const wildcard = (pattern: string): ((text: string) => boolean) => {
  const [first = '', ...rest] = pattern.split(/\*+/)
  const last = rest.pop()
  return (text) => {
    if (last === undefined) return text === first
    if (!text.startsWith(first)) return false
    let at = first.length
    for (const part of rest) {
      const found = text.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return text.length - last.length >= at && text.endsWith(last)
  }
}
