import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSendableName } from '../../src/contracts/model.ts'
import { toolNameOf } from '../../src/tools/tool-names.rules.ts'
import { casesOf } from '../support/property.ts'

const named = (name: string, permitted: string[], callId = 'call_1') => toolNameOf({ name, callId }, permitted)
const bench = ['read', 'write', 'read_file', 'Search']

test.each([
  ['read', 'read'],
  ['  read ', 'read'],
  ['READ', 'read'],
  ['search', 'Search'],
  ['functions.read', 'read'],
  ['toolsread3', 'read'],
  ['tools/write:12', 'write'],
  ['Read1', 'read'],
  ['x/read', 'read'],
  ['a.b.read', 'read'],
  ['a.b.read:3', 'read'],
  ['read_file', 'read_file'],
  ['multi_tool_use.read_file', 'read_file'],
])('a model that writes %j means %s', (written, meant) => {
  expect(named(written, bench)).toBe(meant)
})

test.each([
  ['nothing like it', 'delete', bench],
  ['a tool that is not permitted', 'Exec1', bench],
  ['two that differ in case', 'READ', ['read', 'Read']],
  ['two, one with a number', 'functions.read3', ['read', 'read3']],
  ['two behind a dot', 'a.b.read', ['b.read', 'read']],
  ['a malformed counter', 'read:3x', bench],
  ['only a prefix', 'functions.', bench],
  ['an empty name and an id that says nothing', '', ['call', 'tool']],
  ['no tools at all', 'read', []],
])('%s: nothing is guessed', (_, written, permitted) => {
  expect(named(written, permitted)).toBeUndefined()
})

test('an alias stands for a tool that is permitted, and gives way to one of its own name', () => {
  expect(named('bash', ['exec'])).toBe('exec')
  expect(named('bash', ['exec', 'bash'])).toBe('bash')
  expect(named('bash', ['read'])).toBeUndefined()
})

test.each([
  ['functions.read:0', 'read'],
  ['functions_write_2', 'write'],
  ['read:7', 'read'],
  ['call_1', undefined],
  ['toolu_01AbC', undefined],
  ['zzz', undefined],
])('a call without a name and with the id %s is for %s', (callId, meant) => {
  expect(named('', bench, callId)).toBe(meant)
})

test('a call with a name is never read by its id', () => {
  expect(named('delete', bench, 'functions.read:0')).toBeUndefined()
})

const aName = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/)
const aBench = fc.uniqueArray(aName, { maxLength: 6 })

test('whatever a model writes, what comes out is permitted, or nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), aBench, (name, callId, permitted) => {
      const meant = toolNameOf({ name, callId }, permitted)
      expect(meant === undefined || permitted.includes(meant)).toBe(true)
    }),
    casesOf(import.meta.url),
  )
})

test('a permitted name stands for itself, and another tool beside it changes nothing of that', () => {
  fc.assert(
    fc.property(aName, aBench, (name, others) => {
      expect(named(name, [...others, name])).toBe(name)
    }),
    casesOf(import.meta.url),
  )
})

test('the order of the bench plays no part', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), aBench, (name, callId, permitted) => {
      expect(toolNameOf({ name, callId }, permitted.toReversed())).toBe(toolNameOf({ name, callId }, permitted))
    }),
    casesOf(import.meta.url),
  )
})

test('what a provider could not take back is not sent back', () => {
  expect(['read', 'a.b', 'x'.repeat(64)].map(isSendableName)).toEqual([true, true, true])
  expect(['', 'my tool', 'x'.repeat(65)].map(isSendableName)).toEqual([false, false, false])
})
