/** What the inspector decides without a browser. */
import { expect, test } from 'vitest'
import type { Candidate } from '../../../src/contracts/inspection.ts'
import { cutTexts, isCut, textAt } from '../../../web/inspector/src/fold/cut.rules.ts'
import type { Row } from '../../../web/inspector/src/fold/protocol.ts'
import { boxesOf, boxFor } from '../../../web/inspector/src/rules/actors.rules.ts'
import { placeIn, searchOf, troubleWith } from '../../../web/inspector/src/rules/address.rules.ts'
import { differences, valueWords } from '../../../web/inspector/src/rules/diff.rules.ts'
import { filtersOf, isLoud, isOfInterest, seek } from '../../../web/inspector/src/rules/filter.rules.ts'
import { changeableIn, changed, draftOf, draftTrouble, forkKey, notAsked } from '../../../web/inspector/src/rules/forks.rules.ts'
import { Lanes } from '../../../web/inspector/src/rules/lanes.rules.ts'
import { type Facet, listedActor, listedSession, rowsOf as listRows } from '../../../web/inspector/src/rules/list.rules.ts'
import { moodOf, stateText } from '../../../web/inspector/src/rules/moods.rules.ts'
import { oneLine, sizeWords, visible } from '../../../web/inspector/src/rules/plain.rules.ts'
import { printed } from '../../../web/inspector/src/rules/printed.rules.ts'
import { cutsIn, spanWords, timedColumns } from '../../../web/inspector/src/rules/ruler.rules.ts'
import { answerOf } from '../../../web/inspector/src/rules/runs.rules.ts'
import { sentenceOf, toldOf } from '../../../web/inspector/src/rules/sentence.rules.ts'
import { Spans, stretchesOf } from '../../../web/inspector/src/rules/spans.rules.ts'
import { decisionsOf } from '../../../web/inspector/src/rules/why.rules.ts'
import { fitted, seqAt, showing, xOf, zoomed } from '../../../web/inspector/src/rules/window.rules.ts'
import { answer, message, recordedOf, refund, rowsOf } from './rows.ts'

