/** What the chat page decides without a browser. */
import { expect, test } from 'vitest'
import { emptyView, type HistoryMessage, viewOf } from '../../src/client/socket/index.ts'
import type { Answer, ChatView, Entry } from '../../web/chat/src/model.ts'
import { announced } from '../../web/chat/src/rules/announce.rules.ts'
import { attachable, sizeOf } from '../../web/chat/src/rules/attach.rules.ts'
import { type FollowEvent, follows } from '../../web/chat/src/rules/follow.rules.ts'
import { costOf, countOf, gistOf, isFromModel, rowsOf, spanOf, useOf } from '../../web/chat/src/rules/format.rules.ts'
import { groupsOf, markedIn, moodOf } from '../../web/chat/src/rules/list.rules.ts'
import { Shown } from '../../web/chat/src/rules/shown.rules.ts'
import { foldOf, textOfAnswer, turnsOf } from '../../web/chat/src/rules/turns.rules.ts'
import { scenes } from './page/scenes.ts'

const after = (...events: FollowEvent[]): boolean => events.reduce(follows, true)

test('the end is followed until a person moves away, and again from the moment they have reached it', () => {
  expect(after({ type: 'scrolled', down: false, rest: 500 })).toBe(true)
  expect(after({ type: 'moved-up' })).toBe(false)
  expect(after({ type: 'selected' })).toBe(false)
  // What comes in meanwhile makes the rest longer, and that decides nothing.
  expect(after({ type: 'moved-up' }, { type: 'scrolled', down: false, rest: 0 })).toBe(false)
  expect(after({ type: 'moved-up' }, { type: 'scrolled', down: true, rest: 40 })).toBe(false)
  expect(after({ type: 'moved-up' }, { type: 'scrolled', down: true, rest: 1 })).toBe(true)
  expect(after({ type: 'moved-up' }, { type: 'latest' })).toBe(true)
  expect(after({ type: 'moved-up' }, { type: 'said' })).toBe(true)
})

const said = (id: string): Entry => ({ kind: 'said', id, text: id, state: 'sent' })
const answer = (id: string, changes: Partial<Answer> = {}): Answer => ({ kind: 'answer', id, state: 'final', blocks: [], ...changes })

test('what was said and what came of it are a turn; messages that one run answers are one too', () => {
  const turns = turnsOf([said('a'), answer('r1'), said('b'), said('c'), answer('r2'), answer('r3'), { kind: 'notice', id: 'n', text: 'so' }], [])
  expect(turns.map((turn) => [turn.said.length, turn.answer?.id, turn.notices.length])).toEqual([
    [1, 'r1', 0],
    [2, 'r2', 0],
    [0, 'r3', 1],
  ])
})

test('a turn that has not changed is the same one, so it is not drawn again', () => {
  const entries = [said('a'), answer('r1'), said('b'), answer('r2')]
  const before = turnsOf(entries, [])
  const next = turnsOf([...entries.slice(0, 3), answer('r2', { state: 'error' })], before)
  expect(next[0]).toBe(before[0])
  expect(next[1]).not.toBe(before[1])
})

test('more than twelve lines are folded, and so is one that is as long', () => {
  expect(foldOf('short')).toBeUndefined()
  expect(foldOf('x\n'.repeat(12))).toBeUndefined()
  expect(foldOf('x\n'.repeat(13))).toEqual({ head: 'x\n'.repeat(12).trimEnd(), lines: 13 })
  expect(foldOf('x'.repeat(5000))?.head).toHaveLength(12 * 90 + 1)
})

test('what is copied of an answer is its text as it was written', () => {
  const blocks: Answer['blocks'] = [
    { type: 'thinking', id: '1', thinking: 'hm' },
    { type: 'text', id: '2', text: '**one**\n' },
    { type: 'tool', callId: 'c', name: 'x', state: 'done' },
    { type: 'text', id: '3', text: 'two' },
  ]
  expect(textOfAnswer(answer('r', { blocks }))).toBe('**one**\n\ntwo')
})

