/** Charts as pictures: what is drawn, where it stands, and the file. */
export { type DrawnTransition, transitionsOf } from './drawing.rules.ts'
export type { Elk } from './elk.ts'
export { glyphs } from './glyphs.ts'
export { type Level, lineHeight, type PlacedRow, rowHeight } from './measure.rules.ts'
export { type PlacedBox, type PlacedChart, type PlacedWire, placeChart } from './place.ts'
export { toSvg } from './svg.ts'
