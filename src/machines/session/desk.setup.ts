/** The socket in front of a session. */
import type { AnyActorLogic } from 'xstate'
import type { z } from 'zod'

/**
 * Who stands in front of a session and says what becomes of a message: it hears `DeskRequest` and tells its parent `DeskAnswer`.
 * @property annotations what a message carries for it
 */
export type Desk = { logic: AnyActorLogic; annotations: z.ZodType<Record<string, unknown>> }
