import { expect, test } from 'vitest'
import { resetCommand } from '../../../src/chat/directives/reset-commands.rules.ts'

test('a command stands alone or before a text, in any case [OC-29]', () => {
  expect(resetCommand('/new')).toEqual({ command: '/new', rest: '' })
  expect(resetCommand('/NEW hello')).toEqual({ command: '/new', rest: 'hello' })
  expect(resetCommand('  /Reset \n two\nlines ')).toEqual({ command: '/reset', rest: 'two\nlines' })
})

test.each(['', 'new', '/newer', '/new: x', '/new/file', 'say /new', '/ new', '/resetting'])('%j begins no conversation anew', (text) => {
  expect(resetCommand(text)).toBeUndefined()
})

test('the list is the configured one, and only that', () => {
  const list = ['/neu', 'Start over', '']

  expect(resetCommand('/NEU hallo', list)).toEqual({ command: '/neu', rest: 'hallo' })
  expect(resetCommand('start over please', list)).toEqual({ command: 'Start over', rest: 'please' })
  expect([resetCommand('/new', list), resetCommand('', list), resetCommand('/new', [])]).toEqual([undefined, undefined, undefined])
})

test('of two commands that begin alike the right one is found', () => {
  expect(resetCommand('/newest', ['/new', '/newest'])).toEqual({ command: '/newest', rest: '' })
})
