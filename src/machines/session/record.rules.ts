/** What a session keeps of itself beside its transcript, as pure functions; see SessionRecord in src/contracts/session.ts. */

import type { SideOutput } from '../../contracts/beside.ts'
import { definedOf } from '../../contracts/defined.ts'
import { addUsage, noUsage, type Usage } from '../../contracts/message.ts'
import { providerOf } from '../../contracts/model-ref.ts'
import { Profile } from '../../contracts/profile.ts'
import { type DeskRecord, emptyDeskRecord, type SessionRecord } from '../../contracts/session.ts'
import type { ToggleChanges, Toggles } from '../../contracts/settings.ts'
import type { SummaryOutput, TurnOutput } from '../../contracts/turn.ts'

export const emptyRecord: SessionRecord = {
  sessionId: '',
  startedAt: 0,
  updatedAt: 0,
  resets: 0,
  systemSent: false,
  abortedLastRun: false,
  toggles: {},
  compactions: 0,
  spent: { turns: 0, usage: noUsage, costUsd: 0, priced: 0, unpriced: 0, days: {} },
  notes: [],
}

/** A message was accepted: the conversation is alive, and begins with its first one. A clock that fell behind turns nothing back. */
export const touched = (record: SessionRecord, key: string, { at, profile }: { at: number; profile: Profile }): SessionRecord => {
  // That the agent has looked around does not keep a conversation alive.
  if (profile.heartbeat && record.sessionId !== '') return record
  const now = Math.max(at, record.updatedAt)
  return {
    ...record,
    ...(record.sessionId === '' ? { sessionId: sessionIdOf(key, now, record.resets), startedAt: now } : {}),
    updatedAt: now,
  }
}

/** The conversation begins anew: who its users are and what they want stays, what was said and counted does not. */
export const startedOver = (record: SessionRecord, key: string, at: number): SessionRecord => {
  const { flushed: _, tokens: __, credential: ___, allowedTools: ____, prompt: _____, ...kept } = record
  const now = Math.max(at, record.updatedAt)
  const resets = record.resets + 1
  return {
    ...kept,
    sessionId: sessionIdOf(key, now, resets),
    startedAt: now,
    updatedAt: now,
    resets,
    systemSent: false,
    abortedLastRun: false,
    compactions: 0,
    // What the days have cost does not end with a conversation.
    spent: { ...emptyRecord.spent, days: record.spent.days },
  }
}

/** Old history is a summary now; what that took counts as all else. */
export const summarised = (record: SessionRecord, { usage, costUsd, tokens, endedAt }: SummaryOutput): SessionRecord => {
  const { credential: _, ...rest } = record
  return {
    ...rest,
    compactions: record.compactions + 1,
    ...definedOf({ tokens: record.tokens && { ...record.tokens, total: tokens?.after ?? 0 } }),
    spent: spentMore(record.spent, { usage, costUsd, at: endedAt ?? record.updatedAt }),
  }
}

/** What a side question has used counts as all else. */
export const spentAside = (record: SessionRecord, { usage, costUsd, endedAt }: SideOutput): SessionRecord => ({
  ...record,
  spent: spentMore(record.spent, { usage, costUsd, at: endedAt }),
})

type Spent = SessionRecord['spent']
const daysMax = 31

/** By day, too: users ask for today and for the last month. */
const spentMore = (spent: Spent, { usage, costUsd, at }: { usage: Usage; costUsd?: number | undefined; at: number }): Spent => {
  if (usage.inputTokens + usage.outputTokens === 0) return spent
  const day = new Date(at).toISOString().slice(0, 10)
  const before = spent.days[day] ?? { costUsd: 0, priced: 0, unpriced: 0 }
  const more = { costUsd: costUsd ?? 0, priced: costUsd === undefined ? 0 : 1, unpriced: costUsd === undefined ? 1 : 0 }
  const add = (sum: typeof more) => ({
    costUsd: sum.costUsd + more.costUsd,
    priced: sum.priced + more.priced,
    unpriced: sum.unpriced + more.unpriced,
  })
  const days = Object.entries({ ...spent.days, [day]: add(before) }).sort(([a], [b]) => (a < b ? -1 : 1))
  return { ...spent, ...add(spent), usage: addUsage(spent.usage, usage), days: Object.fromEntries(days.slice(-daysMax)) }
}

