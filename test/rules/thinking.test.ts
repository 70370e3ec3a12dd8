import { expect, test } from 'vitest'
import { ThinkingLevel } from '../../src/contracts/settings.ts'
import {
  elevatedLevel,
  nextUsageMode,
  reasoningVisibility,
  resolveThinking,
  sendPolicy,
  thinkingLevel,
  thinkingOptions,
  usageMode,
  verboseLevel,
} from '../../src/rules/thinking.ts'

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

const plainModel = { reasoning: true, xhigh: false }

test('what a message says goes before the session, that before the configuration, and that before what the model can [OC-99]', () => {
  const layers = { message: 'high', session: 'medium', configured: 'minimal' } as const

  expect(resolveThinking(layers, plainModel)).toEqual({ level: 'high', source: 'message' })
  expect(resolveThinking({ ...layers, message: undefined }, plainModel)).toEqual({ level: 'medium', source: 'session' })
  expect(resolveThinking({ configured: 'minimal' }, plainModel)).toEqual({ level: 'minimal', source: 'configured' })
  expect(resolveThinking({}, plainModel)).toEqual({ level: 'low', source: 'model' })
  expect(resolveThinking({}, { reasoning: false, xhigh: false })).toEqual({ level: 'off', source: 'model' })
})

test('off is an answer like any other, not a gap to be filled', () => {
  expect(resolveThinking({ session: 'off', configured: 'high' }, plainModel)).toEqual({ level: 'off', source: 'session' })
})

test('xhigh is refused where it is asked for now, and lowered where it was kept from another model [OC-99]', () => {
  expect(resolveThinking({ message: 'xhigh', session: 'low' }, plainModel)).toEqual({ refused: 'xhigh' })
  expect(resolveThinking({ session: 'xhigh' }, plainModel)).toEqual({ level: 'high', source: 'session', lowered: true })
  expect(resolveThinking({ configured: 'xhigh' }, plainModel)).toEqual({ level: 'high', source: 'configured', lowered: true })
  expect(resolveThinking({ message: 'low', session: 'xhigh' }, plainModel)).toEqual({ level: 'low', source: 'message' })
})

test('a model that has xhigh takes it from anywhere, and only there it is offered', () => {
  const able = { reasoning: true, xhigh: true }

  expect(resolveThinking({ message: 'xhigh' }, able)).toEqual({ level: 'xhigh', source: 'message' })
  expect(resolveThinking({ session: 'xhigh' }, able)).toEqual({ level: 'xhigh', source: 'session' })
  expect(thinkingOptions(able)).toEqual(ThinkingLevel.options)
  expect(thinkingOptions(plainModel)).toEqual(['off', 'minimal', 'low', 'medium', 'high', 'adaptive'])
})
