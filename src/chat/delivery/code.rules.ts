/** What of a text is code: fences, and what stands between backticks. */

/** A code fence that stands open. @property line the line that opened it @property mark its backticks or tildes, with what indents them */
export type Fence = { line: string; indent: string; mark: string }

/** The fence that a line opens. The info line of one of backticks holds none, or else it would be code inside a line. */
export const fenceOpenedBy = (line: string): Fence | undefined => {
  const [start, indent = '', mark = ''] = /^([ \t]*)(`{3,}|~{3,})/.exec(line) ?? []
  return start === undefined || (mark.startsWith('`') && line.includes('`', start.length)) ? undefined : { line, indent, mark }
}

/** A line of as many of the same marks, or more, closes it. */
export const closesFence = ({ mark }: Fence, line: string): boolean => {
  const bare = line.trim()
  return bare.length >= mark.length && bare === mark.charAt(0).repeat(bare.length)
}

/** Characters within which code inside a line, or the info line of a fence, must end: more is not waited for. */
const spanCharsMax = 400

/**
 * Follows a text as it is let through and knows what in it is code: fences until they are closed, and backticks on one line with as many
 * behind them. An unfinished span is waited for to the end of its line.
 */
export const codeTracker = () => {
  let fence: Fence | undefined
  /** What was let through of the current line, cut where it is too long to open or close a fence. */
  let line = ''

  const endLine = (): void => {
    if (line.length < spanCharsMax) fence = fence ? (closesFence(fence, line) ? undefined : fence) : fenceOpenedBy(line)
    line = ''
  }

  const lineIsBlank = (): boolean => line.length < spanCharsMax && line.trim() === ''

  /** The line that may open a fence at `from`: with its newline, undefined while it is not there, 0 where it opens none. */
  const openingAt = (text: string, from: number, ended: boolean): number | undefined => {
    const newline = text.indexOf('\n', from)
    const end = newline < 0 ? text.length : newline
    if (line.length + end - from >= spanCharsMax) return 0
    if (newline < 0 && !ended) return undefined
    return fenceOpenedBy(line + text.slice(from, end)) ? Math.min(end + 1, text.length) - from : 0
  }

  return {
    /** Nothing but white space stands on the current line, outside of a fence. */
    atLineStart: (): boolean => fence === undefined && lineIsBlank(),
    /** @returns how many characters from `from` on stand as they are: 0 where none do, undefined where that follows from what is missing */
    keptAt(text: string, from: number, ended: boolean): number | undefined {
      if (fence) {
        const newline = text.indexOf('\n', from)
        return (newline < 0 ? text.length : newline + 1) - from
      }
      const mark = text[from]
      if (mark !== '`' && mark !== '~') return 0
      const size = runLength(text, from, mark)
      if (!ended && from + size === text.length) return undefined
      const opening = size >= 3 && lineIsBlank() ? openingAt(text, from, ended) : 0
      if (opening !== 0) return opening
      return mark === '~' ? size : spanLength(text, from, size, ended)
    },
    /** Takes note of a piece of text that is let through. */
    pass(text: string): void {
      for (let at = 0; at < text.length; ) {
        const newline = text.indexOf('\n', at)
        const end = newline < 0 ? text.length : newline
        if (line.length < spanCharsMax) line += text.slice(at, Math.min(end, at + spanCharsMax))
        if (newline >= 0) endLine()
        at = end + 1
      }
    },
  }
}

/** Where code stands in a whole text: fences, and what is between backticks. */
export const codeIn = (text: string): { from: number; to: number }[] => {
  const code = codeTracker()
  const spans: { from: number; to: number }[] = []
  const mark = /[`~]/g
  for (let at = 0; at < text.length; ) {
    const kept = code.keptAt(text, at, true) ?? 0
    mark.lastIndex = at + 1
    const end = kept > 0 ? at + kept : (mark.exec(text)?.index ?? text.length)
    if (kept > 0) spans.push({ from: at, to: end })
    code.pass(text.slice(at, end))
    at = end
  }
  return spans
}

/** How often `mark` stands at `from`, counted no further than it matters. */
const runLength = (text: string, from: number, mark: string): number => {
  let end = from
  while (text[end] === mark && end - from < spanCharsMax) end++
  return end - from
}

/** The code between backticks and as many others on the same line; where there are none, the backticks alone. */
const spanLength = (text: string, from: number, size: number, ended: boolean): number | undefined => {
  let at = from + size
  while (at < text.length && at - from < spanCharsMax) {
    if (text[at] === '\n') return size
    const run = runLength(text, at, '`')
    if (run > 0 && !ended && at + run === text.length) return undefined
    if (run === size) return at + run - from
    at += Math.max(1, run)
  }
  return ended || at - from >= spanCharsMax ? size : undefined
}
