/** What stands for a kind of event, or of line, within 10 × 10: paths of lines. */
import type { Line } from './drawing.rules.ts'
import type { Glyph } from './measure.rules.ts'

export const glyphs: Readonly<Record<Glyph | Line['kind'], string>> = {
  event: 'M2 5h6M5.5 2.5 8 5 5.5 7.5',
  always: 'M5 1.5v7M2 3.2l6 3.6M8 3.2 2 6.8',
  after: 'M5 1.2a3.8 3.8 0 1 0 .01 0M5 3v2.2l1.6 1',
  done: 'M1.8 5.4 4 7.6 8.4 2.6',
  error: 'M2.4 2.4l5.2 5.2M7.6 2.4 2.4 7.6',
  invoke: 'M3 2l5 3-5 3z',
  entry: 'M1 5h5M4 3l2 2-2 2M8.5 2v6',
  exit: 'M4 5h5M7 3l2 2-2 2M1.5 2v6',
  end: 'M2 5h6M5.5 2.5 8 5 5.5 7.5',
  from: 'M5 1v5M3 4l2 2.4L7 4M1.5 8.8h7',
}
