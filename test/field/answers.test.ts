/**
 * What a model writes is what people read: the blocks on a channel, the reply, the web chat and the history show the same words.
 * Sources: nesquena/hermes-webui#2213, OpenCoworkAI/open-cowork#285, raullenchai/Rapid-MLX#1778, larksuite/openclaw-lark#488 (FC-11).
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agent } from '../../src/index.ts'
import type { ScriptedResponse } from '../../src/testing/index.ts'
import { aGateway } from '../api/http/harness.ts'
import { aSocket } from '../api/ws/a-socket.ts'
import { aFolder } from '../cli/run.ts'
import { ann, ask, expectReplay, staged } from '../reply/stage.ts'
import { casesOf } from '../support/property.ts'

/** A workspace with one picture, and a file that no tool may read. */
const aWorkspace = (): string => {
  const folder = aFolder()
  mkdirSync(join(folder, 'out'))
  for (const path of ['out/chart.png', '.env.png', 'notes.txt']) writeFileSync(join(folder, path), 'x')
  return folder
}

/** The same words, wherever their lines and spaces were cut. */
const flat = (text: string): string => text.replace(/\s+/g, ' ').trim()
const streaming = { streaming: true, min: 1, max: 400, coalesce: { minChars: 1, maxChars: 10, idleMs: 0 } } as const

/** One answer on a channel that streams. @returns what the channel, the reply and the journal have of it */
const onChannel = async (answers: ScriptedResponse[], folder = aWorkspace()) => {
  await using told = await staged(answers, { delivery: streaming, runtime: { workspace: folder } })
  const seen = []
  for (const [place, { text = '' }] of answers.entries()) {
    const before = told.channel.sends.length
    const outcome = await ask(told, 'go', ann(`m${place}`))
    const sent = told.channel.sends.slice(before)
    const reply = outcome.reply === undefined ? [{ text: outcome.text }] : [outcome.reply].flat()
    expect(outcome.text).toBe(text)
    seen.push({
      channel: flat(sent.map(({ payload }) => payload.text ?? '').join(' ')),
      reply: flat(reply.map((one) => one.text ?? '').join(' ')),
      media: sent.flatMap(({ payload }) => payload.media ?? []),
      replyTo: sent.map(({ payload }) => payload.replyTo),
    })
  }
  await expectReplay(told)
  return seen
}

