/** The effect that asks a model. What it answers stands in the journal, and is the transcript's text. */

import type { PlaceableEffect } from '../../actors/index.ts'
import { definedOf } from '../../contracts/defined.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { directiveMarks } from '../../contracts/find-references.ts'
import type { OutgoingChange, TurnHooks } from '../../contracts/hooks.ts'
import { noUsage } from '../../contracts/message.ts'
import type { Model, ModelDelta, ModelMessage, ModelResponse } from '../../contracts/model.ts'
import type { ModelCallInput, ModelCallOutput } from '../../contracts/model-call.ts'
import { escapeToken } from '../../contracts/subjects.ts'
import { type SpanOutcome, stopwatch } from '../../contracts/tracing.ts'
import { windowGuard } from '../../models/index.ts'
import { type Chosen, chooseCredential } from '../provider/choose-credential.ts'
import { conversation, placeOf } from '../transcript/conversation.ts'
import type { TurnServices } from '../turn/turn.services.ts'
import { cacheState } from './cache.rules.ts'
import { commandAnswer } from './command.rules.ts'
import { costOf } from './cost.rules.ts'
import { afterPieces } from './failure.rules.ts'
import { hasMedia, withFiles } from './given-files.effects.ts'
import { type PreparedCall, prepareCall, windowOf } from './model-request.effects.ts'
import { withSizes } from './overflow.rules.ts'
import { keepingReasoning, withoutRefusedMetadata } from './provider-metadata.rules.ts'
import { wholeCharacters } from './whole-characters.rules.ts'

type Review = NonNullable<ReturnType<TurnHooks['outgoing']>>
type Said = Pick<ModelResponse, 'text' | 'reasoning'> & { changes?: OutgoingChange[] }

/** How long a model may take to hand over what it has, once it is told to stop; after that it is what was seen of it. */
const handOverMs = 100

