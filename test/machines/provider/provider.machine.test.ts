import { expect, test } from 'vitest'
import { ProviderEvent } from '../../../src/machines/provider/provider.context.ts'
import { providerMachine } from '../../../src/machines/provider/provider.machine.ts'
import { restsUntil } from '../../../src/models/cooldown.rules.ts'
import { walker } from '../walk.ts'

const minute = 60_000
const provider = walker(providerMachine, [])
const open = () => provider.start({ provider: 'anthropic' })
const failed = (profile: string, at: number, reason = 'rate_limit') => ({ type: 'failed', profile, reason, at })
const succeeded = (profile: string, at: number) => ({ type: 'succeeded', profile, at })

test('it is ready, and stays so while calls succeed', () => {
  const walk = open().send(succeeded('work', 1000))

  expect(walk.state).toBe('ready')
  expect(walk.context).toMatchObject({ provider: 'anthropic', at: 1000, profiles: { work: { lastUsedAt: 1000, failures: 0 } } })
})

test('after a failure it is cooling until the credential is back', () => {
  const walk = open().send(failed('work', 1000))
  expect(walk.state).toBe('cooling')

  expect(walk.pass(minute - 1).state).toBe('cooling')
  expect(walk.pass(1).state).toBe('ready')
  expect(walk.context).toMatchObject({ at: 1000 + minute, profiles: { work: { failures: 1 } } })
})

test('of several that rest, each comes back in its time', () => {
  const walk = open()
    .send(failed('work', 0))
    .send(failed('home', 0, 'billing'))

  walk.pass(minute)
  expect(walk.state).toBe('cooling')
  expect(restsUntil(walk.context.profiles, 'work', walk.context.at)).toBeUndefined()
  expect(restsUntil(walk.context.profiles, 'home', walk.context.at)).toBe(5 * 60 * minute)

  expect(walk.pass(299 * minute).state).toBe('ready')
})

test('an event in between does not make the rest longer', () => {
  const walk = open().send(failed('work', 0)).pass(40_000).send(succeeded('home', 40_000))

  expect(walk.pass(19_999).state).toBe('cooling')
  expect(walk.pass(1).state).toBe('ready')
})

test('an answer with the credential that rests ends it at once', () => {
  expect(open().send(failed('work', 0)).send(succeeded('work', 10)).state).toBe('ready')
})

test('what another credential would meet as well leaves it ready', () => {
  expect(open().send(failed('work', 0, 'unknown_model')).state).toBe('ready')
})

test('news that comes late does not turn time back', () => {
  expect(open().send(succeeded('work', 5000)).send(succeeded('home', 4000)).context).toMatchObject({ at: 5000 })
})

test('an event names a credential, a time and a reason that we know', () => {
  expect(ProviderEvent.safeParse(failed('work', 1)).success).toBe(true)
  expect(ProviderEvent.safeParse(failed('work', 1, 'bad mood')).success).toBe(false)
  expect(ProviderEvent.safeParse({ ...succeeded('work', 1), value: 'sk-secret' }).success).toBe(false)
})

test('every transition of the chart has been taken', () => {
  expect(provider.missed()).toEqual([])
})
