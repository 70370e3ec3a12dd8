/** What `import … from 'statecast/nats'` offers to services that work beside the nodes. */
import type { ConnectionOptions } from '@nats-io/transport-node'
import { type ToolServer, type ToolServerOptions, toolServer } from './api/index.ts'
import { systemEnvironment } from './runtime/index.ts'
import { connectBus } from './transport/nats/index.ts'

export { type ToolServer, type ToolServerOptions, toolServer } from './api/index.ts'
export { partitionCount, partitionOf } from './contracts/placement.ts'
export { subjects } from './contracts/subjects.ts'
export { type NatsOptions, openNats, type Permissions, permissionsOf, type Role, serverConfig, type User } from './transport/nats/index.ts'

/**
 * Serves tools from a process of its own, for agents with `services`. Resolves when nodes can find them.
 * @param url of the server, as `statecast up --url` takes it
 * @throws RuntimeError log_unavailable, unauthorised; bad_request as {@link toolServer}
 */
export const serveTools = async (
  url: string,
  { connection, ...options }: ToolServerOptions & { connection?: ConnectionOptions },
): Promise<ToolServer> => {
  const { log } = { ...systemEnvironment(), ...options.environment }
  const { bus, flush, close } = await connectBus(url, log, connection)
  try {
    const server = toolServer(bus, options)
    await flush()
    return {
      id: server.id,
      async close() {
        await server.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