/** Answers in the web chat. @returns what its events and its history show of each */
const onWeb = async (answers: ScriptedResponse[], folder = aWorkspace()) => {
  const script = [...answers]
  const agents = [agent({ name: 'main', model: 'test/model' })]
  const { gateway } = await aGateway({}, { agents, models: { 'test/model': () => script.shift()! }, workspace: folder })
  const { request, event } = await aSocket(gateway.url)
  const finals = []
  for (const place of answers.keys()) {
    await request('chat.send', { sessionKey: 'main', message: 'go', idempotencyKey: `k${place}` })
    const { payload } = await event('chat', ({ state, runId }) => state === 'final' && runId === `k${place}`)
    finals.push(flat((payload.message?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join(' ')))
  }
  const { messages } = (await request('chat.history', { sessionKey: 'main', limit: 1000 })).payload
  const history = messages.flatMap(({ role, text }: { role: string; text: string }) => (role === 'assistant' ? [flat(text)] : []))
  return { finals, history }
}

const whole = [
  'Put it into a <thinking> tag, then close it. The rest of the page stays as it is.',
  'In HTML5 there is no <final> element; </final> closes nothing.',
  'First. <think>is this reasoning?</think> Second.',
  'The template ends with </think> and then the answer.',
  'a <thought/> b <reasoning effort="high"> c',
  'It breaks off in <think',
  'Row, row.\n\nRow, row.\n\nRow, row.',
  'Yes.\n\nYes.\n\n```\nYes.\n\nYes.\n```\n\nYes.',
  'The log says:\nMEDIA: disk.error.txt\nMEDIA: sda1.failed',
  'MEDIA: https:// is not an address',
  'MEDIA: /etc/hosts\nis a line of a log',
  'MEDIA: ../out/chart.png',
  'MEDIA: .env.png',
  `MEDIA: data:image/png;base64,${'A'.repeat(300)}`,
  'In the wiki: [[reply_to: x]] and [[reply_to:main page]] are links, as [[Home]] is.',
  'It ends in [[reply_to: m',
  'Write `<think>` and `[[reply_to_current]]`:\n```\nMEDIA: out/chart.png\n[[audio_as_voice]]\n<final>\n```',
]

describe('an answer without directives is shown whole', () => {
  test('[OC-78] [OC-79] by a channel that streams, and in its reply', async () => {
    const seen = await onChannel(whole.map((text) => ({ text, chunkSize: 7 })))

    expect(seen.map(({ channel }) => channel)).toEqual(whole.map(flat))
    expect(seen.map(({ reply }) => reply)).toEqual(whole.map(flat))
    expect(seen.flatMap(({ media }) => media)).toEqual([])
  })

  test('in the web chat and its history', async () => {
    const { finals, history } = await onWeb(whole.map((text) => ({ text, chunkSize: 7 })))

    expect(finals).toEqual(whole.map(flat))
    expect(history.map((text: string) => text.replace(/\[image\/png, \d+ bytes\]/, `data:image/png;base64,${'A'.repeat(300)}`))).toEqual(
      whole.map(flat),
    )
  })
})

test.each([
  ['<think>6 times 7</think>It is 42.', 'It is 42.'],
  ['\n<thinking>one</thinking>\n<think>two</think>\n\nIt is 42.', 'It is 42.'],
  ['</think>\n\nIt is 42.', 'It is 42.'],
  ['<final>It is 42.</final>\n', 'It is 42.'],
  ['<think>x</think><final>It is 42.</final> Is it?', 'It is 42. Is it?'],
])('[OC-79] reasoning and final tags that open an answer are not shown: %j', async (text, shown) => {
  const [seen] = await onChannel([{ text, chunkSize: 3 }])
  const { finals, history } = await onWeb([{ text, chunkSize: 3 }])

  expect([seen?.channel, seen?.reply, ...finals, ...history]).toEqual([shown, shown, shown, shown])
})

test('[OC-78] what a directive names is sent or answered where it exists', async () => {
  const text = 'Here.\nMEDIA: ./out/chart.png\nMEDIA: out/none.png\n[[reply_to: m0]] And [[reply_to: m9]] there.'
  const [, seen] = await onChannel([{ text: 'Hello.' }, { text, chunkSize: 5 }])

  expect(seen).toMatchObject({
    channel: 'Here. MEDIA: out/none.png And [[reply_to: m9]] there.',
    reply: 'Here. MEDIA: out/none.png And [[reply_to: m9]] there.',
    media: ['./out/chart.png'],
  })
  expect(seen?.replyTo).toContain('m0')
})

/** Pieces of answers, and what of each is shown behind a first word. */
const pieces: [raw: string, shown?: string][] = [
  ['word '],
  ['\n\n'],
  ['\n'],
  ['Same.\n\nSame.\n\n'],
  ['<think>'],
  ['</think>'],
  ['<final>'],
  ['</final>'],
  ['<thin'],
  ['a < b '],
  ['[[reply_to: x]] '],
  ['[[Home]] '],
  ['[[audio_as_voice]]', ''],
  ['[['],
  ['`x` '],
  ['MEDIA: none.png\n'],
  ['\nMEDIA: https://example.org/a.png\n', '\n'],
  ['MEDIA: '],
  ['<think>a</think>'],
  ['🙂'],
]

test('[OC-67] any answer, in any pieces, reads the same by each door', async () => {
  const answer = fc.record({
    parts: fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }),
    chunkSize: fc.integer({ min: 1, max: 20 }),
    thought: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 6 }), async (given) => {
      const answers = given.map(({ parts, chunkSize, thought }) => ({
        text: `${thought ? '<think>hm</think>' : ''}word ${parts.map(([raw]) => raw).join('')}`,
        chunkSize,
      }))
      const expected = given.map(({ parts }) => flat(`word ${parts.map(([raw, shown = raw]) => shown).join('')}`))
      const seen = await onChannel(answers)

      expect(seen.map(({ reply }) => reply)).toEqual(expected)
      expect(seen.map(({ channel }) => channel)).toEqual(expected)
    }),
    casesOf(import.meta.url),
  )
})
