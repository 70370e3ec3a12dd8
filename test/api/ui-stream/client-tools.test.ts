/** Tools that a page runs itself, as `useChat` of the AI SDK does it: with `onToolCall` or a click, and `addToolOutput`. */
import {
  lastAssistantMessageIsCompleteWithToolCalls as complete,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
} from 'ai'
import { expect, test, vi } from 'vitest'
import { token } from '../gateway-on.ts'
import { aNode, Chat, partsIn, said } from './harness.ts'

const clientTools = [
  { name: 'locate', description: 'where the user is', inputSchema: { type: 'object', properties: { exact: { type: 'boolean' } } } },
]

const aMap = async (init: ConstructorParameters<typeof Chat>[0] = {}) => {
  const node = await aNode()
  const transport = new DefaultChatTransport({
    api: `${node.gateway.url}/api/chat`,
    headers: { authorization: `Bearer ${token}` },
    body: { clientTools },
  })
  const web = new Chat({ id: 'main', transport, sendAutomaticallyWhen: complete, ...init })
  return { ...node, web }
}

test('[CH-53] a tool that the page declares is run by it, and its output goes on with the same message', async () => {
  const asked: unknown[] = []
  const { web, pen, runtime } = await aMap({
    onToolCall: ({ toolCall }) => {
      asked.push(toolCall)
      void web.addToolOutput({ tool: toolCall.toolName as never, toolCallId: toolCall.toolCallId, output: { city: 'Bern' } })
    },
  })

  const sent = web.sendMessage({ text: 'where am I?' })
  const first = await pen.next()
  first.write('I look.')
  first.call('locate', { exact: true })
  first.end()
  const second = await pen.next()
  second.write('In Bern.')
  second.end()
  await sent
  await vi.waitFor(() => expect(web.texts).toEqual(['I look.', 'In Bern.']))
  await vi.waitFor(() => expect(web.status).toBe('ready'))

  expect(asked).toMatchObject([{ toolName: 'locate', input: { exact: true } }])
  expect(web.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  expect(web.lastMessage?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'text', text: 'I look.' },
    { type: 'tool-locate', state: 'output-available', input: { exact: true }, output: { city: 'Bern' } },
    { type: 'step-start' },
    { type: 'text', text: 'In Bern.', state: 'done' },
  ])
  const { messages } = await runtime.command<{ messages: object[] }>('chat.history', { sessionKey: 'main' })
  expect(messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', calls: [{ name: 'locate' }] },
    { role: 'tool', output: { city: 'Bern' } },
    { role: 'assistant', text: 'In Bern.' },
  ])
})

test('[CH-53] the stream ends with the call, and nothing is said of its output', async () => {
  const { pen, post } = await aNode()
  const response = post({ ...said('where am I?'), clientTools })
  const answer = await pen.next()
  answer.call('locate')
  answer.end()

  const parts = await partsIn(await response)

  expect(parts.filter(({ type = '' }) => type.startsWith('tool-'))).toEqual([
    { type: 'tool-input-available', toolCallId: 'main/u1:1:1', toolName: 'locate', input: {} },
  ])
  expect(parts.slice(-2)).toEqual([{ type: 'finish', finishReason: 'tool-calls' }, '[DONE]'])
})

test('[CH-53] one call after the other, some of which fail, is one message; tools of the agent run in between', async () => {
  const { web, pen } = await aMap()
  const locateFails = async () => {
    await vi.waitFor(() => expect(web.tool).toMatchObject({ type: 'tool-locate', state: 'input-available' }))
    await vi.waitFor(() => expect(web.status).toBe('ready'))
    await web.addToolOutput({ tool: 'locate' as never, toolCallId: web.tool.toolCallId, state: 'output-error', errorText: 'no satellites' })
  }

  void web.sendMessage({ text: 'where am I?' })
  const first = await pen.next()
  first.call('step')
  first.call('locate')
  first.end()
  await locateFails()
  const second = await pen.next()
  expect(second.asked).toContain('no satellites')
  second.call('locate')
  second.end()
  await locateFails()
  const third = await pen.next()
  third.write('Nobody knows.')
  third.end()
  await vi.waitFor(() => expect(web.texts).toEqual(['Nobody knows.']))

  expect(web.messages).toHaveLength(2)
  expect(web.lastMessage?.parts.filter(({ type }) => type.startsWith('tool-'))).toMatchObject([
    { type: 'tool-step', state: 'output-available', output: 'next' },
    { type: 'tool-locate', state: 'output-error', errorText: 'no satellites' },
    { type: 'tool-locate', state: 'output-error', errorText: 'no satellites' },
  ])
})

test('[CH-53] a call of the page beside one that waits for a person: first the decision, then the output', async () => {
  const { web, pen } = await aMap({
    sendAutomaticallyWhen: (chat) => lastAssistantMessageIsCompleteWithApprovalResponses(chat) || complete(chat),
  })
  void web.sendMessage({ text: 'go' })
  const first = await pen.next()
  first.call('danger')
  first.call('locate')
  first.end()
  await vi.waitFor(() => expect(web.lastMessage?.parts.some((part) => 'approval' in part)).toBe(true))
  await vi.waitFor(() => expect(web.status).toBe('ready'))
  const [danger, locate] = (web.lastMessage?.parts ?? []).filter(({ type }) => type.startsWith('tool-')) as any[]

  await web.addToolApprovalResponse({ id: danger.approval.id, approved: true })
  await web.addToolOutput({ tool: 'locate' as never, toolCallId: locate.toolCallId, output: 'Bern' })
  const second = await pen.next()
  second.write('Done in Bern.')
  second.end()

  await vi.waitFor(() => expect(web.texts).toEqual(['Done in Bern.']))
})

test('[CH-53] results that are given again get the answer that they have; those of a call that nobody waits for are refused', async () => {
  const { pen, post } = await aNode()
  const asked = post({ ...said('where am I?'), clientTools })
  const first = await pen.next()
  first.call('locate')
  first.end()
  await (await asked).text()
  const part = (toolCallId: string) => ({ type: 'tool-locate', toolCallId, state: 'output-available', input: {}, output: 'Bern' })
  const results = (toolCallId: string) => ({
    id: 'main',
    trigger: 'submit-message',
    messages: [{ id: 'u1:answer', role: 'assistant', parts: [{ type: 'step-start' }, part(toolCallId)] }],
  })

  const given = post(results('main/u1:1:1'))
  const second = await pen.next()
  second.write('In Bern.')
  second.end()
  const parts = await partsIn(await given)
  const again = await partsIn(await post(results('main/u1:1:1')))
  const refused = await post(results('main/u1:7:1'))

  expect(parts[0]).toMatchObject({ type: 'start', messageId: 'u1:answer' })
  const texts = (all: any[]) => all.flatMap(({ type, delta }) => (type === 'text-delta' ? [delta] : [])).join('')
  expect([texts(parts), texts(again)]).toEqual(['In Bern.', 'In Bern.'])
  expect(pen.waiting).toBe(0)
  expect(refused.status).toBe(409)
  expect(await refused.json()).toMatchObject({ error: { code: 'conflict', hint: expect.stringContaining('pendingCalls') } })
})
