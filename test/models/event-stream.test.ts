/** What passes of the stream of an answer, however the network cuts it up. */
import { expect, test } from 'vitest'
import { answerEvents } from '../../src/models/event-stream.ts'

const passed = async (...chunks: (string | Uint8Array<ArrayBuffer>)[]): Promise<string> => {
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? new Uint8Array(Buffer.from(chunk)) : chunk)
      controller.close()
    },
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const part of stream.pipeThrough(answerEvents())) text += decoder.decode(part, { stream: true })
  return text + decoder.decode()
}
/** The data of each event. */
const eventsIn = (text: string): string[] => text.split(/[\r\n]+/).filter((line) => line !== '')

const wrong = '{"choices":[],"usage":{"prompt_tokens":"12","total_tokens":12}}'
const right = '{"choices":[],"usage":{"total_tokens":12,"prompt_tokens":12,"completion_tokens":0}}'

test.each(['\n', '\r\n'])('the same events pass wherever they are cut in two (%j)', async (end) => {
  const lines = [
    'data: {"text":"größer als 🎉, \\"usage\\": [DONE]"}',
    '',
    `data:${wrong}`,
    '',
    ': usage "usage" of nothing',
    'data: [DONE]',
    '',
    'data: late',
  ]
  const bytes = new Uint8Array(Buffer.from(lines.join(end)))

  for (let at = 0; at <= bytes.length; at++)
    expect(eventsIn(await passed(bytes.slice(0, at), bytes.slice(at)))).toEqual([
      lines[0],
      `data: ${right}`,
      ': usage "usage" of nothing',
      'data: [DONE]',
    ])
})

test.each(['\n', '\r\n', '\r'])('a line that has ended is passed on at once, not with the next one (%j)', async (end) => {
  const { readable, writable } = answerEvents()
  const writer = writable.getWriter()
  const reader = readable.getReader()

  void writer.write(new Uint8Array(Buffer.from(`data: now${end}data: la`)))

  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(`data: now${end}`)
  await reader.cancel()
})

test('what is not wrong passes byte by byte as it came', async () => {
  const text =
    'data: { "usage" : {"total_tokens": 3.0, "prompt_tokens": 3, "completion_tokens":null, "cost": "1e2", "x_details": {}} }\n\ndata: {"usage"\n\ndata: "usage"\n\nend'

  expect(await passed(text)).toBe(text)
})