test('a commit in a sentence: who said what, calls of tools by the tool, and an error before anything else', () => {
  const recorded = recordedOf(...refund)
  expect(recorded.rows.map((row) => sentenceOf(row, recorded))).toEqual([
    { event: 'message', words: '“refund me”' },
    { event: 'done(model)', words: 'asks for refund' },
    { event: 'approve', words: 'allowed by mia' },
    { event: 'error(execute)', words: 'it may have run' },
    { event: 'claimed', words: 'by n2' },
  ])
  expect(toldOf(recorded.rows[1]!, recorded, 5)).toMatch(/^2 of 5: done\(model\), asks for refund, turn#1 is running.awaiting-input/)
})

test('lanes are roles, parents first, and a tool is one with what carries it out', () => {
  const { lanes, spans } = recordedOf(...refund)
  expect(lanes.all().map(({ name, depth }) => [name, depth])).toEqual([
    ['session', 0],
    ['turn', 1],
    ['loop', 2],
    ['model', 3],
    ['refund', 3],
  ])
  const refundLane = lanes.keyOf('/turn#1/loop#1/tool-0#1/execute#1')
  expect(spans.between(refundLane, 1, 5).map(({ from, to, mood, text }) => [from, to, mood, text])).toEqual([
    [2, 3, 'wait', 'awaiting-input'],
    [3, 4, 'run', 'running'],
    [4, 5, 'fail', 'failed'],
  ])
  // What has ended has no span, and a second turn goes on in the same lane.
  expect(spans.between(lanes.keyOf('/turn#7'), 5, 5)).toEqual([])
})

test('a failed call is red until its turn ends, and no longer', () => {
  const spans = new Spans()
  const lanes = new Lanes('session')
  const states = [
    { '/': 'running', '/turn#1': 'running', '/turn#1/tool-0#1': 'failed' },
    { '/turn#1': 'running' },
    { '/turn#1': 'done', '/': 'awaiting-input' },
    { '/turn#2': 'running' },
  ]
  for (const [index, one] of states.entries()) {
    const row = { seq: index + 1, states: one } as unknown as Row
    lanes.take(row)
    spans.take(row, lanes)
  }
  expect(spans.between(lanes.keyOf('/turn#1/tool-0#1'), 1, 4)).toMatchObject([{ from: 1, to: 3, mood: 'fail' }])
})

test('a kill is shown where work was cut off, and an orderly stop is none', () => {
  const rows = rowsOf(...refund)
  expect(cutsIn(rows, 1, 5).map(({ seq, ms, killed }) => ({ seq, ms, killed }))).toEqual([{ seq: 4, ms: 57_000, killed: true }])
  const [, , , handed] = rowsOf(...refund.slice(0, 2), { ...refund[2], released: true }, { ...refund[3]! })
  expect(handed?.killed).toBeUndefined()
  // It was at rest, and another host claimed it with its next input: nothing tells how the host before ended.
  const [, , , resting] = rowsOf(...refund.slice(0, 3), { ...refund[3]!, inputs: [message('and now?')] })
  expect([resting?.killed, resting?.writer === rows[2]?.writer]).toEqual([undefined, false])
  // It was idle, left memory, and the same host took it up again.
  const [, , , again] = rowsOf(...refund.slice(0, 3), { ...refund[3], writer: 'n1', inputs: [] })
  expect([again?.killed, again?.marks[0]?.event]).toEqual([undefined, 'claimed'])
  // A fork goes on, under its own name, from where its origin was.
  const [, , , forked] = rowsOf(...refund.slice(0, 3), { ...refund[3], address: 'session/main-f1', inputs: [] })
  expect([forked?.killed, forked?.marks[0]?.event]).toEqual([undefined, 'forked'])
  expect([400, 3_140, 52_000, 200_000, 9_000_000].map(spanWords)).toEqual(['400 ms', '3.1 s', '52 s', '3 min', '3 h'])
})

test('filters and the keys [ and ] find errors, waits and kills; words find events, states and texts', () => {
  const rows = rowsOf(...refund)
  expect(rows.filter(isLoud).map(({ seq }) => seq)).toEqual([2, 4])
  expect(seek(rows, 1, 1, isLoud)).toBe(2)
  expect(seek(rows, 4, 1, isLoud)).toBeUndefined()
  expect(rows.filter((row) => isOfInterest(row, 'model', '')).map(({ seq }) => seq)).toEqual([2])
  expect(rows.filter((row) => isOfInterest(row, 'all', 'MIA')).map(({ seq }) => seq)).toEqual([3])
  // An author's actors call their effects as they like.
  expect(filtersOf('order')).toEqual(['all', 'inputs', 'effects', 'errors'])
  const own = rowsOf(
    { inputs: [message('pay')], states: { '/': 'paying', '/0.order.paying#1': 'active' } },
    {},
    { inputs: [answer('/0.order.paying#1', {})] },
  )
  expect(own.filter((row) => isOfInterest(row, 'effects', '')).map(({ seq }) => seq)).toEqual([1, 3])
})

test('times above the columns say what differs: within one second, the milliseconds', () => {
  const rows = rowsOf({ at: 61_100 }, { at: 61_401 }, { at: 62_007 })
  expect(timedColumns(rows, 1, 3, 70).map(({ words }) => words.slice(-6))).toEqual([':01:01'.slice(-6), '01.401', ':01:02'])
})

test('who was not asked any more stands behind the one that was taken, by name', () => {
  const candidate = (index: number, verdict: Candidate['verdict'], guard: string): Candidate => ({
    source: 'order.overdue',
    eventType: '',
    index,
    verdict,
    guard,
  })
  const [decision] = decisionsOf(
    [{ event: { type: '' }, candidates: [candidate(0, 'yes', 'mayTryAgain'), candidate(1, 'unasked', 'hasReceipt')], taken: [] } as never],
    undefined,
  )
  expect(decision?.reasons.map(({ name, number }) => [number, name])).toEqual([[1, 'mayTryAgain']])
  expect(decision?.unasked.map(({ name, number }) => [number, name])).toEqual([[2, 'hasReceipt']])
})

test('each role keeps its box at every moment, so that nothing jumps', () => {
  const recorded = recordedOf(...refund)
  const at = (seq: number) => boxesOf(recorded, seq, undefined)
  expect(at(1).map(({ name, isThere }) => [name, isThere])).toEqual([
    ['session', true],
    ['turn', true],
    ['loop', true],
    ['model', true],
    ['refund', false],
  ])
  expect(at(1).at(-1)?.state).toBe('not yet')
  expect(at(3).at(-1)).toMatchObject({ name: 'refund', state: 'running', mood: 'run', path: '/turn#1/loop#1/tool-0#1' })
  // A link to an actor finds the box of its role where that one lives no more.
  expect(boxFor(at(5), '/turn#1', recorded)?.lane.name).toBe('turn')
})

test('a run is found by the last answer of its model, or by its end', () => {
  const rows = rowsOf(...refund, { notes: [{ type: 'transcript', ended: [{ runId: 'second' }] }] })
  expect(['refund me', 'second', 'third'].map((run) => answerOf(rows, run))).toEqual([2, 6, undefined])
})

test('a trace is drawn whole while its columns can be read, and else through a window that goes along with the moment', () => {
  expect(fitted(7, 900).perCommit).toBeCloseTo(900 / 12.4)
  expect(fitted(7, 2_000)).toEqual({ perCommit: 96, first: 1 })
  const window = fitted(10_000, 900)
  expect(window.perCommit).toBe(28)
  expect(seqAt(window, xOf(window, 10_000) + 1)).toBe(10_000)
  const back = showing(window, 5_000, 10_000, 900)
  expect(xOf(back, 5_000)).toBeGreaterThan(0)
  expect(xOf(back, 5_001)).toBeLessThan(900)
  const all = zoomed(window, 0.0001, 450, 10_000, 900)
  expect(all.first).toBe(1)
  expect(xOf(all, 10_001)).toBeLessThanOrEqual(900)
  // The column under the pointer stays there.
  const near = zoomed(back, 1.5, 300, 10_000, 900)
  expect(seqAt(near, 300)).toBe(seqAt(back, 300))
})

test('where commits share a pixel, the worst of them wins', () => {
  const span = (from: number, to: number, mood: 'run' | 'fail') => ({ from, to, mood, text: '', path: '/' })
  expect(stretchesOf([span(1, 101, 'run'), span(50, 51, 'fail')], { first: 1, perCommit: 0.1, width: 10 })).toEqual([
    { x: 0, width: 4, mood: 'run' },
    { x: 4, width: 1, mood: 'fail' },
    { x: 5, width: 5, mood: 'run' },
  ])
})

test('a state has a meaning: the root rests where it awaits input, all else waits for a person there', () => {
  expect(stateText({ money: 'paid', parcel: { sent: 'there' } })).toBe('money.paid, parcel.sent.there')
  expect(moodOf('awaiting-input')).toBe('rest')
  expect(moodOf({ running: 'awaiting-input' })).toBe('wait')
  expect(moodOf('awaiting-input', '/turn#1/loop#1/tool-0#1')).toBe('wait')
  expect(['failed', 'in-doubt', 'retrying', 'done', {}].map((value) => moodOf(value))).toEqual(['fail', 'doubt', 'clock', 'rest', 'rest'])
})

test('what differs is named by its place, and a value is one line', () => {
  expect(differences({ a: 1, b: { c: [1, 2] }, gone: {} }, { a: 1, b: { c: [1, 3, 4] }, fresh: { d: 1 } })).toEqual([
    { sign: '≠', path: 'b.c[1]', before: 2, after: 3 },
    { sign: '+', path: 'b.c[2]', after: 4 },
    { sign: '+', path: 'fresh', after: { d: 1 } },
    { sign: '−', path: 'gone', before: {} },
  ])
  const long = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]))
  expect(differences({}, long, 10)).toHaveLength(11)
  expect(valueWords({ a: 'x', b: [1, null] })).toBe('{ a: "x", b: [1, null] }')
  expect(valueWords('y'.repeat(1e6)).length).toBeLessThanOrEqual(90)
})

