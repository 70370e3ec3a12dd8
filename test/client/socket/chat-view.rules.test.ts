import { describe, expect, test } from 'vitest'
import { emptyView, type HistoryMessage, viewOf } from '../../../src/client/socket/index.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { noUsage } from '../../../src/contracts/message.ts'
import type { Approval } from '../../../src/contracts/turn.ts'
import {
  aPage,
  call,
  chat,
  chatEvent,
  event,
  fold,
  joined,
  lines,
  message,
  opened,
  said,
  subscribed,
  text,
  thinking,
  tool,
  toolEvent,
} from './a-chat.ts'

const history: HistoryMessage[] = [
  { role: 'user', id: 'u1', text: 'add', at: 1_000 },
  { role: 'assistant', id: 'u1:1', text: 'adding', reasoning: 'hm', calls: [{ callId: 'x', name: 'add', input: { a: 1 } }], at: 1_005 },
  { role: 'tool', callId: 'x', name: 'add', output: 3, isError: false },
  { role: 'assistant', id: 'u1:2', text: 'it is 3', calls: [], at: 1_030 },
]
const usage = { ...noUsage, inputTokens: 10, outputTokens: 5 }

describe('what is said here', () => {
  test('[CH-82] it stands there at once, with an empty answer under it, and nothing else is said until it is taken', () => {
    const view = aPage(said('u1', 'hello'))

    expect(lines(view)).toEqual(['sending: hello', 'running:'])
    expect(view.busy).toBe(true)
  })

  test('[CH-82] a double click is one message', () => {
    const view = aPage(said('u1', 'hello'), said('u1', 'hello'), { type: 'taken', id: 'u1', runId: 'u1', status: 'started' })
    const after = fold([{ type: 'taken', id: 'u1', status: 'duplicate' }, message('u1')], view)

    expect(lines(after)).toEqual(['user: hello', 'running:'])
  })

  test('of two that are on their way the first is answered, and the other one waits for it', () => {
    const view = aPage(said('u1', 'one', 1), said('u2', 'two', 2))
    expect(lines(view)).toEqual(['sending: one', 'sending: two', 'running:'])

    const after = fold([{ type: 'taken', id: 'u1', runId: 'u1', status: 'started' }], view)

    expect(lines(after)).toEqual(['user: one', 'running:'])
    expect(after.entries[1]).toBe(view.entries[2])
    expect(after.waiting).toEqual([{ id: 'u2', status: 'sending', text: 'two' }])
  })

  test('its answer takes the place of the empty one', () => {
    const before = aPage(said('u1', 'hello'))
    const after = fold([{ type: 'taken', id: 'u1', runId: 'u1', status: 'started' }, chat(1, [text('hi')])], before)

    expect(lines(after)).toEqual(['user: hello', 'running: hi'])
    expect(after.entries.map(({ key }) => key)).toEqual(before.entries.map(({ key }) => key))
  })

  test('what is refused is given back with its text and why, and can be withdrawn', () => {
    const error = new RuntimeError('too_large', 'too long')
    const view = aPage(said('u1', 'hello'), { type: 'refused', id: 'u1', error })

    expect(lines(view)).toEqual([])
    expect(view.waiting).toEqual([{ id: 'u1', status: 'refused', text: 'hello', error }])
    expect(view.busy).toBe(false)
    expect(fold([{ type: 'withdrawn', id: 'u1' }], view).waiting).toEqual([])
  })

  test('without a connection it is not sent yet, and neither is one whose fate nobody knows', () => {
    const error = new RuntimeError('log_unavailable', 'lost', { retryable: true })
    const view = aPage(said('u1', 'one'), { type: 'disconnected' }, { type: 'refused', id: 'u1', error }, said('u2', 'two'))
    expect(view.waiting).toEqual([
      { id: 'u1', status: 'unsent', text: 'one', error },
      { id: 'u2', status: 'unsent', text: 'two' },
    ])

    const again = fold([{ type: 'connected' }, said('u1', 'one'), said('u2', 'two')], view)
    expect(lines(again)).toEqual(['sending: one', 'sending: two', 'running:'])
    expect(again.waiting).toEqual([])
  })

  test('[CH-84] where its answer comes, or its history has it, before anything says that it was taken, it was', () => {
    const sent = aPage(said('u1', 'hello'))
    const late = { type: 'refused', id: 'u1', error: new RuntimeError('timeout', 'no answer', { retryable: true }) } as const

    const aborted = fold([chat(1, [text('hi')], { state: 'aborted' }), late], sent)
    const read = fold([opened(sent, [{ role: 'user', id: 'u1', text: 'hello' }]), late], sent)
    const steering = fold([said('u2', 'and'), chat(2, [text('hi'), joined('u2', 'and')]), { ...late, id: 'u2' }], sent)

    expect([lines(aborted), aborted.busy]).toEqual([['user: hello', 'stopped: hi'], false])
    expect(lines(read)[0]).toBe('user: hello')
    expect(lines(steering)).toEqual(['user: hello', 'running: hi <and>'])
    expect(read).toMatchObject({ busy: false, run: null })
    expect(fold([chat(3, undefined, { state: 'final' })], steering)).toMatchObject({ busy: false, run: null })
    expect([aborted, read, steering].flatMap(({ waiting }) => waiting)).toEqual([])
  })

  test('what the session has taken can no longer be refused or withdrawn', () => {
    const taken = aPage(said('u1'), message('u1'))
    const error = new RuntimeError('timeout', 'no answer', { retryable: true })

    expect(
      fold(
        [
          { type: 'refused', id: 'u1', error },
          { type: 'withdrawn', id: 'u1' },
        ],
        taken,
      ),
    ).toBe(taken)
  })
})

