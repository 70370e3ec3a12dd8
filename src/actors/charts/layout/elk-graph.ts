/** A drawing as a graph for ELK: the author's order is the reading order, and a label sits on its wire. */
import type { Box, Drawing } from './drawing.rules.ts'
import type { ElkEdge, ElkNode } from './elk.ts'
import { cut, type Level, labelWidth, lineHeight, nameWidth, rowHeight, stripRows, wireChip } from './measure.rules.ts'

export type Direction = 'DOWN' | 'RIGHT'

/** Widths that were found for states with others in them: their rows are wrapped into these, and the narrow ones are padded. */
export type Widths = ReadonlyMap<string, number>

/** px that a state with others in it has at least, so that its header has room. */
const innerWidthMin: Readonly<Record<Level, number>> = { overview: 170, labels: 330 }
const side = 16

const options: Record<string, string> = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.considerModelOrder.crossingCounterNodeInfluence': '0.05',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.layering.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.layered.compaction.postCompaction.strategy': 'EDGE_LENGTH',
  'elk.layered.compaction.connectedComponents': 'true',
  'elk.layered.thoroughness': '20',
  'elk.layered.edgeLabels.centerLabelPlacementStrategy': 'SPACE_EFFICIENT_LAYER',
  'elk.separateConnectedComponents': 'false',
  'elk.spacing.edgeLabel': '3',
  'elk.padding': '[top=8,left=8,bottom=8,right=8]',
}
const spacing: Readonly<Record<Level, Record<string, string>>> = {
  labels: {
    'elk.spacing.nodeNode': '22',
    'elk.spacing.edgeNode': '14',
    'elk.spacing.edgeEdge': '9',
    'elk.layered.spacing.nodeNodeBetweenLayers': '22',
    'elk.layered.spacing.edgeNodeBetweenLayers': '12',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '9',
  },
  overview: {
    'elk.spacing.nodeNode': '16',
    'elk.spacing.edgeNode': '10',
    'elk.spacing.edgeEdge': '8',
    'elk.layered.spacing.nodeNodeBetweenLayers': '9',
    'elk.layered.spacing.edgeNodeBetweenLayers': '7',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '6',
  },
}

export const elkGraph = ({ root, wires }: Drawing, level: Level, direction: Direction, widths: Widths): ElkNode => ({
  id: '',
  layoutOptions: { ...options, ...spacing[level], 'elk.direction': direction },
  children: root.inner.length > 0 ? root.inner.map((box) => elkNode(box, level, widths)) : [elkNode(root, level, widths)],
  edges: wires.map(({ id, source, target, transitions }): ElkEdge => {
    const { width, height } = wireChip(transitions, level)
    return {
      id,
      sources: [source],
      targets: [target],
      labels: [{ id: `${id} label`, text: ' ', width, height, layoutOptions: { 'elk.edgeLabels.inline': 'true' } }],
      layoutOptions: { 'elk.layered.priority.straightness': `${transitions.length}` },
    }
  }),
})

const elkNode = (box: Box, level: Level, widths: Widths): ElkNode => {
  const { node, inner } = box
  if (inner.length === 0) return { id: node.id, ...leafSize(box, level) }
  const found = widths.get(node.id)
  const widen = found === undefined ? 0 : Math.max(0, innerWidthMin[level] - found) / 2
  const top = headHeight(box, level, rowWidth(found, level))
  return {
    id: node.id,
    children: inner.map((one) => elkNode(one, level, widths)),
    layoutOptions: { ...spacing[level], 'elk.padding': `[top=${top + 8},left=${side + widen},bottom=14,right=${side + widen}]` },
  }
}

export const rowWidth = (found: number | undefined, level: Level): number => Math.max(found ?? 420, innerWidthMin[level])

/** Lines that there is room for on a level. */
export const linesOf = ({ lines, inner }: Box, level: Level): Box['lines'] => {
  if (level === 'labels') return lines.map((line) => ({ ...line, text: cut(line.text, 34) }))
  return inner.length > 0 ? [] : lines.filter(({ kind }) => kind === 'invoke')
}

const headHeight = (box: Box, level: Level, width: number): number => {
  const lines = linesOf(box, level).length
  const rows = stripRows(box.strip, width, level).length
  return 34 + (lines > 0 ? lines * lineHeight + 2 : 0) + (rows > 0 ? rows * rowHeight + 8 : 0)
}

export const staysText = ({ stays }: Box, level: Level): string => (stays.length > 0 && level === 'labels' ? `${stays.length} stay` : '')

const leafSize = (box: Box, level: Level): { width: number; height: number } => {
  const { node, initial } = box
  if (node.type === 'history') return { width: 28, height: 28 }
  const lines = linesOf(box, level)
  const stays = staysText(box, level)
  const name = nameWidth(cut(node.key, 40), level) + 26 + (initial ? 14 : 0) + (stays === '' ? 0 : labelWidth(stays) + 18)
  return {
    width: Math.max(84, name, ...lines.map(({ text }) => labelWidth(text) + 38)),
    height: 34 + (lines.length > 0 ? lines.length * lineHeight + 4 : 0),
  }
}
