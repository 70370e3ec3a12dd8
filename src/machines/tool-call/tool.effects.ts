/** The effect of {@link toolMachine}. */

import type { PlaceableEffect } from '../../actors/index.ts'
import { definedOf } from '../../contracts/defined.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import { logWithout, withoutSecrets } from '../../contracts/redact.ts'
import type { ToolCallInput, ToolCallOutput } from '../../contracts/tool-call.ts'
import { type SpanOutcome, stopwatch } from '../../contracts/tracing.ts'
import { placeOf } from '../transcript/conversation.ts'
import type { TurnServices } from '../turn/turn.services.ts'
import { artifactsOf } from './artifacts.rules.ts'
import { sideResult } from './side-results.rules.ts'

/** One attempt of one tool call. Leaving its state aborts the tool through its signal. */
export const executeTool =
  ({ environment, agent: agentOf, skills, transcripts, hooks, sandbox }: TurnServices): PlaceableEffect<ToolCallOutput, ToolCallInput> =>
  async ({ input, info, signal, emit }) => {
    const { session, conversation, runId, agent, call, thread, skillFilter, skillsVersion, attempt, onCrash } = input
    const { id, callId, name } = call
    if (info.restarted && onCrash === 'once')
      throw new RuntimeError('tool_in_doubt', `the process ended while '${name}' was running; it may or may not have done its work`, {
        hint: 'look at what it should have changed, then approve a repetition or deny it',
      })
    const held = environment.failPoints.hit('K09')
    if (held) await held
    const run = { agent, ...definedOf({ skillFilter, skillsVersion }) }
    const bringing = skills?.environmentFor(run)
    const { env = {}, secrets = [] } = bringing ? await bringing : {}
    const { mode: sandboxMode, limits: sandboxLimits } = sandbox?.() ?? {}
    let told = 0
    const context = {
      callId: id,
      attempt: attempt + info.attempt - 1,
      session,
      runId,
      ...definedOf({ thread, env: Object.keys(env).length === 0 ? undefined : env, sandboxMode, sandboxLimits }),
      skills: run,
      signal,
      outputOf: (reference: string) => transcripts.outputOf(placeOf(input, info), reference),
      progress: (message: string) => emit({ type: 'tool', phase: 'progress', runId, callId: id, name, message: withoutSecrets(message, secrets) }),
      sideResult: (result: { question?: string; text: string }) => {
        const said = withoutSecrets(sideResult(result, told++), secrets)
        emit({ type: 'side_result', kind: 'btw', runId, callId: id, ...said, isError: false })
      },
      artifacts: {} as Record<string, unknown>,
      log: logWithout(environment.log, secrets),
    }
    const lap = stopwatch(environment.tracing, { sessionKey: session, runId })
    let outcome: SpanOutcome = 'error'
    try {
      const output = await agentOf(agent).tools.run(call, context, () => info.confirm())
      const shown = withoutSecrets(output, secrets)
      const kept = hooks === undefined ? shown : hooks.toolResult({ session, runId, agent, callId: id, tool: name, input: call.input, output: shown })
      outcome = 'ok'
      const artifacts = artifactsOf(context.artifacts)
      return {
        kind: 'tool',
        id,
        ...definedOf({ conversation, artifacts: artifacts && withoutSecrets(artifacts, secrets) }),
        callId,
        name,
        output: kept,
      }
    } catch (error) {
      throw secrets.length === 0 ? error : RuntimeError.from(withoutSecrets(errorBody(error, 'tool_failed'), secrets))
    } finally {
      lap(`tool ${name}`, outcome)
    }
  }