describe('a run', () => {
  test('[CH-84] a delta replaces what stands there, the final says what it has used, and ends sending', () => {
    const view = aPage(said('u1', 'hello'), message('u1'), chat(1, [thinking('hm')]), chat(2, [thinking('hmm'), text('h')]))
    expect(lines(view)).toEqual(['user: hello', 'running: (hmm) h'])
    expect(view).toMatchObject({ busy: true, run: { runId: 'u1' } })

    const ended = fold(
      [chat(3, [thinking('hmm'), text('hi')], { state: 'final', model: 'a/b', usage, costUsd: 0.1, durationMs: 20, ids: ['u1'] })],
      view,
    )

    expect(lines(ended)).toEqual(['user: hello', 'completed: (hmm) hi'])
    expect(ended).toMatchObject({ busy: false, run: null, entries: [{}, { model: 'a/b', usage, costUsd: 0.1, durationMs: 20 }] })
  })

  test('[CH-84] one that was aborted keeps what was there, one that failed says why, and both end sending', () => {
    const running = aPage(message('u1'), chat(1, [text('half of')]))
    const error = new RuntimeError('provider_unavailable', 'down').toJSON()

    const aborted = fold([chat(2, undefined, { state: 'aborted' })], running)
    const failed = fold([chat(2, undefined, { state: 'error', error, errorKind: 'timeout' })], running)

    expect(lines(aborted)).toEqual(['user: text of u1', 'stopped: half of'])
    expect(lines(failed)).toEqual(['user: text of u1', 'failed: half of'])
    expect(failed.entries[1]).toMatchObject({ error, errorKind: 'timeout' })
    expect([aborted.busy, failed.busy]).toEqual([false, false])
  })

  test('[CH-84] an end that comes before its last deltas stays the end', () => {
    const view = aPage(message('u1'), chat(3, [text('all')], { state: 'final' }), chat(2, [text('al')]), chat(1, [text('a')]))

    expect(lines(view)).toEqual(['user: text of u1', 'completed: all'])
  })

  test('patches go on where they say', () => {
    const view = aPage(
      chat(1, [thinking('h')]),
      chat(2, [thinking('m')], { from: { block: 0, offset: 1 } }),
      chat(3, [text('an')], { from: { block: 1, offset: 0 } }),
      chat(5, [text('swer'), call()], { from: { block: 1, offset: 2 } }),
      chat(6, [text('other')], { from: { block: 1, offset: 0 } }),
    )

    expect(lines(view)).toEqual(['running: (hm) other'])
    expect(view.stale).toBe(false)
  })

  test.each([
    ['behind the end of the text', [text('x')], { block: 0, offset: 9 }],
    ['behind the last block', [text('x')], { block: 3, offset: 0 }],
    ['in a block of another kind', [thinking('x')], { block: 0, offset: 1 }],
    ['in a block of another message', [text('x', 'u1:2')], { block: 0, offset: 1 }],
    ['in something that has no text', [text('x')], { block: 1, offset: 1 }],
  ])('a patch %s asks to subscribe again, and until then nothing is made up', (_, content, from) => {
    const view = aPage(chat(1, [text('here'), call()]), chat(3, content, { from }))
    expect(view.stale).toBe(true)
    expect(lines(view)).toEqual(['running: here [add called]'])
    expect(lines(fold([chat(4, [text('!')], { from: { block: 0, offset: 4 } })], view))).toEqual(lines(view))

    const cured = fold([subscribed(chatEvent(4, [text('all of it')])), chat(5, [text('!')], { from: { block: 0, offset: 9 } })], view)

    expect(cured.stale).toBe(false)
    expect(lines(cured)).toEqual(['running: all of it!'])
  })

  test('a patch that comes after one that builds on it asks to subscribe again, too', () => {
    const late = chat(2, [text('X')], { from: { block: 0, offset: 1 } })
    const view = aPage(chat(1, [text('abc')]), chat(3, [text('YZ')], { from: { block: 0, offset: 2 } }))

    expect(view.stale).toBe(false)
    expect(fold([late], view).stale).toBe(true)
  })

  test('a gateway that was started anew counts from one again, and goes on from what it says to a subscriber', () => {
    const before = aPage(
      chat(1, [text('half')]),
      chat(2, [text(' of')], { from: { block: 0, offset: 4 } }),
      chat(3, [text(' it')], { from: { block: 0, offset: 7 } }),
    )
    const back = fold([{ type: 'disconnected' }, { type: 'connected' }, subscribed(chatEvent(1, undefined))], before)
    expect(lines(back)).toContain('running: half of it')

    const after = fold([chat(2, [text('half of it and the rest')], { state: 'final' })], back)
    expect(lines(after)).toContain('completed: half of it and the rest')
  })

  test('a run whose end was missed is over, and its history is wanted', () => {
    const view = aPage(chat(1, [text('half')]), { type: 'disconnected' }, { type: 'connected' }, subscribed())

    expect(view).toMatchObject({ run: null, busy: false, history: 'wanted' })
    expect(lines(fold([opened(view, history)], view))).toEqual(['user: add', 'completed: (hm) adding [add done 3] it is 3'])
  })
})

