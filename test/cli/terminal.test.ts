/** The chat for people, on a terminal that is none. */
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { Keys, withBreaks } from '../../src/cli/chat/keys.rules.ts'
import { chatInTerminal } from '../../src/cli/chat/terminal.ts'
import { inProcessClient } from '../../src/client/index.ts'
import { noUsage } from '../../src/contracts/message.ts'
import { agent, createRuntime, type Model, type Runtime, scriptedModel, tool } from '../../src/index.ts'

const runtimes: Runtime[] = []
afterEach(() => Promise.all(runtimes.splice(0).map((runtime) => runtime.close())))

/** A chat with a model that stops in the middle of a `story` until it may `goOn`, hangs on `hang` and wants to press the button on `danger`. */
const aChat = async (approval?: { timeoutMs: number }) => {
  const pressed: number[] = []
  const button = tool({ name: 'button', description: 'a red one', input: z.object({}), approval: true, execute: () => pressed.push(1) })
  const look = tool({ name: 'look', description: 'looks', input: z.object({}), execute: () => 'seen' })
  const talk = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    const text = last?.role === 'user' ? last.text : 'tool'
    if (text === 'steps') return { text: 'first part', calls: [{ name: 'look' }] }
    if (last?.role === 'tool' && last.name === 'look') return { text: 'second part' }
    if (text === 'danger') return { calls: [{ name: 'button' }] }
    return text === 'hang' ? { text: 'so far', hang: true } : { text: `echo ${text}` }
  })
  const { promise: listened, resolve: goOn } = Promise.withResolvers<void>()
  const model: Model = {
    ...talk,
    async call(request, how) {
      const last = request.messages.at(-1)
      if (last?.role !== 'user' || last.text !== 'story') return talk.call(request, how)
      const [begin, end] = ['one two three', ' four five six seven eight']
      how.onDelta({ kind: 'text', text: begin })
      await listened
      how.onDelta({ kind: 'text', text: end })
      return { text: begin + end, reasoning: '', calls: [], usage: noUsage, finish: 'stop', model: 'test/talk', partial: false }
    },
  }
  const runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', model: 'test/talk', tools: [button, look], ...(approval && { approval }) })],
    models: { 'test/talk': model },
  })
  runtimes.push(runtime)
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ''
  output.on('data', (chunk: Buffer) => {
    shown += chunk.toString()
  })
  const ended = chatInTerminal(inProcessClient(runtime), { session: 'main' }, { input, output })
  const text = () => stripVTControlCharacters(shown)
  const sees = (part: string | RegExp) => expect.poll(text, { interval: 10 }).toMatch(part)
  await sees('/help')
  return { input, ended, sees, text, pressed, goOn, runtime }
}

test('an answer streams in, and what is typed while it comes joins the turn', async () => {
  const { input, ended, sees, text, goOn } = await aChat()

  input.write('story\r')
  await sees('two three')
  input.write('short, please\r')
  await sees('joins the turn that is running')
  goOn()
  await sees('echo short, please')
  input.write('/quit\r')

  expect(await ended).toBe(0)
  expect(text().match(/joins/g)).toHaveLength(1)
})

test('[CH-81] a side question is answered apart, in the middle of an answer that goes on', async () => {
  const { input, ended, sees, text, goOn } = await aChat()

  input.write('story\r')
  await sees('two three')
  input.write('/btw why?\r')
  await sees(/\(beside the conversation: why\?\)[\s›]+echo The conversation so far/)
  goOn()
  await sees('four five six seven eight')
  input.write('/quit\r')

  expect(await ended).toBe(0)
  expect(text().match(/echo The conversation/g)).toHaveLength(1)
})

test('what is being typed is not torn apart by the answer, which follows when the line is sent', async () => {
  const { input, sees, text, goOn, runtime } = await aChat()
  input.write('story\r')
  await sees('two three')

  input.write('half a th')
  await sees('half a th')
  const before = text().length
  goOn()
  await expect.poll(async () => (await runtime.session('main').view())?.run ?? null).toBeNull()
  input.write('ought\r')
  await sees('echo half a thought')

  expect(text().slice(before)).toMatch(/ought[\s\S]*echo half a thought/)
  expect(text()).toMatch(/six seven eight/)
})

test('a tool that needs a person is asked about in the line, and runs after y', async () => {
  const { input, sees, pressed } = await aChat()

  input.write('danger\r')
  await sees(/\? may button run .*\(y\/n\)/)
  expect(pressed).toEqual([])
  input.write('y\r')
  await sees('echo tool')

  expect(pressed).toEqual([1])
})

