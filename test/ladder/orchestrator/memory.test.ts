/** What a session remembers of its turns, and is reminded of before the next one. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../../src/index.ts'
import { agent, type MemoryHit, memory, memoryStore, memoryVectors, orchestrator, router } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf, killedAt } from '../a-ladder.ts'

/** By the words in them. */
const words = ['tea', 'coffee', 'rain', 'work']
const embedded: string[] = []
const embedder = async (texts: readonly string[]) => {
  embedded.push(...texts)
  return texts.map((text) => [...words.map((word) => (text.includes(word) ? 1 : 0)), 0.01])
}
const aMemory = () => memory({ working: false, semantic: true, embedder, vectors: memoryVectors() })

const remembering = (more: object = {}, store = aMemory()) => {
  const seen: { by: string; context: Readonly<Record<string, unknown>> }[] = []
  const look = (by: string) => (code: { context: Readonly<Record<string, unknown>> }) => void seen.push({ by, context: code.context })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: {
      work: (code) => (
        look('work')(code),
        code.input === 'fail'
          ? Promise.reject(new Error('no'))
          : code.input === 'hang'
            ? new Promise<never>(() => undefined)
            : { said: `about ${code.input as string}` }
      ),
    },
    route: (code) => (look('route')(code), 'work' as const),
    evaluate: look('evaluate'),
    memory: store,
    ...more,
  })
  const recalled = (by = 'route') => (seen.findLast((one) => one.by === by)?.context.memories as MemoryHit[] | undefined)?.map(({ text }) => text)
  return { desk, seen, recalled, store }
}

test('[WL-071, WL-072] a clean turn is remembered by its input and outcome, and a similar one is reminded of it, before it is routed', async () => {
  const { desk, seen, recalled } = remembering()
  await using kit = await aLadder(desk)
  const execute = (input: unknown) => kit.clock.until(desk.execute(input, { sessionId: 's', history: [], context: { user: 'ann' } }))
  await execute('I drink tea')
  expect(seen.every(({ context }) => !('memories' in context))).toBe(true)
  seen.length = 0
  await execute({ ask: 'tea?' })
  for (const by of ['route', 'work', 'evaluate']) expect(recalled(by), by).toEqual(['I drink tea\n{"said":"about I drink tea"}'])
  expect(seen.every(({ context }) => context.user === 'ann' && Object.isFrozen(context))).toBe(true)
  await execute('rain')
  expect(recalled()).toBeUndefined()
})

test('[WL-071] nothing of it is added to what models are told', async () => {
  const asked: string[] = []
  const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/any' })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { write: { agent: writer, output: z.string().transform((text) => ({ text })) } },
    router: router({ intents: ['write'], model: 'test/router' }),
    memory: aMemory(),
  })
  const model = (text: string) => (request: ModelRequest) => (asked.push(JSON.stringify(request.messages)), { text })
  await using kit = await aLadderOf({ 'test/any': model('secret tea'), 'test/router': model('{"next":"write"}') }, desk)
  for (const state of [{}, { text: '' }]) await kit.clock.until(desk.execute('tea', { sessionId: 's', history: [], state }))
  expect(asked).toHaveLength(4)
  expect(asked.join('')).not.toContain('secret')
})

test('[WL-072, WL-036] a turn that failed or was cancelled is not remembered', async () => {
  const { desk, store } = remembering()
  await using kit = await aLadder(desk)
  await kit.clock.until(desk.execute('fail', { sessionId: 's', history: [] }))
  const leave = new AbortController()
  const cut = desk.execute('hang', {
    sessionId: 's',
    history: [],
    signal: leave.signal,
    on: { 'supervisor.agent.starting': () => leave.abort('no') },
  })
  expect(await kit.clock.until(cut)).toMatchObject({ error: { code: 'SUPERVISOR_CANCELLED' } })
  expect(await store.recall('fail hang no', { scope: 'session:s', threshold: 0 })).toEqual([])
})

test('[WL-072] where its output gives no data, what branches gave is remembered', async () => {
  const { desk, store } = remembering({ output: z.unknown().transform(() => undefined) })
  await using kit = await aLadder(desk)
  expect(await kit.clock.until(desk.execute('tea', { sessionId: 's', history: [] }))).toMatchObject({ data: undefined })
  expect(await store.recall('tea', { scope: 'session:s' })).toMatchObject([{ text: 'tea\n[{"said":"about tea"}]' }])
})

