/** `statecast chat` and `send` through pipes, as scripts use them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAnthropicServer } from '../support/anthropic-server.ts'
import { startOpenAiServer } from '../support/openai-server.ts'
import { aFolder, aNode, statecast, testApp } from './run.ts'

test('[SHOW-CHAT] two questions through a pipe are answered, one a line, through real tool calls', async () => {
  const folder = aFolder()

  const { code, stdout, stderr } = await statecast({ folder, input: 'what is 17*23?\nand plus 9?\n' }, 'chat')
  const trace = await statecast({ folder }, 'trace', 'main', '--json')

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toBe('17*23 = 391\n391 + 9 = 400\n')
  const results = trace.lines.map((line) => JSON.parse(line) as { detail?: { data?: { kind?: string; output?: unknown } } })
  expect(results.flatMap(({ detail }) => (detail?.data?.kind === 'tool' ? [detail.data.output] : []))).toMatchObject([{ value: 391 }, { value: 400 }])
})

/** An agent with a model that has one of another provider behind it. */
const appWithFallback = (folder: string): string => {
  const file = join(folder, 'statecast.config.ts')
  const source = JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))
  writeFileSync(
    file,
    `import { agent, defineApp } from ${source}\nexport default defineApp({ agents: [agent({ name: 'main', model: 'openai/busy', fallbacks: ['anthropic/calm'] })] })\n`,
  )
  return file
}

test('[OC-48, OC-49] a provider that answers 429: the next model answers, and who reads along is told', async () => {
  const busy = await startOpenAiServer({ faults: [{ kind: 'status', status: 429 }] })
  const calm = await startAnthropicServer({ script: [{ text: 'from elsewhere' }] })
  const folder = aFolder()
  const env = { OPENAI_BASE_URL: busy.url, OPENAI_API_KEY: 'test', ANTHROPIC_BASE_URL: calm.url, ANTHROPIC_API_KEY: 'test' }

  const { code, stdout, stderr } = await statecast({ folder, input: 'hello\n', env }, 'chat', '--app', appWithFallback(folder))
  await Promise.all([busy.close(), calm.close()])

  expect({ code, stdout }).toEqual({ code: 0, stdout: 'from elsewhere\n' })
  expect(stderr).toMatch(/openai\/busy.*anthropic\/calm/s)
})

test('a provider that is out of order for a moment: who reads along is told that it is tried again', async () => {
  const server = await startOpenAiServer({ script: [{ text: 'here again' }], faults: [{ kind: 'status', status: 503 }] })
  const folder = aFolder()
  const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'test', OPENAI_MODEL: 'offline' }

  const { code, stdout, stderr } = await statecast({ folder, input: 'hello\n', env }, 'chat')
  await server.close()

  expect({ code, stdout }).toEqual({ code: 0, stdout: 'here again\n' })
  expect(stderr).toMatch(/trying again in \d+ s/)
})

test('[OC-34] a transcript that its provider does not take any more: the conversation begins anew, says why, and goes on', async () => {
  const damaged = { message: 'tool_use ids were found without tool_result blocks immediately after' }
  const server = await startOpenAiServer({
    script: ({ messages }) => ({ text: `${messages.length} messages` }),
    faults: [undefined, { kind: 'status', status: 400, error: damaged }],
  })
  const folder = aFolder()
  const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'test' }

  const { stdout, stderr } = await statecast({ folder, input: 'one\ntwo\nthree\n', env }, 'chat', '--app', appWithFallback(folder))
  await server.close()

  expect(`${stdout}${stderr}`).toMatch(/record of tool calls in this conversation was damaged.*try again/)
  const answers = stdout.split('\n').filter((line) => line.endsWith(' messages'))
  // The third one stands in a conversation of its own.
  expect(answers).toHaveLength(2)
  expect(answers[1]).toBe(answers[0])
})

test('[OC-81, OC-98] who wants to hear of tools reads of them beside the answers', async () => {
  const { stdout, stderr } = await statecast({ folder: aFolder(), input: '/verbose on\nwhat is 17*23?\n' }, 'chat')

  expect(stdout).toContain('Tool messages: on.\n17*23 = 391\n')
  expect(stderr).toContain('calculate')
})

test('[SHOW-OPENAI] with OPENAI_BASE_URL the same goes through that server, streamed, tool results included', async () => {
  const server = await startOpenAiServer()
  const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'offline' }

  const { code, stdout } = await statecast({ folder: aFolder(), input: 'what is 17*23?\nand plus 9?\n', env }, 'chat')
  await server.close()

  expect({ code, stdout }).toEqual({ code: 0, stdout: '17*23 = 391\n391 + 9 = 400\n' })
  expect(server.requests.map(({ body }) => body.stream)).toEqual([true, true, true, true])
  const toolResults = server.requests.at(-1)?.body.messages.filter(({ role }) => role === 'tool')
  expect(toolResults?.map(({ content }) => JSON.parse(content as string))).toMatchObject([{ value: 391 }, { value: 400 }])
})

test('empty lines are skipped, CRLF ends a line, and the last line needs no end', async () => {
  const { code, stdout } = await statecast({ folder: aFolder(), input: '\r\n  \nonly\r\n\nlast' }, 'chat', '--app', testApp)

  expect({ code, stdout }).toEqual({ code: 0, stdout: 'echo only\necho last\n' })
})

