/** What is added to an answer: notices before it, a prefix to each message, a line below it (OC-82…87). */
import type { Payload, Tokens } from '../../contracts/reply.ts'
import { withLine } from './usage-line.rules.ts'

/** What a turn knows when its answer is complete. A fact that is left out adds nothing. */
export type TurnFacts = {
  tokens: Tokens
  /** Notices are wanted: verbosity is not off. */
  verbose: boolean
  /** The answer was already sent in blocks: what is decorated is what is left of it, which may be nothing. */
  streamed: boolean
  /** The session began with this turn, or anew within it. */
  newSessionId?: string
  /** How often the session was compacted, if that happened in this turn. */
  compactions?: number
  /** The reasoning, where it is shown as a message of its own. */
  reasoning?: string
  /** See {@link responsePrefix}. */
  prefix?: string
  /** See `usageLine`. */
  usage?: string
}

/** One kind of addition: `leading` a message before all others, `each` a change to every message, `line` one below the last. */
type Decoration = {
  leading?: (facts: TurnFacts) => string | undefined
  each?: (payload: Payload, facts: TurnFacts) => Payload
  line?: (facts: TurnFacts) => string | undefined
}

/** In the order in which a user reads them. */
const decorations: Decoration[] = [
  { leading: ({ verbose, newSessionId }) => (verbose && newSessionId !== undefined ? `New session: ${newSessionId}` : undefined) },
  {
    leading: ({ verbose, compactions }) =>
      verbose && compactions !== undefined ? `Older messages were summarised to make room (compaction ${compactions} of this session).` : undefined,
  },
  { leading: ({ reasoning }) => (reasoning?.trim() ? `Reasoning:\n${reasoning.trim()}` : undefined) },
  { each: (payload, { prefix, tokens }) => (prefix === undefined ? payload : prefixed(payload, prefix, tokens)) },
  { line: ({ usage }) => usage },
]

/** @property leading, trailing messages of their own before and behind `payloads` */
export type Decorated = { leading: Payload[]; payloads: Payload[]; trailing: Payload[] }

/**
 * Adds to an answer what the facts of its turn call for. A line goes below the last text, and becomes a message of its own where there is
 * none, as after an answer that was streamed. An answer of which nothing is sent is not decorated.
 */
export const decorate = (payloads: Payload[], facts: TurnFacts): Decorated => {
  if (payloads.length === 0 && !facts.streamed) return { leading: [], payloads: [], trailing: [] }
  const leading = decorations.flatMap((decoration) => asPayload(decoration.leading?.(facts)))
  const lines = decorations.flatMap((decoration) => decoration.line?.(facts) ?? [])
  const whole = lines.reduce(
    withLine,
    payloads.map((payload) => decorateBlock(payload, facts)),
  )
  return { leading, payloads: whole.slice(0, payloads.length), trailing: whole.slice(payloads.length) }
}

/** What is added to every single message, also to a block that is sent while the turn goes on. */
export const decorateBlock = (payload: Payload, facts: TurnFacts): Payload =>
  decorations.reduce((decorated, { each }) => each?.(decorated, facts) ?? decorated, payload)

const asPayload = (text: string | undefined): Payload[] => (text === undefined ? [] : [{ text }])

/** What the template of a response prefix may name; known only when a model was chosen. */
type PrefixFacts = { model?: string; modelFull?: string; provider?: string; thinkingLevel?: string; identity?: { name?: string } }

/** Fills `{model}`, `{modelFull}`, `{provider}`, `{thinkingLevel}` and `{identity.name}`; what has no value stays as it stands. */
export const responsePrefix = (template: string, { identity, ...facts }: PrefixFacts): string => {
  const values = new Map<string, string | undefined>([...Object.entries(facts), ['identity.name', identity?.name]])
  return template.replace(/\{([\w.]+)\}/g, (variable, name: string) => values.get(name) ?? variable)
}

/** Neither a second time nor before a token that stands alone. */
const prefixed = (payload: Payload, prefix: string, { silent, heartbeat }: Tokens): Payload => {
  const text = payload.text?.trim() ?? ''
  if (prefix.trim() === '' || ['', silent, heartbeat].includes(text) || text.startsWith(prefix.trim())) return payload
  return { ...payload, text: `${prefix}${/\s$/.test(prefix) ? '' : ' '}${payload.text}` }
}
