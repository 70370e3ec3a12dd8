/** How a node is, put together of its parts. */
import type { Host } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { shuttingDownDetail, type Transport } from '../contracts/transport.ts'
import type { McpReport } from '../tools/index.ts'
import type { Health } from './interface.ts'

type Asked = { transport: Transport; host: Pick<Host, 'liveCount'>; isEnding: () => boolean; node: string | undefined; mcp: McpReport[] | undefined }

export const healthOf = async ({ transport, host, isEnding, node, mcp }: Asked): Promise<Health> => {
  const health = await transport.health()
  const ending = isEnding()
  return {
    ...health,
    ready: health.writable && !ending,
    ...definedOf({ detail: health.detail ?? (ending ? shuttingDownDetail : undefined) }),
    liveActors: host.liveCount,
    transport: transport.name,
    ...definedOf({ node, mcp }),
  }
}
