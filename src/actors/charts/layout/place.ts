/** Where everything of a chart stands. It depends on the machine alone, so the eye learns it: whoever shows a session changes only how states look. */
import type { Chart } from '../chart.ts'
import { type Box, type Drawing, type DrawnTransition, drawingOf, type Line } from './drawing.rules.ts'
import type { Elk, ElkEdge, ElkNode, ElkPoint } from './elk.ts'
import { type Direction, elkGraph, linesOf, rowWidth, staysText, type Widths } from './elk-graph.ts'
import { type Chip, cut, type Level, nameWidth, type PlacedRow, stripRows, wireChip } from './measure.rules.ts'

/** All numbers are px from the upper left corner of the chart. */
export type PlacedBox = {
  id: string
  name: string
  type: Box['node']['type']
  history: 'shallow' | 'deep' | undefined
  initial: boolean
  region: boolean
  description: string | undefined
  x: number
  y: number
  width: number
  height: number
  /** Whether states stand in it. */
  isOuter: boolean
  lines: Line[]
  rows: PlacedRow[]
  /** `3 stay`, or nothing. */
  staysText: string
  stays: DrawnTransition[]
}
export type PlacedWire = {
  id: string
  source: string
  target: string
  path: string
  chip: Chip & { x: number; y: number }
  transitions: DrawnTransition[]
}
/** @property rows what leads on from every state @property docked from where on, downwards, ends stand that have no wire */
export type PlacedChart = {
  id: string
  level: Level
  width: number
  height: number
  rows: PlacedRow[]
  boxes: PlacedBox[]
  wires: PlacedWire[]
  docked: number | undefined
}

/** Beside these a chart is looked at: the direction is taken that fits better. */
const pane = { width: 830, height: 500 }
const directions: readonly Direction[] = ['DOWN', 'RIGHT']
const rootRowWidth = 520

/** Lays out in both directions, each twice: how wide a state gets that has others in it is known only after the first time. */
export const placeChart = async (elk: Elk, chart: Chart, level: Level): Promise<PlacedChart> => {
  const drawing = drawingOf(chart)
  let best: PlacedChart | undefined
  for (const direction of directions) {
    const first = await elk.layout(elkGraph(drawing, level, direction, new Map()))
    const widths: Widths = new Map(flat(first).map(({ id, width = 0 }) => [id, width]))
    const second = await elk.layout(elkGraph(drawing, level, direction, widths))
    const placed = placedChart(chart, drawing, level, second)
    // The first one stays unless the other is clearly better.
    if (!best || scaleOf(placed) > scaleOf(best) * 1.1) best = placed
  }
  return best as PlacedChart
}

const scaleOf = ({ width, height }: PlacedChart): number => Math.min(pane.width / width, pane.height / height, 1)

const flat = (node: ElkNode): ElkNode[] => (node.children ?? []).flatMap((child) => [child, ...flat(child)])

const placedChart = (chart: Chart, drawing: Drawing, level: Level, laid: ElkNode): PlacedChart => {
  const { root, wires, dock } = drawing
  const at = new Map(flat(laid).map((node) => [node.id, node]))
  const rows = root.inner.length > 0 ? stripRows(root.strip, rootRowWidth, level) : []
  const top = rows.length > 0 ? rows.length * 23 + 18 : 0
  const placed = (box: Box): PlacedBox[] => {
    const { x = 0, y = 0, width = 0, height = 0 } = at.get(box.node.id) ?? {}
    return [placedBox(box, { x, y: y + top, width, height }, level), ...box.inner.flatMap(placed)]
  }
  const boxes = root.inner.length > 0 ? root.inner.flatMap(placed) : placed(root)
  const ofId = new Map(wires.map((wire) => [wire.id, wire]))
  const placedWires = (laid.edges ?? []).flatMap((edge): PlacedWire[] => {
    const wire = ofId.get(edge.id)
    const [label] = edge.labels ?? []
    if (!wire) return []
    const chip = { ...wireChip(wire.transitions, level), x: label?.x ?? 0, y: (label?.y ?? 0) + top }
    return [{ ...wire, path: pathOf(edge, top), chip }]
  })
  const bottom = top + (laid.height ?? 0)
  let x = 8
  const docked = dock.flatMap((box): PlacedBox[] => {
    const width = Math.max(84, nameWidth(box.node.key, level) + 26)
    const one = placedBox({ ...box, lines: [] }, { x, y: bottom + 20, width, height: 34 }, level)
    x += width + 14
    return [one]
  })
  return {
    id: chart.id,
    level,
    width: Math.ceil(Math.max(laid.width ?? 0, x, rows.length > 0 ? rootRowWidth : 0)),
    height: Math.ceil(bottom + (dock.length > 0 ? 64 : 0)),
    rows,
    boxes: [...boxes, ...docked],
    wires: placedWires,
    docked: dock.length > 0 ? bottom + 8 : undefined,
  }
}

type Frame = { x: number; y: number; width: number; height: number }

const placedBox = (box: Box, frame: Frame, level: Level): PlacedBox => {
  const { node, initial, region, stays, strip, inner } = box
  return {
    id: node.id,
    name: cut(node.key, 40),
    type: node.type,
    history: node.history,
    initial,
    region,
    description: node.description,
    ...frame,
    isOuter: inner.length > 0,
    lines: linesOf(box, level),
    rows: inner.length > 0 ? stripRows(strip, rowWidth(frame.width, level), level) : [],
    staysText: staysText(box, level),
    stays,
  }
}

const radius = 7

/** Straight lines with round corners. */
const pathOf = ({ sections = [] }: ElkEdge, down: number): string =>
  sections
    .map(({ startPoint, bendPoints = [], endPoint }) => {
      const points = [startPoint, ...bendPoints, endPoint].map(({ x, y }) => ({ x, y: y + down }))
      return points.map((point, index) => (index === 0 ? `M${xy(point)}` : corner(points, index))).join('')
    })
    .join('')

const corner = (points: ElkPoint[], index: number): string => {
  const [before, here, after] = [points[index - 1], points[index], points[index + 1]] as [ElkPoint, ElkPoint, ElkPoint | undefined]
  if (!after) return `L${xy(here)}`
  const room = Math.min(radius, distance(before, here) / 2, distance(here, after) / 2)
  return `L${xy(towards(here, before, room))}Q${xy(here)} ${xy(towards(here, after, room))}`
}

const distance = (a: ElkPoint, b: ElkPoint): number => Math.hypot(a.x - b.x, a.y - b.y)
const towards = (from: ElkPoint, to: ElkPoint, by: number): ElkPoint => {
  const length = distance(from, to) || 1
  return { x: from.x + ((to.x - from.x) * by) / length, y: from.y + ((to.y - from.y) * by) / length }
}
const xy = ({ x, y }: ElkPoint): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`
