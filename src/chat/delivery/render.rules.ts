/** What users get of what a turn has said: the one place where an answer becomes messages (OC-74…87). */

import { deliveryDefaults } from '../../contracts/channel.ts'
import { definedOf } from '../../contracts/defined.ts'
import { modelIdOf, providerOf } from '../../contracts/model-ref.ts'
import type { Profile } from '../../contracts/profile.ts'
import type { PublisherInput, PublisherOutput } from '../../contracts/publisher.ts'
import { defaultTokens, type Payload, type ReplyToMode, type Tokens } from '../../contracts/reply.ts'
import type { SentByTool } from '../../contracts/tool.ts'
import type { LoopOutput, TurnFacts } from '../../contracts/turn.ts'
import { resetCauseOf } from '../../machines/turn/broken-history.rules.ts'
import type { Publisher } from '../../machines/turn/publisher.setup.ts'
import { isRenderable } from './blocks.rules.ts'
import { type Decorated, decorate, responsePrefix } from './decorate.rules.ts'
import { errorText, resetText } from './error-text.rules.ts'
import { parseModelDirectives } from './model-directives.rules.ts'
import { rememberSent, type SentTexts, withoutSent, wroteTo } from './sent-by-tools.rules.ts'
import { heartbeatAlert, withoutTokens } from './silent-tokens.rules.ts'
import { newThreading, threadAll } from './threading.rules.ts'
import { usageLine } from './usage-line.rules.ts'
import { cleanText } from './visible-text.rules.ts'

/** What a turn knows besides its answer. */
type Told = {
  /** Key of the session. */
  session: string
  profile: Profile
  facts: TurnFacts
  tokens: Tokens
  /** How the channel threads answers. */
  replyTo?: ReplyToMode
  tagsWhenOff?: boolean
  /** Only what stands in final tags is for users. */
  finalOnly?: boolean
  /** Blocks of it were sent already. */
  streamed: boolean
}

/** `outcome` of an answer that was given; how a turn fails is for the turn to say. */
type Rendered = Decorated & Pick<PublisherOutput, 'outcome'>

/** Pure: the same answer of the same turn is always the same messages. */
export const published = (
  { session, profile, facts }: Pick<PublisherInput, 'session' | 'profile' | 'facts'>,
  answer: LoopOutput,
): Decorated & { output: PublisherOutput } => {
  const { outcome, ...messages } = rendered(answer, { session, profile, facts, ...settingsOf(facts.delivery) })
  const reply = replyOf(messages, answer.text)
  return { ...messages, output: definedOf({ outcome, reply }) }
}

const settingsOf = (delivery: TurnFacts['delivery']): Pick<Told, 'tokens' | 'replyTo' | 'tagsWhenOff' | 'finalOnly' | 'streamed'> => {
  if (delivery === undefined) return { tokens: defaultTokens, streamed: false }
  const { tokens, replyTo, tagsWhenOff, finalOnly, streaming } = deliveryDefaults(delivery)
  return { tokens, replyTo, tagsWhenOff, finalOnly, streamed: streaming }
}

/** Named only where it is not just the text: that stands in the journal already. */
const replyOf = ({ leading, payloads, trailing }: Decorated, text: string): PublisherOutput['reply'] => {
  const all = [...leading, ...payloads, ...trailing]
  const [first] = all
  if (first === undefined || (all.length === 1 && Object.keys(first).length === 1 && first.text === text)) return undefined
  return all.length === 1 ? first : all
}

const nothing: Decorated = { leading: [], payloads: [], trailing: [] }

const rendered = (answer: LoopOutput, told: Told): Rendered => {
  if (answer.status === 'cancelled') return nothing
  if (answer.status === 'failed') return failed(answer, told)
  const { origin } = told.facts
  const sent = answer.annotations.flatMap(({ sends }) => (sends as SentByTool | undefined) ?? [])
  // What a tool has said to the user already, or to the very place where the answer would go, is said.
  const there =
    origin &&
    sent.length > 0 &&
    wroteTo(
      sent.flatMap(({ route }) => route ?? []),
      origin,
    )
  const texts = there ? [] : spoken(answer, told)
  const payloads =
    sent.length === 0
      ? texts
      : withoutSent(
          sent.reduce<SentTexts>((known, { text }) => rememberSent(known, text), []),
          texts,
        )
  const contents = payloads.length > 0 ? payloads : toolFailure(answer)
  if (contents.length === 0) return { ...nothing, outcome: 'silent' }
  const facts = decorations(answer, told)
  if (facts === undefined) return { leading: [], payloads: contents, trailing: [], outcome: 'replied' }
  if (!told.streamed) return { ...decorate(contents, facts), outcome: 'replied' }
  // What was streamed is not sent again, and a line below it would be lost with it.
  const { usage: _, ...others } = facts
  return { ...decorate(contents, others), trailing: decorate([], facts).trailing, outcome: 'replied' }
}

