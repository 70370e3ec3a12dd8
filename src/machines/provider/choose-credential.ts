/** Which credential of a provider a call uses, and what its outcome means for the others; what is known of them is shared by all sessions. */

import { definedOf } from '../../contracts/defined.ts'
import type { Clock } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { CredentialProfile, Models } from '../../contracts/model.ts'
import { providerOf } from '../../contracts/model-ref.ts'
import { failoverReason, order, type ProviderState, restingError, restsUntil } from '../../models/index.ts'

/** What is known of the credentials of providers, wherever it is kept. */
export type Cooldowns = {
  state(provider: string): Promise<ProviderState>
  /** Tells it on; whether it arrives is not waited for. */
  note(provider: string, event: CooldownEvent): void
}
type CooldownEvent =
  | { type: 'failed'; profile: string; reason: NonNullable<ReturnType<typeof failoverReason>>; at: number }
  | { type: 'succeeded'; profile: string; at: number }

type CredentialWish = {
  /** Those that have failed in this turn. */
  tried: readonly string[]
  /** The one that the session has used before. */
  pinned?: string | undefined
  /** The one that somebody has picked: where its provider has it there is no other. */
  locked?: string | undefined
  /** Whether another model could answer instead: then one that rests is not asked at all. */
  alternatives: boolean
}

/** @property flat not paid by the token */
export type Chosen =
  | { id: string; flat: boolean; source?: CredentialProfile['source']; done(): void; late(): void; failed(error: unknown): RuntimeError }
  | undefined

/** @returns undefined for a model that needs none @throws RuntimeError provider_rate_limit where all rest */
export const chooseCredential = async (
  { models, cooldowns, clock }: { models: Models; cooldowns: Cooldowns; clock: Clock },
  ref: string,
  { tried, pinned, locked, alternatives }: CredentialWish,
): Promise<Chosen> => {
  const all = models.profiles?.(ref) ?? []
  const picked = all.filter(({ id }) => id === locked)
  const profiles = picked.length > 0 ? picked : all
  // With nothing to choose from, the pauses between attempts are rest enough.
  if (profiles.length === 0 || (profiles.length === 1 && !alternatives)) return plain(profiles[0])
  const provider = providerOf(ref)
  const state = await cooldowns.state(provider)
  const left = order(profiles, state, clock.now(), pinned === undefined ? {} : { pinned }).filter(({ id }) => !tried.includes(id))
  const [first] = left
  const until = first && restsUntil(state, first.id, clock.now())
  if (first === undefined || until !== undefined) throw RuntimeError.from(restingError(provider, until ?? clock.now(), clock.now()))
  const ready = (id: string): boolean => restsUntil(state, id, clock.now()) === undefined
  let late = false
  return {
    id: first.id,
    flat: first.type !== 'key',
    ...definedOf({ source: first.source }),
    done() {
      if (late) return
      // Of one that is alone and has nothing held against it, nobody needs to know.
      if (profiles.length > 1 || (state[first.id]?.failures ?? 0) + (state[first.id]?.billingFailures ?? 0) > 0)
        cooldowns.note(provider, { type: 'succeeded', profile: first.id, at: clock.now() })
    },
    /** The time of its turn was up before it had answered. */
    late() {
      late = true
      cooldowns.note(provider, { type: 'failed', profile: first.id, reason: 'timeout', at: clock.now() })
    },
    failed(error) {
      const body = errorBody(error)
      const reason = failoverReason(body)
      if (reason !== undefined) cooldowns.note(provider, { type: 'failed', profile: first.id, reason, at: clock.now() })
      const others = left.slice(1).some(({ id }) => ready(id))
      return RuntimeError.from({ ...body, data: { ...body.data, credential: first.id, otherCredentials: others } })
    },
  }
}

const plain = (profile: CredentialProfile | undefined): Chosen =>
  profile && {
    id: profile.id,
    flat: profile.type !== 'key',
    ...definedOf({ source: profile.source }),
    done: () => undefined,
    late: () => undefined,
    failed: (error) => RuntimeError.from(errorBody(error)),
  }
