/** `useChat` of the AI SDK against a node, with its own transport and its own reading of the stream. */
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { expect, test, vi } from 'vitest'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { agent } from '../../../src/index.ts'
import { aNode, partsIn, said, step } from './harness.ts'

const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses

test('an answer is shown while it is written, with its reasoning, and says at the end what it took', async () => {
  const { pen, chat } = await aNode()
  const web = chat()

  const sent = web.sendMessage({ text: 'hello' })
  const answer = await pen.next()
  answer.write('hm', 'reasoning')
  answer.write('Hello ')
  await vi.waitFor(() => expect(web.texts).toEqual(['Hello ']))
  answer.write('there.')
  answer.end()
  await sent

  expect(web.status).toBe('ready')
  expect(web.messages).toHaveLength(2)
  expect(web.lastMessage).toMatchObject({
    role: 'assistant',
    id: `${web.messages[0]?.id}:answer`,
    parts: [{ type: 'step-start' }, { type: 'reasoning', text: 'hm', state: 'done' }, { type: 'text', text: 'Hello there.', state: 'done' }],
    metadata: { model: 'test/pen', stepCount: 1, usage: { inputTokens: 3, outputTokens: 4 } },
  })
  // assistant-ui spreads it as a list.
  expect(web.lastMessage?.metadata).not.toHaveProperty('steps')
})

test('the response is what a UI message stream is, part by part', async () => {
  const { pen, post } = await aNode()

  const asked = post(said('hello'))
  const answer = await pen.next()
  answer.write('Hi')
  answer.end()
  const response = await asked

  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-vercel-ai-ui-message-stream': 'v1',
    'x-accel-buffering': 'no',
  })
  expect(await partsIn(response)).toEqual([
    { type: 'start', messageId: 'u1:answer', messageMetadata: { runId: 'u1' } },
    { type: 'data-state', data: { state: 'running', model: 'test/pen' }, transient: true },
    { type: 'start-step' },
    { type: 'text-start', id: 'text-1' },
    { type: 'text-delta', id: 'text-1', delta: 'Hi' },
    { type: 'text-end', id: 'text-1' },
    { type: 'finish-step' },
    { type: 'message-metadata', messageMetadata: expect.objectContaining({ runId: 'u1', model: 'test/pen', stepCount: 1 }) },
    { type: 'finish', finishReason: 'stop' },
    '[DONE]',
  ])
})

test('[CH-81] a side question is answered in a part that no message keeps, and its stream has no text', async () => {
  const { pen, post } = await aNode()
  const asked = post(said('/btw why?'))
  const answer = await pen.next()
  answer.write('So.')
  answer.end()

  const parts = await partsIn(await asked)
  expect(parts).toContainEqual({
    type: 'data-side-result',
    data: { runId: 'u1', question: 'why?', text: 'So.', isError: false },
    transient: true,
  })
  expect(parts.map(({ type }: any) => type)).not.toContain('text-delta')
  expect(parts.at(-2)).toEqual({ type: 'finish', finishReason: 'stop' })
})

test('a tool is shown with its input and its result, each step of the model by itself', async () => {
  const { pen, chat } = await aNode()
  const web = chat()

  const sent = web.sendMessage({ text: 'go' })
  const first = await pen.next()
  first.write('I look.')
  first.call('step', {})
  first.end()
  const second = await pen.next()
  second.write('Found.')
  second.end()
  await sent

  expect(web.lastMessage?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'text', text: 'I look.' },
    { type: 'tool-step', state: 'output-available', input: {}, output: 'next' },
    { type: 'step-start' },
    { type: 'text', text: 'Found.' },
  ])
})

test('a tool that fails, and one that does not exist, are errors of their calls and not of the answer', async () => {
  const failing = step(() => {
    throw new Error('no such luck')
  })
  const { pen, chat } = await aNode({ agents: [agent({ name: 'main', model: 'test/pen', tools: [failing] })] })
  const web = chat()

  const sent = web.sendMessage({ text: 'go' })
  const first = await pen.next()
  first.call('step')
  first.call('nothing')
  first.end()
  const second = await pen.next()
  second.write('Sorry.')
  second.end()
  await sent

  expect(web.lastMessage?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'tool-step', state: 'output-error', errorText: 'no such luck' },
    { type: 'tool-nothing', state: 'output-error', errorText: expect.stringContaining('nothing') },
    { type: 'step-start' },
    { type: 'text', text: 'Sorry.' },
  ])
  expect(web.error).toBeUndefined()
})

