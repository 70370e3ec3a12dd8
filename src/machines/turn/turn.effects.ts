/** Effects for {@link turnMachine}: the model call and the summary. What they return stands in the journal, and is the transcript's text. */

import { fromWork, type Work } from '../../actors/index.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { SummaryInput, SummaryOutput } from '../../contracts/turn.ts'
import { summaryInstructions } from '../../models/index.ts'
import { splitForSummary, summaryMessage, tokensOf } from '../loop/compaction.rules.ts'
import { costOf } from '../loop/cost.rules.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import { callModel } from '../loop/model-call.effects.ts'
import { executeTool } from '../tool-call/tool.effects.ts'
import { toolMachine } from '../tool-call/tool.machine.ts'
import { conversation } from '../transcript/conversation.ts'
import { laneActor } from './concurrency.effects.ts'
import type { Publisher } from './publisher.setup.ts'
import { turnMachine, turnWith } from './turn.machine.ts'
import type { TurnPlace, TurnServices, TurnWorks } from './turn.services.ts'

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

export const turnActor = ({ callModel, summarise, execute }: TurnWorks, { lanes, clock, log }: TurnPlace, publisher?: Publisher) => {
  const tool = toolMachine.provide({ actors: { execute: fromWork(execute) } })
  const loop = loopMachine.provide({ actors: { callModel: fromWork(callModel), summarise: fromWork(summarise), tool } })
  return (publisher ? turnWith(publisher) : turnMachine).provide({ actors: { loop, lane: laneActor({ lanes, clock, log }) } })
}