describe('tool calls', () => {
  test('[CH-85] a result that comes before its call is one card, done', () => {
    const view = aPage(tool('done', { output: 3 }), tool('running', { input: { a: 1 } }), chat(1, [text('adding'), call()]))

    expect(lines(view)).toEqual(['running: adding [add done 3]'])
    expect(view.entries).toMatchObject([{ blocks: [{}, { type: 'tool', input: { a: 1 }, output: 3 }] }])
  })

  test('[CH-85] in the history results are put to their calls by their places, also where a provider uses a name again', () => {
    const twice: HistoryMessage[] = [
      { role: 'user', id: 'u1', text: 'add' },
      { role: 'assistant', id: 'u1:1', text: '', calls: [1, 2].map((a) => ({ callId: 'x', name: 'add', input: a })) },
      { role: 'tool', callId: 'x', name: 'add', output: 'first', isError: false },
      { role: 'tool', callId: 'x', name: 'add', output: 'second', isError: true },
      { role: 'assistant', id: 'u1:2', text: '', calls: [{ callId: 'x', name: 'add', input: 3 }] },
      { role: 'tool', callId: 'x', name: 'add', output: 'third', isError: false },
    ]
    const view = aPage(tool('done', { callId: 'main/u1:2:1', output: 'third' }))

    expect(lines(fold([opened(view, twice)], view))).toEqual(['user: add', 'running: [add done "first"] [add error "second"] [add done "third"]'])
  })

  test('a run that failed is shown as failed when its history is read, also where the model had said nothing', () => {
    const error = { code: 'provider_auth' as const, message: 'the key is refused', retryable: false }
    const view = fold([{ type: 'connected' }])
    const read = fold(
      [
        opened(
          view,
          [
            { role: 'user', id: 'u1', text: 'hi' },
            { role: 'user', id: 'u2', text: 'again' },
            { role: 'assistant', id: 'u2:1', text: 'so far', calls: [] },
          ],
          [
            { runId: 'u1', ids: ['u1'], status: 'failed', error },
            { runId: 'u2', ids: ['u2'], status: 'failed', error, durationMs: 7 },
          ],
        ),
      ],
      view,
    )

    expect(lines(read)).toEqual(['user: hi', 'failed:', 'user: again', 'failed: so far'])
    expect(read.entries[1]).toMatchObject({ runId: 'u1', error })
    expect(read.entries[3]).toMatchObject({ runId: 'u2', error, durationMs: 7 })
  })

  test.each([
    ['error', 'failed'],
    ['aborted', 'stopped'],
    ['final', 'completed'],
  ] as const)('a run that ended with %s stays so after a reconnection, also where a piece of it was missed', (state, shown) => {
    const error = { code: 'provider_auth' as const, message: 'the key is refused', retryable: false }
    // The third piece does not fit what is known: the second one is missing.
    const broken = aPage(chat(1, [text('so ')]), chat(3, [text('far')], { from: { block: 3, offset: 0 } }))
    const ended = fold([chat(4, undefined, { state, ...(state === 'error' ? { error } : {}) })], broken)
    expect(ended.entries.at(-1)).toMatchObject({ state: shown })
    expect(ended.stale).toBe(true)

    const again = fold([{ type: 'disconnected' }, { type: 'connected' }, subscribed(null)], ended)

    expect(again.entries.at(-1)).toMatchObject({ state: shown, ...(state === 'error' ? { error } : {}) })
    expect([again.stale, again.history]).toEqual([false, 'wanted'])
  })

  test('a run that went on when the connection broke, and has ended by the time it is back, does not run for ever', () => {
    const again = fold([{ type: 'disconnected' }, { type: 'connected' }, subscribed(null)], aPage(chat(1, [text('so far')])))

    expect(again.entries.at(-1)).toMatchObject({ state: 'completed' })
    expect(again.busy).toBe(false)
  })

  test('a running one shows its progress and, stopped with its run, does not run for ever', () => {
    const running = aPage(tool('running', { input: 1 }), tool('running', { progress: 'half', timestamp: 1_011 }))
    expect(running.entries).toMatchObject([{ blocks: [{ state: 'running', input: 1, progress: 'half' }] }])

    expect(lines(fold([chat(1, undefined, { state: 'aborted' })], running))).toEqual(['stopped: [add called]'])
  })

  const approval: Approval = { callId: 'main/u1:1:1', runId: 'u1', name: 'add', input: 1, inputHash: 'h', attempt: 1, why: 'approval' }
  const requested = (more: Partial<Approval> = {}, timestamp = 1_011) =>
    event('approval.requested', { sessionKey: 'main', approval: { ...approval, ...more }, timestamp })
  const resolved = (timestamp = 1_012) =>
    event('approval.resolved', { sessionKey: 'main', runId: 'u1', callId: approval.callId, decision: 'approve', timestamp })

  test('one that waits for a person is asked about until somebody decides, it has run, or its run is over', () => {
    const view = aPage(tool('running'), requested())
    expect(view.approvals).toEqual([approval])

    for (const end of [resolved(), tool('skipped'), chat(1, undefined, { state: 'aborted' })]) expect(fold([end], view).approvals).toEqual([])
    expect(aPage(resolved(), requested()).approvals).toEqual([])
    expect(aPage(requested({ attempt: 2 }, 1_013), resolved(), requested()).approvals).toEqual([{ ...approval, attempt: 2 }])
  })

  test('whatever is said of its turn meanwhile, and where nothing was heard of it, the turn waits for a person', () => {
    const state = (name: string, timestamp: number) =>
      event('session.state', { sessionKey: 'main', state: name, timestamp, ...(name.startsWith('running') ? { runId: 'u1' } : {}) })
    const view = aPage(tool('running'), requested(), state('running.awaiting-input', 1_012), state('awaiting-input', 1_013))
    expect(view.run).toEqual({ runId: 'u1', state: 'running.awaiting-input' })
    expect(aPage(tool('running'), requested()).run).toEqual({ runId: 'u1', state: 'running.awaiting-input' })
    expect(fold([resolved(), state('running.tools', 1_014)], view).run).toEqual({ runId: 'u1', state: 'running.tools' })
  })

  test('what waited before anybody listened is looked up', () => {
    const look = { type: 'looked', sessionKey: 'main', queued: [], run: { runId: 'u1', ids: ['u1'] }, approvals: [approval] } as const
    const fresh = aPage()
    const view = fold([{ ...look, life: fresh.life }], fresh)
    expect(view.approvals).toEqual([approval])
    expect(fold([resolved()], view).approvals).toEqual([])
    expect(fold([resolved(), { ...look, life: fresh.life }], fresh).approvals).toEqual([])

    const back = fold([{ type: 'disconnected' }, { type: 'connected' }], view)
    expect(fold([{ ...look, life: back.life, approvals: [] }], back).approvals).toEqual([])
  })
})

