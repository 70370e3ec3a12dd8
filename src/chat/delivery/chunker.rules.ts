/** Cuts a growing text into messages of a good size, at places where a reader would pause (OC-59). */

import { closesFence, type Fence, fenceOpenedBy } from './code.rules.ts'

/** @property min characters before a pause is looked for @property max characters of a chunk, of the fence lines added to it too */
type ChunkLimits = { min?: number; max?: number }

/**
 * Incremental: a paragraph that ends at `min` characters or later ends a chunk; where none ends before `max`, the best other pause does.
 * Chunks keep their white space, so that together they are the text again, but for fences that were closed and opened again. How the
 * text is spread over pushes makes no difference.
 */
export const chunker = ({ min = 800, max = 1200 }: ChunkLimits = {}) => {
  const largest = Math.max(1, max)
  const smallest = Math.min(Math.max(1, min), largest)
  return cutter(largest, smallest, (text, lines, unread) => {
    const end = paragraphEnd(lines, unread, smallest, largest)
    return end === undefined ? cutAtMax(text, smallest, largest) : plainCut(text, end)
  })
}

/** Splits a finished text by the limit of a channel: no message is ended before it must be. */
export const chunkText = (text: string, { max }: { max: number }): string[] => {
  const largest = Math.max(1, max)
  const { push, drain } = cutter(largest, Infinity, (waiting) => cutAtMax(waiting, Math.ceil(largest / 2), largest))
  return [...push(text), ...drain()]
}

/** @param paragraphMin from how many characters on a newline can be a reason to cut */
const cutter = (max: number, paragraphMin: number, cut: (text: string, lines: Lines, unread: string) => Cut | undefined) => {
  let waiting: Waiting = { text: '' }
  let lines = newLines()
  /** What of it was not looked at for the ends of paragraphs. */
  let unread = ''
  const readAnew = (text: string): void => {
    lines = newLines()
    unread = text
  }

  const add = (text: string): string[] => {
    waiting = { ...waiting, text: waiting.text + text }
    unread += text
    const { length } = waiting.text
    if (length <= max && !(length >= paragraphMin && text.includes('\n'))) return []
    const chunks: string[] = []
    for (;;) {
      const { length: before } = waiting.text
      waiting = withoutEmptyFence(waiting)
      if (waiting.text.length !== before) readAnew(waiting.text)
      const done = cut(waiting.text, lines, unread)
      unread = ''
      if (done === undefined) return chunks
      chunks.push(done.chunk)
      waiting = done.rest
      readAnew(waiting.text)
    }
  }

  return {
    /** @returns the chunks that are complete by now */
    push(text: string): string[] {
      const chunks: string[] = []
      // Piece by piece: what waits stays short, however much comes at once.
      for (let at = 0; at < text.length; at += max) chunks.push(...add(text.slice(at, at + max)))
      return chunks
    },
    /** @returns all that is left, which fits into one chunk */
    drain(): string[] {
      const { text } = withoutEmptyFence(waiting, true)
      waiting = { text: '' }
      return text === '' ? [] : [text]
    },
  }
}

/** @property reopened the fence that was put before the text, because the chunk before it ended inside */
type Waiting = { text: string; reopened?: Fence }
type Cut = { chunk: string; rest: Waiting }

/** From the start of the line that opens a fence to the end of the one that closes it, without its newline. */
type FenceRange = { from: number; to: number; fence: Fence; open: boolean }
type Layout = { fences: FenceRange[]; paragraphs: number[]; newlines: number[] }

/** Where things end in a text, judged from its beginning to `limit` and by nothing behind that. */
const layoutOf = (text: string, limit: number): Layout => {
  const layout: Layout = { fences: [], paragraphs: [], newlines: [] }
  const window = text.slice(0, limit)
  let fence: FenceRange | undefined
  let blank = true
  for (let from = 0; from < window.length; ) {
    const newline = window.indexOf('\n', from)
    const to = newline < 0 ? window.length : newline
    // A line that is cut off by the limit ends there only if the text says so.
    const complete = newline >= 0 || text[to] === '\n'
    const line = window.slice(from, to)
    if (fence) {
      fence.to = window.length
      if (complete && closesFence(fence.fence, line)) {
        Object.assign(fence, { to, open: false })
        fence = undefined
        if (newline >= 0) layout.newlines.push(newline + 1)
      }
      blank = false
    } else {
      const opened = fenceOpenedBy(line)
      if (opened) {
        fence = { from, to: window.length, fence: opened, open: true }
        layout.fences.push(fence)
      } else if (newline >= 0) {
        const empty = line.trim() === ''
        ;(empty && !blank ? layout.paragraphs : layout.newlines).push(newline + 1)
        blank = empty
      }
    }
    from = to + 1
  }
  return layout
}

/** The lines of a text that grows, each read once, however many deltas bring it. @property at where the first that is not whole begins */
type Lines = { at: number; line: string; fence: Fence | undefined; blank: boolean }

const newLines = (): Lines => ({ at: 0, line: '', fence: undefined, blank: true })

