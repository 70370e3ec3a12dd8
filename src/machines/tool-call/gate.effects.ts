/** Asks the hooks that stand before a tool call. What they answer is journalled, so that no replay asks them again. */
import type { PlaceableEffect } from '../../actors/index.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { GateInput, GateOutput } from '../../contracts/tool-call.ts'
import type { TurnServices } from '../turn/turn.services.ts'

export const checkTool =
  ({ environment, agent: agentOf }: TurnServices): PlaceableEffect<GateOutput, GateInput> =>
  async ({ input: { session, runId, agent, call }, signal }) => {
    const { id, name } = call
    const about = { callId: id, session, runId, agent, signal, log: environment.log }
    try {
      return { kind: 'gate', runId, callId: id, name, verdict: await agentOf(agent).tools.check(call, about) }
    } catch (error) {
      if (!isRuntimeError(error) || signal.aborted) throw error
      return { kind: 'gate', runId, callId: id, name, verdict: { kind: 'block', by: agent, reason: error.message } }
    }
  }
