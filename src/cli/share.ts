/**
 * A folder of data belongs to one process. A command that has it for longer, such as a chat, is a node for the other commands of that folder while it
 * lasts: on loopback, with the folder's token, and without a word about it.
 */

import type { Share } from '../client/index.ts'
import { errorBody } from '../contracts/errors.ts'
import type { Runtime } from '../runtime.ts'
import { writeOwner } from '../transport/embedded/index.ts'

/** Most commands are over before anybody could ask them something. */
const delayMs = 150

/** @param folder which said at its opening that it is `starting`: who wants it waits until this says where, or that nobody serves */
export const shareFolder = (runtime: Runtime, folder: string): Share => {
  const { log } = runtime
  const serve = async () => {
    try {
      const { ensureToken, serveGateway } = await import('../api/http/index.ts')
      const tokens = [ensureToken(folder)]
      const gateway = await serveGateway({ runtime: () => runtime, log, host: '127.0.0.1', port: 0, tokens })
      writeOwner(folder, { url: gateway.url })
      return gateway
    } catch (error) {
      log.debug({ error: errorBody(error) }, 'other commands cannot talk to this one')
      writeOwner(folder, {})
      return undefined
    }
  }
  let serving: ReturnType<typeof serve> | undefined
  const timer = setTimeout(() => {
    serving = serve()
    // A folder that is gone is told by whatever is asked of the runtime next.
    serving.catch(() => undefined)
  }, delayMs)
  const gateway = () => serving?.catch(() => undefined)
  return {
    async drain() {
      clearTimeout(timer)
      ;(await gateway())?.drain()
    },
    async close() {
      await (await gateway())?.close()
    },
  }
}
