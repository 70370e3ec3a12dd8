/** Which node has which actor, and how the others reach it. */
export { type Cluster, type NodeRow, openCluster } from './cluster.ts'
export type { ToolNames } from './tools-elsewhere.ts'
