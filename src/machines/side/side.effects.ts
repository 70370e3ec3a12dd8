/** The effect that answers a side question: one call without tools, on what stands in the conversation when it is made. */

import type { PlaceableEffect } from '../../actors/index.ts'
import type { SideInput, SideOutput } from '../../contracts/beside.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { costOf } from '../loop/cost.rules.ts'
import { windowOf } from '../loop/model-request.effects.ts'
import { chooseCredential } from '../provider/choose-credential.ts'
import { conversation } from '../transcript/conversation.ts'
import type { TurnServices } from '../turn/turn.services.ts'
import { answerTokensMax, callMsMax, sideInstructions, sideMessage } from './side.rules.ts'

export const askAside =
  (services: TurnServices): PlaceableEffect<SideOutput, SideInput> =>
  async ({ input: { session, id, text: question, profile }, signal }) => {
    const { models, cooldowns, environment } = services
    const { clock } = environment
    const at = clock.now()
    const { agent } = services.agent(profile.agent)
    const credential = await chooseCredential({ models, cooldowns, clock }, profile.model, {
      tried: [],
      locked: profile.credential,
      alternatives: false,
    })
    const [messages, model] = await Promise.all([
      conversation(services, { kind: 'session', id: session }, Number.POSITIVE_INFINITY, signal),
      models.get(profile.model, credential?.id),
    ])
    const { settings, limits } = agent
    try {
      const { text, usage, partial } = await model.call(
        {
          instructions: sideInstructions(agent.instructions),
          messages: [sideMessage(messages, { id, question, window: windowOf(model) ?? profile.contextTokens })],
          tools: [],
          settings: { ...settings, maxOutputTokens: Math.min(settings.maxOutputTokens ?? answerTokensMax, answerTokensMax) },
          limits: { ...limits, totalTimeoutMs: Math.min(limits.totalTimeoutMs, callMsMax) },
        },
        { signal, onDelta: () => undefined },
      )
      if (partial) throw new RuntimeError('provider_malformed', 'the model stopped before the end of its answer', { retryable: true })
      if (text.trim() === '') throw new RuntimeError('provider_malformed', 'the model had nothing to say to it', { retryable: true })
      credential?.done()
      const endedAt = clock.now()
      return {
        kind: 'side',
        id,
        text,
        model: profile.model,
        usage,
        ...definedOf({ costUsd: costOf(usage, model.info?.price) }),
        endedAt,
        durationMs: Math.max(0, endedAt - at),
      }
    } catch (error) {
      throw credential === undefined || signal.aborted ? error : credential.failed(error)
    }
  }
