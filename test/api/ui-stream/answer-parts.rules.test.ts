/** What was heard of an answer, and what the journal holds of it, as the parts that a client takes. */
import { readUIMessageStream, type UIMessageChunk } from 'ai'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AnswerParts } from '../../../src/api/ui-stream/answer-parts.rules.ts'
import type { UiPart } from '../../../src/api/ui-stream/ui-part.ts'
import type { ModelCallOutput } from '../../../src/contracts/model-call.ts'
import type { TurnOutput } from '../../../src/contracts/turn.ts'
import { casesOf } from '../../support/property.ts'

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }
const begun = () => {
  const parts = new AnswerParts('u1')
  return { parts, start: parts.take({ type: 'started', runId: 'u1', ids: ['u1'], model: 'm' }) }
}
const delta = (text: string, index: number, attempt = 1, kind = 'text') => ({ type: 'delta', runId: 'u1', attempt, index, kind, text })
const tool = (callId: string, phase: string, more: object = {}) => ({ type: 'tool', runId: 'u1', callId, name: 'step', phase, ...more })
const approval = (callId: string, attempt = 1) => ({
  type: 'approval',
  runId: 'u1',
  callId,
  name: 'danger',
  input: {},
  inputHash: 'h',
  attempt,
  why: 'approval',
})
const answer = (call: number, text: string, calls: string[] = []): ModelCallOutput => ({
  kind: 'model',
  id: `u1:${call}`,
  text,
  reasoning: '',
  calls: calls.map((id) => ({ id, name: 'step', input: {} })) as ModelCallOutput['calls'],
  usage,
  model: 'm',
  partial: false,
})
const outcome = (changes: Partial<TurnOutput> = {}): TurnOutput =>
  ({
    runId: 'u1',
    ids: ['u1'],
    status: 'completed',
    outcome: 'replied',
    text: '',
    model: 'm',
    usage,
    steps: 1,
    toolCalls: 0,
    ...changes,
  }) as TurnOutput

/** The message that the SDK makes of them; it throws at parts that do not follow from each other. */
const messageOf = async (parts: UiPart[]) => {
  const stream = ReadableStream.from(parts as UIMessageChunk[])
  let last: any
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message
  return last.parts.map(({ type, text, state }: any) => (text === undefined ? `${type} ${state ?? ''}`.trim() : `${type}: ${text}`))
}

test('deltas with a gap are shown up to it, and the rest when the call is over', async () => {
  const { parts, start } = begun()
  const all = [
    ...start,
    ...parts.take(delta('one ', 0)),
    ...parts.take(delta('three', 2)),
    ...parts.answer(answer(1, 'one two three')),
    ...parts.end(outcome()),
  ]
  expect(await messageOf(all)).toEqual(['step-start', 'text: one two three'])
})

test('deltas of a call that is over, which come late, are not shown again', async () => {
  const { parts, start } = begun()
  const all = [...start, ...parts.answer(answer(1, 'one')), ...parts.take(delta('one', 0)), ...parts.end(outcome())]
  expect(await messageOf(all)).toEqual(['step-start', 'text: one'])
})

test('an attempt that says something else is a step of its own', async () => {
  const { parts, start } = begun()
  const all = [
    ...start,
    ...parts.take(delta('one', 0)),
    ...parts.take(delta('two', 0, 2)),
    ...parts.answer(answer(2, 'two')),
    ...parts.end(outcome()),
  ]
  expect(await messageOf(all)).toEqual(['step-start', 'text: one', 'step-start', 'text: two'])
})

test('a call that was overtaken before it began is shown as one that did not run', async () => {
  const { parts, start } = begun()
  const skipped = tool('a', 'skipped', { output: { error: { message: 'overtaken' } } })
  const all = [...start, ...parts.answer(answer(1, 'x', ['a'])), ...parts.take(skipped), ...parts.answer(answer(2, 'y')), ...parts.end(outcome())]
  expect(all).toContainEqual({ type: 'tool-output-error', toolCallId: 'a', errorText: 'overtaken' })
  expect(await messageOf(all)).toEqual(['step-start', 'text: x', 'tool-step output-error', 'step-start', 'text: y'])
})

