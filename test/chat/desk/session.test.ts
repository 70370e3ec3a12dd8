/** A session with the desk of chat in front of it: what becomes of messages of people. */
import { expect, test } from 'vitest'
import { deskMachine } from '../../../src/chat/desk/desk.machine.ts'
import { noUsage } from '../../../src/contracts/message.ts'
import { sessionMachine, withDesk } from '../../../src/machines/session/session.machine.ts'
import { pipe } from '../../machines/pipe.ts'
import { ended, message, profile, refused, replies, stub } from '../../machines/session/stage.ts'
import { walker } from '../../machines/walk.ts'

const logic = deskMachine.provide({ actors: { delivery: pipe as never } })
const session = walker(withDesk(sessionMachine, { logic }), ['summarise', 'fork'], () => ({ turn: stub }))

const start = () => session.start({ key: 's' })
const running = () => start().send(message('a'))
const people = (id: string, annotations: object, more: object = {}) => ({ ...message(id), annotations, ...more })
const said = (id: string, directive: object, text = '', more: object = {}) => people(id, { directives: [directive] }, { text, ...more })
const stop = (id = 'stop') => said(id, { name: 'stop' })
const anew = (id = 'new', text = '') => said(id, { name: 'reset', value: '/new' }, text)
const shorten = (id = 'compact') => said(id, { name: 'compact', value: 'keep the names' })
const records = (walk: ReturnType<typeof start>) => walk.child('desk').getSnapshot().context.record
const followup = (id: string, annotations: object, at: number) => people(id, annotations, { at, profile: profile('followup') })

test('a stop says what it has stopped', () => {
  expect(replies(start().send(stop()))).toEqual([['stop', 'Nothing is running.']])
  const walk = running().send(message('b', 'followup'))
  walk.heard()
  expect(replies(walk.send(stop()))).toEqual([['stop', 'Stopped. 1 waiting message was dropped.']])
  expect(walk.state).toEqual({ running: 'stopping' })
})

test('a word to begin anew says which model answers from now on', () => {
  const walk = running().tell('turn', ended(['a']))
  walk.send(anew('n', 'hello'))

  expect(walk.context).toMatchObject({ run: { runId: 'n' }, transcriptLength: 0, record: { resets: 1 } })
  expect(
    start().send(said('m', { name: 'reset' }, 'hi', { annotations: { directives: [{ name: 'reset' }, { name: 'model', value: 'test/b' }] } }))
      .context,
  ).toMatchObject({ run: { profile: { model: 'test/b' } }, record: { toggles: { model: 'test/b' } } })
})

test('what only says that the conversation begins anew is answered with a greeting', () => {
  expect(start().send(anew()).context.run.prompt.before).toContain('Greet the user')
})

test('an order to compact says how much shorter the conversation became, or why there is nothing to compact', async () => {
  const summary = { kind: 'summary', id: 's:summary-1.0', text: 'S', keep: 2, usage: noUsage, tokens: { before: 12_400, after: 900 } }
  expect(replies(start().send(shorten()))).toEqual([['compact', 'There is no history to compact.']])
  const walk = running().send(shorten())
  expect(walk.state).toEqual({ running: 'yielding' })
  expect(replies(walk.send(shorten('again')))).toEqual([['again', 'The conversation is being compacted already.']])
  walk.tell('turn', ended(['a'], { status: 'cancelled', transcriptLength: 6 }))
  expect(walk.inputs('summarise')).toMatchObject([{ upTo: 6, instructions: 'keep the names' }])
  expect(replies(walk.send(shorten('third')))).toEqual([['third', 'The conversation is being compacted already.']])
  await walk.resolve('summarise', summary)
  expect(replies(walk)).toEqual([['compact', 'Compacted: 12k → 900 tokens.']])

  const idle = () =>
    running()
      .tell('turn', ended(['a']))
      .send(shorten())
  expect(replies(await idle().reject('summarise', new Error('no')))).toEqual([['compact', 'The conversation was not compacted: no.']])
  expect(replies(idle().send(stop()))).toContainEqual(['compact', 'The conversation was not compacted: it was stopped.'])
  expect(replies(running().send(anew('n', 'hi')).send(shorten()))).toEqual([['compact', expect.stringContaining('nothing to compact')]])
})

