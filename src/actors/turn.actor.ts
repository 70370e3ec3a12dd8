/** Effects for {@link turnMachine}: the model call and the summary. What they return stands in the journal, and is the transcript's text. */
import type { Agent } from '../contracts/agent.ts'
import type { Environment } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Message } from '../contracts/message.ts'
import type { Models } from '../contracts/model.ts'
import type { ModelCallInput, ModelCallOutput, SummaryInput, SummaryOutput } from '../contracts/session.ts'
import type { Tools } from '../contracts/tool.ts'
import { turnMachine } from '../machines/turn.machine.ts'
import { effect, fromTask, type TaskScope } from './effect.ts'
import { splitForSummary, summaryPrompt } from './summary.ts'
import { toolActor } from './tool.actor.ts'
import type { Transcripts } from './transcript.ts'

export type TurnServices = {
  environment: Environment
  models: Models
  /** The agent of a profile with its tools. @throws RuntimeError not_found */
  agent(name: string): { agent: Agent; tools: Tools }
  transcripts: Transcripts
}

const callModel =
  ({ environment, models, agent: agentOf, transcripts }: TurnServices) =>
  async ({ input, self, signal, emit, receive }: TaskScope<ModelCallInput>): Promise<ModelCallOutput> => {
    const { session, runId, profile, upTo, call } = input
    const { epoch, tell } = effect(self)
    const stop = new AbortController()
    signal.addEventListener('abort', () => stop.abort(), { once: true })
    receive(({ type }) => type === 'stop' && stop.abort())
    const held = environment.failPoints.hit('K05')
    if (held) await held
    const { agent, tools } = agentOf(profile.agent)
    const [messages, model] = await Promise.all([transcripts.read({ kind: 'session', id: session }, upTo), models.get(profile.model)])
    // Rises with every call and every takeover, so that no two streams of one run share a number.
    const attempt = call + epoch - 1
    let index = 0
    let chars = 0
    tell({ type: 'stream.start', attempt })
    const response = await model.call(
      { instructions: agent.instructions, messages, tools: tools.describe(), settings: agent.settings, limits: agent.limits },
      {
        signal: stop.signal,
        onDelta: ({ kind, text }) => {
          chars += text.length
          emit({ type: 'delta', runId, attempt, index: index++, kind, text })
        },
      },
    )
    tell({ type: 'stream.end', attempt, deltas: index, chars })
    const { text, reasoning, usage, partial } = response
    const calls = partial ? [] : tools.plan(response.calls).map((planned, place) => ({ ...planned, id: `${runId}:${call}:${place + 1}` }))
    return { kind: 'model', id: `${runId}:${call}`, text, reasoning, calls, usage, model: response.model, partial }
  }

const summarise =
  ({ models, agent: agentOf, transcripts }: TurnServices) =>
  async ({ input: { session, profile, upTo, id }, signal }: TaskScope<SummaryInput>): Promise<SummaryOutput> => {
    const messages: Message[] = await transcripts.read({ kind: 'session', id: session }, upTo)
    const { old, keep } = splitForSummary(messages)
    if (old.length === 0)
      throw new RuntimeError('provider_overflow', 'the newest message alone is longer than the model can read', {
        hint: 'send less text at a time, or use a model with a larger context',
      })
    const { agent } = agentOf(profile.agent)
    const model = await models.get(profile.model)
    const { text, usage } = await model.call(
      { instructions: summaryPrompt.instructions, messages: [summaryPrompt.message(old)], tools: [], settings: {}, limits: agent.limits },
      { signal, onDelta: () => undefined },
    )
    return { kind: 'summary', id, text, keep, usage }
  }

export const summariseTask = (services: TurnServices) => fromTask<SummaryOutput, SummaryInput>(summarise(services))

export const turnActor = (services: TurnServices) =>
  turnMachine.provide({
    actors: {
      callModel: fromTask<ModelCallOutput, ModelCallInput>(callModel(services)),
      summarise: summariseTask(services),
      tool: toolActor(services),
    },
  })
