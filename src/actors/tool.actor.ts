/** Effects for {@link toolMachine}: leaving a state aborts the tool through its signal. */
import { RuntimeError } from '../contracts/errors.ts'
import type { ToolCallInput, ToolCallOutput } from '../contracts/session.ts'
import { toolMachine } from '../machines/tool.machine.ts'
import { effect, fromTask } from './effect.ts'
import type { TurnServices } from './turn.actor.ts'

export const toolActor = ({ environment, agent: agentOf }: TurnServices) =>
  toolMachine.provide({
    actors: {
      execute: fromTask<ToolCallOutput, ToolCallInput>(async ({ input: { session, runId, agent, call, attempt, onCrash }, self, signal, emit }) => {
        const info = effect(self)
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
          signal,
          progress: (message: string) => emit({ type: 'tool', phase: 'progress', runId, callId: id, name, message }),
          log: environment.log,
        }
        const output = await agentOf(agent).tools.run(call, context, () => info.confirm())
        return { kind: 'tool', id, callId, name, output }
      }),
    },
  })
