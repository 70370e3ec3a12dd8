/** Turns of one session that run at the same time, where its author wants no lock. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, type CheckpointStore, type LadderEvent, ladder, memoryStore, type Orchestrator, orchestrator } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf, killedAt, timeless } from '../a-ladder.ts'

type Code = { input: unknown; state: { seen: unknown[] }; signal: AbortSignal }

/** Work that ends when it is let: each turn says what the ones before it have left, and itself. */
const gated = (more: { checkpointStore?: CheckpointStore; keepSnapshots?: number } = {}) => {
  const begun = new Map<unknown, PromiseWithResolvers<void>>()
  const gates = new Map<unknown, PromiseWithResolvers<void>>()
  const of = (map: typeof gates, input: unknown) => map.get(input) ?? map.set(input, Promise.withResolvers<void>()).get(input)
  const store = more.checkpointStore ?? memoryStore()
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    sessionLock: false,
    ...more,
    state: { seen: [] as unknown[] },
    intents: {
      work: async ({ input, state }: Code) => {
        of(begun, input)?.resolve()
        await of(gates, input)?.promise
        if (input === 'fails') throw new Error('no')
        return { seen: [...state.seen, input] }
      },
    },
    route: () => 'work' as const,
  })
  const ask = (input: string, options: object = {}) => desk.execute(input, { sessionId: 's', history: [], requestId: input, ...options })
  return { desk, store, ask, begun: async (input: unknown) => of(begun, input)?.promise, open: (input: unknown) => of(gates, input)?.resolve() }
}

