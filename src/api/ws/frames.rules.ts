/** What is known of a frame by itself. */
import type { ChatEvent, GatewayEventName, GatewayScope } from '../../contracts/gateway.ts'

/** May be left out for a reader who is slow: another one follows, or nobody needs it. */
export const droppable = (event: GatewayEventName, payload: unknown): boolean =>
  event === 'tick' || event === 'health' || event === 'session.state' || (event === 'chat' && (payload as ChatEvent).state === 'delta')

/** Also of a frame that is refused, so that its sender knows which one it was. */
export const idOf = (said: unknown): string => {
  const { id } = (said ?? {}) as { id?: unknown }
  return typeof id === 'string' ? id.slice(0, 100) : ''
}

export const bytesOf = (frame: object): Buffer => Buffer.from(JSON.stringify(frame))
/** Shorter answers are not worth counting: so many requests of a connection are answered at once. */
export const smallBytes = 4096

export const scopeOfEvent = (event: GatewayEventName): GatewayScope => (event.startsWith('approval.') ? 'approve' : 'read')