test('[WL-073] recalling and remembering can be turned off, and bounded', async () => {
  embedded.length = 0
  const off = remembering({ memory: { store: aMemory(), recall: { k: 0 } } })
  const readOnly = remembering({ name: 'desk-2', memory: { store: off.store, remember: false } })
  await using kit = await aLadder(off.desk, readOnly.desk)
  await kit.clock.until(off.desk.execute('tea', { sessionId: 's', history: [] }))
  expect(embedded).toEqual(['tea\n{"said":"about tea"}'])
  await kit.clock.until(readOnly.desk.execute('tea', { sessionId: 's', history: [] }))
  expect(embedded.filter((text) => text.includes('\n'))).toHaveLength(1)
  const store = aMemory()
  const few = remembering({ name: 'desk-3', memory: { store, recall: { k: 1, threshold: 0.1 }, injectKey: 'facts' } })
  await kit.restart({ extensions: [(await import('../../../src/ladder/index.ts')).ladder({ executables: [few.desk] })] })
  for (const input of ['tea and rain', 'tea and work', 'tea']) await kit.clock.until(few.desk.execute(input, { sessionId: 's', history: [] }))
  const { context } = few.seen.at(-1) as (typeof few.seen)[number]
  expect(context.facts).toHaveLength(1)
  expect(context).not.toHaveProperty('memories')
})

test('[WL-074] what one session remembers another is not reminded of, unless the scope says so', async () => {
  const store = aMemory()
  const own = remembering({}, store)
  const shared = remembering({ name: 'all', memory: { store: aMemory(), scope: 'shared' } })
  const byUser = remembering({ name: 'user', memory: { store: aMemory(), scope: (sessionId: string) => sessionId.slice(0, 1) } })
  await using kit = await aLadder(own.desk, shared.desk, byUser.desk)
  const turns = async ({ desk, recalled }: typeof own, first: string, second: string) => {
    await kit.clock.until(desk.execute('tea', { sessionId: first, history: [] }))
    await kit.clock.until(desk.execute('tea?', { sessionId: second, history: [] }))
    return recalled()?.length ?? 0
  }
  expect(await turns(own, 'a', 'b')).toBe(0)
  expect(await turns(shared, 'a', 'b')).toBe(1)
  expect(await turns(byUser, 'a1', 'b1')).toBe(0)
  expect(await turns(byUser, 'a2', 'a3')).toBeGreaterThan(0)
})

test('[WL-075, WL-023] without a memory all is as if there were no such thing', async () => {
  const without = remembering({ memory: undefined })
  await using kit = await aLadder(without.desk)
  for (const input of ['tea', 'tea']) await kit.clock.until(without.desk.execute(input, { sessionId: 's', history: [] }))
  expect(without.seen.every(({ context }) => Object.keys(context).length === 0)).toBe(true)
  expect(without.desk.signature).toBe(remembering().desk.signature)
})

test('[WL-071, WL-079] a memory that fails is a warning in the report, and one that cannot work is refused', async () => {
  const failing = {
    recall: () => Promise.reject(new Error('no vectors')),
    remember: () => Promise.reject(new Error('no vectors')),
    clear: async () => undefined,
  }
  const { desk } = remembering({ memory: failing })
  await using kit = await aLadder(desk)
  const { error, report } = await kit.clock.until(desk.execute('tea', { sessionId: 's', history: [] }))
  expect(error).toBeUndefined()
  expect(report.warnings).toEqual([expect.stringContaining('recalled'), expect.stringContaining('remembered')])
  expect(() => remembering({ memory: {} })).toThrow(expect.objectContaining({ code: 'MEMORY_CONFIG' }))
})

test('[WL-071, WL-004] a memory that gives no answer is a warning after half a minute, and told to stop', async () => {
  const told: unknown[] = []
  const silent = (_: string, { signal }: { signal?: AbortSignal } = {}) => {
    signal?.addEventListener('abort', () => told.push(signal.reason))
    return new Promise<never>(() => undefined)
  }
  const { desk } = remembering({ memory: { recall: silent, remember: silent, clear: async () => undefined } })
  await using kit = await aLadder(desk)
  const { error, data, report } = await kit.clock.until(desk.execute('tea', { sessionId: 's', history: [] }))
  expect(error).toBeUndefined()
  expect(data).toMatchObject({ said: 'about tea' })
  const wanted = ['nothing could be recalled: recall() has given', 'nothing could be remembered: remember() has given']
  expect(report.warnings).toEqual(wanted.map((text) => expect.stringContaining(`${text} no answer for 30 seconds`)))
  expect(report.duration).toBeGreaterThanOrEqual(60_000)
  expect(told).toHaveLength(2)
  expect(await kit.runtime.replay({ kind: 'desk', id: 's' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-071, WL-083] killed at any commit, a turn sees what was recalled when it began, and is remembered once', async () => {
  let commit = 1
  for (; ; commit++) {
    const { desk, recalled, store } = remembering()
    await using kit = await aLadder(desk)
    await kit.clock.until(desk.execute('tea', { sessionId: 's', history: [] }))
    const result = await killedAt(kit, () => desk.execute('tea?', { sessionId: 's', history: [], requestId: 'r' }), commit)
    if (!result) break
    expect(recalled('evaluate'), `killed at commit ${commit}`).toHaveLength(1)
    expect(await store.recall('tea', { scope: 'session:s' }), `killed at commit ${commit}`).toHaveLength(2)
  }
  expect(commit).toBeGreaterThan(6)
})
