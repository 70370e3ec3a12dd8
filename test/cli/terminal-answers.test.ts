/** What stands in the terminal when an answer is complete: all of it, once, in order. */
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { Blocks } from '../../src/cli/chat/blocks.ts'
import { Screen } from '../../src/cli/chat/screen.ts'
import { chatInTerminal } from '../../src/cli/chat/terminal.ts'
import { Words } from '../../src/cli/words.ts'
import { inProcessClient } from '../../src/client/index.ts'
import { agent, createRuntime, type Runtime, tool } from '../../src/index.ts'
import type { RunEvent } from '../../src/runtime/run.ts'
import { aFolder } from './run.ts'

const runtimes: Runtime[] = []
afterEach(() => Promise.all(runtimes.splice(0).map((runtime) => runtime.close())))

type Options = Parameters<typeof createRuntime>[0]
const aRuntime = async (models: NonNullable<Options>['models'], transport = 'memory:'): Promise<Runtime> => {
  const look = tool({ name: 'look', description: 'looks', input: z.object({}), execute: () => 'seen' })
  const runtime = await createRuntime({
    transport,
    agents: [agent({ name: 'main', model: 'test/talk', tools: [look] })],
    ...(models ? { models } : {}),
  })
  runtimes.push(runtime)
  return runtime
}

const aTerminal = (runtime: Runtime) => {
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ''
  output.on('data', (chunk: Buffer) => {
    shown += chunk.toString()
  })
  void chatInTerminal(inProcessClient(runtime), { session: 'main' }, { input, output })
  const text = () => stripVTControlCharacters(shown)
  const sees = (part: string | RegExp) => expect.poll(text, { interval: 10 }).toMatch(part)
  return { input, sees, text }
}

const times = (text: string, part: string): number => text.split(part).length - 1

test.each([
  ['a backtick and a line break at its end', 'Use `x`.\n', 'Use `x`.'],
  ['a backtick and line breaks before it', '\n\nHello `x`.', 'Hello `x`.'],
  ['paragraphs and a line break at its end', 'One.\n\nTwo.\n', 'Two.'],
  ['something that is no tag', '\na < b holds.\n', 'a < b holds.'],
  ['a fence', '\n```\ncode\n```\n', 'code'],
  ['what it thought aloud', '<think>hmm</think>\n\nThe answer.', 'The answer.'],
  ['a tag that was cut off', 'The answer.\n\n<thi', 'The answer.'],
])('an answer with %s is shown once, without its reasoning', async (_, said, part) => {
  const runtime = await aRuntime({
    'test/talk': ({ messages }) => ({ text: JSON.stringify(messages).includes('again') ? 'over' : said, chunkSize: 3 }),
  })
  const { input, sees, text } = aTerminal(runtime)
  await sees('/help')
  input.write('go\r')
  await sees(part)
  await expect.poll(async () => (await runtime.session('main').view())?.run ?? null).toBeNull()
  input.write('again\r')
  await sees('over')

  expect(times(text(), part)).toBe(1)
  expect(text()).not.toMatch(/think|hmm/)
})

test('a chat that is opened while a turn goes on shows first what the turn had said before, each part once', async () => {
  const folder = aFolder()
  const steps = ['chapter one', 'chapter two', 'chapter three']
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const story =
    (hangs: boolean) =>
    ({ messages }: { messages: { role: string }[] }) => {
      const done = messages.filter(({ role }) => role === 'tool').length
      const text = steps[done]
      if (text !== undefined) return { text, calls: [{ name: 'look' }] }
      return hangs ? { text: 'chapter four', hang: true } : opened.then(() => ({ text: 'chapter four, and that was the story' }))
    }
  const before = await aRuntime({ 'test/talk': story(true) as never }, `embedded:${folder}`)
  const run = await before.session('main').send('tell')
  for await (const event of run.events()) if (event.type === 'delta' && event.text.includes('four')) break
  await before.close()

  const { sees, text } = aTerminal(await aRuntime({ 'test/talk': story(false) as never }, `embedded:${folder}`))
  await sees('chapter three')
  open()
  await sees('that was the story')
  await sees(/story\s+›/)

  const places = [...steps, 'chapter four'].map((step) => text().indexOf(step))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  for (const step of [...steps, 'chapter four']) expect([step, times(text(), step)]).toEqual([step, 1])
})

test('a terminal that changes its size leaves the words of an answer that is streaming as they are', () => {
  const output = Object.assign(new PassThrough(), { columns: 40, rows: 10 })
  let written = ''
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString()
  })
  const screen = new Screen({ input: new PassThrough(), output })
  screen.stream('she dipped the pen, and stopped')
  output.read()
  const before = written

  output.columns = 39
  output.emit('resize')
  const during = written
  screen.endStream()
  const after = written
  output.emit('resize')

  expect(during).toBe(before)
  // On a line of its own the prompt is drawn anew, as it has to be.
  expect(written.length).toBeGreaterThan(after.length)
  screen.close()
})

const delta = (index: number, text: string): RunEvent => ({ type: 'delta', runId: 'r', answerId: 'r:1', attempt: 1, index, kind: 'text', text })

test.each([true, false])('send shows nothing of what was thought aloud in tags (terminal: %s)', (isTTY) => {
  let written = ''
  const words = new Words({ isTTY, write: (text) => (written += text) })
  for (const [index, text] of ['<thi', 'nk>hmm</', 'think>\n', 'The ans', 'wer, <', ' all.'].entries()) words.hear(delta(index, text))

  words.finish({ text: '<think>hmm</think>\nThe answer, < all.' }, ['<think>hmm</think>\nThe answer, < all.'])

  expect(written).toBe('The answer, < all.\n')
})

test('neither does a chat through a pipe', () => {
  let written = ''
  const blocks = new Blocks({ write: (text) => (written += text) })

  blocks.finish({ text: '<think>hmm</think>\n\nThe answer.', outcome: 'replied' })

  expect(written).toBe('The answer.\n')
})
