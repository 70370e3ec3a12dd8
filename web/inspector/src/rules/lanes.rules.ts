/** The timeline: a lane for each place in the tree, a column for each commit. */
import type { Mark, Row } from '../fold/messages.ts'

export type Span = { from: number; to: number; state: string; tone: Tone }
export type Lane = { name: string; depth: number; spans: Span[]; marks: (Mark & { seq: number })[] }
export type Tone = 'run' | 'wait' | 'rest' | 'fail'

/** `/turn#3/loop#1` and `/turn#4/loop#1` are one place. */
export const placeOf = (path: string): string => (path === '/' ? '/' : path.replace(/#\d+/g, ''))
export const nameOf = (place: string, kind: string): string => (place === '/' ? kind : (place.split('/').at(-1) ?? place))

/** A state value in one line: `running.answering`, `money.paid, parcel.sent`. */
export const stateText = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([key, inner]) => (typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0 ? key : `${key}.${stateText(inner)}`))
    .join(', ')
}

export const toneOf = (state: string, isRoot: boolean): Tone => {
  if (/\b(failed|error|cancelled|denied)\b/.test(state)) return 'fail'
  if (/awaiting-input|awaiting-decision/.test(state)) return isRoot ? 'rest' : 'wait'
  return state === 'stopped' || state === 'done' ? 'rest' : 'run'
}

/** @param kind of the root, which is what its lane is called */
export const lanesOf = (rows: readonly Row[], kind: string): Lane[] => {
  const lanes = new Map<string, Lane>()
  const open = new Map<string, Span>()
  const laneOf = (place: string): Lane => {
    let lane = lanes.get(place)
    if (!lane) {
      lane = { name: nameOf(place, kind), depth: place === '/' ? 0 : place.split('/').length - 1, spans: [], marks: [] }
      lanes.set(place, lane)
    }
    return lane
  }
  for (const { seq, states, marks, living } of rows) {
    const alive = living && new Set(living.map(({ path }) => path))
    for (const mark of marks) laneOf(placeOf(mark.path)).marks.push({ ...mark, seq })
    for (const [path, span] of open)
      if (alive && !alive.has(path)) {
        span.to = seq
        open.delete(path)
      }
    for (const [path, value] of Object.entries(states)) {
      const state = stateText(value)
      const before = open.get(path)
      if (before?.state === state) continue
      if (before) before.to = seq
      open.delete(path)
      const place = placeOf(path)
      const span = { from: seq, to: seq, state, tone: toneOf(state, place === '/') }
      laneOf(place).spans.push(span)
      if (!alive || alive.has(path)) open.set(path, span)
    }
  }
  const end = (rows.at(-1)?.seq ?? 0) + 1
  for (const span of open.values()) span.to = end
  return [...lanes].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, lane]) => lane)
}

/** Columns that are drawn at once; longer traces are leafed through. */
export const columnsMax = 120
/** @returns first and last commit of the part that a moment stands in */
export const windowOf = (seq: number, head: number): { from: number; to: number } => {
  if (head <= columnsMax) return { from: 1, to: Math.max(head, 1) }
  const from = Math.max(1, Math.min(seq - Math.floor(columnsMax / 2), head - columnsMax + 1))
  return { from, to: from + columnsMax - 1 }
}
