/** How much room texts take. Labels are monospaced, so they are measured by counting, where there is no page to measure them in. */
import type { DrawnTransition, StripRow } from './drawing.rules.ts'
import { eventsOf, groups } from './drawing.rules.ts'

/** `overview`: names, and wires with a glyph and a count; `labels`: events, guards, entry, exit and invoked actors in words. */
export type Level = 'overview' | 'labels'

export type Glyph = 'event' | 'always' | 'after' | 'done' | 'error'

/** px of one character. */
const labelAdvance = 6.62
const nameAdvance: Readonly<Record<Level, number>> = { overview: 9.2, labels: 8.1 }
const glyphRoom = 16
export const rowHeight = 21
export const lineHeight = 17

/** Characters, not the units that they are stored in. */
const lengthOf = (text: string): number => Array.from(text).length

export const labelWidth = (text: string): number => Math.ceil(lengthOf(text) * labelAdvance)
export const nameWidth = (text: string, level: Level): number => Math.ceil(lengthOf(text) * nameAdvance[level])

export const cut = (text: string, max: number): string => {
  const characters = Array.from(text)
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : text
}

const glyphOf = ({ event }: { event: string }): Glyph => {
  if (event === 'always') return 'always'
  if (event.startsWith('after ')) return 'after'
  if (event === 'done' || event.startsWith('done(')) return 'done'
  return event.startsWith('error(') ? 'error' : 'event'
}

/** @property lines beside the glyph @property order the number of the one candidate that it stands for */
export type Chip = { lines: string[]; glyph: Glyph; order: number | undefined; width: number; height: number }

/** Of a wire: one transition in words, two by their events, more as a count. */
export const wireChip = (transitions: readonly DrawnTransition[], level: Level): Chip => {
  const [first] = transitions
  const glyph = first ? glyphOf(first) : 'event'
  const one = transitions.length === 1 ? first : undefined
  if (level === 'overview') {
    const lines = one ? [] : [`${transitions.length}`]
    return { lines, glyph, order: undefined, width: 18 + (one ? 0 : labelWidth(lines.join()) + 3), height: 17 }
  }
  const lines = one ? [cut(one.guard === undefined ? one.event : `${one.event} [${one.guard}]`, 30)] : namesOf(transitions)
  const order = one?.order
  return {
    lines,
    glyph,
    order,
    width: Math.max(...lines.map(labelWidth)) + glyphRoom + 12 + (order === undefined ? 0 : 12),
    height: lines.length * 15 + 5,
  }
}

const namesOf = (transitions: readonly DrawnTransition[]): string[] => {
  const [first = [], second = [], ...rest] = [...groups(transitions, ({ event }) => event).values()]
  const more = rest.flat().length
  return [eventsOf(first), ...(second.length > 0 ? [`${cut(eventsOf(second), 24)}${more > 0 ? ` +${more}` : ''}`] : [])]
}

type StripChip = { text: string; x: number; width: number; transitions: DrawnTransition[] }
/** @property head where the chips lead; empty on a row that goes on with the one before */
export type PlacedRow = { head: string; chips: StripChip[] }

/** The rows of a strip, wrapped into a width. */
export const stripRows = (strip: readonly StripRow[], width: number, level: Level): PlacedRow[] => {
  const rows: PlacedRow[] = []
  const headOf = ({ to, again }: StripRow) => (again ? 'again' : to === undefined ? 'stays' : `→ ${to}`)
  const parts = strip.flatMap((row) =>
    level === 'overview'
      ? [{ head: '', text: `${headOf(row)} ${row.transitions.length}`, transitions: row.transitions }]
      : [...groups(row.transitions, ({ event }) => event).values()].map((some, index) => ({
          head: index === 0 ? cut(headOf(row), 16) : '',
          text: eventsOf(some),
          transitions: some,
        })),
  )
  let row: PlacedRow | undefined
  let x = 0
  for (const { head, text, transitions } of parts) {
    const room = labelWidth(text) + 12
    const start = level === 'overview' ? 8 : 118
    if (!row || head !== '' || (x + room > width - 6 && row.chips.length > 0)) {
      row = { head, chips: [] }
      rows.push(row)
      x = start
    }
    row.chips.push({ text, x, width: room, transitions })
    x += room + 5
  }
  return rows
}
