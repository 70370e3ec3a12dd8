import { expect, test } from 'vitest'
import { sendAllowed } from '../../../src/chat/inbound/send-policy.rules.ts'

const deny = { action: 'deny' } as const

test('without a word against it, all may be sent [OC-104]', () => {
  expect(sendAllowed({ key: 'main' })).toBe(true)
  expect(sendAllowed({ key: 'main', override: 'inherit', rules: [] })).toBe(true)
})

test('the word of the session goes before every rule [OC-104]', () => {
  expect(sendAllowed({ key: 'main', override: 'on', rules: [deny] })).toBe(true)
  expect(sendAllowed({ key: 'main', override: 'off', rules: [{ action: 'allow' }] })).toBe(false)
  expect(sendAllowed({ key: 'main', override: 'inherit', rules: [deny] })).toBe(false)
})

test('a rule fits where all that it names does [OC-104]', () => {
  const rules = [{ ...deny, channel: 'mail', chatType: 'group', keyPrefix: 'agent:x:' } as const]
  const fitting = { rules, channel: 'mail', chatType: 'group', key: 'agent:x:1' } as const

  expect(sendAllowed(fitting)).toBe(false)
  expect(sendAllowed({ ...fitting, channel: 'web' })).toBe(true)
  expect(sendAllowed({ ...fitting, channel: undefined })).toBe(true)
  expect(sendAllowed({ ...fitting, chatType: 'thread' })).toBe(true)
  expect(sendAllowed({ ...fitting, key: 'agent:y:1' })).toBe(true)
})

test('a chat of no known type is a direct one', () => {
  expect(sendAllowed({ key: 'main', rules: [{ ...deny, chatType: 'direct' }] })).toBe(false)
  expect(sendAllowed({ key: 'main', rules: [{ ...deny, chatType: 'group' }] })).toBe(true)
})

test('one rule that denies outweighs any that allow, in whatever order [OC-104]', () => {
  const allow = { action: 'allow' } as const

  expect(sendAllowed({ key: 'main', rules: [allow, { ...deny, keyPrefix: 'main' }] })).toBe(false)
  expect(sendAllowed({ key: 'main', rules: [deny, allow] })).toBe(false)
})

test('where all is denied that no rule allows, a rule may allow', () => {
  const rules = [{ action: 'allow', channel: 'web' } as const]

  expect(sendAllowed({ key: 'main', rules, channel: 'web', otherwise: 'deny' })).toBe(true)
  expect(sendAllowed({ key: 'main', rules, channel: 'mail', otherwise: 'deny' })).toBe(false)
})
