/** The effect that asks a model, and what is sent to it. What it answers stands in the journal, and is the transcript's text. */

import type { PlaceableEffect } from '../../actors/index.ts'
import { definedOf } from '../../contracts/defined.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { type Message, noUsage } from '../../contracts/message.ts'
import type { Model, ModelMessage, ModelResponse, ModelSettings } from '../../contracts/model.ts'
import type { ThinkingLevel } from '../../contracts/settings.ts'
import { escapeToken } from '../../contracts/subjects.ts'
import type { ModelCallInput, ModelCallOutput } from '../../contracts/turn.ts'
import { windowGuard } from '../../models/index.ts'
import { type Chosen, chooseCredential } from '../provider/choose-credential.ts'
import { conversation } from '../transcript/conversation.ts'
import { prepared } from '../transcript/sanitise-history.rules.ts'
import type { TurnServices } from '../turn/turn.services.ts'
import { costOf } from './cost.rules.ts'
import { hasMedia, withFiles } from './given-files.effects.ts'
import { type Pruning, pruned } from './pruning.rules.ts'
import { wholeCharacters } from './whole-characters.rules.ts'

/** How long a model may take to hand over what it has, once it is told to stop; after that it is what was seen of it. */
const handOverMs = 100

/** Where everything together is too long, results of tools lose their middle: they are the longest, and can be asked for again. */
const shownMax = 3000
const shortened = (messages: Message[]): Message[] =>
  messages.map((message) => {
    if (message.role !== 'tool') return message
    const text = typeof message.output === 'string' ? message.output : (JSON.stringify(message.output) ?? '')
    if (text.length <= shownMax) return message
    const half = shownMax / 2
    return { ...message, output: `${text.slice(0, half)}\n… (${text.length - shownMax} characters left out)\n${text.slice(-half)}`.toWellFormed() }
  })

const windowOf = (model: Model): number | undefined => model.info?.contextTokens ?? model.contextTokens

/** What of the conversation is sent; what stands in the transcript is not touched. */
const request = (
  messages: Message[],
  { profile, shorten, tokens, lastCallAt }: ModelCallInput,
  window: number | undefined,
  now: number,
): Message[] => {
  // What comes last is what is to be answered, however many messages that are.
  const firstOpen = messages.findLastIndex(({ role }) => role !== 'user') + 1
  const prompt = messages.slice(firstOpen).flatMap((message) => (message.role === 'user' ? [message.id] : []))
  const capped = profile.historyTurns === undefined ? messages : prepared(messages, { historyTurns: profile.historyTurns, prompt })
  const { pruning } = profile
  const trimmed =
    pruning === undefined || window === undefined
      ? capped
      : pruned(capped, { now, lastCallAt, contextTokens: tokens ?? 0, contextWindow: window, ...(pruning as Partial<Pruning>) })
  return shorten ? shortened(trimmed) : trimmed
}

/** Where nobody says how hard to think, a model that can does a little. What it does not have is lowered; `adaptive` leaves it to the model. */
const settingsFor = (settings: ModelSettings, wanted: ThinkingLevel | undefined, { info }: Model): ModelSettings => {
  const usual = info?.reasoning && settings.reasoning === undefined ? 'low' : undefined
  const level = wanted === 'xhigh' && info !== undefined && info.xhigh !== true ? 'high' : (wanted ?? usual)
  return level === undefined || level === 'adaptive' ? settings : { ...settings, reasoning: level === 'off' ? 'none' : level }
}

