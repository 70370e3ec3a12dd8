/**
 * Answers that have to be something, of models whose server leaves the reasoning in the text: in tags, or with the last of them alone, where a chat template has
 * written the first. Sources: vercel/ai#11489, langchain-ai/langchain#32120 (FC-21).
 */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent, lenient } from '../../src/ladder/index.ts'
import { readAnswer } from '../../src/ladder/schema.ts'
import { aLadderOf } from '../ladder/a-ladder.ts'

const Answer = z.object({ x: z.number(), y: z.union([z.string(), z.null()]).default('none') })

const readable: [string, string, object][] = [
  ['tags', '<think>\nfirst, x\n</think>\n\n{"x":1,"y":null}', { x: 1, y: null }],
  ['other tags', '<thinking>hm</thinking>{"x":1}', { x: 1, y: 'none' }],
  ['tags in capitals, with CRLF', '<Think>\r\nhm\r\n</THINK>\r\n{"x":1}\r\n', { x: 1, y: 'none' }],
  ['none in the tags', '<think>\n\n</think>\n\n{"x":1}', { x: 1, y: 'none' }],
  ['two reasonings', '<think>a</think>\n<think>b</think>\n{"x":1}', { x: 1, y: 'none' }],
  ['the last tag alone', 'so x is 1\n</think>\n\n{"x":1}', { x: 1, y: 'none' }],
  ['a draft', '<think>maybe {"x":2}?</think>{"x":1}', { x: 1, y: 'none' }],
  ['a draft before the last tag alone', '{"x":2}, or rather\n</think>\n{"x":1}', { x: 1, y: 'none' }],
  ['a fence within the reasoning', '<think>```json\n{"x":2}\n</think>{"x":1}', { x: 1, y: 'none' }],
  ['a fence after it', '<think>a</think>\n```json\n{"x":1}\n```', { x: 1, y: 'none' }],
  ['a tag in the answer', '{"x":1,"y":"<think>no</think>"}', { x: 1, y: '<think>no</think>' }],
  ['a closing tag in the answer', '{"x":1,"y":"ends with </think>"}', { x: 1, y: 'ends with </think>' }],
  ['a tag in the answer, and reasoning before it', '<think>a</think>{"x":1,"y":"a </think> b"}', { x: 1, y: 'a </think> b' }],
]

test.each(readable)('reasoning with %s is no part of the answer', async (_, text, value) => {
  expect(await readAnswer(Answer, text, 'it')).toMatchObject({ value })
  expect(await readAnswer(lenient(Answer), text, 'it')).toMatchObject({ value })
})

test('among words the draft in the reasoning is not taken for the answer, however long it is', async () => {
  const text = '<think>{"x":2,"y":"a much longer draft than the answer"}</think>So it is {"x":1}.'
  expect(await readAnswer(lenient(Answer), text, 'it')).toMatchObject({ value: { x: 1 } })
})

test.each(['<think>{"x":1}', '<think>{"x":1}</think>', 'so {"x":1}</think>', '</think>'])('reasoning alone is no answer: %j', async (text) => {
  await expect(readAnswer(Answer, text, 'it')).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED', hint: expect.stringContaining('repair') })
})

test('an agent of the ladder takes what stands after it', async () => {
  const clerk = agent({ name: 'clerk', model: 'test/a', output: Answer })
  await using kit = await aLadderOf({ 'test/a': [{ text: '<think>one</think>{"x":1,"y":null}', usage: { inputTokens: 7, outputTokens: 3 } }] }, clerk)
  expect(await kit.clock.until(clerk.execute('x?'))).toMatchObject({ data: { x: 1, y: null }, report: { status: 'completed' } })
})
