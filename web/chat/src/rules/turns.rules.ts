/** Entries as turns: what was said, and what came of it. */
import type { Answer, Entry, Notice, Said, Summary } from '../model.ts'

export type Turn = { id: string; at?: number; said: Said[]; answer?: Answer; notices: (Notice | Summary)[] }

/**
 * Several messages that one run answers are one turn, and so is a notice by itself. What has not changed since `before` is the same object again, so that
 * it need not be drawn anew.
 */
export const turnsOf = (entries: readonly Entry[], before: readonly Turn[]): Turn[] => {
  const turns: Turn[] = []
  for (const entry of entries) {
    const last = turns.at(-1)
    if (entry.kind === 'said') {
      if (last && !last.answer && last.notices.length === 0) last.said.push(entry)
      else turns.push(withTime({ id: entry.id, said: [entry], notices: [] }, entry.at))
    } else if (entry.kind === 'notice' || entry.kind === 'summary') {
      if (last && last.answer?.state !== 'running') last.notices.push(entry)
      else turns.push(withTime({ id: entry.id, said: [], notices: [entry] }, entry.at))
    } else if (last && !last.answer) last.answer = entry
    else turns.push(withTime({ id: entry.id, said: [], notices: [], answer: entry }, entry.at))
  }
  const known = new Map(before.map((turn) => [turn.id, turn]))
  return turns.map((turn) => {
    const old = known.get(turn.id)
    return old && isSame(old, turn) ? old : turn
  })
}

const withTime = (turn: Turn, at: number | undefined): Turn => (at === undefined ? turn : { ...turn, at })

const isSame = (a: Turn, b: Turn): boolean => a.answer === b.answer && areSame(a.said, b.said) && areSame(a.notices, b.notices)

const areSame = (a: readonly unknown[], b: readonly unknown[]): boolean => a.length === b.length && a.every((one, index) => one === b[index])

/** An answer as it was written, for the clipboard. */
export const textOfAnswer = ({ blocks }: Answer): string => blocks.flatMap((block) => (block.type === 'text' ? [block.text.trim()] : [])).join('\n\n')

/** A message of more than twelve lines is folded; undefined: it is shown whole. */
export const foldOf = (text: string, linesMax = 12): { head: string; lines: number } | undefined => {
  const lines = text.replace(/(?<!\n)\n+$/, '').split('\n')
  if (lines.length > linesMax) return { head: lines.slice(0, linesMax).join('\n'), lines: lines.length }
  // One endless line is as tall as many.
  const most = linesMax * 90
  return text.length > most ? { head: `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`, lines: lines.length } : undefined
}
