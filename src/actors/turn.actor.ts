/** Effects for {@link turnMachine}: the model call and the summary. What they return stands in the journal, and is the transcript's text. */
import type { Agent } from '../contracts/agent.ts'
import { type Environment, pause } from '../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { type Message, noUsage } from '../contracts/message.ts'
import type { ModelResponse, Models } from '../contracts/model.ts'
import type { ModelCallInput, ModelCallOutput, SummaryInput, SummaryOutput, ToolCallInput, ToolCallOutput } from '../contracts/session.ts'
import { escapeToken } from '../contracts/subjects.ts'
import type { Tools } from '../contracts/tool.ts'
import { toolMachine } from '../machines/tool.machine.ts'
import { turnMachine } from '../machines/turn.machine.ts'
import { fromWork, type Work } from './effect.ts'
import { splitForSummary, summaryPrompt } from './summary.ts'
import { executeTool } from './tool.actor.ts'
import type { Transcripts } from './transcript.ts'

export type TurnServices = {
  environment: Environment
  models: Models
  /** The agent of a profile with its tools. @throws RuntimeError not_found */
  agent(name: string): { agent: Agent; tools: Tools }
  transcripts: Transcripts
}

/** How long a model may take to hand over what it has, once it is told to stop; after that it is what was seen of it. */
const handOverMs = 100

const againMs = 500

/** A store that is away for a while is no failure of the turn: it waits, for as long as anybody wants the answer. */
const conversation = async ({ transcripts, environment }: TurnServices, session: string, upTo: number, signal: AbortSignal): Promise<Message[]> => {
  for (;;)
    try {
      return await transcripts.read({ kind: 'session', id: session }, upTo)
    } catch (error) {
      if (!isRuntimeError(error) || error.code !== 'log_unavailable' || !error.retryable || signal.aborted) throw error
      await pause(environment.clock, againMs)
    }
}

const callModel =
  (services: TurnServices): Work<ModelCallOutput, ModelCallInput> =>
  async ({ input, info: { epoch }, signal, emit, receive }) => {
    const { session, runId, profile, upTo, call } = input
    const { environment } = services
    const stop = new AbortController()
    const seen = { text: '', reasoning: '' }
    const handedOver = Promise.withResolvers<ModelResponse>()
    let timer: unknown
    signal.addEventListener('abort', () => stop.abort(), { once: true })
    receive(({ type }) => {
      if (type !== 'stop' || stop.signal.aborted) return
      stop.abort()
      timer = environment.clock.setTimeout(
        () => handedOver.resolve({ ...seen, calls: [], usage: noUsage, finish: 'other', model: profile.model, partial: true }),
        handOverMs,
      )
    })
    // Rises with every call and every takeover, so that no two streams of one run share a number.
    const attempt = call + epoch - 1
    let index = 0
    let over = false
    const { agent, tools } = services.agent(profile.agent)
    const answer = async (): Promise<ModelResponse> => {
      const held = environment.failPoints.hit('K05')
      if (held) await held
      const [messages, model] = await Promise.all([
        conversation(services, session, upTo, stop.signal),
        services.models.get(profile.model),
        tools.discover?.(),
      ])
      return model.call(
        { instructions: agent.instructions, messages, tools: tools.describe(), settings: agent.settings, limits: agent.limits },
        {
          signal: stop.signal,
          onDelta: ({ kind, text }) => {
            if (over) return
            seen[kind] += text
            emit({ type: 'delta', runId, attempt, index: index++, kind, text })
          },
        },
      )
    }
    try {
      const { text, reasoning, usage, model, partial, finish, calls } = await Promise.race([answer(), handedOver.promise])
      if (partial && !stop.signal.aborted)
        throw new RuntimeError('provider_malformed', 'the model stopped before the end of its answer', {
          retryable: true,
          hint: 'it is asked again; a model of your own says `partial` only when its signal aborts',
        })
      if (tools.discover && calls.length > 0) await tools.discover(calls.map((one) => one.name))
      // Our own names: providers use the same ids again, and users may choose the same id for messages of two sessions.
      const name = `${escapeToken(session)}/${runId}:${call}`
      const planned = partial ? [] : tools.plan(calls).map((one, place) => ({ ...one, id: `${name}:${place + 1}` }))
      return { kind: 'model', id: `${runId}:${call}`, text, reasoning, calls: planned, usage, model, partial, finish }
    } finally {
      over = true
      environment.clock.clearTimeout(timer)
    }
  }

const summarise =
  (services: TurnServices): Work<SummaryOutput, SummaryInput> =>
  async ({ input: { session, profile, upTo, id }, signal }) => {
    const messages = await conversation(services, session, upTo, signal)
    const { old, keep } = splitForSummary(messages)
    if (old.length === 0)
      throw new RuntimeError('provider_overflow', 'the newest message alone is longer than the model can read', {
        hint: 'send less text at a time, or use a model with a larger context',
      })
    const { agent } = services.agent(profile.agent)
    const model = await services.models.get(profile.model)
    const { text, usage, partial } = await model.call(
      { instructions: summaryPrompt.instructions, messages: [summaryPrompt.message(old)], tools: [], settings: {}, limits: agent.limits },
      { signal, onDelta: () => undefined },
    )
    if (partial) throw new RuntimeError('cancelled', 'the summary was stopped before its end')
    return { kind: 'summary', id, text, keep, usage }
  }

/** What a turn has done, by the names of its effects. Each may be done by any node, and says so that it can be repeated. */
export type TurnWorks = {
  callModel: Work<ModelCallOutput, ModelCallInput>
  summarise: Work<SummaryOutput, SummaryInput>
  execute: Work<ToolCallOutput, ToolCallInput>
}

export const turnWorks = (services: TurnServices): TurnWorks => ({
  callModel: callModel(services),
  summarise: summarise(services),
  execute: executeTool(services),
})

export const turnActor = ({ callModel, summarise, execute }: TurnWorks) =>
  turnMachine.provide({
    actors: { callModel: fromWork(callModel), summarise: fromWork(summarise), tool: toolMachine.provide({ actors: { execute: fromWork(execute) } }) },
  })