/** A turn has ended: what it used is written down here and nowhere else. */
export const accounted = (
  record: SessionRecord,
  { status, usage, model, provider, window, tokens, costUsd, flushed, credential, endedAt, prompt, compactions = 0 }: TurnOutput,
): SessionRecord => {
  const { spent, credential: pinned, ...rest } = record
  const used = usage.inputTokens + usage.outputTokens > 0
  const at = endedAt ?? record.updatedAt
  return {
    ...rest,
    ...(prompt && { prompt }),
    // After a compaction nothing is warm any more.
    ...definedOf({ credential: compactions > 0 ? undefined : (credential ?? pinned) }),
    // Also where all was said, and the rest of it was on its way when somebody stopped it.
    abortedLastRun: status === 'cancelled' || record.abortedLastRun,
    systemSent: record.systemSent || status === 'completed',
    compactions: record.compactions + compactions,
    // Before the turn compacted anything.
    ...definedOf({ flushed: flushed && { at: record.updatedAt, compactions: record.compactions } }),
    tokens: {
      input: used ? usage.inputTokens : (record.tokens?.input ?? 0),
      output: used ? usage.outputTokens : (record.tokens?.output ?? 0),
      total: tokens ?? record.tokens?.total ?? 0,
      ...definedOf({ window: window || record.tokens?.window || undefined, at: endedAt }),
      model,
      provider: provider ?? providerOf(model),
    },
    spent: { ...spentMore(flushed ? spentMore(spent, { ...flushed, at }) : spent, { usage, costUsd, at }), turns: spent.turns + 1 },
  }
}

/** Settings for a turn: what the message asks for, else what the session keeps, else what its agent says. */
export const profileFor = (profile: Profile, ...layers: (Toggles | undefined)[]): Profile => {
  const chosen: Toggles = Object.assign({}, ...layers)
  // What is to be as usual stands there without a value, above what was chosen before.
  const rest = Object.fromEntries(Object.entries(definedOf(chosen)).filter(([name]) => !isForDesk(name))) as Partial<Profile>
  if (Object.keys(rest).length === 0) return profile
  // Where nobody says who else may answer, the model of the agent does for the one that was asked for.
  const primary = rest.model !== undefined && rest.model !== profile.model && profile.fallbacks === undefined ? { primary: profile.model } : {}
  const [session, message] = layers
  const chosenBy = message?.model !== undefined ? (profile.heartbeat ? 'heartbeat' : 'message') : session?.model !== undefined ? 'session' : undefined
  return { ...profile, ...primary, ...rest, ...(rest.model === undefined || chosenBy === undefined ? {} : { modelSource: chosenBy }) }
}

/** What was found to be wrong is still so. */
export const keepsJust = ({ toggles }: SessionRecord, { model, credential }: Pick<Toggles, 'model' | 'credential'>): boolean =>
  toggles.model === model && toggles.credential === credential

const settingsOfTurns = new Set(Object.keys(Profile.shape))
/** A setting of the conversation that no turn has. */
const isForDesk = (name: string): boolean => !settingsOfTurns.has(name)
export const hasDeskSettings = ({ toggles }: SessionRecord): boolean => {
  for (const name in toggles) if (isForDesk(name)) return true
  return false
}

/** A person needs no more be asked about calls of this tool. */
export const allowedToo = (record: SessionRecord, tool: string): SessionRecord => ({
  ...record,
  allowedTools: [...new Set([...(record.allowedTools ?? []), tool])],
})

export const configuredRecord = (record: SessionRecord, changes: ToggleChanges): SessionRecord => {
  const { allowedTools, ...rest } = record
  return { ...(changes.allowedTools === null ? rest : record), toggles: configured(record.toggles, changes) }
}

/** Null removes a setting. */
export const configured = (toggles: Toggles, changes: ToggleChanges): Toggles =>
  Object.fromEntries(Object.entries({ ...toggles, ...changes }).filter(([, value]) => value !== null && value !== undefined))

const notesMax = 20
/** Something has happened that the model shall know of. */
export const noted = (record: SessionRecord, at: number, text: string): SessionRecord => ({
  ...record,
  notes: [...record.notes, { at, text }].slice(-notesMax),
})

/** All that is known of a conversation, as it is shown. @param children of its actor, as they are shown */
export const shownRecord = (record: SessionRecord, children: Record<string, { context: unknown }> = {}): SessionRecord & DeskRecord => ({
  ...record,
  ...emptyDeskRecord,
  ...(children.desk?.context as { record: DeskRecord } | undefined)?.record,
})

/** Mixes a text down to 32 bits. */
const mixed = (text: string, seed: number): number => {
  let hash = seed
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x9e3779b1)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A UUID of version 8 (RFC 9562 §5.8) that stands for these facts. It is not drawn by chance: every reader of the journal computes the same. It is a name and no secret. */
const sessionIdOf = (...facts: (string | number)[]): string => {
  const text = JSON.stringify(facts)
  const hex = [1, 2, 3, 4]
    .map((seed) =>
      mixed(text, seed * 0x9e3779b9)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
