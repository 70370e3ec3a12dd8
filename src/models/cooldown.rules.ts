/** Which credential of a provider is used next, and for how long one that failed rests. Times are ms since the epoch. */
import type { ErrorBody } from '../contracts/errors.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { CredentialProfile, FailoverReason } from '../contracts/model.ts'

/** What is remembered of one credential; plain JSON. */
type ProfileState = {
  /** Failures in a row that made it rest. */
  failures: number
  /** Failures in a row that only a payment ends. */
  billingFailures: number
  coolUntil: number | null
  disabledUntil: number | null
  lastUsedAt: number | null
  lastFailureAt: number | null
}
/** All credentials of one provider that were ever used. */
export type ProviderState = Readonly<Record<string, ProfileState>>

const minute = 60_000
const hour = 60 * minute
/** A failure is forgotten after this time without another. */
const memoryMs = 24 * hour
/** Credentials that are remembered; beyond it, the one that was used longest ago is forgotten. */
export const profilesMax = 100

const unused: ProfileState = { failures: 0, billingFailures: 0, coolUntil: null, disabledUntil: null, lastUsedAt: null, lastFailureAt: null }

const stateOf = (state: ProviderState, id: string): ProfileState => (Object.hasOwn(state, id) ? state[id] : undefined) ?? unused

/** 1, 5, 25, then 60 minutes. */
const coolingMs = (failures: number): number => Math.min(hour, minute * 5 ** (failures - 1))
/** 5, 10, 20, then 24 hours. */
const disabledMs = (failures: number): number => Math.min(24 * hour, 5 * hour * 2 ** (failures - 1))

/** Reasons for which another credential of the same provider would fail as well. */
const isOfModel = (reason: FailoverReason): boolean => reason === 'unknown_model' || reason === 'context_window'

/**
 * After a failure with this credential. One that comes while it rests already belongs to a call that began before: it makes the rest no
 * longer, or ten calls that fail together would count as ten failures in a row.
 */
export const failed = (state: ProviderState, id: string, reason: FailoverReason, now: number): ProviderState => {
  if (isOfModel(reason)) return state
  const before = stateOf(state, id)
  const forgotten = before.lastFailureAt !== null && now - before.lastFailureAt >= memoryMs
  const { failures, billingFailures } = forgotten ? unused : before
  const noted = { ...before, failures, billingFailures, lastUsedAt: now, lastFailureAt: now }
  if (reason === 'billing') {
    if (isAfter(before.disabledUntil, now)) return keep(state, id, noted)
    return keep(state, id, { ...noted, billingFailures: billingFailures + 1, disabledUntil: now + disabledMs(billingFailures + 1) })
  }
  if (isAfter(before.coolUntil, now)) return keep(state, id, noted)
  return keep(state, id, { ...noted, failures: failures + 1, coolUntil: now + coolingMs(failures + 1) })
}

/** After an answer: the failures before it are forgotten. */
export const succeeded = (state: ProviderState, id: string, now: number): ProviderState => keep(state, id, { ...unused, lastUsedAt: now })

const keep = (state: ProviderState, id: string, next: ProfileState): ProviderState => {
  const all = { ...state, [id]: next }
  const ids = Object.keys(all)
  if (ids.length <= profilesMax) return all
  const oldest = ids.filter((one) => one !== id).reduce((a, b) => (usedAt(all, b) < usedAt(all, a) ? b : a))
  return Object.fromEntries(Object.entries(all).filter(([one]) => one !== oldest))
}

const isAfter = (time: number | null, now: number): boolean => time !== null && time > now
const usedAt = (state: ProviderState, id: string): number => stateOf(state, id).lastUsedAt ?? Number.NEGATIVE_INFINITY

/** When a credential can be used again; undefined when it can be now. */
export const restsUntil = (state: ProviderState, id: string, now: number): number | undefined => {
  const { coolUntil, disabledUntil } = stateOf(state, id)
  const until = Math.max(coolUntil ?? 0, disabledUntil ?? 0)
  return until > now ? until : undefined
}

/** When the next credential that rests can be used again; undefined when none rests. */
export const nextReadyAt = (state: ProviderState, now: number): number | undefined => {
  const times = Object.keys(state).flatMap((id) => restsUntil(state, id, now) ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Why a provider is passed over whose credentials all rest: the same error as if it had been asked and had refused. */
export const restingError = (provider: string, until: number, now: number): ErrorBody =>
  new RuntimeError('provider_rate_limit', `all credentials of ${provider} rest after failures`, {
    retryable: true,
    hint: 'wait, or name a fallback of another provider',
    data: { retryAfterMs: Math.max(0, until - now) },
  }).toJSON()

const kinds: readonly CredentialProfile['type'][] = ['oauth', 'token', 'key']

/**
 * The credentials in the order in which to try them: those that rest last, the one first that can be used soonest. Of the others, the pinned
 * one, then those named in `explicit` in that order, then oauth before token before key, and of one type the one that was used longest ago.
 * @param pinned the one that the session has used before: the cache of the provider may still be warm
 */
export const order = <Profile extends CredentialProfile>(
  profiles: readonly Profile[],
  state: ProviderState,
  now: number,
  { explicit = [], pinned }: { explicit?: readonly string[]; pinned?: string } = {},
): Profile[] => {
  const rank = ({ id }: Profile): number => (id === pinned ? -1 : explicit.includes(id) ? explicit.indexOf(id) : explicit.length)
  const rested = (profile: Profile): number => restsUntil(state, profile.id, now) ?? 0
  return profiles.toSorted((a, b) => {
    const byRest = rested(a) - rested(b)
    if (byRest !== 0) return byRest
    const byWish = rank(a) - rank(b)
    if (byWish !== 0) return byWish
    const byType = kinds.indexOf(a.type) - kinds.indexOf(b.type)
    return byType !== 0 ? byType : compare(usedAt(state, a.id), usedAt(state, b.id))
  })
}

/** Two that were never used are equal; the difference of their times is no number. */
const compare = (a: number, b: number): number => (a === b ? 0 : a - b)
