/** What we give to ELK and take from it. Its own types do not hold under every TypeScript, and would be part of ours. */
export type ElkPoint = { x: number; y: number }
type ElkLabel = { id: string; text: string; width: number; height: number; x?: number; y?: number; layoutOptions?: Record<string, string> }
export type ElkEdge = {
  id: string
  sources: string[]
  targets: string[]
  labels?: ElkLabel[]
  layoutOptions?: Record<string, string>
  sections?: { startPoint: ElkPoint; bendPoints?: ElkPoint[]; endPoint: ElkPoint }[]
}
export type ElkNode = {
  id: string
  x?: number
  y?: number
  width?: number
  height?: number
  children?: ElkNode[]
  edges?: ElkEdge[]
  layoutOptions?: Record<string, string>
}

/** As `new ELK()` makes one, which works in a worker where it is given the address of its script. */
export type Elk = { layout(graph: ElkNode): Promise<ElkNode> }
