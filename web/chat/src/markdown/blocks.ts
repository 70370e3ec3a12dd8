/**
 * An answer while it is written: blocks that are finished, and one that is open. The finished ones are never read again; what is read is the open one, with
 * its marks closed for the time being, so that nobody sees a raw `**`.
 */
import { tokensOf } from './tree.ts'

/** `open` is more than one part while it is not known whether the last belongs to the one before it. */
export type Blocks = { closed: readonly string[]; open: readonly string[] }

export const noBlocks: Blocks = { closed: [], open: [] }

/** The blocks of a text that has grown since they were told apart last; where it has become another text, from its beginning. */
export const blocksOf = (text: string, before: Blocks): Blocks => {
  const known = before.closed.join('')
  const goesOn = text.startsWith(known)
  const closed = goesOn ? before.closed : []
  const rest = goesOn ? text.slice(known.length) : text
  const parts = partsOf(rest)
  const last = parts.at(-1)
  // What a line is, for example whether it goes on with the list before it, is known when it has ended.
  const undecided = last !== undefined && !last.includes('\n') && parts.length > 1 ? 2 : 1
  const finished = parts.slice(0, -undecided)
  return { closed: finished.length > 0 ? [...closed, ...finished] : closed, open: parts.slice(-undecided) }
}

/** Blocks with the space after them. */
const partsOf = (text: string): string[] => {
  const parts: string[] = []
  let read = 0
  for (const { type, raw } of tokensOf(text)) {
    // Tabs and line ends are made equal while it is read, so the text itself is cut, not what came of it.
    const part = text.slice(read, read + raw.length)
    if (part !== raw) return [text]
    read += raw.length
    if (type === 'space' && parts.length > 0) parts[parts.length - 1] += part
    else parts.push(part)
  }
  if (read < text.length) parts.push(text.slice(read))
  return parts
}

/** The open block as if its marks were closed already. */
export const asIfClosed = (open: string): string => {
  if (isOpenFence(open)) return open
  const table = asIfTable(open)
  if (table !== undefined) return table
  return closedInline(open)
}

/** Within a fence nothing is a mark; the lexer takes its end for the end of the text. */
const isOpenFence = (text: string): boolean => {
  let fence = ''
  for (const line of text.split('\n')) {
    const mark = /^ {0,8}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark === undefined) continue
    if (fence === '') fence = mark
    else if (mark.startsWith(fence) && line.trim() === mark) fence = ''
  }
  return fence !== ''
}

/** The first row of a table is one before the line below it has come. */
const asIfTable = (text: string): string | undefined => {
  const lines = text.trimEnd().split('\n')
  const [head = '', below] = lines
  if (!/^ {0,3}\|/.test(head) || lines.length > 2) return undefined
  if (below !== undefined && !/^[ |:-]*$/.test(below)) return undefined
  const cells = closedInline(head)
    .replace(/^ *\|/, '')
    .replace(/\| *$/, '')
    .split(/(?<!\\)\|/)
  return `|${cells.join('|')}|\n|${cells.map(() => '---').join('|')}|`
}

const marks = ['**', '__', '~~', '*', '_']
const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character)

/** Closes what stands open at the end of the last paragraph: emphasis, code, a link, a formula. */
const closedInline = (text: string): string => {
  const from = lastParagraph(text)
  const open: { mark: string; at: number }[] = []
  let bracket = -1
  let at = from
  while (at < text.length) {
    const rest = text.slice(at)
    if (text[at] === '\\' && !/^\\[([]/.test(rest)) {
      at += 2
      continue
    }
    const skip = whole(rest)
    if (skip === undefined) return finish(text.slice(0, at), open, bracket) + unfinished(rest)
    if (skip > 0) {
      at += skip
      bracket = -1
      continue
    }
    if (text[at] === '[') bracket = at
    else if (text[at] === ']' && at < text.length - 1) bracket = -1
    const mark = marks.find((one) => rest.startsWith(one))
    if (mark === undefined) {
      at += 1
      continue
    }
    const before = text[at - 1]
    const after = text[at + mark.length]
    const nearest = open.findLastIndex((one) => one.mark === mark)
    const mayClose = before !== undefined && !/\s/.test(before) && nearest >= 0
    // An underscore within a word is a letter of it.
    const mayOpen = (after === undefined || !/\s/.test(after)) && !(mark.startsWith('_') && isWord(before))
    if (mayClose) open.length = nearest
    else if (mayOpen) open.push({ mark, at })
    at += mark.length
  }
  return finish(text, open, bracket)
}

const lastParagraph = (text: string): number => {
  const trimmed = text.trimEnd()
  const blank = trimmed.lastIndexOf('\n\n')
  // Each line of a list has its own marks.
  const item = Math.max(...['\n- ', '\n* ', '\n+ '].map((mark) => trimmed.lastIndexOf(mark)))
  const from = Math.max(blank < 0 ? 0 : blank + 2, item < 0 ? 0 : item + 3)
  const bullet = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s+|$)/.exec(text.slice(from))
  return from + (bullet?.[0].length ?? 0)
}

/** The length of code, a link or a formula that stands here; 0 where there is none, undefined where one has begun and not ended. */
const whole = (rest: string): number | undefined => {
  const ticks = /^`+/.exec(rest)?.[0]
  if (ticks !== undefined) {
    const end = rest.indexOf(ticks, ticks.length)
    return end < 0 ? undefined : end + ticks.length
  }
  if (rest.startsWith('](')) {
    const end = rest.indexOf(')')
    return end < 0 ? undefined : end + 1
  }
  for (const [begin, end] of [
    ['$$', '$$'],
    ['\\[', '\\]'],
    ['\\(', '\\)'],
  ] as const)
    if (rest.startsWith(begin)) {
      const at = rest.indexOf(end, begin.length)
      return at < 0 ? undefined : at + end.length
    }
  return 0
}

/** What has begun and not ended, drawn: code as code; of a link its words are there already; a formula comes when it is whole. */
const unfinished = (rest: string): string => {
  const ticks = /^`+/.exec(rest)?.[0]
  if (ticks === undefined) return ''
  const code = rest.slice(ticks.length)
  return code.trim() === '' ? '' : rest + (rest.endsWith('`') ? ' ' : '') + ticks
}

const finish = (text: string, open: readonly { mark: string; at: number }[], bracket: number): string => {
  // Words of a link that has no address yet.
  const link = bracket < 0 ? text : text.slice(0, bracket) + text.slice(bracket + 1).replace(/\]$/, '')
  const left = open.map(({ mark, at }) => ({ mark, at: bracket >= 0 && at > bracket ? at - 1 : at }))
  let closed = link
  // A mark after which nothing has come yet is not shown at all.
  for (let last = left.at(-1); last && closed.slice(last.at + last.mark.length).trim() === ''; last = left.at(-1)) {
    closed = closed.slice(0, last.at)
    left.pop()
  }
  if (left.length === 0) return closed
  return (
    closed.trimEnd() +
    left
      .map(({ mark }) => mark)
      .reverse()
      .join('')
  )
}
