/** What is known of a frame by itself. */
import type { GatewayEventName, GatewayScope } from '../../contracts/gateway.ts'

/** Also of a frame that is refused, so that its sender knows which one it was. */
export const idOf = (said: unknown): string => {
  const { id } = (said ?? {}) as { id?: unknown }
  return typeof id === 'string' ? id.slice(0, 100) : ''
}

export const bytesOf = (frame: object): Buffer => Buffer.from(JSON.stringify(frame))
/** Shorter answers are not worth counting: so many requests of a connection are answered at once. */
export const smallBytes = 4096

export const scopeOfEvent = (event: GatewayEventName): GatewayScope => (event.startsWith('approval.') ? 'approve' : 'read')
