/** The rules of the inspector's page: lanes, differences, texts, and what its address names. */
import { expect, test } from 'vitest'
import type { Row } from '../../web/inspector/src/fold/messages.ts'
import { placeIn, searchOf } from '../../web/inspector/src/place.ts'
import { changesOf } from '../../web/inspector/src/rules/diff.rules.ts'
import { columnsMax, lanesOf, stateText, windowOf } from '../../web/inspector/src/rules/lanes.rules.ts'
import { answerOf } from '../../web/inspector/src/rules/runs.rules.ts'
import { gapText, plainText } from '../../web/inspector/src/rules/text.rules.ts'

const row = (seq: number, states: Row['states'], living: string[], marks: Row['marks'] = []): Row => ({
  seq,
  at: seq * 1000,
  epoch: 1,
  writer: 'w',
  marks,
  states,
  living: living.map((path) => ({ path, src: '' })),
  ended: [],
  host: [],
})

test('a lane is a place in the tree, whatever actor stands there; a span ends with its state, or its actor', () => {
  const lanes = lanesOf(
    [
      row(1, { '/': { running: 'answering' }, '/turn#1': 'working' }, ['/', '/turn#1'], [{ path: '/', kind: 'message', event: 'message' }]),
      row(2, { '/turn#1': 'awaiting-input' }, ['/', '/turn#1']),
      row(3, { '/': 'awaiting-input', '/turn#1': 'completed' }, ['/']),
      row(4, { '/': { running: 'answering' }, '/turn#2': 'working' }, ['/', '/turn#2']),
    ],
    'session',
  )

  expect(lanes.map(({ name, depth }) => ({ name, depth }))).toEqual([
    { name: 'session', depth: 0 },
    { name: 'turn', depth: 1 },
  ])
  expect(lanes[1]?.spans).toEqual([
    { from: 1, to: 2, state: 'working', tone: 'run' },
    { from: 2, to: 3, state: 'awaiting-input', tone: 'wait' },
    { from: 3, to: 3, state: 'completed', tone: 'run' },
    { from: 4, to: 5, state: 'working', tone: 'run' },
  ])
  expect(lanes[0]?.spans.map(({ state, tone }) => [state, tone])).toEqual([
    ['running.answering', 'run'],
    ['awaiting-input', 'rest'],
    ['running.answering', 'run'],
  ])
  expect(lanes[0]?.marks).toHaveLength(1)
})

test('of a long trace the part is drawn that the moment stands in', () => {
  expect(windowOf(3, 10)).toEqual({ from: 1, to: 10 })
  expect(windowOf(1, 10_000)).toEqual({ from: 1, to: columnsMax })
  expect(windowOf(10_000, 10_000)).toEqual({ from: 10_000 - columnsMax + 1, to: 10_000 })
  const { from, to } = windowOf(5_000, 10_000)
  expect(from < 5_000 && to > 5_000 && to - from + 1 === columnsMax).toBe(true)
})

test('what differs is named by its place, and a part that is there only once stands as a whole', () => {
  expect(changesOf({ a: 1, b: { c: [1, 2] }, gone: {} }, { a: 1, b: { c: [1, 3, 4] }, fresh: { d: 1 } })).toEqual([
    { place: 'b.c[1]', sign: '≠', before: 2, after: 3 },
    { place: 'b.c[2]', sign: '+', before: undefined, after: 4 },
    { place: 'gone', sign: '−', before: {}, after: undefined },
    { place: 'fresh', sign: '+', before: undefined, after: { d: 1 } },
  ])
})

test('texts do nothing, states are one line, and times without a commit are written down', () => {
  expect(plainText('a\u202Eb\u0007c\nd\ud800')).toBe('a[U+202E]b␇c\nd\ufffd')
  expect(stateText({ money: 'paid', parcel: { sent: 'there' }, note: {} })).toBe('money.paid, parcel.sent.there, note')
  expect([400, 52_000, 180_000, 5_400_000].map(gapText)).toEqual(['+0.4 s', '+52 s', '+3 min', '+1.5 h'])
})

test('an address opens a session at a commit and an actor, and comes back from what is shown', () => {
  const shown = { kind: 'session', id: 'agent:main:web:a b&c=#', seq: 12, actor: '/turn#1/loop#1' }
  expect(placeIn(searchOf(shown))).toMatchObject(shown)
  expect(placeIn(searchOf({ kind: 'order', id: 'o-1', seq: undefined, actor: '/' }))).toEqual({
    kind: 'order',
    id: 'o-1',
    seq: undefined,
    actor: undefined,
    run: undefined,
  })
  expect(placeIn('?session=a&seq=nonsense').seq).toBeUndefined()
})

test('a run is found by the last answer of its model, or by its end', () => {
  const answer = { path: '/turn#1/loop#1/model#1', kind: 'result' as const, event: 'resolved' }
  const rows = [
    row(1, {}, ['/']),
    row(2, {}, ['/'], [answer]),
    { ...row(3, {}, ['/']), ended: ['first'] },
    row(4, {}, ['/']),
    { ...row(5, {}, ['/']), ended: ['second'] },
  ]
  expect(['first', 'second', 'third'].map((run) => answerOf(rows, run))).toEqual([2, 5, undefined])
})
