/**
 * Formulas in Markdown: `$…$` and `\(…\)` in a line, `$$…$$` and `\[…\]` on their own. A single dollar begins one only where no price could stand: a character
 * that is no space follows it, another one stands before the dollar that ends it, and no digit after that.
 */
import type { TokenizerAndRendererExtension } from 'marked'

/** Formulas are short; what is longer has lost its end. */
const longest = 4_000

type Fence = { open: string; close: string; display: boolean }
const fences: Fence[] = [
  { open: '$$', close: '$$', display: true },
  { open: '\\[', close: '\\]', display: true },
  { open: '\\(', close: '\\)', display: false },
]

type Found = { raw: string; text: string; display: boolean }

const fenced = (source: string): Found | undefined => {
  const fence = fences.find(({ open }) => source.startsWith(open))
  if (!fence) return undefined
  const end = source.slice(0, longest).indexOf(fence.close, fence.open.length)
  const text = end < 0 ? '' : source.slice(fence.open.length, end)
  // An empty line ends a paragraph and whatever stood open in it, but not a formula of its own.
  if (text.trim() === '' || (!fence.display && text.includes('\n\n'))) return undefined
  return { raw: source.slice(0, end + fence.close.length), text: text.trim(), display: fence.display }
}

const dollars = (source: string): Found | undefined => {
  const match = /^\$(?![\s$])([^$\n]{0,1000})\$(?!\d)/.exec(source)
  const text = match?.[1] ?? ''
  if (!match || text === '' || /[\s\\]$/.test(text)) return undefined
  return { raw: match[0], text, display: false }
}

const startOf = (source: string, marks: string[]): number | undefined => {
  const places = marks.map((mark) => source.indexOf(mark)).filter((at) => at >= 0)
  return places.length > 0 ? Math.min(...places) : undefined
}

export const maths: TokenizerAndRendererExtension[] = [
  {
    name: 'maths_block',
    level: 'block',
    start: (source) => startOf(source, ['\n$$', '\n\\[']),
    tokenizer: (source) => {
      const found = fenced(source)
      if (!found?.display) return undefined
      const rest = source.slice(found.raw.length)
      const blank = /^[ \t]*(?:\n|$)/.exec(rest)
      return blank ? { type: 'maths_block', raw: found.raw + blank[0], text: found.text } : undefined
    },
  },
  {
    name: 'maths_inline',
    level: 'inline',
    start: (source) => startOf(source, ['$', '\\(', '\\[']),
    tokenizer: (source) => {
      const found = fenced(source) ?? dollars(source)
      return found && { type: 'maths_inline', ...found }
    },
  },
]
