/** What a reader who is slow may be left without. Pure. */
import type { FullConfiguration } from '../../contracts/configuration.ts'
import type { ChatEvent, GatewayEventName } from '../../contracts/gateway.ts'

type Dropped = FullConfiguration['gateway']['dropIfSlow']
/** May be left out for a reader who is slow: another one follows, or nobody needs it. What ends a run never is. */
export const droppable = (event: GatewayEventName, payload: unknown, { tick, health, state, delta }: Dropped): boolean =>
  event === 'sessions.changed' ||
  (event === 'tick' && tick) ||
  (event === 'health' && health) ||
  (event === 'session.state' && state) ||
  (event === 'chat' && (payload as ChatEvent).state === 'delta' && delta)
