/** An orchestrator as a tool: one turn of a session that the model does not choose. */
import { z } from 'zod'
import { type Tool, tool } from '../../index.ts'
import { delegating, longestMs } from '../delegates.ts'
import { LadderError } from '../errors.ts'
import { anything, code, either, flag, type KindsOf, optionsIn, text } from '../given.ts'
import { OrchestratorCall } from './call.ts'
import type { Callee, SessionScope, SessionToolOptions } from './scope.ts'

const kinds: KindsOf<SessionToolOptions> = {
  name: text,
  description: text,
  inputSchema: anything,
  sessionScope: anything,
  approval: either(flag, code('(input) => input.amount > 100')),
}

/** @throws LadderError ORCHESTRATOR_CONFIG */
export const orchestratorTool = (orchestrator: Callee, given: SessionToolOptions): Tool => {
  const options = optionsIn<SessionToolOptions>(given, kinds, { who: `'${orchestrator.name}' as a tool`, code: 'ORCHESTRATOR_CONFIG' })
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
