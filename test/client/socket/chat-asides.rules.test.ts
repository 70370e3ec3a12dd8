/** What is said beside a conversation, as a page is shown it: apart from the entries. */
import { expect, test } from 'vitest'
import { aPage, chat, event, text } from './a-chat.ts'

const result = (more: object = {}) =>
  event('chat.side_result', { kind: 'btw', runId: 'b1', sessionKey: 'main', seq: 1, question: 'why?', text: 'So.', isError: false, ts: 5, ...more })
const said = { type: 'said', id: 'b1', text: '/btw why?', at: 4 } as const
const taken = { type: 'taken', id: 'b1', status: 'side', runId: 'b1' } as const
const key = 'aside b1 1'

test('[CH-81] a side question waits beside the conversation for its answer, and is none of its messages', () => {
  const asked = aPage({ type: 'connected' }, said, taken)
  expect(asked).toMatchObject({ entries: [], waiting: [], busy: false, asides: [{ key, state: 'asked', question: 'why?' }] })
  const answered = aPage({ type: 'connected' }, said, taken, result())
  expect(answered).toMatchObject({ entries: [], asides: [{ key, state: 'told', question: 'why?', text: 'So.' }] })
  expect(aPage({ type: 'connected' }, said, taken, result({ isError: true, text: 'no' })).asides).toMatchObject([{ state: 'failed', text: 'no' }])
})

test('[CH-81] the answer may come before the acknowledgement, or be that of a repeat', () => {
  const early = aPage({ type: 'connected' }, said, result(), taken)
  expect(early).toMatchObject({ entries: [], waiting: [], asides: [{ state: 'told', text: 'So.' }] })
  const outcome = { side: true, status: 'completed', text: 'So.' } as const
  expect(aPage(said, { ...taken, outcome }).asides).toMatchObject([{ state: 'told', text: 'So.', question: 'why?' }])
})

test('[CH-81] results of a run stand beside its answer, each until it is dismissed', () => {
  const found = aPage(result({ runId: 'u1', question: undefined }), result({ runId: 'u1', seq: 2, text: 'And so.' }), chat(1, [text('hi')]))
  expect(found.entries).toMatchObject([{ type: 'answer', blocks: [{ text: 'hi' }] }])
  expect(found.asides.map(({ text: words }) => words)).toEqual(['So.', 'And so.'])
  const left = aPage(result(), result({ runId: 'b2' }), { type: 'dismissed', key })
  expect(left.asides.map(({ runId }) => runId)).toEqual(['b2'])
  expect(aPage(...Array.from({ length: 30 }, (_, nth) => result({ runId: `b${nth}`, ts: nth }))).asides).toHaveLength(20)
})
