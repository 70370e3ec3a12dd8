/** An orchestrator as a tool: one turn of a session that the model does not choose. */
import { z } from 'zod'
import { type Tool, tool } from '../../index.ts'
import { delegating, longestMs } from '../delegates.ts'
import { LadderError } from '../errors.ts'
import type { HistoryMessage } from '../history.rules.ts'
import { OrchestratorCall } from './call.ts'
import type { Orchestrator } from './orchestrator.ts'

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

/** @throws LadderError ORCHESTRATOR_CONFIG */
export const orchestratorTool = (orchestrator: Orchestrator, options: SessionToolOptions): Tool => {
  const { name = orchestrator.name, inputSchema, sessionScope = 'fresh', approval = false } = options
  const { description = orchestrator.description ?? `Asks ${orchestrator.name}, which answers in one turn.` } = options
  const wrong = (message: string, hint: string): LadderError => new LadderError('ORCHESTRATOR_CONFIG', message, { hint })
  if (!(inputSchema instanceof z.ZodObject))
    throw wrong(`'${orchestrator.name}' as a tool has no inputSchema`, 'give z.object({ … }): it is what the model is told')
  if (!isBound(sessionScope))
    throw wrong(
      `'${orchestrator.name}' as a tool joins no session`,
      "give sessionScope: { shared: 'its id' }, { shared: (context) => … }, or 'fresh'",
    )
  const isUnsafe = typeof sessionScope === 'object' && 'unsafeAllowModelSessionId' in sessionScope
  const call = new OrchestratorCall(orchestrator, { name, inputSchema, sessionScope })
  const made = tool({
    name,
    description,
    input: isUnsafe ? inputSchema.extend({ sessionId: z.string().min(1) }) : inputSchema,
    delegated: true,
    onCrash: 'idempotent',
    timeoutMs: longestMs,
    approval,
    execute: async (given, { callId, signal }) => {
      const { data, error } = await call.turn({ runId: callId, input: given }, nothing, signal)
      if (error) throw new LadderError('TOOL_EXEC_FAILED', error.message, { cause: error, context: { tool: name, code: error.code } })
      return data ?? null
    },
  })
  return delegating(made, call, false)
}

const isBound = (scope: unknown): scope is SessionScope => {
  if (scope === 'fresh') return true
  if (typeof scope !== 'object' || scope === null) return false
  const { shared, unsafeAllowModelSessionId } = scope as { shared?: unknown; unsafeAllowModelSessionId?: unknown }
  return unsafeAllowModelSessionId === true || typeof shared === 'function' || (typeof shared === 'string' && shared !== '')
}

const nothing = Object.freeze({})
