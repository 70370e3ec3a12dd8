import { expect, test } from 'vitest'
import { agentInKey, canonicalKey, parentInKey } from '../../src/contracts/session-key.rules.ts'

const main = { agents: ['main', 'Sales'] }
const others = { agents: ['support', 'sales'] }

test.each([
  ['main', main, 'main'],
  ['main:web:default', main, 'main'],
  ['agent:main:main', others, 'main'],
  ['agent:support:web:main', others, 'main'],
  ['sales:web:default', others, 'agent:sales:main'],
  ['agent:Sales:web:x', main, 'agent:sales:web:x'],
  ['agent:main:web:0b5', others, 'agent:main:web:0b5'],
  ['tickets:2026:17', main, 'tickets:2026:17'],
  ['v1:abc', main, 'v1:abc'],
  ['a:b:c:d', main, 'a:b:c:d'],
])('[CH-69] %s is called %3$s', (key, known, wanted) => {
  expect(canonicalKey(key, known)).toBe(wanted)
  expect(canonicalKey(wanted, known)).toBe(wanted)
})

test('[CH-69] the agent of a key is one of those that there are, main the first of them where none is called so; plain keys name none', () => {
  expect(agentInKey('agent:sales:web:x', main)).toBe('Sales')
  expect(agentInKey('agent:main:web:x', others)).toBe('support')
  expect(agentInKey('agent:ghost:web:x', others)).toBe('ghost')
  expect(agentInKey('main', others)).toBeUndefined()
})

test('[CH-24] a thread knows its parent by its key', () => {
  expect(parentInKey('agent:main:sms:group:g:thread:7')).toBe('agent:main:sms:group:g')
  expect(parentInKey('agent:main:sms:group:g:topic:7')).toBe('agent:main:sms:group:g')
  expect(parentInKey('agent:main:web:x')).toBeUndefined()
})