test('texts do nothing: what cannot be seen becomes a picture or a name, and a long one is cut until it is wanted', () => {
  expect(visible('a\u202Eb\u0007c\nd')).toBe('a⟨RLO⟩b␇c\nd')
  expect(oneLine('a\n\tb')).toBe('a b')
  expect([812, 12_345, 5_000_000].map(sizeWords)).toEqual(['812 B', '12 kB', '5.0 MB'])
  const event = { inputs: [{ type: 'note', text: 'x'.repeat(5_000) }] }
  const cut = cutTexts(event, 4_000) as { inputs: [{ text: unknown }] }
  expect(isCut(cut.inputs[0].text) && cut.inputs[0].text).toMatchObject({ length: 5_000, at: ['inputs', 0, 'text'] })
  expect(textAt(event, ['inputs', 0, 'text'])).toHaveLength(5_000)
  expect(
    printed({ a: [1, 'x'] })
      .pieces.map((piece) => ('text' in piece ? piece.text : ''))
      .join(''),
  ).toBe('{ a: [1, "x"] }')
  expect(
    printed({ providerMetadata: { parts: [{ type: 'call', metadata: { google: { thoughtSignature: 'secret' } } }] } })
      .pieces.map((piece) => ('text' in piece ? piece.text : ''))
      .join(''),
  ).toMatch(/^\{\s*providerMetadata: \(\d+ characters for the provider, not shown\)\s*\}$/)
  expect(printed(Array.from({ length: 5_000 }, (_, index) => `line ${index}`)).isWhole).toBe(false)
})