test.each([
  [true, 'output-available', 'done'],
  [false, 'output-denied', undefined],
])('a tool that needs a person ends the stream, and a decision (approved: %s) goes on with the same message', async (approved, state, output) => {
  const { pen, chat, runtime } = await aNode()
  const web = chat({ sendAutomaticallyWhen })

  const sent = web.sendMessage({ text: 'go' })
  const first = await pen.next()
  first.write('May I?')
  first.call('danger', { what: 'x' })
  first.end()
  await sent
  expect(web.status).toBe('ready')
  expect(web.tool).toMatchObject({ state: 'approval-requested', input: { what: 'x' } })

  await web.addToolApprovalResponse({ id: web.tool.approval.id, approved, ...(approved ? {} : { reason: 'too dear' }) })
  const second = await pen.next()
  second.write('So be it.')
  second.end()
  await vi.waitFor(() => expect(web.texts).toEqual(['May I?', 'So be it.']))
  await vi.waitFor(() => expect(web.status).toBe('ready'))

  expect(web.messages).toHaveLength(2)
  expect(web.tool).toMatchObject({ state, ...(output === undefined ? {} : { output }) })
  if (!approved) expect(second.asked).toContain('[object')
  const decided = await runtime.session('main').history()
  expect(JSON.stringify(decided)).toContain(approved ? '"output":"done"' : 'too dear')
})

test('of two calls, the decision about one and then the other lead on, and a call that needs nobody goes on meanwhile', async () => {
  const { pen, chat } = await aNode()
  const web = chat({ sendAutomaticallyWhen })

  const sent = web.sendMessage({ text: 'go' })
  const first = await pen.next()
  first.call('danger', { what: 'a' })
  first.call('step')
  first.call('danger', { what: 'b' })
  first.end()
  await sent
  const asked = web.lastMessage?.parts.filter(({ type }) => type === 'tool-danger') as any[]
  expect(asked.map(({ state }) => state)).toEqual(['approval-requested', 'approval-requested'])
  await web.addToolApprovalResponse({ id: asked[0].approval.id, approved: true })
  await web.addToolApprovalResponse({ id: asked[1].approval.id, approved: false })
  const second = await pen.next()
  second.write('All done.')
  second.end()
  await vi.waitFor(() => expect(web.texts).toEqual(['All done.']))

  expect(web.lastMessage?.parts.map((part: any) => [part.type, part.state])).toEqual([
    ['step-start', undefined],
    ['tool-danger', 'output-available'],
    ['tool-step', 'output-available'],
    ['tool-danger', 'output-denied'],
    ['step-start', undefined],
    ['text', expect.any(String)],
  ])
})

test('a page that is opened while a person is asked shows the question, and its answer goes on in it', async () => {
  const { pen, chat } = await aNode()
  const before = chat()
  const sent = before.sendMessage({ text: 'go' })
  const first = await pen.next()
  first.write('May I?')
  first.call('danger')
  first.end()
  await sent

  const web = chat({ sendAutomaticallyWhen, messages: [before.messages[0] as any] })
  await web.resumeStream()
  expect(web.texts).toEqual(['May I?'])
  await web.addToolApprovalResponse({ id: web.tool.approval.id, approved: true })
  const second = await pen.next()
  second.write('Done.')
  second.end()

  await vi.waitFor(() => expect(web.texts).toEqual(['May I?', 'Done.']))
})

test('what somebody else has decided counts, and the answer is shown all the same', async () => {
  const { pen, chat, runtime } = await aNode()
  const web = chat({ sendAutomaticallyWhen })
  const sent = web.sendMessage({ text: 'go' })
  const first = await pen.next()
  first.call('danger')
  first.end()
  await sent
  const session = runtime.session('main')
  await session.deny((await session.view()).approvals[0] as any)
  const second = await pen.next()
  second.write('Refused.')
  second.end()
  await vi.waitFor(async () => expect((await session.view()).run).toBeNull())

  await web.addToolApprovalResponse({ id: web.tool.approval.id, approved: true })

  await vi.waitFor(() => expect(web.texts).toEqual(['Refused.']))
  expect(web.tool.state).toBe('output-denied')
})

