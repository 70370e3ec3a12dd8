/** The words by which a model says that nothing is to be sent, and that a heartbeat found nothing (OC-67, 75, 105). */
import type { Payload, Tokens } from '../../contracts/reply.ts'

/** An acknowledgement may say this much beside its token, in characters, and is still nothing to send. */
const acknowledgedCharsMax = 300

/** Whether the silent token begins or ends a text. */
export const isSilent = (text: string, { silent }: Tokens): boolean => {
  if (silent === '') return false
  const first = text.indexOf(silent)
  if (first < 0) return false
  const last = text.lastIndexOf(silent)
  const begins = !hasWords(text.slice(0, first)) && !continues(text.slice(first + silent.length))
  return begins || (!hasWords(text.slice(last + silent.length)) && !continued(text.slice(0, last)))
}

/** Whether there are no words beside the token. */
export const isNothingBut = (text: string, token: string): boolean => !hasWords(text.replaceAll(token, ''))

const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)
/** Whether a token would be part of a longer word; an underscore alone may be markup. */
const continues = (after: string): boolean => /^_*[\p{L}\p{N}]/u.test(after)
/** Looked at from its end, however long it is. */
const continued = (before: string): boolean => {
  let end = before.length
  while (before[end - 1] === '_') end--
  return /[\p{L}\p{N}]$/u.test(before.slice(Math.max(0, end - 2), end))
}

/**
 * The payload without tokens, outside of a heartbeat; none where nothing is left of it. Of a silent one only its media are left.
 * @returns `stripped` if a heartbeat token was taken off an edge, where it did not belong
 */
export const withoutTokens = (payload: Payload, tokens: Tokens): { payload?: Payload; stripped: boolean } => {
  if (payload.text === undefined) return { payload, stripped: false }
  if (isSilent(payload.text, tokens)) return { ...withText(payload, ''), stripped: false }
  const text = withoutEdges(payload.text, tokens.heartbeat)
  return text === undefined ? { payload, stripped: false } : { ...withText(payload, text), stripped: true }
}

/** What a heartbeat has to tell: nothing if it acknowledges in few words or is silent, unless there are media. */
export const heartbeatAlert = (payload: Payload, tokens: Tokens): Payload | undefined => {
  if (payload.text === undefined) return payload
  if (isSilent(payload.text, tokens)) return withText(payload, '').payload
  const rest = withoutEdges(payload.text, tokens.heartbeat)
  if (rest === undefined) return payload
  return withText(payload, rest.length <= acknowledgedCharsMax ? '' : rest).payload
}

/** @param text all that is visible of an answer so far @returns what of it may be shown while it grows: no token, nor what may become one */
export const partialText = (text: string, tokens: Tokens): string => {
  const bare = text.replace(/^[\s*_~`]+/, '').trimEnd()
  if (tokens.silent.startsWith(bare) || tokens.heartbeat.startsWith(bare)) return ''
  const silent = isSilent(text, tokens)
  if (silent && bare.startsWith(tokens.silent)) return ''
  const rest = silent ? text.slice(0, text.lastIndexOf(tokens.silent)) : text
  return withoutBeginnings(withoutEdges(rest, tokens.heartbeat) ?? rest, [tokens.silent, tokens.heartbeat])
}

/** Without the beginning of a token at the end of a text, once it is long enough to be hardly anything else. */
const withoutBeginnings = (text: string, tokens: string[]): string => {
  for (const token of tokens)
    for (let length = token.length; length >= beginningCharsMin; length--)
      if (text.endsWith(token.slice(0, length)) && !continued(text.slice(0, -length))) return text.slice(0, -length).trimEnd()
  return text
}
const beginningCharsMin = 3

const withText = (payload: Payload, text: string): { payload?: Payload } => {
  const { text: _, ...rest } = payload
  if (text !== '') return { payload: { ...rest, text } }
  return payload.media?.length ? { payload: rest } : {}
}

/** @returns undefined where the token stands at no edge */
const withoutEdges = (text: string, token: string): string | undefined => {
  if (token === '') return undefined
  let rest = text.trim()
  let found = false
  for (;;) {
    const without = withoutFirst(rest, token) ?? withoutLast(rest, token)
    if (without === undefined) return found ? (nothing.test(rest) ? '' : rest) : undefined
    rest = without.trim()
    found = true
  }
}

// Markup is a tag, a space that does not break, or a mark that wraps words.
const closingMarkup = /^(?:<\/?[a-z][^<>]{0,50}>|&nbsp;|[*_~`])+/i
const lastMarkup = /(?:<\/?[a-z][^<>]{0,50}>|&nbsp;|[*_~`])$/i
const onlyMarkup = /^(?:<\/?[a-z][^<>]{0,50}>|&nbsp;|[*_~`\s])*$/i
const nothing = /^(?:<\/?[a-z][^<>]{0,50}>|&nbsp;|[*_~`\s.!,;:…])*$/i

/** What wraps the token goes with it; markup that wraps more than the token stays. */
const withoutFirst = (text: string, token: string): string | undefined => {
  const at = text.indexOf(token)
  const [before, after] = [text.slice(0, at), text.slice(at + token.length)]
  if (at < 0 || !onlyMarkup.test(before) || continues(after)) return undefined
  const wrap = closingMarkup.exec(after)?.[0] ?? ''
  return before === '' ? after : wrap === '' ? before + after.trimStart() : after.slice(wrap.length)
}

const withoutLast = (text: string, token: string): string | undefined => {
  const at = text.lastIndexOf(token)
  if (at < 0) return undefined
  const after = text
    .slice(at + token.length)
    .replace(/[.!…]{0,3}$/, '')
    .trim()
  const whole = text.slice(0, at)
  const [bare, wrap] = after === '' ? [whole, ''] : splitMarkup(whole)
  if (!onlyMarkup.test(after) || continued(bare)) return undefined
  return wrap === '' ? bare.trimEnd() + after : bare
}

/** A text, and the markup that it ends with. */
const splitMarkup = (text: string): [string, string] => {
  let end = text.length
  for (;;) {
    const found = lastMarkup.exec(text.slice(Math.max(0, end - 60), end))?.[0]
    if (found === undefined) return [text.slice(0, end), text.slice(end)]
    end -= found.length
  }
}
