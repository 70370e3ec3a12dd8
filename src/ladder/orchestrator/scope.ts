/** Which session a call of an orchestrator joins that is a tool, and what it needs of the orchestrator. */
import type { z } from 'zod'
import type { Runtime } from '../../index.ts'
import type { Waiter } from '../calling/waits.ts'
import type { HistoryMessage } from '../history.rules.ts'
import type { Awaited, RunInput } from '../run.rules.ts'
import type { Streamed } from '../streamed.ts'
import type { TurnOptions, TurnResult } from './options.ts'

/** As far as calls of it know it. */
export type Callee = {
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  run(input: unknown, options: TurnOptions, call?: ToolCall): Streamed<TurnResult<unknown>>
  whenBound(but?: Runtime): Promise<Runtime>
}

/** A call in the run of an agent. @property inside where it stands there @property waitFor see `Calls.waitFor` */
export type ToolCall = { inside?: RunInput['inside']; waitFor?: (awaited: Awaited, waiterOf: (kind: string) => Waiter | undefined) => Promise<void> }

/** The session that is joined; what the caller of the outer run brought along says which, where code finds it. */
export type SessionBinding = { sessionId: string; history?: readonly HistoryMessage[] }
type Resolver = (context: Readonly<Record<string, unknown>>) => string | SessionBinding | Promise<string | SessionBinding>

/** `fresh`: a new session for each call. `unsafeAllowModelSessionId`: the payload of the model names it, so a model that is talked into it reads sessions of others. */
export type SessionScope = 'fresh' | { shared: string | Resolver } | { unsafeAllowModelSessionId: true }

export type SessionToolOptions = {
  name?: string
  description?: string
  /** What the model gives, and what the turn is given. */
  inputSchema: z.ZodObject
  sessionScope?: SessionScope
  approval?: boolean | ((input: unknown) => boolean)
}

/** Never what a model gives, unless its author wants that. */
export const sessionFields = ['sessionId', 'history'] as const
