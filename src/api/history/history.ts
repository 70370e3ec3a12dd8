/** A page of a conversation: the newest messages, or those before one of them. */
import type { CommandInput } from '../../contracts/commands.ts'
import { definedOf } from '../../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { Message } from '../../contracts/message.ts'
import type { Profile } from '../../contracts/profile.ts'
import { agentInKey } from '../../contracts/session-key.rules.ts'
import type { ThinkingLevel, VerboseLevel } from '../../contracts/settings.ts'
import type { SessionContext } from '../../machines/index.ts'
import { profileOf, type RuntimeParts, type Session } from '../../runtime/index.ts'
import { peek } from '../actors.ts'
import { bounded, historyLimits, pageStart } from './bounds.rules.ts'
import { withDetails } from './details.ts'
import { knownUsage, type OutgoingMessage, sanitised } from './sanitise.rules.ts'

type Asked = CommandInput<'chat.history'>
type Page = { messages: Message[]; more: boolean; waiting: Message[] }

/**
 * @property more older messages stand before these: ask for those `before` the first of them
 * @property waiting said, and not part of the conversation yet
 */
type History = {
  sessionKey: string
  sessionId: string
  thinkingLevel: ThinkingLevel
  verboseLevel: VerboseLevel
  messages: OutgoingMessage[]
  more: boolean
  waiting: OutgoingMessage[]
  runs?: unknown[]
}

/** @throws RuntimeError not_found for a session or a message that is not there, corrupt_at, log_unavailable */
export const readHistory = async (parts: RuntimeParts, session: Session, asked: Asked): Promise<History> => {
  const context = await contextOf(parts, session)
  const { limit = parts.config.view.value.session.historyMax, before, details = false, maxChars } = asked
  const limits = { ...historyLimits, ...parts.history }
  const page = await pageOf(parts, session, { limit, before, context })
  const { messages, runs, heartbeats } = await withDetails(parts.transport.journal, session.address, { ...page, before })
  const profile = profileIn(parts, session)
  const { toggles = {}, sessionId = '' } = context?.record ?? {}
  const options = {
    shown: parts.runtime.shown,
    heartbeats,
    hidesHeartbeats: !parts.runtime.shown.showsHeartbeats(profile.agent),
    failed: new Set(runs.flatMap(({ status, ids }) => (status === 'failed' ? ids : []))),
    ...definedOf({ charsMax: maxChars }),
  }
  const outgoing = sanitised(messages, options)
  const kept = bounded(outgoing, limits)
  // One that was left out for want of room is on the page before.
  const from = kept.length < outgoing.length ? pageStart(outgoing, outgoing.length - kept.length) : 0
  return {
    sessionKey: session.key,
    sessionId,
    thinkingLevel: toggles.thinking ?? profile.thinking ?? (await usualThinking(parts, toggles.model ?? profile.model)),
    verboseLevel: toggles.verbose ?? profile.verbose ?? 'off',
    messages: from === 0 ? kept : kept.slice(from - (outgoing.length - kept.length)),
    more: page.more || from > 0,
    waiting: bounded(sanitised(page.waiting, options), limits),
    ...(details ? { runs: runs.map(({ usage, ...run }) => ({ ...run, usage: knownUsage(usage) })) } : {}),
  }
}

/** Read from the journal: whoever looks at a conversation wakes nobody. What cannot be folded can still be read. */
const contextOf = async (parts: RuntimeParts, { address }: Session): Promise<SessionContext | undefined> => {
  try {
    return (await peek(parts, address)).replica?.actor.getSnapshot().context as SessionContext | undefined
  } catch (error) {
    if (isRuntimeError(error) && !error.retryable) return undefined
    throw error
  }
}

const pageOf = async (
  { transcripts }: RuntimeParts,
  session: Session,
  { limit, before, context }: { limit: number; before?: string | undefined; context: SessionContext | undefined },
): Promise<Page> => {
  if (before !== undefined) {
    const messages = await transcripts.read(session.address)
    const end = messages.findLastIndex((message) => message.role !== 'tool' && message.id === before)
    if (end === -1)
      throw new RuntimeError('not_found', `the conversation has no message '${before.slice(0, 80)}'`, {
        field: 'before',
        hint: 'it may have been reset or compacted since: read it anew, without `before`',
      })
    const start = pageStart(messages.slice(0, end), Math.max(0, end - limit))
    return { messages: messages.slice(start, end), more: start > 0, waiting: [] }
  }
  // A result at the beginning of the page belongs to a call that may stand before it.
  const newest = await transcripts.newest(session.address, limit, [...(context?.queue.map(({ id }) => id) ?? []), ...(context?.run?.ids ?? [])])
  const start = newest.more ? pageStart(newest.messages, 0) : 0
  return { ...newest, messages: newest.messages.slice(start), more: newest.more || start > 0 }
}

/** A key may say whose it is. */
const profileIn = ({ agents, models, config }: RuntimeParts, { key }: Session): Profile => {
  const known = [...agents.keys()]
  const { agent } = agents.get(agentInKey(key, { agents: known }) ?? '') ?? [...agents.values()][0] ?? {}
  return profileOf({ agent: agent as NonNullable<typeof agent>, models, config: config.view, key })
}

/** Where nobody says how hard to think, a model that can does a little. */
const usualThinking = async ({ models }: RuntimeParts, ref: string): Promise<ThinkingLevel> => {
  const model = await models.get(ref).catch(() => undefined)
  return model?.info?.reasoning ? 'low' : 'off'
}
