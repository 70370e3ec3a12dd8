/** Half a character (a lone surrogate) is no text: who sends one is told, and what a model or a tool says of it is replaced and noted. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { chat } from '../../src/chat.ts'
import { agent, tool } from '../../src/index.ts'
import { story } from './harness.ts'

const half = 'so far \ud83d'

test('a message with one is refused, and nothing is accepted', async () => {
  await using told = await story([{ text: 'fine' }])

  await expect(told.say(half)).rejects.toMatchObject({ code: 'bad_request', field: 'text' })

  expect(await told.commits('main')).toBe(0)
})

test('instructions with one are refused when the agent is made, and so is any other text of it', () => {
  expect(() => agent({ name: 'main', instructions: half })).toThrow(expect.objectContaining({ code: 'bad_request', field: 'instructions' }))
  expect(() => agent({ name: 'main', context: { memoryFlush: { prompt: half } } })).toThrow(
    expect.objectContaining({ field: 'context.memoryFlush.prompt' }),
  )
  expect(() => chat({ agents: { main: { responsePrefix: half } } })).toThrow(
    expect.objectContaining({ code: 'bad_request', field: 'agents.main.responsePrefix' }),
  )
  expect(() => chat({ agents: { main: { heartbeat: { prompt: half } } } })).toThrow(
    expect.objectContaining({ field: 'agents.main.heartbeat.prompt' }),
  )
})

test('one in the answer of a model is replaced, streamed and stored alike, and the log says where', async () => {
  await using told = await story([{ chunks: [half, ' and on'] }])

  const { text } = await told.clock.until((await told.say('go')).result())

  expect(text).toBe('so far \ufffd and on')
  expect(told.log).toContainEqual(
    expect.objectContaining({ level: 'warn', message: 'half a character was replaced', fields: expect.objectContaining({ at: 'event.data.text' }) }),
  )
})

test('one in the result of a tool is replaced, and the log says where', async () => {
  const look = tool({ name: 'look', description: 'looks', input: z.object({}), execute: () => ({ seen: [half] }) })
  await using told = await story([{ calls: [{ name: 'look' }] }, { text: 'I see' }], { tools: () => [look] })

  await told.clock.until((await told.say('go')).result())

  expect(await told.transcript()).toContain('tool look: {"seen":["so far \ufffd"]}')
  expect(told.log).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      fields: expect.objectContaining({ at: 'event.data.output.seen[0]', from: expect.stringContaining('/execute') }),
    }),
  )
})
