/**
 * An answer's Markdown as a tree of plain data, in which there is nothing that could act: raw HTML is text like any other, an address that is not one of
 * the web or of a mail box is no link, and pictures are links, since a picture that loads by itself tells a stranger who reads.
 */
import { Marked, type Token, type Tokens } from 'marked'
import { withoutEntities } from './entities.ts'
import { maths } from './maths.ts'

export type Inline =
  | { type: 'text'; text: string }
  | { type: 'strong' | 'em' | 'del'; children: Inline[] }
  | { type: 'code'; text: string }
  | { type: 'link'; href: string; children: Inline[] }
  | { type: 'break' }
  | { type: 'task'; done: boolean }
  | { type: 'maths'; source: string; display: boolean; raw: string }

export type Cell = { children: Inline[]; align: 'left' | 'right' | 'center' | null }

export type BlockNode =
  | { type: 'paragraph'; children: Inline[] }
  /** From 3 on: 1 is the title of the page, 2 a turn. */
  | { type: 'heading'; level: 3 | 4 | 5 | 6; children: Inline[] }
  | { type: 'list'; start: number | null; items: BlockNode[][] }
  | { type: 'quote'; children: BlockNode[] }
  /** `closed`: its last fence has come, so that it does not change any more. */
  | { type: 'code'; language: string; text: string; closed: boolean }
  | { type: 'table'; head: Cell[]; rows: Cell[][] }
  | { type: 'rule' }
  | { type: 'maths'; source: string; raw: string }

const reader = new Marked({ gfm: true, extensions: maths })

/** Levels of quotes, lists and marks within each other: nobody means more, and reading or drawing them would need more stack than there is. */
const depthMax = 40

/** Tokens of the highest level, which make up the text again when they are joined. */
export const tokensOf = (markdown: string): Token[] => {
  try {
    return reader.lexer(markdown)
  } catch (error) {
    // The lexer goes down a level with each mark.
    if (error instanceof RangeError) return [plain(markdown)]
    throw error
  }
}

export const treeOf = (markdown: string): BlockNode[] => {
  const tokens = tokensOf(markdown)
  return blocksOf(isTooDeep(tokens) ? [plain(markdown)] : tokens)
}

const plain = (raw: string): Token => ({ type: 'paragraph', raw, text: raw, tokens: [{ type: 'text', raw, text: raw, escaped: true }] })

const isTooDeep = (tokens: readonly Token[], depth = 0): boolean =>
  depth > depthMax || tokens.some((token) => partsOf(token).some((parts) => parts.length > 0 && isTooDeep(parts, depth + 1)))

const partsOf = (token: Token): (readonly Token[])[] => {
  type Inner = { tokens?: Token[]; items?: Token[]; header?: Tokens.TableCell[]; rows?: Tokens.TableCell[][] }
  const { tokens = [], items = [], header = [], rows = [] } = token as Inner
  return [tokens, items, ...[...header, ...rows.flat()].map((cell) => cell.tokens)]
}

const blocksOf = (tokens: readonly Token[]): BlockNode[] => tokens.flatMap(blockOf)

const blockOf = (token: Token): BlockNode[] => {
  switch (token.type) {
    case 'space':
    case 'def':
      return []
    case 'heading':
      return [{ type: 'heading', level: Math.min(6, (token as Tokens.Heading).depth + 2) as 3, children: inlinesOf(token.tokens) }]
    case 'list': {
      const { ordered, start, items } = token as Tokens.List
      return [{ type: 'list', start: ordered ? Number(start) : null, items: items.map((item) => itemOf(item.tokens)) }]
    }
    case 'blockquote':
      return [{ type: 'quote', children: blocksOf(token.tokens ?? []) }]
    case 'code': {
      const { lang, text, raw, codeBlockStyle } = token as Tokens.Code
      const closed = codeBlockStyle === 'indented' || isClosedFence(raw)
      return [{ type: 'code', language: (lang ?? '').split(/\s/, 1)[0] ?? '', text, closed }]
    }
    case 'table': {
      const { header, rows } = token as Tokens.Table
      return [{ type: 'table', head: header.map(cellOf), rows: rows.map((row) => row.map(cellOf)) }]
    }
    case 'hr':
      return [{ type: 'rule' }]
    case 'maths_block':
      return [{ type: 'maths', source: token.text as string, raw: token.raw }]
    case 'html':
      return [{ type: 'paragraph', children: [{ type: 'text', text: token.raw.trimEnd() }] }]
    default:
      return [{ type: 'paragraph', children: 'tokens' in token ? inlinesOf(token.tokens) : [{ type: 'text', text: token.raw }] }]
  }
}

const cellOf = ({ tokens, align }: Tokens.TableCell): Cell => ({ children: inlinesOf(tokens), align })

/** What belongs to one line of a list stands together: a box to tick off is no paragraph before its text. */
const itemOf = (tokens: readonly Token[]): BlockNode[] => {
  const [first, second, ...rest] = tokens
  if (first?.type !== 'checkbox') return blocksOf(tokens)
  const box: Inline = { type: 'task', done: (first as Tokens.Checkbox).checked }
  const [text, ...more] = second ? blockOf(second) : []
  if (text?.type === 'paragraph') return [{ ...text, children: [box, ...text.children] }, ...more, ...blocksOf(rest)]
  return [{ type: 'paragraph', children: [box] }, ...(text ? [text] : []), ...more, ...blocksOf(rest)]
}

const isClosedFence = (raw: string): boolean => {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1]
  if (fence === undefined) return false
  const lines = raw.trimEnd().split('\n')
  const last = lines.at(-1)?.trim() ?? ''
  return lines.length > 1 && last.length >= fence.length && last === (fence[0] as string).repeat(last.length)
}

const inlinesOf = (tokens: readonly Token[] | undefined): Inline[] => (tokens ?? []).flatMap(inlineOf)

const inlineOf = (token: Token): Inline[] => {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return [{ type: token.type, children: inlinesOf(token.tokens) }]
    case 'codespan':
      return [{ type: 'code', text: token.text as string }]
    case 'br':
      return [{ type: 'break' }]
    case 'link':
      return linkOf((token as Tokens.Link).href, inlinesOf(token.tokens), token.raw)
    case 'image':
      return linkOf((token as Tokens.Image).href, [{ type: 'text', text: (token as Tokens.Image).text || (token as Tokens.Image).href }], token.raw)
    case 'maths_inline':
      return [{ type: 'maths', source: token.text as string, display: token.display === true, raw: token.raw }]
    case 'escape':
      return [{ type: 'text', text: token.text as string }]
    case 'text':
      return token.tokens ? inlinesOf(token.tokens) : token.text === '' ? [] : [{ type: 'text', text: withoutEntities(token.text as string) }]
    default:
      return [{ type: 'text', text: token.raw }]
  }
}

/** What is no link is shown as it was written, so that nobody takes its words for where it leads. */
const linkOf = (href: string, children: Inline[], raw: string): Inline[] => {
  const safe = safeAddress(href)
  return safe === undefined ? [{ type: 'text', text: raw }] : [{ type: 'link', href: safe, children }]
}

const schemes = new Set(['http:', 'https:', 'mailto:'])

/** An absolute address of a kind that only shows something; undefined for all others. */
export const safeAddress = (href: string): string | undefined => {
  // Without a base, so that what is relative is none: the page has nothing beside itself that an answer could know.
  const url = URL.parse(href)
  return url && schemes.has(url.protocol) ? url.href : undefined
}