test.each([
  ['in another encoding', Buffer.from('grüße\n', 'utf16le')],
  ['cut off in the middle of a character', Buffer.from('grü').subarray(0, 3)],
])('input %s is refused, and nothing of it is said', async (_, input) => {
  for (const args of [['chat'], ['send', 'main', '-']]) {
    const { code, stdout, stderr } = await statecast({ folder: aFolder(), input }, ...args, '--app', testApp)

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error: the input is not UTF-8 \[bad_request\]\nhint: .*iconv/)
  }
})

test('a line that is too long is reported with code and hint; the next line is answered, and the exit code is 1', async () => {
  const { code, stdout, stderr } = await statecast({ folder: aFolder(), input: `${'x'.repeat(250_000)}\nfine\n` }, 'chat', '--app', testApp)

  expect({ code, stdout }).toEqual({ code: 1, stdout: 'echo fine\n' })
  expect(stderr).toMatch(/^error: .*200000.*\[too_large\]\nhint: \S/)
})

test('with --json every event is one line, deltas before the final text', async () => {
  const { code, lines } = await statecast({ folder: aFolder() }, 'send', 'main', 'hello', '--json', '--app', testApp)

  const events = lines.map((line) => JSON.parse(line) as { type: string; text?: string })
  expect(code).toBe(0)
  expect(events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1])).toEqual(['accepted', 'started', 'delta', 'final'])
  expect(events.flatMap(({ type, text }) => (type === 'delta' ? [text] : [])).join('')).toBe(events.at(-1)?.text)
})

test('a tool call that waits for a person ends a pipe with exit code 1 and says how to decide', async () => {
  const folder = aFolder()

  const piped = await statecast({ folder, input: 'danger\nnever said\n' }, 'chat', '--app', testApp)
  const history = await statecast({ folder }, 'trace', 'main')

  expect({ code: piped.code, stdout: piped.stdout }).toEqual({ code: 1, stdout: '' })
  expect(piped.stderr).toMatch(/error: a person has to decide: may danger run .*\nhint: .*statecast chat main/)
  expect(history.stdout).toContain('awaiting-input')
  expect(history.stdout.match(/ message /g)).toHaveLength(1)
})

test('a repeated idempotency key is answered as the first time, and nothing is done twice', async () => {
  const folder = aFolder()
  const once = await statecast({ folder }, 'send', 'main', '6*7', '--idempotency-key', 'k1')

  const twice = await statecast({ folder }, 'send', 'main', '6*7', '--idempotency-key', 'k1')

  expect([once.stdout, twice.stdout]).toEqual(['6*7 = 42\n', '6*7 = 42\n'])
  expect((await statecast({ folder }, 'trace', 'main')).stdout.match(/ message /g)).toHaveLength(1)
})

test('send reads its text from stdin, and --no-wait without a node stores it for the node that runs next', async () => {
  const folder = aFolder()

  const sent = await statecast({ folder, input: 'from stdin\n' }, 'send', 'main', '-', '--no-wait', '--idempotency-key', 'k', '--app', testApp)
  const looked = await statecast({ folder }, 'sessions')
  await aNode({ folder }, '--app', testApp)
  await expect.poll(async () => (await statecast({ folder }, 'history', 'main')).code).toBe(0)
  const answered = await statecast({ folder }, 'send', 'main', 'from stdin', '--idempotency-key', 'k')

  expect(sent).toMatchObject({ code: 0, stdout: 'stored k\n', stderr: expect.stringContaining('no node is running') })
  expect(looked.stderr).toContain('no conversations yet')
  expect(answered).toMatchObject({ code: 0, stdout: 'echo from stdin\n' })
  expect((await statecast({ folder }, 'trace', 'main')).stdout.match(/ message /g)).toHaveLength(1)
})

test('what cannot be answered is not stored: an agent or model that is not there', async () => {
  const folder = aFolder()

  const agent = await statecast({ folder }, 'send', 'main', 'hi', '--no-wait', '--agent', 'nobody', '--app', testApp)
  const empty = await statecast({ folder }, 'send', 'main', '', '--no-wait')

  expect(agent).toMatchObject({ code: 4, stderr: expect.stringContaining("no agent is named 'nobody'") })
  expect(empty).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: message must not be empty \[bad_request\]/) })
})

test('what a model says reaches the terminal without control characters, lines are kept', async () => {
  const sent = await statecast({ folder: aFolder() }, 'send', 'main', 'escape', '--app', testApp)

  expect(sent.stdout).toBe('a�[2Jb\nc\td\n')
})

test('of an answer in several steps a pipe gets all of them, from send and from chat', async () => {
  const folder = aFolder()
  writeFileSync(join(folder, 'x.go'), '')
  const said = 'first steps x\n\nwait_for_file: {"waited":"x"}\n'

  const sent = await statecast({ folder }, 'send', 'main', 'steps x', '--app', testApp)
  const chat = await statecast({ folder, input: 'steps x\nhi\n' }, 'chat', 'other', '--app', testApp)

  expect([sent.stdout, chat.stdout]).toEqual([said, `${said}echo hi\n`])
})
