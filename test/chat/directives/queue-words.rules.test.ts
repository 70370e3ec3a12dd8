import { expect, test } from 'vitest'
import { dropPolicy, queueMode, queueWord } from '../../../src/chat/directives/queue-words.rules.ts'

test.each([
  ['steer', ['steer', 'queue', 'queued', 'steering', ' STEER ']],
  ['followup', ['followup', 'FollowUp']],
  ['collect', ['collect', 'coalesce', '\tCoalesce\n']],
  ['steer-backlog', ['steer-backlog', 'steer+backlog', 'Steer+Backlog']],
  ['interrupt', ['interrupt', 'abort']],
])('%s goes by its aliases, whatever their case and the space around them [OC-07]', (mode, names) => {
  expect(names.map(queueMode)).toEqual(names.map(() => mode))
})

test('a name that is none has no mode [OC-07]', () => {
  expect(['', 'nonsense', 'steer backlog', 'constructor', '__proto__'].map(queueMode)).toEqual(Array(5).fill(undefined))
  expect([' Old ', 'NEW', 'summarize', 'newest', ''].map(dropPolicy)).toEqual(['old', 'new', 'summarize', undefined, undefined])
})

test.each([
  ['collect', { mode: 'collect' }],
  ['debounce:2s', { debounceMs: 2000 }],
  ['DEBOUNCE=750', { debounceMs: 750 }],
  ['cap:25', { cap: 25 }],
  ['cap:2.5', { cap: 2 }],
  ['drop:Old', { drop: 'old' }],
  ['default', { reset: true }],
  ['Reset', { reset: true }],
])('/queue reads %s [OC-101]', (word, asked) => {
  expect(queueWord(word)).toEqual(asked)
})

test('a cap below 1 is ignored, other values that fit nothing are named, other words are not read [OC-101]', () => {
  expect(['cap:0', 'cap:-3', 'cap:0.5'].map(queueWord)).toEqual([{}, {}, {}])
  const wrong = ['debounce:soon', 'debounce:', 'cap:many', 'cap:', 'drop:all', 'debounce:-1']
  expect(wrong.map(queueWord)).toEqual(wrong.map((invalid) => ({ invalid })))
  expect(['please', 'debounce', 'capx:3', ''].map(queueWord)).toEqual(Array(4).fill(undefined))
})
