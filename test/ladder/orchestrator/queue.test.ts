/** Turns that wait for each other or for a compaction, and those that are cancelled. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { agent, type CheckpointRow, type LadderEvent, ladder, memoryStore, type Orchestrator, orchestrator } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

type Code = { input: unknown; state: unknown; signal: AbortSignal }
/** Work that ends when it is let. */
const gated = () => {
  const gates = new Map<unknown, PromiseWithResolvers<void>>()
  const running: unknown[] = []
  const begun = new Map<unknown, PromiseWithResolvers<void>>()
  const beginning = (input: unknown): PromiseWithResolvers<void> => {
    const known = begun.get(input) ?? Promise.withResolvers<void>()
    begun.set(input, known)
    return known
  }
  const gate = (input: unknown) => gates.get(input) ?? gates.set(input, Promise.withResolvers<void>()).get(input)
  const store = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    state: { order: [] as unknown[] },
    intents: {
      work: async ({ input, state }: Code) => {
        running.push(input)
        beginning(input).resolve()
        await gate(input)?.promise
        return { order: [...(state as { order: unknown[] }).order, input] }
      },
    },
    route: () => 'work' as const,
  })
  return { desk, store, running, begun: (input: unknown) => beginning(input).promise, open: (input: unknown) => gate(input)?.resolve() }
}

test('[WL-024] turns of one session run one by one as they came, and no update is lost; other sessions do not wait', async () => {
  const { desk, running, open } = gated()
  await using kit = await aLadder(desk)
  const execute = (input: string, sessionId = 's') => desk.execute(input, { sessionId, history: [] })
  const all = Promise.all(['a', 'b', 'c'].map((input) => execute(input)))
  open('other')
  expect(await kit.clock.until(execute('other', 't'))).toMatchObject({ turnIndex: 0 })
  expect(running).toEqual(['a', 'other'])
  for (const input of ['c', 'b', 'a']) open(input)
  expect((await kit.clock.until(all)).map(({ turnIndex, data }) => [turnIndex, data?.order])).toEqual([
    [0, ['a']],
    [1, ['a', 'b']],
    [2, ['a', 'b', 'c']],
  ])
})