test('what is heard twice is said once, and a question that is over is not asked again', () => {
  const { parts } = begun()
  parts.take(tool('a', 'requested'))
  expect(parts.take(tool('a', 'requested'))).toEqual([])
  expect(parts.take(approval('a'))).toHaveLength(1)
  expect(parts.take(approval('a'))).toEqual([])
  expect(parts.waiting).toEqual(['a'])
  parts.take({ type: 'decided', runId: 'u1', callId: 'a', decision: 'approve' })
  expect(parts.take({ type: 'decided', runId: 'u1', callId: 'a', decision: 'approve' })).toEqual([])
  expect(parts.take(tool('a', 'completed', { output: 1 }))).toHaveLength(1)
  expect(parts.take(tool('a', 'completed', { output: 1 }))).toEqual([])
  expect(parts.take(approval('a'))).toEqual([])
})

test('a call that is in doubt after a crash is asked about again, under another name', () => {
  const { parts } = begun()
  const [, , first] = parts.take(approval('a'))
  parts.take({ type: 'decided', runId: 'u1', callId: 'a', decision: 'approve' })
  const [second] = parts.take(approval('a', 2))
  expect(second).toMatchObject({ type: 'tool-approval-request', toolCallId: 'a' })
  expect(second).not.toEqual(first)
})

test('it waits only while no other call works', () => {
  const { parts } = begun()
  parts.take(tool('a', 'requested'))
  parts.take(approval('b'))
  expect(parts.waiting).toEqual([])
  parts.take(tool('a', 'failed', { output: {} }))
  expect(parts.waiting).toEqual(['b'])
})

test('what the session itself has answered is the answer', async () => {
  const parts = new AnswerParts('u1')
  const all = parts.end(outcome({ answerId: null, steps: 0, reply: [{ text: 'one' }, { text: 'two' }] }))
  expect(await messageOf(all)).toEqual(['step-start', 'text: one\n\ntwo'])
})

test.each([
  [{ finish: 'length' as const }, { type: 'finish', finishReason: 'length' }],
  [{ finish: 'tool-calls' as const }, { type: 'finish', finishReason: 'stop' }],
  [{ status: 'failed' as const }, { type: 'finish', finishReason: 'error' }],
  [{ status: 'cancelled' as const }, { type: 'abort', reason: 'somebody stopped it' }],
])('an outcome with %j ends the stream with %j', (changes, last) => {
  expect(begun().parts.end(outcome(changes)).at(-1)).toEqual(last)
})

test('a call whose end was not heard is over with its turn', async () => {
  const { parts, start } = begun()
  const all = [...start, ...parts.answer(answer(1, '', ['a'])), ...parts.end(outcome({ status: 'cancelled' }))]
  expect(await messageOf(all)).toEqual(['step-start', 'tool-step output-error'])
})

test('whatever is lost, repeated or cut short on its way, a client can take the stream, and has the whole of each call', async () => {
  const call = fc.record({
    text: fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom('a', 'b', ' ') }),
    tools: fc.nat(2),
    attempts: fc.integer({ min: 1, max: 3 }),
  })
  const fate = fc.array(fc.constantFrom('heard', 'heard', 'heard', 'lost', 'twice'), { minLength: 60, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), fate, async (calls, fates) => {
      const { parts, start } = begun()
      const all = [...start]
      let at = 0
      const say = (event: { type: string }) => {
        const how = fates[at++ % fates.length]
        for (let n = how === 'lost' ? 0 : how === 'twice' ? 2 : 1; n > 0; n--) all.push(...parts.take(event))
      }
      let attempt = 0
      for (const [number, { text, tools, attempts }] of calls.entries()) {
        for (let tried = 1; tried <= attempts; tried++) {
          attempt++
          // One that fails has said some of it.
          const said = tried < attempts ? text.slice(0, (text.length * tried) / attempts) : text
          for (const [index, letter] of said.split('').entries()) say(delta(letter, index, attempt))
        }
        const ids = Array.from({ length: tools }, (_, n) => `${number}:${n}`)
        all.push(...parts.answer(answer(attempt, text, ids)))
        for (const id of ids) {
          say(tool(id, 'requested'))
          say(approval(id))
          say({ type: 'decided', runId: 'u1', callId: id, decision: 'approve' } as { type: string })
          say(tool(id, 'completed', { output: 1 }))
        }
      }
      all.push(...parts.end(outcome()))

      const texts = (await messageOf(all)).flatMap((part: string) => (part.startsWith('text: ') ? [part.slice(6).replace(/\s+/g, ' ').trim()] : []))
      const whole = calls.map(({ text }) => text.replace(/\s+/g, ' ').trim()).filter((text) => text !== '')
      expect(texts.filter((text: string) => text !== '')).toEqual(whole)
      expect(all.filter(({ type }) => type === 'start-step')).toHaveLength(all.filter(({ type }) => type === 'finish-step').length)
    }),
    casesOf(import.meta.url),
  )
})
