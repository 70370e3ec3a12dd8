/** A gateway of a runtime in this process, on a port that the system chooses. */
import { type Gateway, type ServeOptions, serveGateway } from '../../src/api/http/serve.ts'
import type { Runtime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'

export const token = 'a-token-of-thirty-two-characters'

export const gatewayOn = (runtime: Runtime, options: Partial<ServeOptions> = {}): Promise<Gateway> =>
  serveGateway({ runtime: () => runtime, log: partsOf(runtime).environment.log, host: '127.0.0.1', port: 0, tokens: [token], ...options })