export const callModel =
  (services: TurnServices): PlaceableEffect<ModelCallOutput, ModelCallInput> =>
  async ({ input, info: { epoch }, signal, emit, receive }) => {
    const { session, runId, profile, upTo, call, thinking, intro } = input
    const { environment } = services
    const at = environment.clock.now()
    const stop = new AbortController()
    const seen = { text: '', reasoning: '' }
    const whole = { text: wholeCharacters(), reasoning: wholeCharacters() }
    const handedOver = Promise.withResolvers<ModelResponse>()
    let timer: unknown
    let credential: Chosen
    signal.addEventListener('abort', () => stop.abort(), { once: true })
    receive(({ type, late }) => {
      if (type !== 'stop' || stop.signal.aborted) return
      if (late) credential?.late()
      stop.abort()
      timer = environment.clock.setTimeout(
        () => handedOver.resolve({ ...seen, calls: [], usage: noUsage, finish: 'other', model: input.model, partial: true }),
        handOverMs,
      )
    })
    // Rises with every call and every takeover, so that no two streams of one run share a number.
    const attempt = call + epoch - 1
    const answerId = `${runId}:${call}`
    let index = 0
    let over = false
    let model: Model | undefined
    const { agent, tools } = services.agent(profile.agent)
    const answer = async (): Promise<ModelResponse> => {
      const held = environment.failPoints.hit('K05')
      if (held) await held
      credential = await chooseCredential({ models: services.models, cooldowns: services.cooldowns, clock: environment.clock }, input.model, {
        tried: input.tried ?? [],
        pinned: input.pinned,
        locked: profile.credential,
        alternatives: (profile.fallbacks ?? []).length > 0,
      })
      const [messages, opened] = await Promise.all([
        conversation(services, session, upTo, stop.signal),
        services.models.get(input.model, credential?.id),
        tools.discover?.(),
      ])
      model = opened
      const guard = windowGuard(input.model, windowOf(model) ?? profile.contextTokens)
      if (guard.error) throw RuntimeError.from(guard.error)
      if (guard.warning) environment.log.warn({ model: input.model }, guard.warning)
      const sent = request(messages, input, windowOf(opened), at)
      const content = (id: string) => services.files.content(id)
      const given = await withFiles(sent, opened.accepts, content)
      const asked = (said: ModelMessage[]) =>
        opened.call(
          {
            instructions: intro === undefined ? agent.instructions : `${agent.instructions}\n\n${intro}`.trim(),
            messages: said,
            tools: tools.describe(),
            settings: settingsFor(agent.settings, thinking, opened),
            limits: agent.limits,
          },
          {
            signal: stop.signal,
            onDelta: ({ kind, text: piece }) => {
              if (over) return
              const text = whole[kind](piece)
              if (text === '') return
              seen[kind] += text
              emit({ type: 'delta', runId, answerId, attempt, index: index++, kind, text })
            },
          },
        )
      try {
        return await asked(given)
      } catch (error) {
        // It cannot see, and nobody knew: the conversation shall not end with the first picture.
        if (!isRuntimeError(error) || error.code !== 'provider_rejected' || !hasMedia(given) || stop.signal.aborted || index > 0) throw error
        environment.log.warn({ model: input.model, error: errorBody(error) }, 'a model refused a request with files: it is asked again without them')
        return asked(await withFiles(sent, { images: false, pdf: false }, content))
      }
    }
    try {
      const { text, reasoning, usage, model: named, partial, finish, calls } = await Promise.race([answer(), handedOver.promise])
      if (partial && !stop.signal.aborted)
        throw new RuntimeError('provider_malformed', 'the model stopped before the end of its answer', {
          retryable: true,
          hint: 'it is asked again; a model of your own says `partial` only when its signal aborts',
        })
      if (tools.discover && calls.length > 0) await tools.discover(calls.map((one) => one.name))
      // Our own names: providers use the same ids again, and users may choose the same id for messages of two sessions.
      const name = `${escapeToken(session)}/${runId}:${call}`
      const planned = partial ? [] : tools.plan(calls).map((one, place) => ({ ...one, id: `${name}:${place + 1}` }))
      credential?.done()
      const contextTokens = model && windowOf(model)
      const costUsd = costOf(usage, model?.info?.price)
      return {
        kind: 'model',
        id: answerId,
        text,
        reasoning,
        calls: planned,
        usage,
        model: named,
        partial,
        finish,
        at,
        durationMs: Math.max(0, environment.clock.now() - at),
        ...definedOf({ contextTokens, costUsd }),
        ...definedOf({ credential: credential?.id, flat: credential?.flat || undefined }),
      }
    } catch (error) {
      throw credential === undefined || stop.signal.aborted ? error : credential.failed(error)
    } finally {
      over = true
      environment.clock.clearTimeout(timer)
    }
  }