describe('messages that come while a run is going on', () => {
  const running = () => aPage(message('u1'), chat(1, [text('one')]))

  test('one that steers waits until the run has taken it in, and stands there then', () => {
    const view = fold([said('u2', 'and that'), { type: 'taken', id: 'u2', runId: 'u1', status: 'steered' }], running())
    expect(view.waiting).toEqual([{ id: 'u2', status: 'steered', text: 'and that' }])

    const after = fold([message('u2', 'steered'), chat(2, [text('one'), joined('u2', 'and that'), text('two', 'u1:2')])], view)

    expect(after.waiting).toEqual([])
    expect(lines(after)).toEqual(['user: text of u1', 'running: one <and that> two'])
  })

  test('those that are queued wait for their own run', () => {
    const view = fold([message('u2', 'queued', { timestamp: 1_002 }), message('u3', 'collected', { timestamp: 1_003 })], running())
    expect(view.waiting.map(({ id, status }) => [id, status])).toEqual([
      ['u2', 'queued'],
      ['u3', 'collected'],
    ])

    const after = fold([chat(2, [text('one')], { state: 'final' }), chat(1, [text('two', 'u2:1')], { runId: 'u2', ids: ['u2', 'u3'] })], view)

    expect(after.waiting).toEqual([])
    expect(lines(after)).toEqual(['user: text of u1', 'completed: one', 'user: text of u2', 'user: text of u3', 'running: two'])
  })

  test('those that were collected to one stand in the history as one, and are not shown beside it', () => {
    const end = chat(2, [text('two', 'u2:1')], { runId: 'u2', state: 'final', ids: ['u2', 'u3'] })
    const view = fold([message('u2', 'collected'), message('u3', 'collected'), end], aPage())
    const read = opened(view, [
      { role: 'user', id: 'u2', text: 'both' },
      { role: 'assistant', id: 'u2:1', text: 'two', calls: [] },
    ])

    expect(lines(fold([read], view))).toEqual(['user: both', 'completed: two'])
  })

  test('what joins the turn, or waits for the next one, is there again with its text after a reload', () => {
    const page = running()
    const waiting = [
      { id: 'u1', text: 'add' },
      { id: 'u2', text: 'and this' },
      { id: 'u3', text: 'later' },
    ]
    const look = { type: 'looked', sessionKey: 'main', life: page.life, queued: ['u3'], approvals: [], waiting } as const
    const view = fold([{ ...look, run: { runId: 'u1', ids: ['u1'] } }], page)

    expect(view.waiting.map(({ id, status, text }) => [id, status, text])).toEqual([
      ['u3', 'queued', 'later'],
      ['u2', 'steered', 'and this'],
    ])
    expect(fold([message('u2', 'answered', { timestamp: 2_000 })], view).waiting.map(({ id }) => id)).toEqual(['u3'])
    expect(fold([{ ...look, run: null }], page).waiting.map(({ id }) => id)).toEqual(['u3'])
  })

  test('what waited here, and was answered while nobody listened, waits no longer', () => {
    const view = fold([message('u2', 'collected'), { type: 'disconnected' }, { type: 'connected' }], running())
    const look = (queued: string[]) => fold([{ type: 'looked', sessionKey: 'main', life: view.life, queued, run: null, approvals: [] }], view)

    expect(look([]).waiting).toEqual([])
    expect(look(['u2', 'u9']).waiting.map(({ id }) => id)).toEqual(['u2', 'u9'])
  })
})

