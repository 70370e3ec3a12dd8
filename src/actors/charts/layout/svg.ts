/** A chart as one SVG file: no script, nothing from elsewhere, in light and dark, and names as text whatever is in them. */
import { xmlText as text } from '../shown-text.ts'
import type { Line } from './drawing.rules.ts'
import { glyphs } from './glyphs.ts'
import { type Glyph, lineHeight, type PlacedRow, rowHeight } from './measure.rules.ts'
import type { PlacedBox, PlacedChart, PlacedWire } from './place.ts'

type SvgOptions = {
  /** Ids of states to light. */
  active?: readonly string[]
  /** For those who do not see it. Default: the machine's name and how many states it has. */
  description?: string
}

const style = `
text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#181b19}
.name{font:600 13px system-ui,"Segoe UI","Liberation Sans",sans-serif}
.overview .name{font-size:14.5px}
.ground{fill:#fcfcfb}.box{fill:#fff;stroke:#858d85}.outer{fill:#f7f8f5;stroke:#c3c9c0}.region{stroke-dasharray:5 4}
.ring,.wire,.glyph,.rule{fill:none;stroke:#858d85}.wire{stroke-width:1.3}.fails{stroke-dasharray:4 3}
.glyph{stroke:#474e49;stroke-linecap:round;stroke-linejoin:round}
.chip{fill:#fcfcfb;stroke:#c3c9c0}.tip{fill:#858d85}.soft{fill:#575f59}.dot{fill:#474e49}
.active{stroke:#0b6657;stroke-width:2.5;fill:#e1f0eb}
@media (prefers-color-scheme:dark){.ground{fill:#131614}text{fill:#e7ebe7}.box{fill:#1b1f1c;stroke:#6f7a73}.outer{fill:#131614;stroke:#3f4842}
.ring,.wire,.rule{stroke:#6f7a73}.glyph{stroke:#b3bbb5}.chip{fill:#131614;stroke:#3f4842}.tip{fill:#6f7a73}.soft{fill:#9ba49e}.dot{fill:#b3bbb5}
.active{stroke:#66ccb6;fill:#152c27}}
`.replaceAll('\n', '')

/** @returns the file, with a line end */
export const toSvg = (chart: PlacedChart, { active = [], description }: SvgOptions = {}): string => {
  const { id, level, width, height, boxes, wires, rows, docked } = chart
  const lit = new Set(active)
  const outer = boxes.filter(({ isOuter }) => isOuter)
  const inner = boxes.filter(({ isOuter }) => !isOuter)
  const about = description ?? `${id}: ${boxes.length} states`
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" class="${level}">`,
    `<title>${text(id)}</title><desc>${text(about)}</desc><style>${style}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>',
    // A page around it may be light where its reader is not.
    `<rect class="ground" width="${width}" height="${height}"/>`,
    ...(rows.length > 0 ? [label(12, 20, 'in every state', 'soft'), ...rowsOf(rows, 120, 8)] : []),
    ...outer.flatMap((box) => boxOf(box, lit)),
    ...wires.map(({ path, chip }) => `<path class="wire${chip.glyph === 'error' ? ' fails' : ''}" marker-end="url(#tip)" d="${path}"/>`),
    ...inner.flatMap((box) => boxOf(box, lit)),
    ...wires.flatMap(chipOf),
    ...(docked === undefined ? [] : [`<path class="rule" d="M8 ${docked}H${width - 8}"/>`]),
    '</svg>',
  ].join('\n')}\n`
}

const boxOf = (box: PlacedBox, lit: ReadonlySet<string>): string[] => {
  const { id, name, type, history, initial, region, x, y, width, height, isOuter, lines, rows, staysText, description } = box
  const kind = `${isOuter ? 'outer' : 'box'}${region ? ' region' : ''}${lit.has(id) ? ' active' : ''}`
  if (type === 'history')
    return [
      `<circle class="${kind}" cx="${x + 14}" cy="${y + 14}" r="12"/>`,
      `<text x="${x + 14}" y="${y + 18}" text-anchor="middle">${history === 'deep' ? 'H*' : 'H'}</text>`,
    ]
  const left = x + 12 + (initial ? 14 : 0)
  return [
    `<g>${description === undefined ? '' : `<title>${text(description)}</title>`}<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`,
    ...(type === 'final' ? [`<rect class="ring" x="${x + 3}" y="${y + 3}" width="${width - 6}" height="${height - 6}" rx="6"/>`] : []),
    ...(initial ? [`<circle class="dot" cx="${x + 15}" cy="${y + 17}" r="3.5"/>`] : []),
    label(left, y + 22, name, 'name'),
    ...(staysText === '' ? [] : [label(x + width - 10, y + 21, staysText, 'soft', 'end')]),
    ...lines.flatMap((line, index) => lineOf(line, x, y + 36 + index * lineHeight)),
    ...rowsOf(rows, x + 8, y + 36 + lines.length * lineHeight),
    '</g>',
  ]
}

const lineOf = ({ kind, text: words }: Line, x: number, y: number): string[] => [glyph(kind, x + 12, y), label(x + 27, y + 9, words, 'soft')]

const rowsOf = (rows: readonly PlacedRow[], left: number, top: number): string[] =>
  rows.flatMap(({ head, chips }, index) => {
    const y = top + index * rowHeight
    return [
      ...(head === '' ? [] : [label(left, y + 12, head, 'soft')]),
      ...chips.flatMap(({ text: words, x, width }) => [
        `<rect class="chip" x="${left + x}" y="${y}" width="${width}" height="17" rx="5"/>`,
        label(left + x + 6, y + 12, words),
      ]),
    ]
  })

const chipOf = ({ chip }: PlacedWire): string[] => {
  const { x, y, width, height, lines, glyph: kind, order } = chip
  return [
    `<rect class="chip" x="${x}" y="${y}" width="${width}" height="${height}" rx="5"/>`,
    glyph(kind, x + 4, y + 4),
    ...lines.map((words, index) => label(x + 17, y + 13 + index * 15, words)),
    ...(order === undefined ? [] : [label(x + width - 5, y + 13, `${order}`, 'soft', 'end')]),
  ]
}

const glyph = (kind: Glyph | Line['kind'], x: number, y: number): string =>
  `<path class="glyph" transform="translate(${x} ${y})" d="${glyphs[kind]}"/>`

const label = (x: number, y: number, words: string, kind?: string, anchor?: 'end'): string =>
  `<text x="${x}" y="${y}"${kind === undefined ? '' : ` class="${kind}"`}${anchor === undefined ? '' : ` text-anchor="${anchor}"`} unicode-bidi="isolate">${text(words)}</text>`
