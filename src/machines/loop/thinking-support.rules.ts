/** Which thinking levels a provider takes, read from its refusal of another one. */
import type { ErrorBody } from '../../contracts/errors.ts'
import { ThinkingLevel } from '../../contracts/settings.ts'

/**
 * What the refusal has to be about, so that a list of other things is not taken for levels. A 500 has to name the level itself: proxies wrap the refusal of
 * a provider in one, and most others are outages.
 */
const subjects: Readonly<Record<string, RegExp>> = {
  provider_rejected: /reason|think|effort|\blevels?\b/i,
  provider_unavailable: /\beffort\b|reasoning_effort|\bthink(?:ing)? (?:value|level)/i,
}
/**
 * How a list begins. A boundary comes first: the "supported value:" of "Unsupported value: 'high'" and the "allowed:" of "not allowed: high" name the level
 * that was refused.
 */
const beginning =
  /(?<![a-z])(?<!(?:\bnot|n't)\s)(?:(?:supported|allowed|accepted|valid|permitted|available)(?:[\s_]+[a-z]+){0,2}?(?:["'\\]{0,2}\s*:|\s+are\b:?)|(?:must|should) be (?:one of\b:?|(?=["'`\\]))|expected one of\b:?|use effort\b)/gi
/** Words with nothing between them but spaces, quotes, brackets, commas and the like: a colon or the end of a sentence ends the list. */
const list = /^[a-z \t\r\n,/|'"`\\[\](){}*•-]*/i
const listCharsMax = 500

/**
 * The levels in the order in which the provider lists them.
 * @returns undefined when the error does not refuse a level, or names none that we know
 */
export const supportedThinking = (error: ErrorBody): ThinkingLevel[] | undefined => {
  const subject = subjects[error.code]
  if (subject === undefined) return undefined
  // The message first: it is a sentence, while the body is JSON with fields around it.
  for (const text of [error.message, error.data?.body]) {
    if (typeof text !== 'string' || !subject.test(text)) continue
    for (const { index, 0: intro } of text.matchAll(beginning)) {
      const levels = levelsIn(text.slice(index + intro.length, index + intro.length + listCharsMax))
      if (levels.length > 0) return levels
    }
  }
  return undefined
}

const levelsIn = (text: string): ThinkingLevel[] => {
  const words = (list.exec(text)?.[0] ?? '').toLowerCase().match(/[a-z]+/g) ?? []
  const levels = words.flatMap((word) => {
    const level = ThinkingLevel.safeParse(word === 'none' ? 'off' : word)
    return level.success ? [level.data] : []
  })
  return [...new Set(levels)]
}

/** The level to try next. What was tried counts for one credential: with the next one it begins anew. */
export const nextThinking = (supported: readonly ThinkingLevel[], tried: Iterable<ThinkingLevel>): ThinkingLevel | undefined => {
  const done = new Set(tried)
  return supported.find((level) => !done.has(level))
}