test('[WL-024] without a lock turns of a session run at the same time: numbers are given in the order in which they came, each begins with the newest row, and the highest one is what the next begins with', async () => {
  const { desk, store, ask, begun, open } = gated()
  await using kit = await aLadder(desk)
  const events: LadderEvent[] = []
  desk.on({ '*': (event) => void events.push(event) })
  const all = ['a', 'b', 'c'].map((input) => ask(input))

  await kit.clock.until(Promise.all(['a', 'b', 'c'].map(begun)))
  for (const [place, input] of ['c', 'a', 'b'].entries()) {
    open(input)
    await kit.clock.until(all['abc'.indexOf(input)] as Promise<unknown>)
    expect(await store.rows('desk', 's')).toHaveLength(place + 1)
  }

  expect((await Promise.all(all)).map(({ turnIndex, data, report }) => [turnIndex, data?.seen, report.status])).toEqual([
    [0, ['a'], 'awaiting-input'],
    [1, ['b'], 'awaiting-input'],
    [2, ['c'], 'awaiting-input'],
  ])
  expect((await store.rows('desk', 's')).map(({ turn_index, state }) => [turn_index, state])).toEqual([
    [0, { seen: ['a'] }],
    [1, { seen: ['b'] }],
    [2, { seen: ['c'] }],
  ])
  open('d')
  expect(await kit.clock.until(ask('d'))).toMatchObject({
    turnIndex: 3,
    data: { seen: ['c', 'd'] },
    report: { turns: [0, 1, 2, 3].map((turn) => ({ turn })) },
  })
  for (const [number, id] of ['a', 'b', 'c'].entries()) {
    const told = events.filter(({ runId, type }) => runId === id && type.startsWith('orchestrator.'))
    expect(told.map(({ type }) => type.slice('orchestrator.'.length))).toEqual([
      'turn.starting',
      'session.loaded',
      'drift.checked',
      'history.windowed',
      'turn.routed',
      'checkpoint.persisted',
      'turn.awaiting-input',
    ])
    expect(told.slice(1).every(({ turnIndex }) => turnIndex === number)).toBe(true)
  }
  expect((await kit.runtime.actor('desk', 's').snapshot()).value).toBe('awaiting-input')
  expect(await kit.runtime.replay({ kind: 'desk', id: 's' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-024, WL-036] of turns at the same time one that fails stores nothing: its number is given again, or stays empty where a later one is stored', async () => {
  const { desk, store, ask, begun, open } = gated()
  await using kit = await aLadder(desk)
  const [failing, later] = [ask('fails'), ask('b')]
  await kit.clock.until(Promise.all(['fails', 'b'].map(begun)))
  open('b')
  open('fails')

  expect(await kit.clock.until(Promise.all([failing, later]))).toMatchObject([
    { turnIndex: 0, error: { code: 'SUPERVISOR_FAILED' } },
    { turnIndex: 1 },
  ])
  expect((await store.rows('desk', 's')).map(({ turn_index }) => turn_index)).toEqual([1])
  expect(await kit.clock.until(ask('fails', { requestId: 'again' }))).toMatchObject({ turnIndex: 2, error: { code: 'SUPERVISOR_FAILED' } })
  open('c')
  expect(await kit.clock.until(ask('c'))).toMatchObject({
    turnIndex: 2,
    data: { seen: ['b', 'c'] },
    report: { children: [{ runId: 's.unversioned.2~2' }] },
  })
})

test('[WL-024] whoever is cancelled ends by himself; cancel() ends all turns of the session, and resume() and send() say which they mean', async () => {
  const { desk, ask, begun, open } = gated()
  await using kit = await aLadder(desk)
  const leave = new AbortController()
  const [one, two, three] = [ask('a', { signal: leave.signal }), ask('b'), ask('c')]
  await kit.clock.until(Promise.all(['a', 'b', 'c'].map(begun)))
  leave.abort('not needed')
  expect(await kit.clock.until(one)).toMatchObject({ error: { code: 'SUPERVISOR_CANCELLED' } })
  const resumed = desk.resume('s', { requestId: 'c' })
  expect(await desk.resume('s', { requestId: 'a' })).toBeNull()
  await expect(desk.send('s', { type: 'paid' })).rejects.toMatchObject({
    code: 'SCHEMA_VALIDATION_FAILED',
    context: { requestIds: ['b', 'c'] },
    hint: expect.stringContaining('requestId'),
  })
  open('c')
  expect(await kit.clock.until(resumed)).toMatchObject({ turnIndex: 2, data: { seen: ['c'] } })
  expect(await three).toMatchObject({ turnIndex: 2 })
  expect(await desk.cancel('s', 'enough')).toBe(true)
  expect(await kit.clock.until(two)).toMatchObject({ error: { code: 'SUPERVISOR_CANCELLED', context: { reason: 'enough' } } })
  expect(await desk.cancel('s')).toBe(false)
  expect(await desk.sessions()).toEqual(['s'])
})

test('[WL-024, WL-083] killed at any commit, turns at the same time keep their numbers and come to the same reports and rows', async () => {
  const told = async (commit?: number) => {
    const both = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() }
    const store = memoryStore()
    const desk = orchestrator({
      name: 'desk',
      checkpointStore: store,
      sessionLock: false,
      state: { seen: [] as unknown[] },
      summarize: { afterTurns: 1, keep: 1 },
      intents: {
        work: async ({ input, state }: Code) => {
          // In whichever life.
          both[input as 'a' | 'b']?.resolve()
          await Promise.all([both.a.promise, both.b.promise])
          return { seen: [...state.seen, input] }
        },
      },
      route: () => 'work' as const,
    })
    await using kit = await aLadder(desk)
    const history = ['one', 'two', 'three'].map((content) => ({ role: 'user' as const, content }))
    const ask = (input: string) => desk.execute(input, { sessionId: 's', history, requestId: input })
    const all = () => Promise.all([ask('a'), ask('b')])
    const results = commit === undefined ? await kit.clock.until(all()) : await killedAt(kit, all, commit)
    if (!results) return undefined
    expect(await kit.runtime.replay({ kind: 'desk', id: 's' })).toMatchObject({ verdict: 'identical' })
    const rows = (await store.rows('desk', 's')).map(({ saved_at: _, ...row }) => row)
    return { results: timeless(results), rows, context: timeless((await kit.runtime.actor('desk', 's').snapshot()).context) }
  }
  const calm = await told()
  expect(calm?.rows.map(({ turn_index, state }) => [turn_index, (state as { seen: unknown }).seen])).toEqual([
    [0, ['a']],
    [1, ['b']],
  ])
  expect(calm).toMatchObject({ results: [{}, { compaction: { replacesFromIndex: 0, replacesToIndex: 1 } }] })
  let commit = 1
  for (; ; commit++) {
    const life = await told(commit)
    if (!life) break
    expect(inOrder(life), `commit ${commit}`).toEqual(inOrder(calm))
  }
  expect(commit).toBeGreaterThan(10)
})
/** Which of two turns ends first is nobody's promise. */
const inOrder = (told: object | undefined): unknown => {
  const { context, ...rest } = told as { context: { answers: { id: string }[] } }
  return { ...rest, context: { ...context, answers: context.answers.toSorted((one, other) => (one.id < other.id ? -1 : 1)) } }
}

test('[WL-024, WL-046] the run of a turn that takes long stays until it was read, however many turns are stored meanwhile; then runs go as those of other sessions do', async () => {
  const { desk, store, ask, begun, open } = gated({ keepSnapshots: 2 })
  await using kit = await aLadder(desk)
  const runs = async () =>
    (await kit.runtime.command<{ actors: { id: string }[] }>('actors.list', { kind: 'desk-turn', states: false, limit: 100 })).actors.length
  const quick = async (from: number, to: number) => {
    for (let turn = from; turn <= to; turn++) {
      open(`${turn}`)
      await kit.clock.until(ask(`${turn}`))
    }
  }
  const slow = ask('0')
  await kit.clock.until(begun('0'))
  await quick(1, 30)
  expect(await runs()).toBe(31)
  open('0')
  expect(await kit.clock.until(slow)).toMatchObject({ turnIndex: 0, data: { seen: ['0'] } })
  await quick(31, 60)
  expect(await runs()).toBeLessThan(30)
  expect((await store.rows('desk', 's')).map(({ turn_index }) => turn_index)).toEqual([59, 60])
  await desk.delete('s')
  expect(await runs()).toBe(0)
})

test('[WL-024] sixteen turns of a session run at the same time, and the next one waits for one of them', async () => {
  const { desk, ask, begun, open } = gated()
  await using kit = await aLadder(desk)
  const all = Array.from({ length: 17 }, (_, turn) => ask(`${turn}`))
  await kit.clock.until(Promise.all(all.slice(0, 16).map((_, turn) => begun(`${turn}`))))
  expect((await kit.runtime.actor('desk', 's').snapshot()).context).toMatchObject({ queue: [{ id: '16' }] })
  for (const turn of all.keys()) open(`${turn}`)
  expect((await kit.clock.until(Promise.all(all))).map(({ turnIndex }) => turnIndex)).toEqual([...all.keys()])
})

test('[WL-024, WL-100] a turn may have another one of its own session made, as long as that finds room', async () => {
  type Deep = { deep: number; code: string | undefined }
  const desk: Orchestrator<string, Deep> = orchestrator({
    name: 'desk',
    sessionLock: false,
    state: { deep: 0, code: undefined as string | undefined },
    intents: {
      ask: async ({ input }) => {
        const { data, error } = await desk.execute(`${input}.`, { sessionId: 's', history: [] })
        return data ?? { deep: String(input).length, code: error?.code }
      },
    },
    route: () => 'ask' as const,
  })
  await using kit = await aLadder(desk)
  expect(await kit.clock.until(desk.execute('.', { sessionId: 's', history: [] }))).toMatchObject({
    data: { deep: 16, code: 'SUPERVISOR_DISPATCH_CYCLE' },
  })
})

test('[WL-024, WL-037] calls of tools that wait for people in turns at the same time are listed together and decided one by one', async () => {
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ to: z.string() }),
    approval: true,
    execute: ({ to }) => (paid.push(to), 'paid'),
  })
  const clerk = agent({ name: 'clerk', description: 'Pays.', model: 'test/clerk', tools: [pay] })
  const desk = orchestrator({
    name: 'desk',
    sessionLock: false,
    intents: { pay: { agent: clerk, output: z.string().transform((text) => ({ text })) } },
    route: () => 'pay' as const,
  })
  const answer = ({ messages }: ModelRequest) => {
    const to = JSON.stringify(messages).includes('ann') ? 'ann' : 'bob'
    return messages.some(({ role }) => role === 'tool') ? { text: `done for ${to}` } : { calls: [{ name: 'pay', input: { to } }] }
  }
  await using kit = await aLadderOf({ 'test/clerk': answer }, desk)
  const ask = async (input: string) => {
    const asked = Promise.withResolvers<void>()
    const turn = desk.execute(input, { sessionId: 's', history: [], requestId: input, on: { 'agent.approval.requested': () => asked.resolve() } })
    await kit.clock.until(asked.promise)
    return { turn }
  }
  const [ann, bob] = [await ask('ann'), await ask('bob')]
  const waiting = await desk.pending('s')
  expect(waiting).toMatchObject([{ input: { to: 'ann' } }, { input: { to: 'bob' } }])
  await desk.decide('s', { callId: waiting[1]?.callId ?? '', decision: 'approve' })
  expect(await kit.clock.until(bob.turn)).toMatchObject({ turnIndex: 1, data: { text: 'done for bob' } })
  expect(paid).toEqual(['bob'])
  await expect(desk.decide('s', { callId: 'no', decision: 'approve' })).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
  await desk.decide('s', { callId: (await desk.pending('s'))[0]?.callId ?? '', decision: 'approve' })
  expect(await kit.clock.until(ann.turn)).toMatchObject({ turnIndex: 0, data: { text: 'done for ann' } })
  expect(paid).toEqual(['bob', 'ann'])
})

