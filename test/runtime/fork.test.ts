/** Another conversation that begins with the past of one, and goes its own way from a moment of it: as it was, or with one thing otherwise. */

import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import type { ActorPage } from '../../src/api/index.ts'
import type { FileRef } from '../../src/contracts/file.ts'
import type { FramePage, TracePage } from '../../src/runtime/index.ts'
import { testRuntime } from '../../src/testing/index.ts'
import { type Story, story, work, worker } from './harness.ts'

const fork = (told: Story, input: Record<string, unknown>) =>
  told.clock.until(told.runtime.command('trace.fork', { id: 'main', as: 'fork', ...input }))

/** The commit that has the first event of a type, and which of its inputs that is. */
const placeOf = async (told: Story, event: string, actor = '') => {
  const { entries } = await told.runtime.command<TracePage>('trace.read', { id: 'main' })
  const found = entries.find((entry) => entry.event === event && entry.actor.includes(actor))!
  return { seq: found.seq, input: entries.filter(({ seq }) => seq === found.seq).indexOf(found) }
}

/** What was said in a conversation, a line each. */
const said = async (told: Story, key: string): Promise<string[]> =>
  (await told.session(key).history()).map(({ role, ...message }) => `${role}: ${(message as any).text ?? JSON.stringify((message as any).output)}`)

const resting = async (told: Story, key: string): Promise<void> => {
  for (;;) {
    const { state, approvals } = await told.clock.until(told.session(key).view())
    if (state === 'awaiting-input' || approvals.length > 0) return
    await told.clock.advance(50)
  }
}

/** How often its model was asked. */
let asked = 0

/** A model that says what it sees, after a call that a person has to allow. */
const refunding = () => {
  asked = 0
  return story(
    ({ messages }) => {
      asked++
      const last = messages.at(-1)
      return last?.role === 'tool' ? { text: `I hear: ${JSON.stringify(last.output)}` } : { calls: [work('refund')] }
    },
    { tools: (world) => [worker({ approval: true, onCrash: 'once' })(world)], approval: { timeoutMs: 120_000 } },
  )
}

/** With a decision that was taken and an answer that was given. */
const refunded = async (): Promise<Story> => {
  const told = await refunding()
  await told.say('refund it', { idempotencyKey: 'a' })
  await resting(told, 'main')
  const [approval] = (await told.main.view()).approvals
  await told.main.decide(approval!, 'approve', 'ann')
  await told.clock.until(told.main.wait('a'))
  await told.quiet()
  return told
}

test('a fork has the past of its origin, and both go on without each other', async () => {
  await using told = await story([{ text: 'one' }, { text: 'two' }, { text: 'three' }])
  await (await told.say('first')).result()
  await told.quiet()

  expect(await fork(told, {})).toMatchObject({
    kind: 'session',
    id: 'fork',
    origin: { address: { kind: 'session', id: 'main' }, answers: 'recorded' },
  })
  await told.clock.until((await told.clock.until(told.session('fork').send('in the fork'))).result())
  await told.clock.until((await told.say('in the origin')).result())

  expect(await said(told, 'fork')).toEqual(['user: first', 'assistant: one', 'user: in the fork', 'assistant: two'])
  expect(await said(told, 'main')).toEqual(['user: first', 'assistant: one', 'user: in the origin', 'assistant: two'])
  expect(await told.runtime.command('trace.replay', { id: 'fork' })).toMatchObject({ verdict: 'identical' })
  expect((await told.runtime.command<any>('sessions.list', {})).sessions.find(({ key }: any) => key === 'fork').origin).toMatchObject({ key: 'main' })
  expect((await told.runtime.command<any>('sessions.list', {})).sessions.map(({ key }: any) => key).toSorted()).toEqual(['fork', 'main'])
})

test('what if it had been denied: the tool does not run again, and what the model says to that is asked for anew', async () => {
  await using told = await refunded()
  expect(told.did).toEqual(['refund starts', 'refund ends'])
  const { seq, input } = await placeOf(told, 'approve')

  const forked = await fork(told, { change: { seq, input, event: { decision: 'deny', note: 'not today' } } })
  await resting(told, 'fork')

  expect(forked).toMatchObject({ origin: { at: seq - 1, change: { seq, input, event: { type: 'approve', decision: 'deny', by: 'ann' } } } })
  expect(told.did).toEqual(['refund starts', 'refund ends'])
  const [, , denied, answer] = await said(told, 'fork')
  expect(denied).toContain('not today')
  expect(answer).toContain('not today')
  expect((await said(told, 'main')).at(-1)).toBe('assistant: I hear: "refund done"')
  expect(asked).toBe(3)
  expect(await told.runtime.command('trace.replay', { id: 'fork' })).toMatchObject({ verdict: 'identical' })
})