test('a link names a session or another actor, the moment and who is looked at, and never anything else', () => {
  const shown = { kind: 'session', id: 'agent:main:web:a b&c=#', seq: 12, actor: '/turn#1/loop#1' }
  expect(placeIn(searchOf(shown))).toEqual(shown)
  expect(searchOf({ kind: 'session', id: 'KEY', seq: 11, actor: '/turn#1' })).toBe('?session=KEY&seq=11&actor=/turn%231')
  expect(placeIn(searchOf({ kind: 'order', id: 'o-1', actor: '/' }))).toEqual({ kind: 'order', id: 'o-1' })
  expect(placeIn('?session=a&seq=nonsense')).toEqual({ kind: 'session', id: 'a' })
  expect(placeIn('')).toBeUndefined()
  for (const seq of ['1e308', '-1', '0', '1.5', '9007199254740993']) expect(placeIn(`?session=a&seq=${seq}`)).toEqual({ kind: 'session', id: 'a' })
})

test('an address that nothing can have is told from one that something may have, with what to do', () => {
  expect(troubleWith({ kind: 'session', id: 'agent:main:web:a b&c=#' })).toBeUndefined()
  const trouble = (kind: string, id: string) => troubleWith({ kind, id })?.message
  expect(trouble('<img>', 'x')).toBe("the address of this page leads to nothing: '<img>' is not a valid kind of actor")
  expect(trouble('__proto__', '__proto__')).toContain("'__proto__' is not a valid kind of actor")
  expect(trouble('session', 'x'.repeat(6_000))).toContain('at most 1024 bytes, this one has 6000')
  expect(troubleWith({ kind: '<img>', id: 'x' })?.hint).toContain('in the list')
})

