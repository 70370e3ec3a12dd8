/** Effects for {@link turnMachine}: the model call and the summary. What they return stands in the journal, and is the transcript's text. */
import type { Agent } from '../contracts/agent.ts'
import type { Environment } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Message } from '../contracts/message.ts'
import type { Models } from '../contracts/model.ts'
import type { Tools } from '../contracts/tool.ts'
import type { SummaryInput, SummaryOutput } from '../contracts/turn.ts'
import { loopMachine } from '../machines/loop.machine.ts'
import { streamMachine } from '../machines/stream.machine.ts'
import { toolMachine } from '../machines/tool.machine.ts'
import { turnMachine } from '../machines/turn.machine.ts'
import { costOf } from '../rules/cost.ts'
import { summaryInstructions } from '../rules/summary-prompt.ts'
import { conversation } from './conversation.ts'
import type { Cooldowns } from './credentials.ts'
import { type DeliverServices, deliver } from './deliver.actor.ts'
import { fromWork, type Work } from './effect.ts'
import { type Lanes, laneActor } from './lane.actor.ts'
import { callModel } from './model.actor.ts'
import { splitForSummary, summaryMessage, tokensOf } from './summary.ts'
import { executeTool } from './tool.actor.ts'
import type { Transcripts } from './transcript.ts'
import type { TurnWorks } from './turn-works.ts'

export type TurnServices = {
  environment: Environment
  models: Models
  /** The agent of a profile with its tools. @throws RuntimeError not_found */
  agent(name: string): { agent: Agent; tools: Tools }
  transcripts: Transcripts
  cooldowns: Cooldowns
}

const summarise =
  (services: TurnServices): Work<SummaryOutput, SummaryInput> =>
  async ({ input: { session, profile, upTo, id, instructions }, signal }) => {
    const messages = await conversation(services, session, upTo, signal)
    const { old, keep } = splitForSummary(messages)
    if (old.length === 0)
      throw new RuntimeError('provider_overflow', 'the newest message alone is longer than the model can read', {
        hint: 'send less text at a time, or use a model with a larger context',
      })
    const { agent } = services.agent(profile.agent)
    const model = await services.models.get(profile.model)
    const { text, usage, partial } = await model.call(
      {
        instructions: summaryInstructions(instructions),
        messages: [summaryMessage(old)],
        tools: [],
        settings: {},
        limits: agent.limits,
      },
      { signal, onDelta: () => undefined },
    )
    if (partial) throw new RuntimeError('cancelled', 'the summary was stopped before its end')
    const costUsd = costOf(usage, model.info?.price)
    const after = messages.slice(messages.length - keep)
    return {
      kind: 'summary',
      id,
      text,
      keep,
      model: profile.model,
      usage,
      ...(costUsd === undefined ? {} : { costUsd }),
      endedAt: services.environment.clock.now(),
      tokens: { before: tokensOf(messages), after: tokensOf(after) + Math.ceil(text.length / 4) },
    }
  }

export const turnWorks = (services: TurnServices): TurnWorks => ({
  callModel: callModel(services),
  summarise: summarise(services),
  execute: executeTool(services),
})

/** What a turn needs on the node of its session, wherever its works are done. */
export type TurnPlace = {
  deliver: DeliverServices
  lanes: Lanes
  /** The conversation of another session. */
  history(session: string): Promise<Message[]>
}

export const streamActor = ({ deliver: services }: TurnPlace) => streamMachine.provide({ actors: { deliver: deliver(services) } })

export const turnActor = ({ callModel, summarise, execute }: TurnWorks, place: TurnPlace) => {
  const tool = toolMachine.provide({ actors: { execute: fromWork(execute) } })
  return turnMachine.provide({
    actors: {
      loop: loopMachine.provide({ actors: { callModel: fromWork(callModel), summarise: fromWork(summarise), tool } }),
      stream: streamActor(place),
      lane: laneActor({ lanes: place.lanes, clock: place.deliver.clock, log: place.deliver.log }),
    },
  })
}