test('[WL-024, WL-026] a turn that comes while the history is summarised waits for that, as in any session, and those under way do not', async () => {
  const summary = Promise.withResolvers<void>()
  const summing = Promise.withResolvers<void>()
  const desk = orchestrator({
    name: 'desk',
    sessionLock: false,
    summarize: { afterTurns: 0, keep: 0, onCompact: async () => (summing.resolve(), summary.promise) },
    intents: { work: () => ({ isDone: true }) },
    route: () => 'work' as const,
  })
  await using kit = await aLadder(desk)
  const told: string[] = []
  const ask = (input: string, content: string[]) =>
    desk.execute(input, {
      sessionId: 's',
      history: content.map((text) => ({ role: 'user' as const, content: text })),
      on: { 'orchestrator.lock.waiting': () => void told.push(input), 'orchestrator.turn.awaiting-input': () => void told.push(`${input} ended`) },
    })
  const first = ask('a', ['one'])
  await kit.clock.until(summing.promise)
  const second = ask('b', [])
  await kit.clock.until(kit.runtime.actor('desk', 's').waitFor(() => told.includes('b')))
  summary.resolve()
  expect(await kit.clock.until(Promise.all([first, second]))).toMatchObject([{ turnIndex: 0 }, { turnIndex: 1 }])
  expect(told).toEqual(['b', 'a ended', 'b ended'])
})

