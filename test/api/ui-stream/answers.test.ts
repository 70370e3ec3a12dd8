/** What clients send that is no message, and answers that outlive the gateway that began them. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { expect, test, vi } from 'vitest'
import { aNode, partsIn, said } from './harness.ts'

test('what cannot be taken is refused before the stream, with its status and why', async () => {
  const { post, runtime, pen } = await aNode()
  const refused = async (body: unknown) => {
    const response = await post(body)
    return { status: response.status, ...((await response.json()) as { error: { code: string; field?: string; hint?: string } }).error }
  }

  expect(await refused('not json')).toMatchObject({ status: 400, code: 'bad_request' })
  expect(await refused('')).toMatchObject({ status: 400, code: 'bad_request', field: 'id' })
  expect(await refused({ ...said('x'), trigger: 'regenerate-message' })).toMatchObject({ status: 501, code: 'unsupported', field: 'trigger' })
  expect(await refused(said('x'.repeat(200_001)))).toMatchObject({ status: 413, code: 'too_large' })
  expect(await refused({ ...said('x'), padding: 'x'.repeat(9_000_000) })).toMatchObject({ status: 413, code: 'too_large' })
  expect(await refused(said('half \ud800'))).toMatchObject({ status: 400, code: 'bad_request' })
  expect(await refused(said('x', 'x'.repeat(201)))).toMatchObject({ status: 413, code: 'too_large', field: 'idempotencyKey' })
  expect(await refused({ ...said('x'), model: 'no/such' })).toMatchObject({ code: 'provider_unknown_model' })
  expect(await refused({ ...said('x'), agent: 'nobody' })).toMatchObject({ status: 404, code: 'not_found' })
  expect(await refused({ ...said('x'), thinking: { deep: true } })).toMatchObject({ status: 400, field: 'thinking' })
  await expect(runtime.session('main').view()).rejects.toMatchObject({ code: 'not_found' })
  expect(pen.waiting).toBe(0)
})

test.each(['a\r\nb', '..', '../x', '__proto__', 'constructor', 'ünï.*.>', '%2e%2e'])('a chat and a message may be called %j', async (name) => {
  const { post, pen, resume, runtime } = await aNode()

  const asked = post(said('hello', name, name))
  const answer = await pen.next()
  answer.write('Hi')
  // A client cannot ask for `..`, which no path can name.
  const again = name === '..' ? undefined : resume(name)
  await vi.waitFor(async () => expect((await runtime.session(name).view()).run?.runId).toBe(name))
  const response = await again
  answer.end()
  const parts = await partsIn(await asked)

  expect(parts).toContainEqual({ type: 'start', messageId: `${name}:answer`, messageMetadata: { runId: name } })
  expect(parts.filter(({ delta }) => delta)).toMatchObject([{ delta: 'Hi' }])
  if (response) expect([200, 204]).toContain(response.status)
})

test('a decision about a call that nobody asked for, or about other arguments, changes nothing', async () => {
  const { post, pen, runtime } = await aNode()
  const asked = post(said('go'))
  const first = await pen.next()
  first.call('danger')
  first.end()
  await partsIn(await asked)
  const [approval] = (await runtime.session('main').view()).approvals
  const decide = async (fields: unknown[]) => {
    const part = { type: 'tool-danger', state: 'approval-responded', approval: { id: JSON.stringify(fields), approved: true } }
    const response = await post({ ...said('x'), messages: [{ id: 'u1:answer', role: 'assistant', parts: [part] }] })
    return { status: response.status, ...((await response.json()) as { error: object }).error }
  }
  const { callId, inputHash } = approval as { callId: string; inputHash: string }

  expect(await decide(['u1', callId, 1, '0'.repeat(64)])).toMatchObject({ status: 409, code: 'conflict' })
  expect(await decide(['u1', 'main/u1:9:9', 1, inputHash])).toMatchObject({ status: 404, code: 'not_found' })
  expect(await decide(['u9', callId, 1, inputHash])).toMatchObject({ status: 404, code: 'not_found' })
  expect((await runtime.session('main').view()).approvals).toHaveLength(1)
})

test('a call that waits for a person is decided in a page that outlives the node, and its answer goes on in another life', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ui-stream-'))
  const before = await aNode({ transport: `embedded:${folder}` })
  const page = before.chat()
  const sent = page.sendMessage({ text: 'go' })
  const first = await before.pen.next()
  first.write('May I?')
  first.call('danger', { what: 'x' })
  first.end()
  await sent
  await before.gateway.close()
  await before.runtime.close()

  const after = await aNode({ transport: `embedded:${folder}` })
  const web = after.chat({ messages: page.messages, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
  await web.addToolApprovalResponse({ id: web.tool.approval.id, approved: true })
  const second = await after.pen.next()
  second.write('Done.')
  second.end()

  await vi.waitFor(() => expect(web.texts).toEqual(['May I?', 'Done.']))
  expect(web.tool).toMatchObject({ state: 'output-available', output: 'done' })
  const fresh = after.chat()
  await fresh.resumeStream()
  expect(fresh.messages).toEqual([])
  const whole = await partsIn(await after.post(said('go', page.messages[0]?.id)))
  expect(whole.flatMap(({ delta }) => delta ?? [])).toEqual(['May I?', 'Done.'])
})

test('of a message that was answered long ago, and of one that joined another, the answer is found in the journal', async () => {
  const { post, pen } = await aNode()
  const ask = async (id: string, text: string) => {
    const asked = post(said(text, id))
    const answer = await pen.next()
    answer.write(`echo ${text}`)
    return { asked, answer }
  }
  const first = await ask('first', 'one')
  const joining = await post(said('two', 'joining'))
  first.answer.end()
  const second = await pen.next()
  second.write('and two')
  second.end()
  await Promise.all([partsIn(await first.asked), partsIn(joining)])
  for (let n = 0; n < 80; n++) {
    const { asked, answer } = await ask(`later-${n}`, `later ${n}`)
    answer.end()
    await partsIn(await asked)
  }

  const texts = async (id: string) => (await partsIn(await post(said('again', id)))).flatMap(({ delta }) => delta ?? [])

  expect(await texts('first')).toEqual(['echo one', 'and two'])
  expect(await texts('joining')).toEqual(['echo one', 'and two'])
  expect(await texts('later-7')).toEqual(['echo later 7'])
})
