/** What a tool has already sent to users need not be said again by the answer (OC-77). */
import type { Payload, Route } from '../../contracts/reply.ts'

/** Texts that were sent, oldest first, as they are compared. */
export type SentTexts = string[]

/** So many are remembered. */
const sentMax = 200
/** Shorter texts say too little to be the same by more than chance. */
const comparedCharsMin = 10

/** Adds a text that a tool has sent with success. */
export const rememberSent = (sent: SentTexts, text: string): SentTexts => {
  const compared = normalised(text)
  return compared.length < comparedCharsMin ? sent : [...sent, compared].slice(-sentMax)
}

/** Whether a text equals one that was sent, contains it, or is contained in it. */
export const wasSent = (sent: SentTexts, text: string): boolean => {
  const compared = normalised(text)
  return compared.length >= comparedCharsMin && sent.some((other) => compared.includes(other) || other.includes(compared))
}

/** Payloads without text that was sent; one that has media as well keeps these. */
export const withoutSent = (sent: SentTexts, payloads: Payload[]): Payload[] =>
  sent.length === 0
    ? payloads
    : payloads.flatMap((payload) => {
        if (payload.text === undefined || !wasSent(sent, payload.text)) return [payload]
        const { text: _, ...rest } = payload
        return payload.media?.length ? [rest] : []
      })

/** Whether a tool wrote where the answer would go, so that nothing is left to say there; an account that is not named may be any. */
export const wroteTo = (targets: Route[], origin: Route): boolean =>
  targets.some(
    ({ channel, to, account }) =>
      channel === origin.channel && to === origin.to && (account === undefined || origin.account === undefined || account === origin.account),
  )

/** In lower case, without emoji, with single spaces. */
export const normalised = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u{200d}|\u{fe0f}|\u{20e3}/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