test('forks hang under their origin, and the list is searched by key, text and state', () => {
  const session = (key: string, changes = {}) => listedSession({ key, state: 'awaiting-input', seq: 1, at: 1, busy: false, waiting: 0, ...changes })
  const list = [
    session('b', { waiting: 1 }),
    session('a', { last: 'Parcel not found' }),
    session('a-f1', { origin: { key: 'a', at: 3 } }),
    session('x', { state: 'failed' }),
  ]
  const keys = (words: string, facet: Facet) => listRows(list, words, facet).map(({ id, isFork }) => (isFork ? `- ${id}` : id))
  expect(keys('', 'all')).toEqual(['b', 'a', '- a-f1', 'x'])
  expect(keys('parcel', 'all')).toEqual(['a'])
  expect(keys('', 'waiting')).toEqual(['b'])
  expect(keys('', 'failed')).toEqual(['x'])

  const actor = (kind: string, id: string, origin?: string) =>
    listedActor({ kind, id, status: 'active', states: {}, seq: 1, at: 1, waiting: 0, ...(origin && { origin: { kind, id: origin, at: 3 } }) })
  const others = [actor('order', '1-f1', '1'), actor('parcel', '1'), actor('order', '1')]
  expect(listRows(others, '', 'all').map(({ kind, id, isFork }) => `${isFork ? '- ' : ''}${kind} ${id}`)).toEqual([
    'parcel 1',
    'order 1',
    '- order 1-f1',
  ])
})

test('what if: decisions, answers and results at or before the moment, each with what was recorded to write over', () => {
  const rows = rowsOf(...refund)
  const choices = changeableIn(rows, 3, true)
  expect(choices.map(({ seq, kind }) => [seq, kind])).toEqual([
    [3, 'decision'],
    [2, 'model'],
  ])
  const detail = { seq: 3, inputs: [{ type: 'approve', to: '/', decision: 'approve' }], notes: [] }
  expect(draftOf(choices[0]!, detail)).toBe('deny')
  expect(changed(choices[0]!, detail, 'deny')).toEqual({ seq: 3, input: 0, event: { decision: 'deny' } })
  expect(changed(choices[1]!, detail, 'no')).toEqual({ seq: 2, input: 0, event: { data: { text: 'no' } } })
  // What is said instead is all of the answer: the call that it asked for is not made.
  const asked = { seq: 2, inputs: [answer('/turn#1/loop#1/model#1', { kind: 'model', text: 'I ask', calls: [{ name: 'refund' }] }).event], notes: [] }
  expect(changed(choices[1]!, asked, 'no')).toEqual({ seq: 2, input: 0, event: { data: { text: 'no', calls: [] } } })
  expect([notAsked(choices[1]!, asked), notAsked(choices[0]!, detail), notAsked(choices[1]!, detail)]).toEqual([['refund'], [], []])
  expect(forkKey('a-f1', ['a-f1', 'a-f2'])).toBe('a-f3')

  const plain = changeableIn(rows, 3, false)
  expect(plain.map(({ seq, kind }) => [seq, kind])).toEqual([
    [3, 'event'],
    [2, 'result'],
  ])
  expect(draftOf(plain[0]!, detail)).toBe('{\n  "decision": "approve"\n}')
  expect(draftTrouble(plain[0]!, '{"note":"no"}')).toBeUndefined()
  expect(draftTrouble(plain[0]!, '{"note":')).toMatch(/^This is not JSON: /)
  expect(draftTrouble(plain[0]!, '5')).toContain('write an object')
  // A result may be a text as well, but hardly one like this.
  expect([draftTrouble(plain[1]!, 'sold out'), draftTrouble(choices[1]!, '{"')]).toEqual([undefined, undefined])
  expect(draftTrouble(plain[1]!, '{"sold": out}')).toMatch(/^This is not JSON: /)
  expect(changed(plain[0]!, detail, '{"note":"no"}')).toEqual({ seq: 3, input: 0, event: { decision: null, note: 'no' } })
})

test('the filter of tools holds commits in which a call only begins', () => {
  const [row] = rowsOf({ ...refund[0]!, inputs: [message('x')], states: { '/turn#1/loop#1/tool-0#1': 'running' } })
  expect([isOfInterest(row!, 'tools', ''), isOfInterest({ ...row!, states: {} }, 'tools', '')]).toEqual([true, false])
})
