/** Calls of tools that a model has written into its text. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { type Fits, type LeakedCall, nothingRead, readEnd, readPiece } from '../../../src/ladder/agent/leaked-calls.rules.ts'
import { agent, type LadderEvent } from '../../../src/ladder/index.ts'
import { casesOf } from '../../support/property.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const fits: Fits = (name, { a }) => name === 'add' && typeof a === 'number'
const envelope = '{"name":"add","arguments":{"a":1}}'
const call: LeakedCall = { name: 'add', input: { a: 1 } }

const readAll = (pieces: readonly string[]): { text: string; calls: readonly LeakedCall[] } => {
  let reading = nothingRead
  let text = ''
  const calls: LeakedCall[] = []
  for (const piece of pieces) {
    const read = readPiece(reading, piece, fits)
    reading = read
    text += read.text
    calls.push(...read.calls)
  }
  const rest = readEnd(reading, fits)
  return { text: text + rest.text, calls: [...calls, ...rest.calls] }
}

const shapes: [string, string, LeakedCall[]][] = [
  ['an object', `Well. ${envelope} Done.`, [call]],
  ['other words for the same', '{"tool":"add","input":{"a":1}}', [call]],
  ['the words of a provider', '{"type":"function","function":{"name":"add","arguments":"{\\"a\\":1}"}}', [call]],
  ['a list', `[${envelope}, ${envelope}]`, [call, call]],
  ['a wrapped list', `{"tool_calls":[${envelope}]}`, [call]],
  ['a fence', `So:\n\`\`\`json\n${envelope}\n\`\`\`\nDone.`, [call]],
  ['a tag', `<tool_call>\n${envelope}\n</tool_call>`, [call]],
  ['brackets in a text', '{"name":"add","arguments":{"a":1,"b":"}\\"{"}}', [{ name: 'add', input: { a: 1, b: '}"{' } }]],
]
test('[WL-123] a call is known in each of its shapes, and nothing of it stays in the text', () => {
  for (const [shape, text, calls] of shapes) {
    const read = readAll([text])
    expect(read.calls, shape).toEqual(calls)
    expect(read.text, shape).not.toMatch(/[{}[\]`]|tool_call/)
  }
  expect(readAll([`Well. ${envelope} Done.`]).text).toBe('Well.  Done.')
})

test('[WL-123] all else is text, letter for letter', () => {
  const texts = [
    '{"name":"nobody","arguments":{"a":1}}',
    '{"name":"add","arguments":{"a":"1"}}',
    '{"name":"add","arguments":{"a":1},"more":1}',
    `{"example": ${envelope}}`,
    `[${envelope}, {"x":1}]`,
    '{"name":"add","arguments":{"a":1}',
    '```ts\nconst x = { a: [1] }\n```',
    '```json\n{"a":1}\n```',
    'see [this](x), {braces} and ``` <tool_call> alone `',
    '{"a":"'.repeat(2000),
    `{"name":"add","arguments":{"a":1,"b":"${'x'.repeat(9000)}"}}`,
  ]
  for (const text of texts) expect(readAll([text]), text.slice(0, 60)).toEqual({ text, calls: [] })
})

test('[WL-123] however the text is cut into pieces, it comes to the same', () => {
  const parts = fc.constantFrom(
    ...shapes.map(([, text]) => text),
    envelope,
    '{',
    '}',
    '[',
    ']',
    '"',
    '`',
    '```',
    '```json\n',
    '<tool',
    '_call>',
    '\\',
    ' ',
    'a',
    '{"x":1}',
    '\n',
  )
  const texts = fc.array(parts, { maxLength: 12 }).map((all) => all.join(''))
  const cuts = fc.array(fc.nat(), { maxLength: 20 })
  fc.assert(
    fc.property(texts, cuts, (text, places) => {
      const marks = [...new Set(places.map((place) => place % (text.length + 1)))].sort((one, other) => one - other)
      const pieces = [0, ...marks].map((from, index) => text.slice(from, marks[index] ?? text.length))
      const whole = readAll([text])
      expect(pieces.join('')).toBe(text)
      expect(readAll(pieces)).toEqual(whole)
      expect(readAll(Array.from(text))).toEqual(whole)
    }),
    casesOf(import.meta.url),
  )
})

const add = (did: unknown[] = []) =>
  tool({
    name: 'add',
    description: 'Adds.',
    input: z.object({ a: z.number() }),
    onCrash: 'retry',
    execute: ({ a }) => (did.push(a), a + 1),
  })
const usage = { inputTokens: 7, outputTokens: 3 }
const made = (did?: unknown[], leakedToolCalls = true) => agent({ name: 'sums', model: 'test/a', tools: [add(did)], leakedToolCalls })
const leaking = { chunks: ['I add. {"na', 'me":"add","argu', 'ments":{"a":1}} ', 'So.'], deltaDelayMs: 10, usage }

test('[WL-123] an agent that is told to looks for them: the tool runs, and nobody reads of it', async () => {
  const did: unknown[] = []
  const sums = made(did)
  await using kit = await aLadderOf({ 'test/a': [leaking, { text: 'two', usage }] }, sums)
  const events: LadderEvent[] = []
  expect(await kit.clock.until(sums.execute('go', { runId: 'r', on: { '*': (event) => void events.push(event) } }))).toMatchObject({
    data: 'two',
    report: { trips: 2, children: [{ name: 'add', status: 'completed' }] },
  })
  expect(did).toEqual([1])
  const heard = events.flatMap(({ type, delta }) => (type === 'agent.trip.streaming' ? [delta as string] : []))
  expect(heard.join('')).toBe('I add.  So.two')
  expect(events.find(({ type }) => type === 'agent.trip.completed')).toMatchObject({ text: 'I add.  So.' })
  expect(await kit.runtime.replay({ kind: 'sums', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-123] a call that was made as well is made once; without being told to, an agent takes it for text', async () => {
  const did: unknown[] = []
  const twice = { text: envelope, calls: [{ name: 'add', input: { a: 1 } }], usage }
  const sums = made(did)
  await using kit = await aLadderOf({ 'test/a': [twice, { text: 'two', usage }] }, sums)
  expect(await kit.clock.until(sums.execute('go'))).toMatchObject({ data: 'two', report: { children: [{ name: 'add' }] } })
  expect(did).toEqual([1])

  const plain = made(did, false)
  await using other = await aLadderOf({ 'test/a': [{ text: envelope, usage }] }, plain)
  expect(await other.clock.until(plain.execute('go'))).toMatchObject({ data: envelope, report: { trips: 1 } })
  expect(did).toEqual([1])
})

test('[WL-123, WL-125] killed at any commit it comes to the same report', async () => {
  const calm = made()
  const models = { 'test/a': [leaking, { text: 'two', usage }] }
  await using kit = await aLadderOf(models, calm)
  const whole = await kit.clock.until(calm.execute('go', { runId: 'r' }))
  const { seq } = await kit.runtime.actor('sums', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const sums = made()
    await using doomed = await aLadderOf(models, sums)
    expect(timeless(await killedAt(doomed, () => sums.execute('go', { runId: 'r' }), commit)), `killed at commit ${commit}`).toEqual(timeless(whole))
  }
})