test('a message of a channel that comes again is skipped, also while a turn is running, until 20 minutes have passed', () => {
  const origin = { channel: 'test', to: 'ann', messageId: '7' }
  const walk = running().send(followup('b', { origin }, 1))
  walk.heard()
  walk.send(followup('c', { origin }, 20 * 60_000))
  expect(walk.heard()).toMatchObject([
    { type: 'skipped', id: 'c', reason: 'duplicate' },
    { type: 'final', ids: ['c'], outcome: 'silent' },
    { ended: [{}] },
  ])

  expect(walk.send(followup('d', { origin }, 20 * 60_000 + 1)).context.queue).toMatchObject([{ id: 'b' }, { id: 'd' }])
})

test('an order changes the session and is answered by it; within a message a setting holds for that message alone', () => {
  const walk = start().send(said('a', { name: 'think', value: 'high' }))
  expect(walk.state).toBe('awaiting-input')
  expect(replies(walk)).toEqual([['a', 'Thinking: high.']])
  walk.send(said('b', { name: 'think', value: 'low' }, 'hi'))
  expect(walk.context.run.profile.thinking).toBe('low')
  walk.tell('turn', ended(['b'])).send(message('c'))
  expect(walk.context.run.profile.thinking).toBe('high')

  walk.send(said('d', { name: 'status' }, 'and go on'))
  expect(walk.context.run.ids).toEqual(['c', 'd'])
})

test('what the session says to a channel goes through a pipeline of its own, which leaves nothing behind', () => {
  const onChannel = (id: string, directive: object) =>
    people(id, { directives: [directive], origin: { channel: 'test', to: 'ann', messageId: id }, delivery: {} }, { text: '' })
  const walk = start().send(onChannel('a', { name: 'status' }))
  const saying = () => walk.child('desk').getSnapshot().children['saying-a:answer']
  expect(saying().getSnapshot().context.told).toEqual([
    { type: 'delivery.finish', leading: [], payloads: [{ text: expect.stringContaining('Session s') }], trailing: [] },
  ])

  saying().send({ type: 'flushed' })

  expect(saying()).toBeUndefined()
})

test('[OC-97] the orders of a stranger are skipped', () => {
  const walk = start().send(people('a', { ignored: true }, { text: '/think high' }))

  expect(walk.heard()).toMatchObject([{ type: 'skipped', id: 'a', reason: 'unauthorised' }, { type: 'final', outcome: 'silent' }, { ended: [{}] }])
})

test('[OC-06] what a group says without us is skipped, unless all of it is for us', () => {
  const unnamed = people('a', { origin: { channel: 'test', to: 'room', chatType: 'group', mentioned: false } })
  const walk = start().send(unnamed)
  expect(walk.heard()).toMatchObject([{ type: 'skipped', id: 'a', reason: 'unmentioned' }, { type: 'final', outcome: 'silent' }, { ended: [{}] }])

  expect(
    start()
      .send({ type: 'configure', toggles: { activation: 'always' }, at: 1 })
      .send(unnamed).context.run,
  ).not.toBeNull()
})

test('[OC-104] what the operator forbids is refused, unless the session wants it', () => {
  const denied = (id: string) => people(id, { denied: true })
  expect(refused(start().send(denied('a')))).toEqual(['forbidden'])

  expect(
    start()
      .send(said('s', { name: 'send', value: 'on' }))
      .send(denied('a')).context.run,
  ).toMatchObject({ runId: 'a' })
})

test('a session that is muted answers orders only', () => {
  const walk = start()
    .send(said('a', { name: 'send', value: 'off' }))
    .send(message('b'))
  expect(refused(walk)).toEqual(['forbidden'])
  expect(refused(walk.send(said('n', { name: 'reset' }, 'anew')))).toEqual(['forbidden'])

  expect(walk.send(said('c', { name: 'send', value: 'inherit' })).send(message('d')).context.run).toMatchObject({ runId: 'd' })
})

