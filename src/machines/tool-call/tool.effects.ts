/** The effect of {@link toolMachine}. */

import type { PlaceableEffect } from '../../actors/index.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { ToolCallInput, ToolCallOutput } from '../../contracts/turn.ts'
import type { TurnServices } from '../turn/turn.services.ts'

/** One attempt of one tool call. Leaving its state aborts the tool through its signal. */
export const executeTool =
  ({ environment, agent: agentOf, hooks }: TurnServices): PlaceableEffect<ToolCallOutput, ToolCallInput> =>
  async ({ input: { session, runId, agent, call, thread, attempt, onCrash }, info, signal, emit }) => {
    const { id, callId, name } = call
    if (info.restarted && onCrash === 'once')
      throw new RuntimeError('tool_in_doubt', `the process ended while '${name}' was running; it may or may not have done its work`, {
        hint: 'look at what it should have changed, then approve a repetition or deny it',
      })
    const held = environment.failPoints.hit('K09')
    if (held) await held
    const context = {
      callId: id,
      attempt: attempt + info.attempt - 1,
      session,
      runId,
      ...definedOf({ thread }),
      signal,
      progress: (message: string) => emit({ type: 'tool', phase: 'progress', runId, callId: id, name, message }),
      log: environment.log,
    }
    const output = await agentOf(agent).tools.run(call, context, () => info.confirm())
    const kept = hooks === undefined ? output : hooks.toolResult({ session, runId, agent, callId: id, tool: name, input: call.input, output })
    return { kind: 'tool', id, callId, name, output: kept }
  }