/**
 * Takes the next piece of the text. It alone is looked into: the whole text is put together from its pieces no sooner than it is cut.
 * @returns where the first paragraph ends that does so from `min` to `max`, outside of code
 */
const paragraphEnd = (lines: Lines, piece: string, min: number, max: number): number | undefined => {
  for (let from = 0; ; ) {
    const newline = piece.indexOf('\n', from)
    lines.line += newline < 0 ? piece.slice(from) : piece.slice(from, newline)
    if (newline < 0) return undefined
    from = newline + 1
    lines.at += lines.line.length + 1
    if (lines.at > max) return undefined
    if (endsParagraph(lines) && lines.at >= min) return lines.at
    lines.line = ''
  }
}

/** Whether the line that is whole now does; what comes before it is in the state. */
const endsParagraph = (lines: Lines): boolean => {
  const { line, fence, blank } = lines
  const opened = fence === undefined ? fenceOpenedBy(line) : undefined
  if (opened !== undefined) {
    lines.fence = opened
    return false
  }
  lines.blank = fence === undefined && line.trim() === ''
  if (fence !== undefined && closesFence(fence, line)) lines.fence = undefined
  return lines.blank && !blank
}

const plainCut = (text: string, end: number): Cut => ({ chunk: text.slice(0, end), rest: { text: text.slice(end) } })

/** Cuts a text that is longer than `max`, by nothing behind its next character. */
const cutAtMax = (text: string, min: number, max: number): Cut | undefined => {
  if (text.length <= max) return undefined
  const layout = layoutOf(text, max)
  const pause = (floor: number) => pauseIn(text, layout, floor, max)
  const found = pause(min) ?? pause(Math.ceil(max / 2))
  if (found !== undefined) return plainCut(text, found)
  const last = layout.fences.at(-1)
  return (last?.open ? cutInFence(text, last, max) : undefined) ?? plainCut(text, pause(1) ?? wholeCharacters(text, max))
}

/** The last pause of the best kind that lies between `floor` and `max`, outside of code. */
const pauseIn = (text: string, { fences, paragraphs, newlines }: Layout, floor: number, max: number): number | undefined => {
  const fits = (end: number) => end >= floor && end <= max && !isInside(fences, end)
  const window = text.slice(0, max)
  return paragraphs.findLast(fits) ?? newlines.findLast(fits) ?? lastEnd(window, sentenceEnds, fits) ?? lastEnd(window, spaces, fits)
}

const sentenceEnds = /(?:[.!?…]["'”’)\]*_]{0,3}\s|[。！？])/g
const spaces = /\s/g

const lastEnd = (window: string, pattern: RegExp, fits: (end: number) => boolean): number | undefined => {
  let last: number | undefined
  for (const { 0: found, index } of window.matchAll(pattern)) {
    const end = index + found.length
    if (fits(end)) last = end
  }
  return last
}

/** They stand in order and apart, so that the last that begins before decides: found by halving, since there may be as many as lines. */
const isInside = (fences: readonly FenceRange[], end: number): boolean => {
  let [low, high] = [0, fences.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((fences[middle] as FenceRange).from < end) low = middle + 1
    else high = middle
  }
  const fence = fences[low - 1]
  return fence !== undefined && (fence.open || end < fence.to)
}

/** A code point is not cut in two; of a limit that has no room for one, the code point wins. */
const wholeCharacters = (text: string, end: number): number => {
  const unit = text.charCodeAt(end - 1)
  const cutsPair = unit >= 0xd800 && unit <= 0xdbff && end < text.length
  return cutsPair ? (end > 1 ? end - 1 : end + 1) : end
}

/** Closes the fence and opens it again in the next chunk; undefined where a limit leaves no room for that. */
const cutInFence = (text: string, { from, fence }: FenceRange, max: number): Cut | undefined => {
  const closing = fence.indent + fence.mark
  const begin = from + fence.line.length + 1
  const again = [fence.line, closing].find((line) => line.length <= max / 4)
  if (again === undefined) return undefined
  const newline = text.lastIndexOf('\n', max - closing.length - 1) + 1
  const end = newline > begin ? newline : wholeCharacters(text, max - closing.length - 1)
  if (end <= begin) return undefined
  return {
    chunk: `${text.slice(0, end)}${end === newline ? '' : '\n'}${closing}`,
    rest: { text: `${again}\n${text.slice(end)}`, reopened: { ...fence, line: again } },
  }
}

/** A fence opened again only to be closed at once was cut right at its end: both lines go. */
const withoutEmptyFence = (waiting: Waiting, ended = false): Waiting => {
  const { text, reopened } = waiting
  if (!reopened) return waiting
  const begin = reopened.line.length + 1
  const newline = text.indexOf('\n', begin)
  if (newline < 0 && !ended) return waiting
  const line = newline < 0 ? text.slice(begin) : text.slice(begin, newline)
  if (newline < 0 && line === '') return { text: '' }
  return { text: closesFence(reopened, line) ? (newline < 0 ? '' : text.slice(newline + 1)) : text }
}