export const callModel =
  (services: TurnServices): PlaceableEffect<ModelCallOutput, ModelCallInput> =>
  async ({ input, info, signal, emit, receive }) => {
    const { session, runId, profile, upTo, call } = input
    const place = input.conversation === undefined ? { kind: 'session', id: session } : placeOf(input, info)
    const { environment } = services
    const { tracing } = environment
    const run = { sessionKey: session, runId }
    const lap = stopwatch(tracing, run)
    const mark = (name: string): void => {
      const now = tracing?.now() ?? 0
      tracing?.span(run, { name, start: now, end: now, outcome: 'ok' })
    }
    const at = environment.clock.now()
    const stop = new AbortController()
    const seen = { text: '', reasoning: '' }
    const whole = { text: wholeCharacters(), reasoning: wholeCharacters() }
    const handedOver = Promise.withResolvers<ModelResponse>()
    let timer: unknown
    let over = false
    let credential: Chosen
    signal.addEventListener('abort', () => stop.abort(), { once: true })
    receive(({ type, late }) => {
      // The machine may send `stop` until the commit of this call's result; a timer that starts after the call is never cleared.
      if (type !== 'stop' || over || stop.signal.aborted) return
      if (late) credential?.late()
      stop.abort()
      timer = environment.clock.setTimeout(
        () => handedOver.resolve({ ...seen, calls: [], usage: noUsage, finish: 'other', model: input.model, partial: true }),
        handOverMs,
      )
    })
    // Rises with every call and every takeover, so that no two streams of one run share a number.
    const attempt = call + info.epoch - 1
    const answerId = `${runId}:${call}`
    let index = 0
    let calling = false
    const called = (outcome: SpanOutcome): void => {
      if (calling) lap('call', outcome, { model: input.model, cache: cacheState(input, at) })
      calling = false
    }
    let model: Model | undefined
    let prepared: PreparedCall | undefined
    let told = input.told
    const { agent, tools } = services.agent(profile.agent)
    const review = input.minimal ? undefined : services.hooks?.outgoing()
    const take = ({ kind, text: piece }: ModelDelta): void => {
      if (over) return
      const text = whole[kind](piece)
      if (text === '') return
      if (seen[kind] === '') mark(kind === 'text' ? 'first-text' : 'first-thinking')
      seen[kind] += text
      // Nobody sees what is to be looked at first.
      if (review === undefined) emit({ type: 'delta', runId, answerId, attempt, index: index++, kind, text })
    }
    /** What is left of it is shown at once. */
    const lookedAt = async (look: Review, said: Pick<ModelResponse, 'text' | 'reasoning'>): Promise<Said> => {
      lap()
      const { changes, ...left } = await look({ session, runId, agent: profile.agent, text: said.text, reasoning: said.reasoning })
      lap('outgoing', 'ok', Object.fromEntries(changes.map(({ extension, did }) => [extension, did])))
      for (const kind of ['reasoning', 'text'] as const)
        if (left[kind] !== '') emit({ type: 'delta', runId, answerId, attempt, index: index++, kind, text: left[kind] })
      return { ...left, ...(changes.length > 0 && { changes }) }
    }
    const answer = async (): Promise<ModelResponse> => {
      const held = environment.failPoints.hit('K05')
      if (held) await held
      const known = input.command && commandAnswer(input.command, runId, input.model, await conversation(services, place, upTo, stop.signal))
      if (known) return known
      lap()
      credential = await chooseCredential({ models: services.models, cooldowns: services.cooldowns, clock: environment.clock }, input.model, {
        tried: input.tried ?? [],
        pinned: input.pinned,
        locked: profile.credential,
        alternatives: (profile.fallbacks ?? []).length > 0,
      })
      const [messages, opened] = await Promise.all([
        conversation(services, place, upTo, stop.signal),
        services.models.get(input.model, credential?.id),
        tools.discover?.(),
      ])
      lap('model')
      model = opened
      const add = told === undefined ? services.hooks?.beforeAgent() : undefined
      // Once in a turn: what was answered to its first call has it with it.
      if (add && !messages.some((message) => message.role === 'assistant' && message.id.startsWith(`${runId}:`)))
        told = await add({ session, runId, agent: profile.agent })
      const guard = windowGuard(input.model, windowOf(model) ?? profile.contextTokens)
      if (guard.error) throw RuntimeError.from(guard.error)
      if (guard.warning) environment.log.warn({ model: input.model }, guard.warning)
      const preparing = prepareCall(services, input, { model, messages, at, told, lap })
      prepared = preparing instanceof Promise ? await preparing : preparing
      const { request, messages: sent } = prepared
      const content = (id: string) => services.files.content(id)
      const giving = withFiles(sent, opened.accepts, content)
      const given = giving instanceof Promise ? await giving : giving
      const asked = agent.wrapModel?.(opened) ?? opened
      const ask = (said: ModelMessage[]) => asked.call({ ...request, messages: said }, { signal: stop.signal, onDelta: take })
      lap()
      calling = true
      try {
        return await ask(given)
      } catch (error) {
        if (!isRuntimeError(error) || error.code !== 'provider_rejected' || stop.signal.aborted || seen.text + seen.reasoning !== '') throw error
        const plain = withoutRefusedMetadata(error, given)
        if (plain) {
          environment.log.warn(
            { model: input.model, error: errorBody(error) },
            'a model refused the reasoning of earlier steps: it is asked again without',
          )
          return ask(plain)
        }
        // The model cannot see, which its provider did not say: the conversation shall not end with the first picture.
        if (!hasMedia(given)) throw error
        environment.log.warn({ model: input.model, error: errorBody(error) }, 'a model refused a request with files: it is asked again without them')
        return ask(await withFiles(sent, { images: false, pdf: false }, content))
      }
    }
    try {
      const { usage, model: named, partial, finish, calls, providerMetadata, ...said } = await Promise.race([answer(), handedOver.promise])
      called('ok')
      if (partial && !stop.signal.aborted)
        throw new RuntimeError('provider_malformed', 'the model stopped before the end of its answer', {
          retryable: true,
          hint: 'it is asked again; a model of your own says `partial` only when its signal aborts',
        })
      if (tools.discover && calls.length > 0) await tools.discover(calls.map((one) => one.name))
      const shown: Said = review && said.text + said.reasoning !== '' ? await lookedAt(review, said) : said
      // Our own names: providers use the same ids again, and users may choose the same id for messages of two sessions.
      const name = `${escapeToken(session)}/${runId}:${call}`
      const bench = prepared?.bench ?? tools.bench(profile.toolLayers, input.model).names
      const planned = partial ? [] : tools.plan(calls, bench, profile.clientTools).map((one, place) => ({ ...one, id: `${name}:${place + 1}` }))
      credential?.done()
      const contextTokens = model && windowOf(model)
      const costUsd = costOf(usage, model?.info?.price)
      const finding = directiveMarks.test(shown.text) ? services.references?.(shown.text, prepared?.messages ?? []) : undefined
      const references = finding && (await finding)
      return {
        kind: 'model',
        id: answerId,
        ...(input.conversation !== undefined && { conversation: input.conversation }),
        text: shown.text,
        reasoning: shown.reasoning,
        calls: planned,
        usage,
        model: named,
        partial,
        finish,
        at,
        durationMs: Math.max(0, environment.clock.now() - at),
        ...definedOf({ providerMetadata: providerMetadata && keepingReasoning(providerMetadata, said.reasoning, shown.reasoning) }),
        ...definedOf({ references, contextTokens, costUsd, told, repaired: prepared?.mended || undefined, outgoing: shown.changes }),
        ...definedOf({ credential: credential?.id, flat: credential?.flat || undefined }),
        // A fallback was chosen by nobody but its list.
        chosen: {
          model: input.model,
          ...definedOf({ source: input.model === profile.model ? profile.modelSource : undefined, credential: credential?.source }),
        },
        ...prepared?.noted,
      }
    } catch (error) {
      called('error')
      const sized = prepared && model ? withSizes(error, { ...prepared.request, messages: prepared.messages }, windowOf(model)) : error
      const told = index > 0 && profile.failover?.midStream === false ? afterPieces(sized) : sized
      throw credential === undefined || stop.signal.aborted ? told : credential.failed(told)
    } finally {
      over = true
      environment.clock.clearTimeout(timer)
    }
  }