test('a failure of the provider is the error of the chat, with what was said by then', async () => {
  const { pen, chat } = await aNode()
  const web = chat()

  const sent = web.sendMessage({ text: 'hello' })
  const answer = await pen.next()
  answer.write('Well, ')
  await vi.waitFor(() => expect(web.texts).toEqual(['Well, ']))
  answer.fail(new RuntimeError('provider_auth', 'the key was refused'))
  await sent

  expect(web.status).toBe('error')
  expect(web.error?.message).toBe('the key was refused (provider_auth)')
  expect(web.texts).toEqual(['Well, '])
})

test('a model that is asked again and repeats itself is shown once', async () => {
  const { pen, chat } = await aNode()
  const web = chat()

  const sent = web.sendMessage({ text: 'hello' })
  const first = await pen.next()
  first.write('One ')
  first.write('two ')
  await vi.waitFor(() => expect(web.texts).toEqual(['One two ']))
  first.fail(new RuntimeError('provider_unavailable', 'gone', { retryable: true }))
  const second = await pen.next()
  second.write('One ')
  second.write('two three.')
  second.end()
  await sent

  expect(web.texts).toEqual(['One two three.'])
})

test('a turn that somebody stops ends the stream with what was said', async () => {
  const { pen, post, runtime } = await aNode()
  const asked = post(said('hello'))
  const answer = await pen.next()
  answer.write('So far')
  const response = await asked
  await runtime.session('main').cancel()

  const parts = await partsIn(response)

  expect(parts.flatMap(({ delta }) => delta ?? []).join('')).toBe('So far')
  expect(parts.slice(-2)).toEqual([{ type: 'abort', reason: 'somebody stopped it' }, '[DONE]'])
})

test('who hangs up does not stop the turn, and who comes back gets all of it once, wherever it is', async () => {
  const { pen, chat } = await aNode()
  const web = chat()
  void web.sendMessage({ text: 'tell me' })
  const first = await pen.next()
  first.write('One, ')
  await vi.waitFor(() => expect(web.texts).toEqual(['One, ']))
  await web.stop()
  first.write('two, ')

  const resumed = web.resumeStream()
  await vi.waitFor(() => expect(web.texts).toEqual(['One, two, ']))
  first.write('three.')
  first.end()
  await resumed

  expect(web.texts).toEqual(['One, two, three.'])
  expect(web.messages).toHaveLength(2)
  expect(await web.resumeStream()).toBeUndefined()
})

test('of an answer that began elsewhere the text so far comes with the end of its step, and no word is lost or doubled', async () => {
  const { pen, chat, runtime } = await aNode()
  const run = await runtime.session('main').send('tell me')
  const first = await pen.next()
  first.write('I look. ')
  first.call('step')
  first.end()
  const second = await pen.next()
  second.write('One, ')
  const web = chat()

  const resumed = web.resumeStream()
  await vi.waitFor(() => expect(web.texts).toEqual(['I look. ']))
  second.write('two, ')
  second.write('three.')
  second.end()
  await resumed

  expect(web.texts).toEqual(['I look. ', 'One, two, three.'])
  expect(web.tool).toMatchObject({ state: 'output-available', output: 'next' })
  expect((await run.result()).text).toBe('One, two, three.')
})

test('there is nothing to resume in a session where nothing runs, nor in one that is not there', async () => {
  const { pen, post, resume, runtime } = await aNode()
  const asked = post(said('hello'))
  ;(await pen.next()).end({ text: 'Hi' })
  await partsIn(await asked)

  expect((await resume('main')).status).toBe(204)
  expect((await resume('elsewhere')).status).toBe(204)
  await expect(runtime.session('elsewhere').view()).rejects.toMatchObject({ code: 'not_found' })
})

