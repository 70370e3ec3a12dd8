import { expect, test } from 'vitest'
import { formatApproval } from '../../../src/api/ui-stream/approval-id.rules.ts'
import { readRequest } from '../../../src/api/ui-stream/request.rules.ts'
import { said, user } from './harness.ts'

const question = { runId: 'u1', callId: 'main/u1:1:1', attempt: 1, inputHash: 'f'.repeat(64) }
const answer = (...parts: unknown[]) => ({
  id: 'main',
  trigger: 'submit-message',
  messages: [user('go'), { id: 'u1:answer', role: 'assistant', parts }],
})
const responded = (approval: object) => ({ type: 'tool-danger', toolCallId: question.callId, state: 'approval-responded', input: {}, approval })

test('the newest message is what is said, its id what makes a repetition harmless, and the chat the session', () => {
  const body = { ...said('and now?', 'u2'), messages: [user('before'), { anything: 'older' }, user('and now?', 'u2')] }

  expect(readRequest({ ...body, thinking: 'high', theme: 'dark', messageId: undefined })).toEqual({
    kind: 'message',
    message: { sessionKey: 'main', message: 'and now?', idempotencyKey: 'u2', thinking: 'high' },
  })
})

test('several texts are one message, a line each', () => {
  const parts = [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ]
  expect(readRequest({ ...said('x'), messages: [{ id: 'u1', role: 'user', parts }] })).toMatchObject({ message: { message: 'one\ntwo' } })
})

test('an answer in which approvals were responded to is a decision about them; those of before are what the client has', () => {
  const asked = formatApproval(question)
  const before = formatApproval({ ...question, callId: 'main/u1:0:1' })
  const elsewhere = formatApproval({ ...question, runId: 'u0' })
  const body = answer(
    { type: 'tool-danger', state: 'output-available', approval: { id: elsewhere, approved: true } },
    { type: 'tool-danger', state: 'output-available', approval: { id: before, approved: true } },
    { type: 'text', text: 'May I?' },
    responded({ id: asked, approved: false, reason: 'too dear' }),
  )

  expect(readRequest({ ...body, messageId: 'u1:answer' })).toEqual({
    kind: 'decisions',
    sessionKey: 'main',
    runId: 'u1',
    decisions: [{ ...question, approvalId: asked, decision: 'deny', note: 'too dear' }],
    asked: [before, asked],
  })
})

test('an answer whose newest step has outputs of calls gives them, whoever ran them; a decision goes first', () => {
  const before = { type: 'tool-locate', toolCallId: 'main/u1:1:1', state: 'output-available', input: {}, output: 'old' }
  const now = [
    { type: 'tool-locate', toolCallId: 'main/u1:2:1', state: 'output-available', input: {}, output: { city: 'Bern' } },
    { type: 'dynamic-tool', toolName: 'look', toolCallId: 'main/u1:2:2', state: 'output-error', input: {}, errorText: 'dark' },
    { type: 'tool-locate', toolCallId: 'main/u1:2:3', state: 'input-available', input: {} },
    { type: 'data-own', toolCallId: 'main/u1:2:4', state: 'output-available', output: 1 },
  ]
  const body = { ...answer({ type: 'step-start' }, before, { type: 'step-start' }, ...now), clientTools: [{ name: 'locate' }], theme: 'dark' }

  expect(readRequest(body)).toEqual({
    kind: 'results',
    messageId: 'u1:answer',
    results: [
      { callId: 'main/u1:2:1', output: { city: 'Bern' } },
      { callId: 'main/u1:2:2', output: 'dark', isError: true },
    ],
    input: { sessionKey: 'main', clientTools: [{ name: 'locate' }] },
  })
  expect(readRequest(answer(...now, responded({ id: formatApproval(question), approved: true })))).toMatchObject({ kind: 'decisions' })
})

