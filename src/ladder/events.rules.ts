/** What charts of all rungs read from events. Pure. */
import type { EventObject } from 'xstate'

/** The child whose end XState tells. */
export const actorIn = (event: EventObject): string => (event as unknown as { actorId: string }).actorId
