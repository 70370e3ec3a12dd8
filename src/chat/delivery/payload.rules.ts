/** What a payload has to be before it is sent: something, without tokens, and no longer than the channel takes (OC-06, 72, 75). */
import type { Payload, ReplyToMode, Tokens } from '../../contracts/reply.ts'
import { isRenderable } from './blocks.rules.ts'
import { chunkText } from './chunker.rules.ts'
import type { SkipReason } from './delivery.context.ts'
import { isSilent, withoutTokens } from './silent-tokens.rules.ts'

/** @property skip why there is no payload @property stripped a heartbeat token was taken off */
type Shaped = { payload: Payload; skip?: never; stripped: boolean } | { payload?: never; skip: SkipReason; stripped: boolean }

export const shaped = (payload: Payload, tokens: Tokens): Shaped => {
  if (!isRenderable(payload)) return { skip: 'empty', stripped: false }
  const { payload: rest, stripped } = withoutTokens(payload, tokens)
  if (!rest) return { skip: isSilent(payload.text ?? '', tokens) ? 'silent' : 'heartbeat', stripped }
  if (!isRenderable(rest)) return { skip: 'empty', stripped }
  return { payload: rest.text === undefined ? rest : { ...rest, text: bare(rest.text) }, stripped }
}

/** Without blank lines around it; the first line may be indented on purpose. */
const bare = (text: string): string => text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd()

/** A payload in parts that the channel takes: the first has all but text, and all point at a message if every one may. */
export const channelTexts = (payload: Payload, textMax: number, replyTo: ReplyToMode): Payload[] => {
  if (payload.text === undefined || payload.text.length <= textMax) return [payload]
  const { replyTo: target } = payload
  const more = target !== undefined && replyTo === 'all' ? { replyTo: target } : {}
  const texts = chunkText(payload.text, { max: textMax }).map(bare)
  return texts.filter((text) => text !== '').map((text, place) => (place === 0 ? { ...payload, text } : { text, ...more }))
}