test('a conversation that has gone stale begins anew with the next message', () => {
  const daily = (id: string, at: number) => people(id, {}, { at, profile: { ...profile(), freshness: {} } })
  const hour = 3_600_000
  const walk = start()
    .send(daily('a', 3 * hour))
    .tell('turn', ended(['a']))
    .send(daily('b', 4 * hour - 1))
    .tell('turn', ended(['b']))
  expect(walk.context.record.resets).toBe(0)

  walk.send(daily('c', 4 * hour + 1))

  expect(walk.context).toMatchObject({ run: { runId: 'c' }, transcriptLength: 0, record: { resets: 1 } })
})

test('[OC-28] an order that comes first in the morning begins the new conversation, too', () => {
  const hour = 3_600_000
  const daily = (id: string, at: number, more: object = {}) => people(id, {}, { at, profile: { ...profile(), freshness: {} }, ...more })
  const walk = start()
    .send(daily('a', 3 * hour))
    .tell('turn', ended(['a']))
    .send(daily('b', 5 * hour, { text: '', annotations: { directives: [{ name: 'status' }] } }))

  expect(walk.context).toMatchObject({ transcriptLength: 0, record: { resets: 1, updatedAt: 5 * hour } })
})

test('[OC-44] while the first messages are gathered there is no history to compact', () => {
  const gathering = start().send(people('a', { gatherMs: 1000 }))
  expect(gathering.state).toBe('debouncing')

  expect(replies(gathering.send(shorten()))).toEqual([['compact', 'There is no history to compact.']])
})

test('[OC-28] a conversation goes stale also where rapid messages are gathered', () => {
  const hour = 3_600_000
  const rapid = (id: string, at: number) => people(id, { gatherMs: 500 }, { at, profile: { ...profile(), freshness: {} } })
  const walk = start()
    .send(rapid('a', 3 * hour))
    .pass(500)
    .tell('turn', ended(['a']))

  walk.send(rapid('b', 5 * hour)).pass(500)

  expect(walk.context).toMatchObject({ run: { runId: 'b' }, transcriptLength: 0, record: { resets: 1 } })
})

test('a message that was refused for want of room is no repetition when it comes again', () => {
  const origin = { channel: 'test', to: 'ann', messageId: '7' }
  const walk = running()
  for (let n = 0; n < 100; n++) walk.send(message(`m${n}`, 'followup'))
  walk.heard()
  walk.send(followup('x', { origin }, 1))
  expect(refused(walk)).toEqual(['overloaded'])
  expect(records(walk).seen).toEqual([])

  walk.send({ type: 'clear' }).send(followup('y', { origin }, 2))

  expect(walk.context.queue).toMatchObject([{ id: 'y' }])
  expect(records(walk)).toMatchObject({ origin, seen: [{ at: 2 }] })
})

test('[OC-06] after another rule about groups the model is told of it until a turn with it has ended well', () => {
  const group = (id: string) => people(id, { origin: { channel: 'test', to: 'room', chatType: 'group', mentioned: true } })
  const intro = (walk: ReturnType<typeof start>) => walk.context.run.facts.intro
  const walk = start().send(group('a'))
  expect(intro(walk)).toContain('that mention you')
  walk.tell('turn', ended(['a'])).send(group('b'))
  expect(intro(walk)).toBeUndefined()
  walk
    .send({ type: 'configure', at: 1, toggles: { activation: 'always' } })
    .tell('turn', ended(['b']))
    .send(group('c'))
  expect(intro(walk)).toContain('Every message')
  expect(records(walk).needsIntro).toBe(true)

  walk.tell('turn', ended(['c'])).send(group('d'))

  expect(intro(walk)).toBeUndefined()
  expect(records(walk).needsIntro).toBe(false)
})