test('[WL-024] a session that was kept with the lock is not taken for one without: it says so, and goes on with its rows once its actor is forgotten', async () => {
  const store = memoryStore()
  const aDesk = (more: object) =>
    orchestrator({
      name: 'desk',
      checkpointStore: store,
      state: { seen: [] as unknown[] },
      intents: { work: ({ input, state }: Code) => ({ seen: [...state.seen, input] }) },
      route: () => 'work' as const,
      ...more,
    })
  const before = aDesk({})
  await using kit = await aLadder(before)
  await kit.clock.until(before.execute('a', { sessionId: 's', history: [] }))
  const after = aDesk({ sessionLock: false })
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  await expect(kit.clock.until(after.execute('b', { sessionId: 's', history: [] }))).rejects.toMatchObject({
    code: 'ORCHESTRATOR_DRIFT',
    hint: expect.stringContaining('sessionLock'),
  })
  // Whatever else is asked of such a session is refused in the same words.
  const decision = { callId: 'c', decision: 'approve' } as const
  const asked = [
    after.resume('s'),
    after.pending('s'),
    after.cancel('s'),
    after.decide('s', decision),
    after.send('s', { type: 'paid' }),
    after.delete('s'),
  ]
  for (const one of await kit.clock.until(Promise.allSettled(asked)))
    expect(one).toMatchObject({
      status: 'rejected',
      reason: { code: 'ORCHESTRATOR_DRIFT', hint: expect.stringContaining(`actor('desk', sessionId).forget()`) },
    })
  await kit.runtime.actor('desk', 's').forget()
  expect(await kit.clock.until(after.execute('b', { sessionId: 's', history: [] }))).toMatchObject({ turnIndex: 1, data: { seen: ['a', 'b'] } })
})
