/** Where a runtime keeps what happens: a transport that it was given, or one that its options name. */
import { fromFolder } from './client/index.ts'
import { definedOf } from './contracts/defined.ts'
import type { Environment } from './contracts/environment.ts'
import type { Transport } from './contracts/transport.ts'
import type { RuntimeOptions, variables } from './runtime/index.ts'
import { openTransport } from './transport/index.ts'

type Opened = {
  transport: Transport
  /** It ends with the runtime; one that was given stays its giver's. */
  isOurs: boolean
}

/** @throws RuntimeError bad_request, locked, log_unavailable … */
export const openStore = async (options: RuntimeOptions, env: ReturnType<typeof variables>, environment: Environment): Promise<Opened> => {
  if (typeof options.transport === 'object') return { transport: options.transport, isOurs: false }
  const address = options.transport ?? options.config?.session?.store ?? env.STATECAST_URL ?? 'embedded:./.statecast'
  const transport = await openTransport(fromFolder(address, environment.folder), {
    environment,
    owner: { pid: String(process.pid), ...options.owner },
    ...definedOf({ prefix: options.prefix, connection: options.nats, replicas: options.replicas }),
  })
  return { transport, isOurs: true }
}
