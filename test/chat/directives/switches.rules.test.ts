import { expect, test } from 'vitest'
import {
  elevatedLevel,
  nextUsageMode,
  reasoningVisibility,
  sendPolicy,
  thinkingLevel,
  usageMode,
  verboseLevel,
} from '../../../src/chat/directives/switches.rules.ts'

test.each([
  ['off', ['off', 'none', 'no', 'disabled', '0']],
  ['minimal', ['minimal', 'min', 'think']],
  ['low', ['low', 'on', 'enable', 'think-hard', 'think_hard', 'THINKHARD']],
  ['medium', ['medium', 'mid', 'med', 'harder', 'think-harder']],
  ['high', ['high', 'max', 'highest', 'ultrathink', ' High ']],
  ['xhigh', ['xhigh', 'x-high', 'extra-high']],
  ['adaptive', ['adaptive', 'auto']],
])('thinking: %s goes by its aliases [OC-99]', (level, words) => {
  expect(words.map(thinkingLevel)).toEqual(words.map(() => level))
})

test('words that are no position of a switch are none', () => {
  for (const read of [thinkingLevel, verboseLevel, reasoningVisibility, elevatedLevel, usageMode, sendPolicy])
    expect(['', 'fix', 'toString', '__proto__', 'high low'].map((word) => read(word))).toEqual(Array(5).fill(undefined))
})

test('the other switches have their positions and aliases [OC-93] [OC-97] [OC-104]', () => {
  expect(['off', 'ON', 'full', 'all', 'no'].map(verboseLevel)).toEqual(['off', 'on', 'full', 'full', 'off'])
  expect(['off', 'on', 'stream', 'live', 'hide', 'show'].map(reasoningVisibility)).toEqual(['off', 'on', 'stream', 'stream', 'off', 'on'])
  expect(['off', 'on', 'ask', 'full', 'auto-approve'].map(elevatedLevel)).toEqual(['off', 'on', 'ask', 'full', 'full'])
  expect(['off', 'tokens', 'on', 'true', 'minimal', 'full', 'session'].map(usageMode)).toEqual([
    'off',
    'tokens',
    'tokens',
    'tokens',
    'tokens',
    'full',
    'full',
  ])
  expect(['on', 'off', 'inherit', 'allow', 'deny', 'default'].map(sendPolicy)).toEqual(['on', 'off', 'inherit', 'on', 'off', 'inherit'])
})

test('four bare commands lead through all forms of the usage line and back [OC-95]', () => {
  const first = nextUsageMode()
  const second = nextUsageMode(first)
  const third = nextUsageMode(second)

  expect([first, second, third, nextUsageMode(third)]).toEqual(['tokens', 'full', 'off', 'tokens'])
})
