/** The desk by itself: which answer each message has, and what is said beside it. */
import { expect, test } from 'vitest'
import { deskMachine } from '../../../src/chat/desk/desk.machine.ts'
import type { SessionFacts } from '../../../src/contracts/desk.ts'
import type { Toggles } from '../../../src/contracts/settings.ts'
import { emptyRecord } from '../../../src/machines/session/record.rules.ts'
import { pipe } from '../../machines/pipe.ts'
import { message, profile } from '../../machines/session/stage.ts'
import { walker } from '../../machines/walk.ts'

const desk = walker(deskMachine, [], () => ({ delivery: pipe }))
const start = () => desk.start({ key: 's' })

const hour = 3_600_000
const ann = { channel: 'test', to: 'ann' }
const facts = (more: Partial<SessionFacts> = {}, toggles: Toggles = {}): SessionFacts => ({
  key: 's',
  record: { ...emptyRecord, sessionId: 'id', updatedAt: hour, toggles },
  doing: 'idle',
  running: false,
  waiting: 0,
  messages: 4,
  ...more,
})
const asked = (id: string, annotations: object, more: object = {}, session = facts()) => ({
  type: 'message',
  message: { ...message(id), annotations, ...more },
  session,
})
const order = (id: string, directive: object, text = '', session = facts(), more: object = {}) =>
  asked(id, { directives: [directive], origin: { ...ann, messageId: id }, delivery: {} }, { text, ...more }, session)
const answers = (walk: ReturnType<typeof start>) => walk.heard().map(({ type }) => type)
const sayings = (walk: ReturnType<typeof start>) => walk.child('saying-a:answer')?.getSnapshot().context.told
const old = { at: 100 * hour, profile: { ...profile(), freshness: {} } }

test.each([
  ['what says something is let in', asked('a', { origin: ann }), ['admit']],
  ['the orders of a stranger are skipped', asked('a', { origin: ann, ignored: true }), ['skip']],
  ['what a group says without us is skipped', asked('a', { origin: { ...ann, chatType: 'group', mentioned: false } }), ['skip']],
  ['what the operator forbids is refused', asked('a', { denied: true }), ['refuse']],
  ['what comes after a long silence finds the conversation stale', asked('a', {}, old), ['stale']],
  ['so does an order', order('a', { name: 'status' }, '', facts(), old), ['stale']],
  ['but nothing is stale while a turn is running', asked('a', {}, old, facts({ doing: 'answering', running: true })), ['admit']],
  ['a stop stops', order('a', { name: 'stop' }), ['stop']],
  ['a word to begin anew does so, and says it', order('a', { name: 'reset' }), ['startOver', 'notice']],
  ['not where nothing is answered', order('a', { name: 'reset' }, '', facts({}, { send: 'off' })), ['refuse']],
  ['an order is answered', order('a', { name: 'status' }), ['say']],
  ['an order to compact is handed on', order('a', { name: 'compact' }), ['compact']],
  ['[CH-81] a side question is handed on', order('a', { name: 'btw', value: 'why?' }), ['side']],
  ['[CH-81] however old the conversation is', order('a', { name: 'btw', value: 'why?' }, '', facts(), old), ['side']],
  ['[CH-81] not where nothing is answered', order('a', { name: 'btw', value: 'why?' }, '', facts({}, { send: 'off' })), ['refuse']],
  ['[CH-81] without a question it is said how to ask', order('a', { name: 'btw' }), ['say']],
  ['[CH-81] and of one that is too long, that it is', order('a', { name: 'btw', value: 'x'.repeat(8_001) }), ['say']],
  ['unless there is nothing to compact', order('a', { name: 'compact' }, '', facts({ messages: 1 })), ['say']],
])('%s', (_, event, types) => {
  expect(answers(start().send(event))).toEqual(types)
})

test('a message that is taken in is known when its channel brings it again, and where it came from', () => {
  const walk = start().send(asked('a', { origin: { ...ann, messageId: '7' } }))
  expect(walk.context.record).toMatchObject({ origin: { to: 'ann' }, seen: [{ at: 0 }] })
  walk.heard()
  expect(walk.send(asked('b', { origin: { ...ann, messageId: '7' } })).heard()).toMatchObject([{ type: 'skip', id: 'b', reason: 'duplicate' }])

  walk.send({ type: 'refused', annotations: { origin: { ...ann, messageId: '7' } } })

  expect(answers(walk.send(asked('b', { origin: { ...ann, messageId: '7' } })))).toEqual(['admit'])
})