test('[WL-024] whoever waits can be cancelled: that rejects with the reason, tells no turn, and the next one runs; so does one after a turn that failed', async () => {
  const { desk, running, begun, open } = gated()
  await using kit = await aLadder(desk)
  const leave = new AbortController()
  const events: LadderEvent[] = []
  const first = desk.execute('a', { sessionId: 's', history: [] })
  await kit.clock.until(begun('a'))
  const second = desk.execute('b', { sessionId: 's', history: [], signal: leave.signal, on: { '*': (event) => void events.push(event) } })
  const third = desk.execute('c', { sessionId: 's', history: [] })
  await kit.clock.until(kit.runtime.actor('desk', 's').waitFor(({ context }) => (context as { queue: unknown[] }).queue.length === 2))
  const reason = new RangeError('not needed')
  leave.abort(reason)
  await expect(kit.clock.until(second)).rejects.toBe(reason)
  open('a')
  open('c')
  expect(await kit.clock.until(Promise.all([first, third]))).toMatchObject([{ turnIndex: 0 }, { turnIndex: 1, data: { order: ['a', 'c'] } }])
  expect(running).toEqual(['a', 'c'])
  expect(events).toEqual([])
  await expect(desk.execute('d', { sessionId: 's', history: [], signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

test('[WL-024, WL-100] a turn whose code wants another one of its own session is told that it would wait for itself; in another session it may', async () => {
  const desk: Orchestrator<string> = orchestrator({
    name: 'desk',
    intents: {
      ask: async ({ input }) => {
        const { error } = input === 'inner' ? {} : await desk.execute('inner', { sessionId: String(input), history: [] })
        return { said: error ? error.code : 'answered' }
      },
    },
    route: () => 'ask' as const,
  })
  await using kit = await aLadder(desk)
  const ask = (session: string) => kit.clock.until(desk.execute(session, { sessionId: 'ann', history: [] }))
  expect(await ask('ann')).toMatchObject({ data: { said: 'SUPERVISOR_DISPATCH_CYCLE' } })
  expect(await ask('bob')).toMatchObject({ data: { said: 'answered' } })
})

test('[WL-024, WL-100] turns that would wait for each other in a circle are refused, over other sessions too, and the sessions go on', async () => {
  const desk: Orchestrator<string> = orchestrator({
    name: 'desk',
    intents: {
      ask: async ({ input }) => {
        const [session, ...more] = String(input).split(' ')
        if (!session) return { said: 'answered' }
        const { error, data } = await desk.execute(more.join(' '), { sessionId: session, history: [] })
        return { said: error ? `${session}: ${error.code}` : (data as { said: string }).said }
      },
    },
    route: () => 'ask' as const,
  })
  await using kit = await aLadder(desk)
  const ask = (input: string) => kit.clock.until(desk.execute(input, { sessionId: 'ann', history: [] }))
  expect(await ask('bob ann')).toMatchObject({ data: { said: 'ann: SUPERVISOR_DISPATCH_CYCLE' } })
  expect(await ask('bob cid ann')).toMatchObject({ data: { said: 'ann: SUPERVISOR_DISPATCH_CYCLE' } })
  expect(await ask('bob cid')).toMatchObject({ data: { said: 'answered' } })
})

test('[WL-024, WL-100] two sessions whose turns want each other at once do not wait for ever', async () => {
  const both = Promise.withResolvers<void>()
  let begun = 0
  const desk: Orchestrator<string> = orchestrator({
    name: 'desk',
    intents: {
      ask: async ({ input }) => {
        if (input === 'inner') return { said: 'answered' }
        if (++begun === 2) both.resolve()
        await both.promise
        const { error } = await desk.execute('inner', { sessionId: String(input), history: [] })
        return { said: error ? error.code : 'answered' }
      },
    },
    route: () => 'ask' as const,
  })
  await using kit = await aLadder(desk)
  const turns = [desk.execute('bob', { sessionId: 'ann', history: [] }), desk.execute('ann', { sessionId: 'bob', history: [] })]
  const said = (await kit.clock.until(Promise.all(turns))).map(({ data }) => (data as { said: string }).said)
  expect(said).toContain('SUPERVISOR_DISPATCH_CYCLE')
})

test('[WL-024] a turn that fails lets the next one run', async () => {
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { work: ({ input }: Code) => (input === 'a' ? Promise.reject(new Error('no')) : { by: input }) },
    route: () => 'work' as const,
  })
  await using kit = await aLadder(desk)
  const all = Promise.all(['a', 'b'].map((input) => desk.execute(input, { sessionId: 's', history: [] })))
  expect(await kit.clock.until(all)).toMatchObject([{ error: { code: 'SUPERVISOR_FAILED' } }, { turnIndex: 0, data: { by: 'b' } }])
})

test.each([
  ['its signal', (leave: AbortController) => leave.abort('too late')],
  ['cancel()', (_: AbortController, desk: ReturnType<typeof gated>['desk']) => desk.cancel('s', 'too late')],
] as const)(
  '[WL-036] a turn that %s cancels in the middle fails as its supervisor did, is told once, and leaves the row before it',
  async (__, cancel) => {
    const { desk, store, begun, open } = gated()
    await using kit = await aLadder(desk)
    open('a')
    await kit.clock.until(desk.execute('a', { sessionId: 's', history: [] }))
    const leave = new AbortController()
    const events: LadderEvent[] = []
    const cut = desk.execute('b', { sessionId: 's', history: [], signal: leave.signal, on: { '*': (event) => void events.push(event) } })
    await kit.clock.until(begun('b'))
    const cancelled = cancel(leave, desk)
    expect(await kit.clock.until(cut)).toMatchObject({
      turnIndex: 1,
      error: { code: 'SUPERVISOR_CANCELLED', category: 'cancelled', context: { reason: 'too late' } },
      report: { status: 'cancelled', children: [{ status: 'cancelled' }] },
    })
    await cancelled
    expect(events.filter(({ type }) => type === 'orchestrator.turn.cancelled')).toHaveLength(1)
    expect(events.at(-1)?.type).toBe('orchestrator.turn.cancelled')
    expect(await store.rows('desk', 's')).toMatchObject([{ turn_index: 0, state: { order: ['a'] } }])
    open('c')
    expect(await kit.clock.until(desk.execute('c', { sessionId: 's', history: [] }))).toMatchObject({ turnIndex: 1, data: { order: ['a', 'c'] } })
    expect(await desk.cancel('s')).toBe(false)
    expect(await desk.cancel('nobody')).toBe(false)
  },
)

test.for(['load', 'save'] as const)(
  '[WL-004, WL-036, WL-044] a store whose %s() gives no answer fails the turn after half a minute; the next one runs',
  async (method) => {
    const { desk, store, open } = gated()
    await using kit = await aLadder(desk)
    for (const input of ['a', 'b']) open(input)
    const { [method]: own } = store
    const silent = () => (Object.assign(store, { [method]: own }), new Promise<never>(() => undefined))
    Object.assign(store, { [method]: silent })
    const [one, two] = ['a', 'b'].map((input) => desk.execute(input, { sessionId: 's', history: [], requestId: input }))
    const { error, report } = await kit.clock.until(one as NonNullable<typeof one>)
    expect(error).toMatchObject({
      code: 'STORE_FAILED',
      message: `${method}() of the store has given no answer for 30 seconds`,
      hint: expect.stringContaining('can be reached'),
    })
    expect(report.duration).toBeGreaterThanOrEqual(30_000)
    expect(await kit.clock.until(two as NonNullable<typeof two>)).toMatchObject({ turnIndex: 0, data: { order: ['b'] } })
    expect(await kit.runtime.replay({ kind: 'desk', id: 's' })).toMatchObject({ verdict: 'identical' })
  },
)

test('[WL-004, WL-113] killed at any commit, a turn whose store gives no answer fails with the same', async () => {
  const silent = () => {
    const { desk, store } = gated()
    store.load = () => new Promise(() => undefined)
    return { desk, ask: () => desk.execute('a', { sessionId: 's', history: [], requestId: 'a' }) }
  }
  for (let commit = 1; ; commit++) {
    const [first, second] = [silent(), silent()]
    await using kit = await aLadder(first.desk)
    const died = Promise.withResolvers<'died'>()
    kit.failPoints.call('K02', () => (died.resolve('died'), new Promise<void>(() => undefined)), commit)
    if ((await kit.clock.until(Promise.race([died.promise, first.ask()]))) !== 'died') return expect(commit).toBeGreaterThan(2)
    await kit.crash()
    await kit.restart({ extensions: [ladder({ executables: [second.desk] })] })
    expect(await kit.clock.until(second.ask()), `killed at commit ${commit}`).toMatchObject({
      error: { code: 'STORE_FAILED' },
      report: { status: 'failed' },
    })
  }
})

test('[WL-036] a turn that is cancelled while its row is loaded, or while it waits for a compaction, has never begun', async () => {
  const { desk, store, running, open } = gated()
  await using kit = await aLadder(desk)
  open('a')
  await kit.clock.until(desk.execute('a', { sessionId: 's', history: [] }))
  const { load } = store
  const loading = Promise.withResolvers<void>()
  store.load = () => (loading.resolve(), new Promise(() => undefined))
  const one = desk.execute('b', { sessionId: 's', history: [] })
  await kit.clock.until(loading.promise)
  await desk.cancel('s')
  expect(await kit.clock.until(one)).toMatchObject({ error: { code: 'ORCHESTRATOR_CANCELLED' }, report: { status: 'cancelled', children: [] } })
  store.load = load
  await store.lock('desk', 's', 'somebody', 1e12)
  const two = desk.execute('b', { sessionId: 's', history: [] })
  await kit.clock.until(kit.runtime.actor('desk', 's').waitFor((at) => at.matches({ running: 'waiting-for-compaction' })))
  await desk.cancel('s')
  expect(await kit.clock.until(two)).toMatchObject({ error: { code: 'ORCHESTRATOR_CANCELLED' } })
  expect(running).toEqual(['a'])
})

test('[WL-026] a turn waits for a compaction that is under way, says so once, looks each 100 ms, and goes on without it; a new session never waits', async () => {
  const store = memoryStore()
  const looks: number[] = []
  const made = (name: string, more: object) =>
    orchestrator({ name, checkpointStore: store, intents: { a: () => undefined }, route: () => 'a' as const, ...more })
  const desk = made('desk', { summarize: { lock: { maxWait: 350 } } })
  const usual = made('usual', { summarize: { afterTurns: 0, keep: 0 } })
  await using kit = await aLadder(desk, usual)
  await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
  const { load, record } = store
  // What is loaded tells of the lock, and is looked at first.
  store.load = (...which) => (looks.push(kit.clock.now()), load(...which))
  store.record = (...which) => (looks.push(kit.clock.now()), record(...which))
  for (const sessionId of ['s', 'new']) await store.lock('desk', sessionId, 'somebody', 1e12)
  const timed = async (sessionId: string) => {
    const events: LadderEvent[] = []
    const began = kit.clock.now()
    looks.length = 0
    await kit.clock.until(desk.execute('', { sessionId, history: [], on: { '*': (event) => void events.push(event) } }))
    return {
      ms: kit.clock.now() - began,
      waited: events.filter(({ type }) => type === 'orchestrator.lock.waiting'),
      types: events.map(({ type }) => type),
    }
  }
  const { ms, waited, types } = await timed('s')
  expect(ms).toBe(350)
  expect(waited).toMatchObject([{ sessionId: 's', turnIndex: 1, waitedMs: 0 }])
  expect(types.indexOf('orchestrator.lock.waiting')).toBe(types.indexOf('orchestrator.drift.checked') + 1)
  expect(looks.map((at) => at - (looks[0] ?? 0))).toEqual([0, 100, 200, 300, 350])
  expect(await timed('new')).toMatchObject({ ms: 0, waited: [] })
  kit.clock.setTimeout(() => void store.unlock('desk', 's', 'somebody'), 120)
  expect((await timed('s')).ms).toBe(200)

  // Nobody waits for a lock that has run out, though the store says it is there.
  store.load = async (...which) => ({
    ...((await load(...which)) as CheckpointRow),
    lock_acquired_at: new Date(0).toISOString(),
    lock_expires_at: new Date(kit.clock.now()).toISOString(),
  })
  expect(await timed('s')).toMatchObject({ ms: 0, waited: [] })
  store.load = load

  // Where nothing is said a compaction has half a minute, and so has who waits for it.
  const given: number[] = []
  const { lock } = store
  store.lock = (...which) => (given.push(which[3]), lock(...which))
  await kit.clock.until(usual.execute('', { sessionId: 's', history: [{ role: 'user', content: 'hi' }] }))
  expect(given).toEqual([30_000])
})

test('[WL-037] a call of a tool in a turn waits for a person, who is asked by the session', async () => {
  const sent: string[] = []
  const send = tool({
    name: 'send',
    description: 'Sends.',
    input: z.object({ to: z.string() }),
    approval: true,
    execute: ({ to }) => (sent.push(to), 'sent'),
  })
  const mailer = agent({ name: 'mailer', description: 'Sends.', model: 'test/mailer', tools: [send] })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { mail: { agent: mailer, output: z.string().transform((text) => ({ text })) } },
    route: () => 'mail' as const,
  })
  await using kit = await aLadderOf({ 'test/mailer': [{ calls: [{ name: 'send', input: { to: 'ann' } }] }, { text: 'done' }] }, desk)
  const asked = Promise.withResolvers<void>()
  const run = desk.execute('write to ann', { sessionId: 's', history: [], on: { 'agent.approval.requested': () => asked.resolve() } })
  await kit.clock.until(asked.promise)
  const [call] = await desk.pending('s')
  await expect(desk.decide('s', { callId: 'no', decision: 'approve' })).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
  await desk.decide('s', { callId: call?.callId ?? '', decision: 'approve' })
  expect(await kit.clock.until(run)).toMatchObject({ data: { text: 'done' } })
  expect(sent).toEqual(['ann'])
  expect(await desk.pending('s')).toEqual([])
  await expect(desk.decide('s', { callId: 'no', decision: 'approve' })).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
})

test('[WL-003, WL-036] a store that is down fails the turn and nothing is lost: neither the row before it nor the next turn', async () => {
  const { desk, store, open } = gated()
  await using kit = await aLadder(desk)
  for (const input of ['a', 'b', 'c', 'd']) open(input)
  const execute = (input: string) => kit.clock.until(desk.execute(input, { sessionId: 's', history: [] }))
  await execute('a')
  const { load, save } = store
  store.load = () => Promise.reject(new Error('no connection'))
  expect(await execute('b')).toMatchObject({
    error: { code: 'STORE_FAILED', message: expect.stringContaining('no connection') },
    report: { status: 'failed', children: [] },
  })
  store.load = load
  store.save = () => Promise.reject(new Error('disk full'))
  expect(await execute('c')).toMatchObject({
    error: { code: 'STORE_FAILED', message: expect.stringContaining('disk full') },
    report: { status: 'failed' },
  })
  store.save = save
  expect(await execute('d')).toMatchObject({ turnIndex: 1, data: { order: ['a', 'd'] } })
  expect(await store.rows('desk', 's')).toHaveLength(2)
})