describe('a history', () => {
  test('it is drawn as what was heard would have been', () => {
    const heard = aPage(
      message('u1', 'started', { text: 'add' }),
      tool('running', { input: { a: 1 } }),
      tool('done', { output: 3 }),
      chat(9, [thinking('hm'), text('adding'), call(), text('it is 3', 'u1:2')], { state: 'final' }),
    )
    const both = fold([opened(heard, history)], heard)

    const shape = (view: typeof heard) => view.entries.map((entry) => (entry.type === 'answer' ? { ...entry, at: 0 } : entry))
    expect(shape(both)).toEqual(shape(heard))
    expect(shape(aPage(opened(emptyView('main'), history)))).toEqual(shape(heard))
  })

  test('what it holds of a run that goes on, and what is heard of it, are one answer', () => {
    const view = aPage(subscribed(chatEvent(7, [text('adding'), call(), text('it', 'u1:2')]), [toolEvent('done', { output: 3 })]))
    const read = opened(view, history.slice(0, 3))

    expect(lines(fold([read], view))).toEqual(['user: add', 'running: (hm) adding [add done 3] it'])
    expect(lines(fold([read, chat(8, [text('adding'), call(), text('it is', 'u1:2')]), read], view))).toEqual([
      'user: add',
      'running: (hm) adding [add done 3] it is',
    ])
  })

  test('what somebody said within a run stands within it, summaries and notices stand where they belong', () => {
    const view = aPage(event('session.notice', { sessionKey: 'main', text: 'noted', timestamp: 1_500 }))
    const read = opened(view, [
      { role: 'summary', id: 's', text: 'before' },
      { role: 'user', id: 'u1', text: 'one', at: 1_000 },
      { role: 'assistant', id: 'u1:1', text: 'first', calls: [] },
      { role: 'user', id: 'u2', text: 'joins' },
      { role: 'assistant', id: 'u1:2', text: 'second', calls: [], partial: true },
      { role: 'user', id: 'u3', text: 'later', at: 2_000 },
    ])

    expect(lines(fold([read], view))).toEqual(['summary: before', 'user: one', 'stopped: first <joins> second', 'notice: noted', 'user: later'])
  })

  test('what its messages have used is added up', () => {
    const used = history.map((one) => (one.role === 'assistant' ? { ...one, usage, model: 'a/b', costUsd: 0.5, durationMs: 10 } : one))

    expect(aPage(opened(emptyView('main'), used)).entries[1]).toMatchObject({
      usage: { inputTokens: 20, outputTokens: 10 },
      model: 'a/b',
      costUsd: 1,
      durationMs: 20,
    })
  })

  test('[CH-87] an answer for another session, or from before it began anew, is discarded', () => {
    const view = aPage(message('u1'))
    const slow = opened(view, history)
    const anew = fold([event('session.restart', { sessionKey: 'main', timestamp: 2_000 })], view)
    expect(anew).toMatchObject({ entries: [], history: 'wanted', connected: true })

    expect(fold([slow], anew)).toBe(anew)
    expect(fold([slow], emptyView('other')).entries).toEqual([])
    expect(fold([opened(anew, [])], anew)).toMatchObject({ entries: [], history: 'read' })
  })

  test('[CH-87] what has not been sent outlives it, and a late end of what was stopped is not drawn', () => {
    const view = fold(
      [{ type: 'disconnected' }, said('u2', 'mine'), event('session.restart', { sessionKey: 'main', timestamp: 2_000 })],
      aPage(message('u1')),
    )

    expect(view.waiting).toMatchObject([{ text: 'mine' }])
    expect(lines(fold([chat(9, undefined, { state: 'aborted' })], view))).toEqual([])
  })

  test('[CH-07] after an outage it says what was missed, and nothing stands there twice', () => {
    const view = aPage(message('u1', 'started', { text: 'add' }), chat(1, [thinking('hm'), text('add')]), { type: 'disconnected' })
    expect(view.history).toBe('wanted')
    const back = fold([{ type: 'connected' }, subscribed()], view)

    const later: HistoryMessage[] = [
      ...history,
      { role: 'user', id: 'u2', text: 'thanks' },
      { role: 'assistant', id: 'u2:1', text: 'bye', calls: [] },
    ]
    expect(lines(fold([opened(back, later)], back))).toEqual([
      'user: add',
      'completed: (hm) adding [add done 3] it is 3',
      'user: thanks',
      'completed: bye',
    ])
  })
})

test('what is of another session, of none, or unknown, changes nothing', () => {
  const view = aPage()

  for (const action of [
    event('tick', { timestamp: 1 }),
    event('chat', { ...chatEvent(1, [text('x')]), sessionKey: 'other' }),
    event('novelty' as 'session.restart', { timestamp: 1, sessionKey: 'main' }),
    { type: 'subscribe.failed', sessionKey: 'other', error: 'x' } as const,
  ])
    expect(viewOf(view, action)).toBe(view)
})

test('a session that cannot be listened to is said to be so, until it can', () => {
  const view = aPage({ type: 'subscribe.failed', sessionKey: 'main', error: 'no' })

  expect(view.error).toBe('no')
  expect(fold([subscribed()], view).error).toBeUndefined()
})

test('the session says what it is doing', () => {
  const state = (name: string, timestamp: number) => event('session.state', { sessionKey: 'main', state: name, runId: 'u1', timestamp })
  const view = aPage(message('u1'), state('running.answering', 2), state('running.waiting', 1))

  expect(view.run).toEqual({ runId: 'u1', state: 'running.answering' })
  expect(fold([chat(1, undefined, { state: 'final' })], view).run).toBeNull()
})