test.each([
  ['nothing', null, 'bad_request', undefined],
  ['a text', 'hello', 'bad_request', undefined],
  ['no id', { ...said('x'), id: undefined }, 'bad_request', 'id'],
  ['an empty id', { ...said('x'), id: '' }, 'bad_request', 'id'],
  ['an id that is too long', { ...said('x'), id: 'x'.repeat(1025) }, 'too_large', 'id'],
  ['no messages', { ...said('x'), messages: [] }, 'bad_request', 'messages'],
  ['messages that are none', { ...said('x'), messages: 'hello' }, 'bad_request', 'messages'],
  ['a message that is none', { ...said('x'), messages: [user('x'), 7] }, 'bad_request', 'messages.1'],
  ['a message without an id', { ...said('x'), messages: [{ role: 'user', parts: [] }] }, 'bad_request', 'messages.0.id'],
  ['a message without parts', { ...said('x'), messages: [{ id: 'u1', role: 'user' }] }, 'bad_request', 'messages.0.parts'],
  ['a message of version 4', { ...said('x'), messages: [{ id: 'u1', role: 'user', content: 'x' }] }, 'bad_request', 'messages.0.parts'],
  ['no text', { ...said('x'), messages: [{ id: 'u1', role: 'user', parts: [] }] }, 'bad_request', 'messages.0.parts'],
  ['an empty text', said(' \n '), 'bad_request', 'messages.0.parts'],
  [
    'a text that is none',
    { ...said('x'), messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 7 }] }] },
    'bad_request',
    'messages.0.parts.0.text',
  ],
  ['a part that is none', { ...said('x'), messages: [{ id: 'u1', role: 'user', parts: [null] }] }, 'bad_request', 'messages.0.parts.0'],
  [
    'a file that stands elsewhere',
    { ...said('x'), messages: [{ id: 'u1', role: 'user', parts: [{ type: 'file', url: 'https://example.org/a.png', mediaType: 'image/png' }] }] },
    'unsupported',
    'messages.0.parts.0.url',
  ],
  ['a message of the system', { ...said('x'), messages: [{ ...user('x'), role: 'system' }] }, 'bad_request', 'messages.0.role'],
  ['a role of nobody', { ...said('x'), messages: [{ ...user('x'), role: '__proto__' }] }, 'bad_request', 'messages.0.role'],
  ['no trigger', { ...said('x'), trigger: undefined }, 'bad_request', 'trigger'],
  ['a trigger that is not known', { ...said('x'), trigger: 'resume-stream' }, 'bad_request', 'trigger'],
  ['the wish for another answer', { ...said('x'), trigger: 'regenerate-message' }, 'unsupported', 'trigger'],
  ['a message that was changed', { ...said('x'), messageId: 'u1' }, 'unsupported', 'messageId'],
  ['an answer without a decision', answer({ type: 'text', text: 'hi' }), 'bad_request', 'messages.1'],
  ['an approval of somebody else', answer(responded({ id: 'aitxt-1', approved: true })), 'bad_request', 'messages.1.parts.0.approval'],
  ['an approval that is none', answer(responded({ id: '["u1"]', approved: true })), 'bad_request', 'messages.1.parts.0.approval'],
  ['a decision that is none', answer(responded({ id: formatApproval(question) })), 'bad_request', 'messages.1.parts.0.approval.approved'],
  [
    'a reason that is too long',
    answer(responded({ id: formatApproval(question), approved: true, reason: 'x'.repeat(2001) })),
    'too_large',
    'messages.1.parts.0.approval.reason',
  ],
  [
    'decisions about several answers',
    answer(
      responded({ id: formatApproval(question), approved: true }),
      responded({ id: formatApproval({ ...question, runId: 'u0' }), approved: true }),
    ),
    'bad_request',
    'messages.1',
  ],
])('%s is refused, and the error names the field', (_, body, code, field) => {
  expect(() => readRequest(body)).toThrow(expect.objectContaining({ code, ...(field === undefined ? {} : { field }), hint: expect.any(String) }))
})
