/**
 * What of a model's text a user sees (OC-67, 78, 79): all but the reasoning that opens it, and the tags around its final answer. The same tags further
 * on are words about tags, and stay.
 */
import { closesFence, codeTracker, type Fence, fenceOpenedBy } from './code.rules.ts'

/**
 * @property finalOnly the model writes its answer in `<final>` tags: what stands outside of them is not shown
 * @property earlier reads the answer as builds did that recorded no references: tags count anywhere, and a paragraph that repeats the one before it goes.
 * Journals of that time hold replies made so.
 */
export type VisibleTextOptions = { finalOnly?: boolean; earlier?: boolean }

/**
 * Incremental: takes a model's text delta by delta, and gives back what of it is to be seen. What may turn out to be a tag or code is
 * held back until that is known, so that no part of a tag is ever seen. White space before the first visible character is left out.
 * Within reasoning only a tag that closes it counts, in code or not: a fence forgotten there shall not swallow the answer.
 */
export const visibleText = ({ finalOnly = false, earlier = false }: VisibleTextOptions = {}) => {
  const code = codeTracker()
  let waiting = ''
  let reasoning = ''
  let inReasoning = false
  let inFinal = false
  let begun = false

  const shown = (text: string): string => {
    if (inReasoning) {
      reasoning += text
      return ''
    }
    code.pass(text)
    if (finalOnly && !inFinal) return ''
    const visible = begun ? text : text.trimStart()
    begun ||= visible !== ''
    return visible
  }

  /** Nothing is seen so far, or here. */
  const opens = (): boolean => !begun || (finalOnly && !inFinal)
  const isOpen = (): boolean => earlier || finalOnly || inReasoning || inFinal || !begun

  /** Whether it is a tag here, and not a word about tags. */
  const counts = ({ name, closing }: Pick<Tag, 'name' | 'closing'>): boolean =>
    earlier || inReasoning || (name === 'final' ? finalOnly || (inFinal ? closing : opens()) : opens())

  const apply = ({ name, closing, empty }: Tag): void => {
    if (empty) return
    if (name === 'final') inFinal = inReasoning ? inFinal : !closing
    else {
      if (!closing && !inReasoning && reasoning !== '') reasoning += '\n'
      inReasoning = !closing
    }
  }

  const read = (ended: boolean): string => {
    let visible = ''
    let at = 0
    while (at < waiting.length) {
      if (!isOpen()) {
        visible += waiting.slice(at)
        at = waiting.length
        break
      }
      const kept = inReasoning ? 0 : code.keptAt(waiting, at, ended)
      if (kept === undefined) break
      if (kept > 0) {
        visible += shown(waiting.slice(at, at + kept))
        at += kept
        continue
      }
      const tag = waiting[at] === '<' ? tagAt(waiting, at) : undefined
      if (tag === 'unfinished') {
        if (!ended) break
        // Of a text that broke off in a tag, the tag is not shown.
        const [, slash, name] = wholeName.exec(waiting.slice(at)) ?? []
        if (name === undefined || !counts({ name: name.toLowerCase(), closing: slash === '/' })) visible += shown(waiting.slice(at))
        at = waiting.length
        continue
      }
      if (tag && counts(tag)) {
        apply(tag)
        at += tag.length
        continue
      }
      const next = nextMark(waiting, at + 1, inReasoning ? /</g : /[<`~]/g)
      visible += shown(waiting.slice(at, next))
      at = next
    }
    waiting = waiting.slice(at)
    return visible
  }

  return {
    /** @returns what became visible */
    push(delta: string): string {
      waiting += delta
      return read(false)
    },
    /** @returns what was held back and is visible after all */
    end: (): string => read(true),
    /** The reasoning that stood in tags, so far. */
    get reasoning(): string {
      return reasoning.trim()
    },
  }
}

/** Removes the reasoning in tags at the start of a complete text. */
export const withoutReasoning = (text: string): string => {
  const { push, end } = visibleText()
  return push(text) + end()
}

const names = ['think', 'thinking', 'thought', 'reasoning', 'final']
const wholeTag = /<(\/?)(think|thinking|thought|reasoning|final)(?:\s[^<>]{0,200})?\/?>/iy
const wholeName = /^<(\/?)(think|thinking|thought|reasoning|final)(?:\s[^<>]{0,200})?\/?$/i
const tagCharsMax = 230

type Tag = { name: string; closing: boolean; empty: boolean; length: number }

const tagAt = (text: string, at: number): Tag | 'unfinished' | undefined => {
  wholeTag.lastIndex = at
  const [found, slash, name = ''] = wholeTag.exec(text) ?? []
  if (found !== undefined) return { name: name.toLowerCase(), closing: slash === '/', empty: found.endsWith('/>'), length: found.length }
  if (text.length - at > tagCharsMax) return undefined
  const begun = text.slice(at)
  const [, word] = /^<\/?([a-z]*)$/i.exec(begun) ?? []
  const mayBeTag = word === undefined ? wholeName.test(begun) : names.some((known) => known.startsWith(word.toLowerCase()))
  return mayBeTag ? 'unfinished' : undefined
}

const nextMark = (text: string, from: number, marks: RegExp): number => {
  marks.lastIndex = from
  return marks.exec(text)?.index ?? text.length
}

/** A finished text as a user sees it. */
export const cleanText = (text: string, options: VisibleTextOptions = {}): string => {
  const { push, end } = visibleText(options)
  const visible = push(text) + end()
  return (options.earlier ? withoutRepeats(visible) : visible).trim()
}

const anyTag = /<\/?(?:think|thinking|thought|reasoning|final)\b/i

/** Whether builds that recorded no references would have shown less of the text, or the present one may. */
export const mayHide = (text: string): boolean => anyTag.test(text) || (/\n[^\S\n]*\n/.test(text) && withoutRepeats(text) !== text)

/** Without paragraphs that say the same as the one before. Code is left alone: there the same lines may well stand twice. */
const withoutRepeats = (text: string): string => {
  let fence: Fence | undefined
  const kept: string[] = []
  let paragraph: string[] = []
  let last = ''
  let hasCode = false

  const endParagraph = (): void => {
    const text = paragraph.join(' ').replace(/\s+/g, ' ').trim()
    if (text === '') return
    if (hasCode || text !== last) for (const line of paragraph) kept.push(line)
    else while (kept.at(-1)?.trim() === '') kept.pop()
    last = hasCode ? '' : text
    paragraph = []
    hasCode = false
  }

  for (const line of text.split('\n')) {
    const opened = fence ? undefined : fenceOpenedBy(line)
    hasCode ||= opened !== undefined
    const closes = fence !== undefined && closesFence(fence, line)
    if (fence === undefined && !opened && line.trim() === '') {
      endParagraph()
      kept.push(line)
    } else paragraph.push(line)
    fence = closes ? undefined : (fence ?? opened)
  }
  endParagraph()
  return kept.join('\n')
}