/** Chat behind the turns of a session. Only where a message came from a channel is there somebody to send to while the turn goes on. */
export const chatPublisher = (logic: Publisher['logic']): Publisher => ({
  logic,
  follows: ({ facts: { origin, delivery } }) => origin !== undefined && delivery !== undefined,
  conclude: (turn, answer) => published(turn, answer).output,
})

/** A text in which nothing could be meant for us: most are. */
const isPlain = (text: string, { silent, heartbeat }: Tokens): boolean =>
  text.trim() !== '' && !/[<`]|\[\[|MEDIA:|\n[^\S\n]*\n/.test(text) && !text.includes(silent) && !text.includes(heartbeat)

const spoken = (
  { texts, references }: LoopOutput,
  { profile: { heartbeat }, tokens, facts: { origin }, replyTo, tagsWhenOff, finalOnly = false }: Told,
): Payload[] => {
  const messageId = origin?.messageId
  const earlier = references === undefined
  const payloads = texts.flatMap((text) => {
    if (!finalOnly && isPlain(text, tokens)) return [{ text }]
    const {
      text: rest,
      media,
      refused: _,
      ...directed
    } = parseModelDirectives(cleanText(text, { finalOnly, earlier }), { earlier, ...definedOf({ messageId, references }) })
    const whole: Payload = {
      ...directed,
      ...definedOf({ text: rest.trim() || undefined, media: media.length === 0 ? undefined : media }),
    }
    const payload = heartbeat ? heartbeatAlert(whole, tokens) : withoutTokens(whole, tokens).payload
    return payload && isRenderable(payload) ? [payload] : []
  })
  if (messageId === undefined && payloads.every(({ replyTo: target }) => target === undefined)) return payloads
  const threading = newThreading(definedOf({ mode: replyTo, messageId, tagsWhenOff }))
  return threadAll(threading, payloads).payloads
}

/** Of the model's own mistakes only the model needs to know. */
const own = new Set<string>(['tool_input', 'tool_unknown', 'tool_denied', 'tool_skipped'])
const toolFailure = ({ toolError }: LoopOutput): Payload[] =>
  toolError && !own.has(toolError.code) ? [{ text: `The tool ${toolError.name} failed, and there is no answer without it.`, error: true }] : []

const failed = ({ error }: LoopOutput, { profile }: Told): Rendered => {
  // A heartbeat was asked for by nobody who would want to know.
  if (error === null || profile.heartbeat) return nothing
  const cause = resetCauseOf(error)
  return { ...nothing, payloads: [{ text: cause ? resetText(cause) : errorText(error), error: true }] }
}

/** What its turn has to add; undefined for most answers, to which nothing is added. */
const decorations = (answer: LoopOutput, { session, profile, facts, tokens, streamed }: Told): Parameters<typeof decorate>[1] | undefined => {
  const { usage, costUsd, model, reasoning, compactions } = answer
  const verbose = (profile.verbose ?? 'off') !== 'off'
  const { usage: mode = 'off', responsePrefix: template, reasoning: shown = 'off' } = profile
  if (!verbose && mode === 'off' && template === undefined && shown === 'off') return undefined
  const prefix = prefixFor(profile, model)
  const line = usageLine(
    // A side of which nothing is known counts as nothing on its way here.
    definedOf({
      input: usage.inputTokens || undefined,
      output: usage.outputTokens || undefined,
      costUsd: costUsd ?? undefined,
    }),
    { mode, apiKey: !answer.flat, sessionKey: session },
  )
  return {
    tokens,
    verbose,
    streamed,
    ...definedOf({
      newSessionId: facts.newSessionId,
      compactions: compactions > 0 ? facts.compactions + compactions : undefined,
      reasoning: shown === 'on' && reasoning !== '' ? reasoning : undefined,
      prefix,
      usage: line,
    }),
  }
}

/** What stands before each message, once it is known which model says it. */
export const prefixFor = ({ responsePrefix: template, thinking = 'off', agent }: Profile, model: string): string | undefined => {
  if (template === undefined) return undefined
  const provider = providerOf(model)
  return responsePrefix(template, {
    model: modelIdOf(model),
    modelFull: model,
    ...definedOf({ provider: provider || undefined }),
    thinkingLevel: thinking,
    identity: { name: agent },
  })
}
