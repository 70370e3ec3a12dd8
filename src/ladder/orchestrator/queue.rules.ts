/** What the names mean by which a session takes requests and gives them back, whether its turns run one by one or beside each other. */
import { assign, type EventObject } from 'xstate'
import { errorBody, type LadderErrorBody } from '../errors.ts'
import { isKnown, type SessionRun, withdrawn } from './session.context.ts'
import { type Cancel, requestIn } from './session.events.rules.ts'

type Scope = { context: SessionRun; event: EventObject }

export const cancelledTurn = (name: string, { sessionId }: SessionRun, event: EventObject): LadderErrorBody =>
  errorBody('ORCHESTRATOR_CANCELLED', `a turn of '${name}' was cancelled`, { context: { sessionId, reason: (event as Cancel).reason ?? null } })

/** Their types are those of the machine that takes them. */
export const queueActions = (name: string, now: () => number): Record<string, never> =>
  ({
    enqueue: assign(({ context, event }: Scope) => ({ queue: [...context.queue, requestIn(event)] })),
    withdraw: assign(({ context, event }: Scope) => withdrawn(context, (event as Cancel).request ?? '', cancelledTurn(name, context, event), now())),
  }) as unknown as Record<string, never>

export const queueGuards: Record<string, never> = {
  'is known': ({ context, event }: Scope) => isKnown(context, requestIn(event).id),
  'is queued': ({ context, event }: Scope) => context.queue.some(({ id }) => id === (event as Cancel).request),
} as unknown as Record<string, never>