test('as it was: models and tools answer as recorded, and nothing is done twice', async () => {
  await using told = await refunded()
  const { seq } = await placeOf(told, 'approve')

  await fork(told, { at: seq })
  await resting(told, 'fork')

  expect(told.did).toEqual(['refund starts', 'refund ends'])
  expect(asked).toBe(2)
  expect(await said(told, 'fork')).toEqual(await said(told, 'main'))
})

test('live: they are asked anew', async () => {
  await using told = await refunded()
  const { seq } = await placeOf(told, 'approve')

  await fork(told, { at: seq, answers: 'live' })
  await resting(told, 'fork')

  expect(told.did).toEqual(['refund starts', 'refund ends', 'refund starts', 'refund ends'])
  expect(asked).toBe(3)
})

test('what if the model had said something else, or the tool had had another result', async () => {
  await using told = await refunded()
  const answer = await placeOf(told, 'resolved', 'execute')

  await fork(told, { change: { ...answer, event: { data: { output: 'there was nothing to refund' } } } })
  await resting(told, 'fork')

  expect((await said(told, 'fork')).slice(2)).toEqual(['tool: "there was nothing to refund"', 'assistant: I hear: "there was nothing to refund"'])
  expect(told.did).toEqual(['refund starts', 'refund ends'])

  const { seq } = answer
  const model = (await told.runtime.command<TracePage>('trace.read', { id: 'main' })).entries.find(
    (one) => one.seq > seq && one.event === 'resolved' && one.actor.includes('model'),
  )!
  await fork(told, { as: 'other', change: { seq: model.seq, input: 0, event: { data: { text: 'all is well' } } } })
  await resting(told, 'other')

  expect((await said(told, 'other')).at(-1)).toBe('assistant: all is well')
  expect(asked).toBe(3)
})

test('what if the tool had failed', async () => {
  await using told = await refunded()
  const answer = await placeOf(told, 'resolved', 'execute')

  const error = { code: 'tool_failed', message: 'no such order', retryable: false }
  await fork(told, { change: { ...answer, event: { type: 'xstate.promise.reject', data: error } } })
  await resting(told, 'fork')

  expect((await said(told, 'fork'))[2]).toContain('no such order')
  expect(await told.runtime.command('trace.replay', { id: 'fork' })).toMatchObject({ verdict: 'identical' })
})

test('a fork that was made and not begun is begun by the next life, once', async () => {
  await using told = await refunded()
  const { seq, input } = await placeOf(told, 'approve')
  await fork(told, { change: { seq, input, event: { decision: 'deny' } } })
  await told.crash()
  await told.restart()

  await resting(told, 'fork')
  await told.crash()
  await told.restart()
  await resting(told, 'fork')

  expect((await said(told, 'fork')).at(-1)).toContain('tool_denied')
  const { entries } = await told.runtime.command<TracePage>('trace.read', { id: 'fork' })
  expect(entries.filter(({ event }) => event === 'approve')).toHaveLength(1)
})

test('the origin is deleted: the fork is whole, and goes on', async () => {
  await using told = await story([{ text: 'one' }, { text: 'two' }, { text: 'three' }])
  await (await told.say('first')).result()
  await told.quiet()
  await fork(told, {})
  await resting(told, 'fork')

  await told.clock.until(told.runtime.command('sessions.delete', { sessionKey: 'main' }))
  await told.crash()
  await told.restart()
  await told.clock.until((await told.clock.until(told.session('fork').send('still there?'))).result())

  expect(await said(told, 'fork')).toEqual(['user: first', 'assistant: one', 'user: still there?', 'assistant: two'])
  expect(await told.runtime.command('trace.replay', { id: 'fork' })).toMatchObject({ verdict: 'identical' })
})

test('what is read of a fork says whose commits they are; any moment of it can be looked at', async () => {
  await using told = await story([{ text: 'one' }, { text: 'two' }])
  await (await told.say('first')).result()
  await told.quiet()
  const { origin } = (await fork(told, {})) as { origin: { at: number } }
  await told.clock.until((await told.clock.until(told.session('fork').send('more'))).result())

  const { frames, head } = await told.runtime.command<FramePage>('trace.frames', { id: 'fork' })
  expect(head.origin).toMatchObject({ address: { id: 'main' }, at: origin.at })
  expect(frames.filter(({ of }) => of?.id === 'main')).toHaveLength(origin.at)
  expect(frames.length).toBeGreaterThan(origin.at)
  for (const { seq } of frames) {
    const moment: any = await told.runtime.command('trace.moment', { id: 'fork', seq })
    expect(moment.actors[0].context.key).toBe(seq <= origin.at ? 'main' : 'fork')
    await told.runtime.command('trace.steps', { id: 'fork', seq })
  }
})