test('an admission carries what its turn and its tools are to know, and no more', () => {
  const origin = { ...ann, messageId: '7', sender: 'Ann' }
  const [admitted] = start()
    .send(asked('a', { origin, thread: { t: 1 }, delivery: {}, gatherMs: 500, directives: [{ name: 'think', value: 'high' }] }))
    .heard()

  expect(admitted).toMatchObject({
    type: 'admit',
    id: 'a',
    channel: 'test',
    annotations: { origin, thread: { t: 1 }, delivery: {} },
    gather: { ms: 500 },
    hint: '[message id: 7]',
    overrides: { thinking: 'high' },
    remarks: { ifSteered: expect.stringContaining('thinking high') },
  })
  expect(Object.keys(admitted?.annotations as object)).toEqual(['origin', 'delivery', 'thread'])
})

test('what is asked in passing is answered when the message has been taken in', () => {
  const walk = start().send(order('a', { name: 'whoami' }, 'and go on'))
  const [admitted] = walk.heard()
  expect(admitted).toMatchObject({ type: 'admit', remarks: { always: 'You are ann on test.' } })

  walk.send({ type: 'accepted', id: 'a', annotations: admitted?.annotations, remarks: admitted?.remarks, steered: true })
  expect(walk.heard()).toMatchObject([{ type: 'notice', id: 'a', text: 'You are ann on test.' }])
  expect(walk.child('saying-a:report')).toBeDefined()

  walk.send({ type: 'accepted', id: 'b', annotations: {}, remarks: { ifSteered: 'not now' }, steered: true })
  expect(walk.heard()).toMatchObject([{ type: 'notice', id: 'b', text: 'not now' }])
})

test('what an order changes is told with its answer, and the answer goes where the order came from', () => {
  const walk = start().send(order('a', { name: 'model', value: 'test/b' }))

  expect(walk.heard()).toMatchObject([
    { type: 'say', id: 'a', text: 'Model: test/b.', changes: { model: 'test/b' }, note: 'the model is now test/b' },
  ])
  expect(sayings(walk)).toEqual([{ type: 'delivery.finish', leading: [], payloads: [{ text: 'Model: test/b.' }], trailing: [] }])
  walk.tell('saying-a:answer', { type: 'flushed' })
  expect(walk.child('saying-a:answer')).toBeUndefined()
})

test('how a compaction ended is the answer to who asked for it', () => {
  const walk = start()
  const ended = { type: 'compaction.ended', order: { id: 'a', at: 0, profile: profile(), annotations: { origin: ann, delivery: {} } } }
  walk.send({ ...ended, summary: { tokens: { before: 12_400, after: 900 } }, window: 9000 })

  expect(walk.heard()).toMatchObject([{ type: 'say', id: 'a', accepted: true, text: 'Compacted: 12k → 900 tokens (10% of 9.0k).' }])
  expect(sayings(walk)).toMatchObject([{ type: 'delivery.finish' }])
})

test('another rule about groups is due until a turn has been told of it', () => {
  const group = (activation: Toggles['activation']) =>
    asked('a', { origin: { ...ann, chatType: 'group', mentioned: true } }, {}, facts({}, activation ? { activation } : {}))
  const due = (walk: ReturnType<typeof start>) => walk.heard().map(({ intro }) => (intro as { due?: true }).due)
  const walk = start().send(group(undefined))
  expect(due(walk)).toEqual([undefined])
  expect(due(walk.send(group('always')))).toEqual([true])
  expect(due(walk.send({ type: 'introduced', as: 'mention' }).send(group('always')))).toEqual([true])

  expect(due(walk.send({ type: 'introduced', as: 'always' }).send(group('always')))).toEqual([undefined])
})

test('[CH-81] the answer to a side question goes to where it came from, apart from a page, which is told in its own way', () => {
  const answered = (channel: string) =>
    start().send({ type: 'side.answered', id: 'a', annotations: { origin: { ...ann, channel }, delivery: {} }, question: 'why?', text: 'So.' })
  expect(sayings(answered('test'))).toMatchObject([{ payloads: [{ text: 'Aside, on “why?”: So.' }] }])
  expect(sayings(answered('web'))).toBeUndefined()
})

test('every transition of the chart has been taken', () => {
  expect(desk.missed()).toEqual([])
})