test('a message that is sent again is not answered again: it gets the answer that it has', async () => {
  const { pen, post, runtime } = await aNode()
  const asked = post(said('go'))
  const first = await pen.next()
  first.write('I look.', 'reasoning')
  first.write('Wait.')
  first.call('step')
  first.end()
  const again = post(said('go'))
  const second = await pen.next()
  second.write('Done.')
  second.end()

  const parts = await partsIn(await asked)
  const late = await partsIn(await post(said('go')))

  const whole = (all: any[]) => all.filter(({ type }) => type !== 'data-state')
  expect(whole(await partsIn(await again))).toEqual(whole(parts))
  expect(whole(late)).toEqual(whole(parts))
  expect(pen.waiting).toBe(0)
  expect((await runtime.session('main').history()).filter(({ role }) => role === 'user')).toHaveLength(1)
})

test('of the same message sent twice at once, one is answered, and both senders get its answer', async () => {
  const { pen, post, runtime } = await aNode()
  const both = [post(said('go')), post(said('go'))]
  const answer = await pen.next()
  answer.write('Once.')
  answer.end()

  for (const response of both) expect((await partsIn(await response)).flatMap(({ delta }) => delta ?? []).join('')).toBe('Once.')
  expect(pen.waiting).toBe(0)
  expect(await runtime.session('main').history()).toHaveLength(2)
})

test('a message that waits for others of its sender is resumed, too', async () => {
  const { pen, chat, post } = await aNode()
  const first = post(said('one', 'u1'))
  const answer = await pen.next()
  const waiting = post({ ...said('two', 'u2'), queueMode: 'followup' })
  await waiting
  answer.end({ text: 'First.' })
  await partsIn(await first)
  const web = chat()

  const resumed = web.resumeStream()
  const second = await pen.next()
  second.write('Second.')
  second.end()
  await resumed

  expect(web.texts).toEqual(['Second.'])
})

test('two readers of one answer get the same parts', async () => {
  const { pen, post, resume } = await aNode()
  const asked = post(said('go'))
  const first = await pen.next()
  first.write('One ')
  const reader = await asked
  const other = resume('main')
  first.write('two')
  const third = await resume('main')
  first.end()

  const parts = await partsIn(reader)

  expect(await partsIn(await other)).toEqual(parts)
  expect(await partsIn(third)).toEqual(parts)
})

test('a message that joins the running turn, or waits for its end, gets the answer of the turn that takes it in', async () => {
  const { pen, post } = await aNode()
  const first = post(said('one', 'u1'))
  const answer = await pen.next()
  answer.write('First.')
  const joining = post({ ...said('two', 'u2'), queueMode: 'steer' })
  const waiting = post({ ...said('three', 'u3'), queueMode: 'followup' })
  await joining
  await waiting
  answer.end()
  const second = await pen.next()
  expect(second.asked).toBe('two')
  second.write('Second.')
  second.end()
  const third = await pen.next()
  expect(third.asked).toBe('three')
  third.write('Third.')
  third.end()

  const texts = async (response: Promise<Response>) => (await partsIn(await response)).flatMap(({ delta }) => delta ?? [])
  expect(await texts(first)).toEqual(['First.', 'Second.'])
  expect(await texts(joining)).toEqual(['First.', 'Second.'])
  expect(await texts(waiting)).toEqual(['Third.'])
})

test('a node that shuts down says so in the stream', async () => {
  const { pen, post, gateway } = await aNode()
  const asked = post(said('hello'))
  const answer = await pen.next()
  answer.write('So far')
  const response = await asked
  gateway.drain()
  expect(await (await post(said('more', 'u2'))).json()).toMatchObject({ error: { code: 'closed', retryable: true } })
  const closed = gateway.close()

  expect((await partsIn(response)).slice(-2)).toEqual([
    { type: 'error', errorText: 'this node is shutting down; the answer goes on, and can be resumed' },
    '[DONE]',
  ])
  await closed
})

test('so many streams are open for a token, and what is refused leaves nothing behind', async () => {
  const { pen, post, resume } = await aNode({ limits: { streamsPerTokenMax: 1 } })
  const asked = post(said('hello'))
  const answer = await pen.next()
  const response = await asked

  expect((await resume('main')).status).toBe(429)
  answer.end({ text: 'Hi' })
  await partsIn(response)
  await vi.waitFor(async () => expect((await resume('main')).status).toBe(204))
  expect((await post({ id: 'main' })).status).toBe(400)
  expect((await resume('main')).status).toBe(204)
})