test('numbers are short and say what they are', () => {
  expect([12, 3100, 31_000, 240_000, 9e6].map(spanOf)).toEqual(['12 ms', '3.1 s', '31 s', '4 min', '3 h'])
  expect([812, 12_400, 200_000, 1_250_000].map(countOf)).toEqual(['812', '12.4k', '200k', '1.3M'])
  expect([0, 0.0431, 0.21, 12].map(costOf)).toEqual(['free', '$0.043', '$0.21', '$12.00'])
  const usage = { inputTokens: 12_400, outputTokens: 1100, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }
  expect(useOf(answer('r', { model: 'anthropic/claude-sonnet-4-5', usage, costUsd: 0.043, durationMs: 18_000 }))).toBe(
    'claude-sonnet-4-5 · 12.4k in, 1.1k out · $0.043 · 18 s',
  )
  const none = { ...usage, inputTokens: 0, outputTokens: 0 }
  const reply = { type: 'text', id: 'r:reply', text: 'Think: high.', lines: true } as const
  expect(useOf(answer('r', { blocks: [reply], model: 'test/talk', usage: none }))).toBe('')
})

test('what no model has said keeps its lines; of a failure it is left out, since the page says it itself', () => {
  const shownIn = (status: 'completed' | 'failed') => {
    const payload = { runId: 'r1', sessionKey: 'main', seq: 1, ids: ['r1'], state: status === 'failed' ? 'error' : 'final' } as const
    const message = { role: 'assistant', timestamp: 1, content: [{ type: 'text', id: 'r1:reply', text: 'one\ntwo' }] } as const
    const view = viewOf(emptyView('main'), { type: 'event', frame: { type: 'event', event: 'chat', payload: { ...payload, message } as never } })
    return new Shown().entries(view, new Map()).flatMap((entry) => (entry.kind === 'answer' ? entry.blocks : []))
  }

  expect(shownIn('completed')).toEqual([{ type: 'text', id: 'r1:reply', text: 'one\ntwo', lines: true }])
  expect(shownIn('failed')).toEqual([])
})

test('[CH-80] what was put in says where it comes from, heard or read, and can no more be asked for again than what a command answers', () => {
  const content = [{ type: 'text', id: 'inject-b1:1', text: 'Complete.' }]
  const heard = { runId: 'inject-b1', sessionKey: 'main', seq: 1, ids: [], state: 'final', injected: true, label: 'backup' } as const
  const payload = { ...heard, message: { role: 'assistant', timestamp: 1, content } } as never
  const past: HistoryMessage = { role: 'assistant', id: 'inject-b1:1', text: 'Complete.', calls: [], injected: true, label: 'backup' }
  const empty = emptyView('main')
  const views = [
    viewOf(empty, { type: 'event', frame: { type: 'event', event: 'chat', payload } }),
    viewOf(empty, { type: 'opened', sessionKey: 'main', life: empty.life, messages: [past] }),
  ]

  for (const view of views) {
    const [entry] = new Shown().entries(view, new Map())
    expect(entry).toMatchObject({ kind: 'answer', injected: true, label: 'backup' })
    expect(isFromModel(entry as Answer)).toBe(false)
  }
  expect(isFromModel(answer('r', { blocks: [{ type: 'text', id: 'r:reply', text: 'Help.', lines: true }] }))).toBe(false)
  expect(isFromModel(answer('r'))).toBe(true)
})

test('arguments are one a row and whole; their gist is one line', () => {
  expect(rowsOf({ order: '20417', notify: true })).toEqual([
    ['order', '"20417"'],
    ['notify', 'true'],
  ])
  expect(rowsOf('raw')).toEqual([['input', '"raw"']])
  expect(gistOf({ path: 'a\n  b' })).toBe('a b')
  expect(gistOf({ pattern: 'x', path: 'src' })).toBe('pattern: x, path: src')
  expect(gistOf(null)).toBe('')
  expect(gistOf('x'.repeat(500))).toHaveLength(160)
})

test('what needs somebody stands first, and titles and words are searched', () => {
  const now = new Date().setHours(23, 59)
  const { conversations } = scenes.live()
  expect(groupsOf(conversations, '', now).map(({ name, conversations }) => [name, conversations.length])).toEqual([
    ['Needs you', 2],
    ['Today', 5],
    ['Earlier', 3],
  ])
  expect(groupsOf(conversations, 'LOCATIONS', now).flatMap((group) => group.conversations.map(({ key }) => key))).toEqual(['stock'])
  expect(groupsOf(conversations, 'no such words', now)).toEqual([])
  expect(markedIn('November statement', 'STATE')).toEqual([
    { text: 'November ', hit: false },
    { text: 'state', hit: true },
    { text: 'ment', hit: false },
  ])
})

test.each([
  ['running.answering', 'run'],
  ['running.awaiting-input', 'wait'],
  ['idle', 'rest'],
  ['awaiting-input', 'rest'],
  ['quarantined', 'fail'],
])('%s means %s', (state, mood) => {
  expect(moodOf(state)).toBe(mood)
})

