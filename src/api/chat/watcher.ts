/** Those who watch a session, and what they are told first. */
import type { ChatEvent, GatewayEvents, ToolEvent } from '../../contracts/gateway.ts'

/** Who watches. `tell` must not throw. */
export type Watcher = {
  tell<Name extends keyof GatewayEvents>(event: Name, payload: GatewayEvents[Name]): void
  /** There will be no more: the session was quarantined, or the runtime closes. */
  ended(): void
}

export type RunSoFar = { run: ChatEvent | null; tools: ToolEvent[] }
