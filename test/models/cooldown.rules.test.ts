import { describe, expect, test } from 'vitest'
import type { CredentialProfile, FailoverReason } from '../../src/contracts/model.ts'
import { failed, nextReadyAt, order, type ProviderState, profilesMax, restingError, restsUntil, succeeded } from '../../src/models/cooldown.rules.ts'
import { failoverReason } from '../../src/models/fallback.rules.ts'

const minute = 60_000
const hour = 60 * minute
const start = 1_000_000_000_000

/** Fails again and again, each time as soon as the rest is over. @returns how long each rest was */
const rests = (reason: FailoverReason, times: number): number[] => {
  let state: ProviderState = {}
  let now = start
  return Array.from({ length: times }, () => {
    state = failed(state, 'a', reason, now)
    const until = restsUntil(state, 'a', now) ?? now
    const rest = until - now
    now = until
    return rest
  })
}

describe('a credential that fails rests [OC-50]', () => {
  test.each<FailoverReason>(['rate_limit', 'auth', 'timeout', 'format', 'unavailable'])('for 1, 5, 25, then 60 minutes: %s', (reason) => {
    expect(rests(reason, 6)).toEqual([1, 5, 25, 60, 60, 60].map((minutes) => minutes * minute))
  })

  test('for 5 hours, doubled up to 24, where somebody has to pay', () => {
    expect(rests('billing', 4)).toEqual([5, 10, 20, 24].map((hours) => hours * hour))
  })

  test.each<FailoverReason>(['unknown_model', 'context_window'])('not for what another credential would meet as well: %s', (reason) => {
    const state = succeeded({}, 'a', start)

    expect(failed(state, 'a', reason, start)).toBe(state)
  })

  test('calls that began before do not make the rest longer', () => {
    const once = failed({}, 'a', 'rate_limit', start)
    const thrice = failed(failed(once, 'a', 'rate_limit', start + 10), 'a', 'timeout', start + 20)

    expect(restsUntil(thrice, 'a', start + 20)).toBe(start + minute)
    expect(failed(thrice, 'a', 'rate_limit', start + minute).a).toMatchObject({ failures: 2, coolUntil: start + 6 * minute })
  })

  test('the longer of two rests counts, and the two are counted apart', () => {
    const both = failed(failed({}, 'a', 'rate_limit', start), 'a', 'billing', start)

    expect(both.a).toMatchObject({ failures: 1, billingFailures: 1, coolUntil: start + minute, disabledUntil: start + 5 * hour })
    expect(restsUntil(both, 'a', start)).toBe(start + 5 * hour)
  })

  test('24 hours without a failure begin the count anew; a millisecond less does not', () => {
    const twice = failed(failed({}, 'a', 'auth', start), 'a', 'auth', start + minute)

    expect(failed(twice, 'a', 'auth', start + minute + 24 * hour).a).toMatchObject({ failures: 1 })
    expect(failed(twice, 'a', 'auth', start + minute + 24 * hour - 1).a).toMatchObject({ failures: 3 })
  })

  test('an answer clears all', () => {
    const state = succeeded(failed(failed({}, 'a', 'billing', start), 'a', 'auth', start), 'a', start + 1)

    expect(state.a).toEqual({
      failures: 0,
      billingFailures: 0,
      coolUntil: null,
      disabledUntil: null,
      lastUsedAt: start + 1,
      lastFailureAt: null,
    })
  })

  test('the state is plain JSON, left as it was, and never grows without bound', () => {
    const before: ProviderState = {}
    let state = failed(before, '__proto__', 'auth', start)
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
    expect(restsUntil(state, '__proto__', start)).toBe(start + minute)
    expect(restsUntil(state, 'toString', start)).toBeUndefined()
    expect(before).toEqual({})

    for (let index = 0; index < 3 * profilesMax; index++) state = succeeded(state, `p${index}`, start + index)

    expect(Object.keys(state)).toHaveLength(profilesMax)
    expect(Object.keys(state)).not.toContain('p0')
    expect(Object.keys(state)).toContain(`p${3 * profilesMax - 1}`)
  })
})

describe('the order in which credentials are tried (OC-50, OC-51)', () => {
  const profiles: CredentialProfile[] = [
    { id: 'key-1', type: 'key' },
    { id: 'token-1', type: 'token' },
    { id: 'oauth-1', type: 'oauth' },
    { id: 'oauth-2', type: 'oauth' },
    { id: 'key-2', type: 'key' },
  ]
  const ids = (...[state, options]: [ProviderState, Parameters<typeof order>[3]?]) => order(profiles, state, start, options).map(({ id }) => id)
  const used = (...uses: [string, number][]): ProviderState => uses.reduce<ProviderState>((state, [id, at]) => succeeded(state, id, at), {})

  test('oauth before token before key, as they were configured', () => {
    expect(ids({})).toEqual(['oauth-1', 'oauth-2', 'token-1', 'key-1', 'key-2'])
  })

  test('of one type, the one that was used longest ago', () => {
    expect(ids(used(['oauth-1', 20], ['key-1', 10], ['key-2', 5]))).toEqual(['oauth-2', 'oauth-1', 'token-1', 'key-2', 'key-1'])
  })

  test('those that are named come first, in that order', () => {
    expect(ids({}, { explicit: ['key-2', 'token-1', 'nobody'] })).toEqual(['key-2', 'token-1', 'oauth-1', 'oauth-2', 'key-1'])
  })

  test('the one that the session has used comes before all', () => {
    expect(ids({}, { explicit: ['key-2'], pinned: 'key-1' })).toEqual(['key-1', 'key-2', 'oauth-1', 'oauth-2', 'token-1'])
  })

  test('those that rest come last, the soonest to be back first, named or pinned or not', () => {
    const state = failed(failed(failed({}, 'oauth-1', 'billing', start - 1), 'key-2', 'auth', start - 1), 'token-1', 'auth', start - 5)

    expect(ids(state, { explicit: ['oauth-1'], pinned: 'key-2' })).toEqual(['oauth-2', 'key-1', 'token-1', 'key-2', 'oauth-1'])
  })

  test('a rest that is over is none', () => {
    const state = failed({}, 'oauth-1', 'auth', start - minute)

    expect(ids(state)[0]).toBe('oauth-2')
    expect(order(profiles, state, start - 1).at(-1)?.id).toBe('oauth-1')
    expect(restsUntil(state, 'oauth-1', start)).toBeUndefined()
  })
})

describe('a provider whose credentials all rest [OC-48]', () => {
  const _profiles: CredentialProfile[] = [
    { id: 'a', type: 'key' },
    { id: 'b', type: 'key' },
  ]
  const one = failed({}, 'a', 'billing', start)
  const both = failed(one, 'b', 'auth', start)

  test('is known by the time at which the first is back', () => {
    expect(nextReadyAt(both, start)).toBe(start + minute)
    expect(nextReadyAt(both, start + minute)).toBe(start + 5 * hour)
    expect(nextReadyAt({}, start)).toBeUndefined()
  })

  test('is passed over as one that asks to slow down', () => {
    const error = restingError('anthropic', start + 90_000, start)

    expect(error).toMatchObject({ code: 'provider_rate_limit', retryable: true, data: { retryAfterMs: 90_000 } })
    expect(failoverReason(error)).toBe('rate_limit')
  })
})