test('a question with a deadline counts it down each time it is shown', async () => {
  const { input, sees } = await aChat({ timeoutMs: 3_600_000 })

  input.write('danger\r')

  await sees(/\? may button run .*\(y\/n; denied in (60|59) min\)/)
})

test('after n it does not run, and the model is told', async () => {
  const { input, sees, pressed } = await aChat()

  input.write('danger\r')
  await sees('(y/n)')
  input.write('n\r')
  await sees('✗ button denied')

  expect(pressed).toEqual([])
})

test('Ctrl-C stops the turn and keeps what was said; Ctrl-C twice leaves with 130', async () => {
  const { input, ended, sees } = await aChat()
  input.write('hang\r')
  await sees('so far')

  input.write('\u0003')
  await sees('(stopped)')
  input.write('\u0003')
  await sees('(Ctrl-C again leaves)')
  input.write('\u0003')

  expect(await ended).toBe(130)
})

test('an error and an unknown command are said in the line, and the chat goes on', async () => {
  const { input, sees } = await aChat()

  input.write('/stpo\r')
  await sees('there is no command /stpo')
  input.write('/stop\r')
  await sees('Nothing is running.')
  input.write('still here\r')

  await sees('echo still here')
})

test('an order while a tool waits for a person takes neither the question nor the turn away', async () => {
  const { input, sees, pressed } = await aChat()
  input.write('danger\r')
  await sees('(y/n)')
  input.write('/status\r')
  await sees('Session main')
  input.write('y\r')
  await sees('echo tool')

  expect(pressed).toEqual([1])
})

test('after an order Ctrl-C still stops the turn that is running', async () => {
  const { input, sees } = await aChat()
  input.write('hang\r')
  await sees('so far')
  input.write('/think high\r')
  await sees('Thinking: high.')
  input.write('\u0003')

  await sees('(stopped)')
})

test('what was told before a tool is not told again at the end', async () => {
  const { input, sees, text } = await aChat()
  input.write('steps\r')
  await sees('second part')
  input.write('still here\r')
  await sees('echo still here')

  expect(text().match(/first part/g)).toHaveLength(1)
})

const saidBy = async (runtime: Runtime): Promise<string[]> =>
  (await runtime.session('main').history()).flatMap((message) => (message.role === 'user' ? [message.text] : []))

test('a paste is one message, sent by Enter', async () => {
  const { input, sees, runtime } = await aChat()
  input.write('\x1b[200~first line\r\n\tsecond\rthird\n\x1b[201~')
  await sees('third')
  expect(await saidBy(runtime)).toEqual([])
  input.write(' and more\r')
  await sees('echo first line')
  expect(await saidBy(runtime)).toEqual(['first line\n\tsecond\nthird and more'])
})

test.each([
  ['Alt Enter', 'one\x1b\rtwo\r'],
  ['Shift Enter as CSI u', 'one\x1b[13;2utwo\r'],
  ['a backslash before Enter', 'one\\\rtwo\r'],
])('%s begins another line of the message', async (_, keys) => {
  const { input, sees, runtime } = await aChat()
  input.write(keys)
  await sees('echo one')
  expect(await saidBy(runtime)).toEqual(['one\ntwo'])
})

test('two backslashes before Enter are sent', async () => {
  const { input, sees, runtime } = await aChat()
  input.write('C:\\\\\r')
  await sees('echo C:')
  expect(await saidBy(runtime)).toEqual(['C:\\\\'])
})

test('a paste that comes in pieces is what it is in one, wherever it is cut', () => {
  const whole = 'a\x1b[200~b\nc\x1b[201~d\x1b\re\x1b[13;2uf\x1b[200~\x03g\n\n\x1b[201~\r'
  const once = new Keys().take(whole)
  expect(withBreaks(once)).toBe('ab\ncd\ne\nfg\r')
  for (let cut = 1; cut < whole.length; cut++) {
    // The escape key alone is passed on at once, so a sequence that is cut behind it is not known.
    if (whole[cut - 1] === '\x1b' && !whole.startsWith('\x1b[201~', cut - 1)) continue
    const keys = new Keys()
    expect(keys.take(whole.slice(0, cut)) + keys.take(whole.slice(cut)), `cut at ${cut}`).toBe(once)
  }
})

test('keys alone pass at once', () => {
  for (const key of ['\x1b', '\x1b[A', '\x1bOP', '\r', '\x03', 'ä', '\u2424']) expect(new Keys().take(key)).toBe(key)
})