test('forked long afterwards, at a question: nobody has waited meanwhile, so it waits as long as the origin did', async () => {
  await using told = await refunding()
  await told.say('refund it', { idempotencyKey: 'a' })
  await resting(told, 'main')
  const { seq } = (await told.runtime.command<FramePage>('trace.frames', { id: 'main' })).head
  await told.clock.until(told.main.wait('a'))
  await told.quiet()
  expect((await said(told, 'main')).join()).toContain('tool_denied')
  await told.clock.advance(24 * 3_600_000)

  await fork(told, { at: seq })
  await fork(told, { at: seq, as: 'late' })
  await resting(told, 'fork')
  await resting(told, 'late')
  await told.crash()
  await told.restart()
  const [approval] = (await told.clock.until(told.session('fork').view())).approvals
  await told.clock.until(told.session('fork').decide(approval!, 'approve', 'ann'))
  await resting(told, 'fork')
  expect(told.did).toEqual(['refund starts', 'refund ends'])

  // The other one is denied in its own time.
  while ((await told.clock.until(told.session('late').view())).approvals.length > 0) await told.clock.advance(10_000)
  await resting(told, 'late')
  expect((await said(told, 'late')).join()).toContain('tool_denied')
  for (const id of ['fork', 'late']) {
    expect(await told.runtime.command('trace.replay', { id })).toMatchObject({ verdict: 'identical' })
    const { frames } = await told.runtime.command<FramePage>('trace.frames', { id })
    for (const frame of frames) await told.runtime.command('trace.moment', { id, seq: frame.seq })
  }
})

test('a fork has the files of its origin, and keeps them when that is deleted', async () => {
  await using told = await story([{ text: 'one' }, { text: 'two' }])
  const content = Buffer.from('the plan').toString('base64')
  const command = <Answer>(name: string, input: object) => told.clock.until(told.runtime.command<Answer>(name, input))
  const file = await command<FileRef>('files.put', { sessionKey: 'main', content, mimeType: 'text/plain', fileName: 'plan.txt' })
  await (await told.say('read it', { files: [file] })).result()
  await told.quiet()

  await fork(told, {})
  await resting(told, 'fork')
  await command('sessions.delete', { sessionKey: 'main' })

  expect(await command('files.list', { sessionKey: 'fork' })).toMatchObject({ files: [{ id: file.id, fileName: 'plan.txt' }] })
  expect(await command('files.get', { sessionKey: 'fork', id: file.id })).toMatchObject({ content })
})

test('a fork of a fork', async () => {
  await using told = await story([{ text: 'one' }, { text: 'two' }, { text: 'three' }])
  await (await told.say('first')).result()
  await told.quiet()
  await fork(told, {})
  await told.clock.until((await told.clock.until(told.session('fork').send('second'))).result())
  await resting(told, 'fork')

  await fork(told, { id: 'fork', as: 'third' })
  await told.clock.until((await told.clock.until(told.session('third').send('third'))).result())

  expect(await said(told, 'third')).toEqual(['user: first', 'assistant: one', 'user: second', 'assistant: two', 'user: third', 'assistant: three'])
  expect(await told.runtime.command('trace.replay', { id: 'third' })).toMatchObject({ verdict: 'identical' })
})

test('a machine of an author is forked as well', async () => {
  const counter = setup({ types: { context: {} as { count: number }, events: {} as { type: 'add'; by: number } } }).createMachine({
    id: 'counter',
    context: { count: 0 },
    on: { add: { actions: assign({ count: ({ context, event }) => context.count + event.by }) } },
  })
  await using kit = await testRuntime({ machines: { counter } })
  const { runtime } = kit
  const one = runtime.actor('counter', 'one')
  for (const by of [1, 2, 3]) await one.send({ type: 'add', by })

  await runtime.command('trace.fork', { kind: 'counter', id: 'one', at: 2, as: 'two' })
  await runtime.command('trace.fork', { kind: 'counter', id: 'one', as: 'three', change: { seq: 2, input: 0, event: { by: 10 } } })
  await runtime.actor('counter', 'two').send({ type: 'add', by: 100 })

  const countOf = async (id: string) => (await runtime.actor('counter', id).snapshot()).context.count
  expect([await countOf('one'), await countOf('two'), await countOf('three')]).toEqual([6, 103, 11])

  const { actors } = await runtime.command<ActorPage>('actors.list', { kind: 'counter' })
  expect(actors.map(({ id, origin }) => [id, origin])).toEqual([
    ['one', undefined],
    ['three', { kind: 'counter', id: 'one', at: 1 }],
    ['two', { kind: 'counter', id: 'one', at: 2 }],
  ])
})

