/** What a turn has done, on its own node or on another: calls of models, summaries, tools. What they return stands in the journal. */

import type { PlaceableEffect } from '../../actors/index.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { SummaryInput, SummaryOutput } from '../../contracts/turn.ts'
import { summaryInstructions } from '../../models/index.ts'
import { splitForSummary, summaryMessage, tokensOf } from '../loop/compaction.rules.ts'
import { costOf } from '../loop/cost.rules.ts'
import { callModel } from '../loop/model-call.effects.ts'
import { askAside } from '../side/side.effects.ts'
import { checkTool } from '../tool-call/gate.effects.ts'
import { executeTool } from '../tool-call/tool.effects.ts'
import { conversation, placeOf } from '../transcript/conversation.ts'
import { lookUp, say } from '../understanding/understanding.effects.ts'
import type { TurnEffects, TurnServices } from './turn.services.ts'

const summarise =
  (services: TurnServices): PlaceableEffect<SummaryOutput, SummaryInput> =>
  async ({ input, info, signal }) => {
    const { profile, upTo, id, instructions } = input
    const messages = await conversation(services, placeOf(input, info), upTo, signal)
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
      ...definedOf({ conversation: input.conversation }),
      text,
      keep,
      model: profile.model,
      usage,
      ...definedOf({ costUsd }),
      endedAt: services.environment.clock.now(),
      tokens: { before: tokensOf(messages), after: tokensOf(after) + Math.ceil(text.length / 4) },
    }
  }

export const turnEffects = (services: TurnServices): TurnEffects => ({
  callModel: callModel(services),
  summarise: summarise(services),
  askAside: askAside(services),
  checkTool: checkTool(services),
  execute: executeTool(services),
  lookUp: lookUp(services),
  say: say(services),
})