const withAnswer = (view: ChatView, changes: Partial<Answer>): ChatView => ({
  ...view,
  current: { ...view.current, entries: view.current.entries.map((entry) => (entry.kind === 'answer' ? { ...entry, ...changes } : entry)) },
})

test('a screen reader hears of beginnings, ends, failures and questions, and never the text while it is written', () => {
  const view = scenes.live()
  const before = { ...view, current: { ...view.current, entries: view.current.entries.slice(0, 1) } }
  expect(announced(before, view)).toEqual({ polite: 'Answering' })
  expect(announced(view, withAnswer(view, { blocks: [{ type: 'text', id: 'm', text: 'more and more' }] }))).toEqual({})
  expect(announced(view, withAnswer(view, { state: 'final', blocks: [{ type: 'text', id: 'm', text: 'one two three' }] }))).toEqual({
    polite: 'Answer complete, 3 words',
  })
  expect(announced(view, withAnswer(view, { state: 'aborted' }))).toEqual({ polite: 'Stopped' })
  const asked = scenes.approval()
  expect(announced(withAnswer(asked, { blocks: [] }), asked).assertive).toContain('refund_order')
  expect(announced(asked, { ...asked, connection: { state: 'lost' } })).toEqual({ polite: 'The connection is gone' })
  expect(announced({ ...asked, connection: { state: 'lost' } }, asked)).toEqual({ polite: 'Connected again' })
  expect(announced(asked, { ...asked, connection: { state: 'connected', leaving: true } })).toEqual({ polite: 'The node is shutting down' })
})

test('what cannot be attached is said before anything is sent', () => {
  const file = (name: string, size: number) => ({ name, size })

  expect(attachable([file('a.png', 5_000_000), file('b.png', 5_000_001), file('c.txt', 0), file('d.pdf', 7_100_000)], 0)).toEqual({
    taken: [file('a.png', 5_000_000)],
    refused: [
      'b.png is too large: it has 5000001 bytes, a file may have 5000000; make it smaller',
      'c.txt is empty',
      'd.pdf is too large: it has 7.1 MB, a file may have 5 MB; make it smaller',
    ],
  })
  expect(attachable([file('a', 1), file('b', 1)], 9)).toEqual({ taken: [file('a', 1)], refused: ['b is one too many: 10 can go with a message'] })
  expect([sizeOf(812), sizeOf(12_400), sizeOf(4_940_000)]).toEqual(['812 bytes', '12 kB', '4.9 MB'])
})

/** A view with one run that asked a person. @param decidedAt when that was decided, where it was */
const asking = (decidedAt?: number): Parameters<Shown['entries']>[0] => {
  const approval = { callId: 'c', runId: 'r', name: 'pay', input: {}, inputHash: 'h', attempt: 1, why: 'approval', sessionKey: 's' } as const
  const entry = { type: 'answer', runId: 'r', state: 'running', blocks: [] }
  const decided = new Map(decidedAt === undefined ? [] : [['c', { callId: 'c', decision: 'approve', at: decidedAt }]])
  const open = decidedAt === undefined || decidedAt < 20
  const view = { entries: [entry], approvals: open ? [approval] : [], waiting: [], facts: { asked: new Map([['c', { approval, at: 20 }]]), decided } }
  return view as unknown as Parameters<Shown['entries']>[0]
}
const blocksOf = (entries: readonly Entry[]) => entries.flatMap((entry) => (entry.kind === 'answer' ? entry.blocks : []))

test('a click on allow is drawn at once', () => {
  const shown = new Shown()
  const view = asking()
  expect(blocksOf(shown.entries(view, new Map()))).toMatchObject([{ type: 'ask' }])
  expect(blocksOf(shown.entries(view, new Map([['c', 'approve']]) as never))).toMatchObject([{ type: 'ask', deciding: 'approve' }])
})

test('a call that is asked for again is not shown as decided', () => {
  expect(blocksOf(new Shown().entries(asking(10), new Map()))).toEqual([expect.not.objectContaining({ decided: expect.anything() })])
  expect(blocksOf(new Shown().entries(asking(30), new Map()))).toMatchObject([{ type: 'ask', decided: { at: 30 } }])
})

test('a notice during an answer does not join its turn', () => {
  const notice: Entry = { kind: 'notice', id: 'n', text: 'so' }
  expect(turnsOf([said('a'), answer('r1', { state: 'running' }), notice], []).map(({ notices }) => notices.length)).toEqual([0, 1])
})