test('what cannot be forked is refused by name, with what to do, and nothing is begun', async () => {
  await using told = await refunded()
  const { seq, input } = await placeOf(told, 'approve')
  const answer = await placeOf(told, 'resolved', 'execute')
  const spoken = await placeOf(told, 'resolved', 'model')
  const refused: [Record<string, unknown>, string, string?][] = [
    [{ id: 'nobody' }, 'not_found'],
    [{ kind: 'nothing' }, 'not_found'],
    [{ at: 10_000 }, 'bad_request', 'at'],
    [{ at: 0 }, 'bad_request', 'at'],
    [{ as: 'main' }, 'conflict', 'as'],
    [{ as: '' }, 'bad_request', 'as'],
    [{ as: 'agent:nosuch:evil' }, 'not_found', 'as'],
    [{ at: seq, change: { seq, input, event: {} } }, 'bad_request', 'at'],
    [{ change: { seq: 10_000, input: 0, event: {} } }, 'bad_request', 'change.seq'],
    [{ change: { seq, input: 99, event: {} } }, 'bad_request', 'change.input'],
    [{ change: { seq, input, event: { type: 'message' } } }, 'bad_request', 'change.event.type'],
    [{ change: { seq, input, event: { decision: 'perhaps' } } }, 'bad_request'],
    [{ change: { seq, input, event: 'deny' } }, 'bad_request'],
    [{ answers: 'some' }, 'bad_request', 'answers'],
    [{ kind: 'config', id: 'main' }, 'not_found'],
    [{ change: { ...answer, event: { data: null } } }, 'bad_request', 'change.event.data'],
    [{ change: { ...answer, event: { data: { kind: 'model' } } } }, 'bad_request', 'change.event.data.kind'],
    [{ change: { ...answer, event: { data: { name: 5 } } } }, 'bad_request', 'change.event.data.name'],
    [{ change: { ...spoken, event: { data: { text: 5 } } } }, 'bad_request', 'change.event.data.text'],
    [{ change: { ...spoken, event: { data: { reasoning: { a: 1 } } } } }, 'bad_request', 'change.event.data.reasoning'],
    [{ change: { ...spoken, event: { data: { usage: null } } } }, 'bad_request', 'change.event.data.usage'],
    [{ change: { ...spoken, event: { data: { calls: [{ id: 1 }] } } } }, 'bad_request', 'change.event.data.calls.0.id'],
    [{ change: { ...spoken, event: { data: { durationMs: 'long' } } } }, 'bad_request', 'change.event.data.durationMs'],
  ]
  for (const [wanted, code, field] of refused)
    await expect(fork(told, wanted), JSON.stringify(wanted)).rejects.toMatchObject({ code, ...(field && { field }) })
  expect((await told.runtime.command<any>('sessions.list', {})).sessions).toHaveLength(1)
  const hostile = JSON.parse('{"__proto__":{"polluted":true},"decision":"deny"}')
  await fork(told, { change: { seq, input, event: hostile } }).catch(() => undefined)
  expect(({} as any).polluted).toBeUndefined()
})

test.each([[['a']], [['a', 'b', 'c']]])('forks in a circle over %j end: the first conversation, deleted and forked back, goes on', async (forks) => {
  await using told = await story(() => ({ text: 'yes' }))
  await (await told.say('first')).result()
  await told.quiet()
  const around = ['main', ...forks, 'main']
  for (const [place, id] of around.slice(0, -1).entries()) {
    if (place === forks.length) await told.clock.until(told.runtime.command('sessions.delete', { sessionKey: 'main' }))
    await fork(told, { id, as: around[place + 1]! })
  }
  for (const key of around.slice(1)) {
    await resting(told, key)
    expect(await said(told, key)).toEqual(['user: first', 'assistant: yes'])
  }

  await told.crash()
  await told.restart()
  expect(await told.clock.until((await told.clock.until(told.session('main').send('second'))).result())).toMatchObject({ text: 'yes' })
  expect(await told.runtime.command('trace.replay', { id: 'main' })).toMatchObject({ verdict: 'identical' })
})
