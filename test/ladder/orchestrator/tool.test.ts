/** Orchestrators as tools of agents. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, type LadderEvent, memoryStore, orchestrator, type SessionToolOptions, workflow } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const inputSchema = z.object({ text: z.string() })
type State = { n: number; text?: string }
const state: State = { n: 0 }
type Asked = { input: unknown; state: unknown; history: readonly unknown[]; context: Readonly<Record<string, unknown>>; signal: AbortSignal }

const nested = (options: Partial<SessionToolOptions> = {}, work?: (code: Asked) => unknown) => {
  const store = memoryStore()
  const seen: Asked[] = []
  const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer', input: inputSchema })
  const desk = orchestrator({
    name: 'desk',
    description: 'Answers.',
    checkpointStore: store,
    state,
    intents: {
      write: { agent: writer, output: z.string().transform((text) => ({ text })) },
      count: (code) => {
        seen.push(code)
        return work?.(code) ?? { n: (code.state as { n: number }).n + 1 }
      },
    },
    route: () => ['write', 'count'] as never,
  })
  const boss = agent({ name: 'boss', model: 'test/boss', tools: [desk.asTool({ name: 'ask_desk', inputSchema, ...options })] })
  return { desk, boss, store, seen }
}
const told: string[] = []
const models = (calls: readonly object[], name = 'ask_desk') => ({
  'test/writer': () => ({ text: 'written', usage }),
  'test/boss': ({ messages }: ModelRequest) => {
    const input = calls[messages.filter(({ role }) => role === 'assistant').length]
    if (input) return { calls: [{ name, input }], usage }
    told.push(JSON.stringify(messages.at(-1)))
    return { text: 'well', usage }
  },
})

test('[WL-066, WL-067] a call is one turn of a new session, whose report hangs below the call and whose data the model reads', async () => {
  const { desk, boss, store, seen } = nested()
  await using kit = await aLadderOf(models([{ text: 'a' }, { text: 'b' }]), desk, boss)
  const { data, error, report, usage: used } = await kit.clock.until(boss.execute('go', { runId: 'r' }))
  expect(error).toBeUndefined()
  expect(data).toBe('well')
  expect(told.pop()).toContain('written')
  expect(report.children).toMatchObject(
    [1, 2].map((call) => ({
      type: 'tool',
      name: 'ask_desk',
      status: 'completed',
      children: [
        {
          type: 'orchestrator',
          name: 'desk',
          sessionId: `r/tool-${call}/1`,
          turnIndex: 0,
          parentRunId: `r/tool-${call}`,
          children: [{ type: 'supervisor', children: [{ type: 'agent', name: 'writer' }, { type: 'callback' }] }],
        },
      ],
    })),
  )
  expect(seen.map(({ history }) => history)).toEqual([[], []])
  expect(used.total).toBe(50)
  type Node = { rootRunId: string; children: Node[] }
  const all = (node: Node): Node[] => [node, ...node.children.flatMap(all)]
  expect(new Set(all(report).map(({ rootRunId }) => rootRunId))).toEqual(new Set(['r']))
  expect((await store.list?.('desk'))?.toSorted()).toEqual(['r/tool-1/1', 'r/tool-2/1'])
  expect(await kit.runtime.replay({ kind: 'boss', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-068] a session that its developer bound is joined, whatever the payload says', async () => {
  const { desk, boss, store, seen } = nested({ sessionScope: { shared: 'ours' }, inputSchema: z.looseObject({ text: z.string() }) })
  await using kit = await aLadderOf(
    models([{ text: 'a', sessionId: 'theirs', history: [{ role: 'user', content: 'x' }] }, { text: 'b' }]),
    desk,
    boss,
  )
  await kit.clock.until(boss.execute('go'))
  expect(await store.list?.('desk')).toEqual(['ours'])
  expect(seen.map(({ input, history }) => [input, history])).toEqual([
    [{ text: 'a' }, []],
    [{ text: 'b' }, []],
  ])
  expect(await store.rows('desk', 'ours')).toMatchObject([{ state: { n: 1 } }, { state: { n: 2 } }])
})

test('[WL-068, WL-069] a resolver reads what the caller of the outer run brought along, and nothing of that reaches the turn; an empty id fails the call', async () => {
  const { desk, boss, store, seen } = nested({
    sessionScope: { shared: ({ user }) => ({ sessionId: user as string, history: [{ role: 'user', content: 'before' }] }) },
  })
  await using kit = await aLadderOf(models([{ text: 'a' }]), desk, boss)
  const events: LadderEvent[] = []
  await kit.clock.until(boss.execute('go', { context: { user: 'ann' }, on: { '*': (event) => void events.push(event) } }))
  expect(await store.list?.('desk')).toEqual(['ann'])
  expect(seen[0]).toMatchObject({ context: {}, history: [{ role: 'user', content: 'before' }] })
  expect(events.filter(({ type, agent: by }) => /^(?:orchestrator|supervisor)\./.test(type) || by === 'writer')).toEqual([])
  expect(events.length).toBeGreaterThan(0)
})

test('[WL-068, WL-070] a call without a session is an error that the model reads', async () => {
  const { desk, boss, store } = nested({ sessionScope: { shared: () => '' } })
  await using kit = await aLadderOf(models([{ text: 'a' }]), desk, boss)
  const { data, report } = await kit.clock.until(boss.execute('go'))
  expect(data).toBe('well')
  expect(told.pop()).toContain('joins no session')
  expect(report.children).toMatchObject([{ status: 'failed', error: { code: 'TOOL_EXEC_FAILED' } }])
  expect(await store.list?.('desk')).toEqual([])
})

test('[WL-066, WL-068] without a schema, or without a binding, it is refused when it is written', () => {
  const { desk } = nested()
  for (const options of [
    {},
    { inputSchema, sessionScope: 'shared' },
    { inputSchema, sessionScope: { shared: '' } },
    { inputSchema, sessionScope: {} },
  ])
    expect(() => desk.asTool(options as never)).toThrow(expect.objectContaining({ code: 'ORCHESTRATOR_CONFIG' }))
})

test('[WL-066] it is called as its orchestrator and described in general unless more is said; a payload that does not fit makes no turn', async () => {
  const store = memoryStore()
  const desk = orchestrator({ name: 'desk', checkpointStore: store, intents: { a: () => undefined }, route: () => 'a' as const })
  const asked = desk.asTool({ inputSchema })
  expect(asked).toMatchObject({ name: 'desk', description: expect.stringContaining('desk') })
  const boss = agent({ name: 'boss', model: 'test/boss', tools: [asked] })
  await using kit = await aLadderOf(models([{ text: 5 }], 'desk'), desk, boss)
  const { report } = await kit.clock.until(boss.execute('go'))
  expect(report.children).toMatchObject([{ name: 'desk', status: 'failed', error: { code: 'TOOL_EXEC_FAILED' }, children: [] }])
  expect(told.pop()).toContain('does not fit')
  expect(await store.list?.('desk')).toEqual([])
})

test('[WL-068] only where that is allowed as unsafe, a model says which session, and what was said before', async () => {
  const { desk, boss, store, seen } = nested({ sessionScope: { unsafeAllowModelSessionId: true } })
  const history = [{ role: 'user', content: 'before' }]
  await using kit = await aLadderOf(models([{ text: 'a', sessionId: 'theirs', history }]), desk, boss)
  await kit.clock.until(boss.execute('go'))
  expect(await store.list?.('desk')).toEqual(['theirs'])
  expect(seen[0]).toMatchObject({ input: { text: 'a' }, history })
  expect(seen[0]?.input).not.toHaveProperty('history')
})

test('[WL-069] the outer run is cancelled: so is the turn, and it writes no row', async () => {
  const begun = Promise.withResolvers<void>()
  const { desk, boss, store } = nested({}, () => (begun.resolve(), new Promise(() => undefined)))
  await using kit = await aLadderOf(models([{ text: 'a' }]), desk, boss)
  const leave = new AbortController()
  const cut = boss.execute('go', { runId: 'r', signal: leave.signal })
  await kit.clock.until(begun.promise)
  leave.abort('enough')
  expect(await kit.clock.until(cut)).toMatchObject({ error: { code: 'AGENT_CANCELLED' } })
  const session = await kit.clock.until(kit.runtime.actor('desk', 'r/tool-1/1').waitFor((at) => at.matches('awaiting-input')))
  expect(session.context).toMatchObject({ answers: [{ status: 'cancelled', error: { code: 'SUPERVISOR_CANCELLED' } }] })
  expect(await store.list?.('desk')).toEqual([])
})

test('[WL-070] a turn that fails is an error of the tool, and the outer model goes on', async () => {
  const { desk, boss } = nested({}, () => undefined)
  await using kit = await aLadderOf(
    { ...models([{ text: 'a' }]), 'test/writer': () => ({ text: '', finish: 'content-filter', usage }) } as never,
    desk,
    boss,
  )
  const { data } = await kit.clock.until(boss.execute('go'))
  expect(data).toBe('well')
  const failing = orchestrator({
    name: 'failing',
    checkpointStore: memoryStore(),
    intents: { a: () => Promise.reject(new Error('no ink')) },
    route: () => 'a' as const,
  })
  const chief = agent({ name: 'chief', model: 'test/boss', tools: [failing.asTool({ inputSchema })] })
  await using other = await aLadderOf(models([{ text: 'a' }], 'failing'), failing, chief)
  const { report } = await other.clock.until(chief.execute('go'))
  expect(report.children).toMatchObject([
    {
      name: 'failing',
      status: 'failed',
      error: { code: 'TOOL_EXEC_FAILED', cause: "the intent 'a' failed: no ink" },
      children: [{ type: 'orchestrator', error: { code: 'SUPERVISOR_FAILED' } }],
    },
  ])
  expect(told.pop()).toContain('no ink')
})

test('[WL-066, WL-083] killed at any commit, a call makes its turn once and the outer run comes to the same report', async () => {
  const { desk, boss } = nested()
  await using kit = await aLadderOf(models([{ text: 'a' }]), desk, boss)
  const whole = await kit.clock.until(boss.execute('go', { runId: 'r' }))
  let commit = 1
  for (; ; commit++) {
    const life = nested()
    await using doomed = await aLadderOf(models([{ text: 'a' }]), life.desk, life.boss)
    const result = await killedAt(doomed, () => life.boss.execute('go', { runId: 'r' }), commit)
    if (!result) break
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(await life.store.rows('desk', 'r/tool-1/1'), `killed at commit ${commit}`).toMatchObject([{ turn_index: 0, state: { n: 1 } }])
  }
  expect(commit).toBeGreaterThan(12)
})

test.each(['a tool', 'code'])(
  '[WL-067, WL-083] what waits for a person in a turn that %s wants is asked of the outer run, and decided there',
  async (who) => {
    const sent: string[] = []
    const mail = tool({
      name: 'mail',
      description: 'Sends.',
      input: z.object({ to: z.string() }),
      onCrash: 'retry',
      approval: true,
      execute: ({ to }) => (sent.push(to), 'sent'),
    })
    const clerk = agent({ name: 'clerk', description: 'Writes mail.', model: 'test/clerk', tools: [mail] })
    const desk = orchestrator({ name: 'desk', description: 'Answers.', intents: { mail: { agent: clerk } }, route: () => 'mail' as const })
    const boss = agent({ name: 'boss', model: 'test/boss', tools: [desk.asTool({ name: 'ask_desk', inputSchema })] })
    const flow = workflow({
      name: 'flow',
      steps: [
        who === 'code' ? { name: 'ask', run: () => desk.execute('a', { sessionId: 's', history: [] }) } : { name: 'ask', agent: boss },
      ] as never,
    })
    const clerks = ({ messages }: ModelRequest) =>
      messages.some(({ role }) => role === 'tool') ? { text: 'done', usage } : { calls: [{ name: 'mail', input: { to: 'ann' } }], usage }
    await using kit = await aLadderOf({ ...models([{ text: 'a' }]), 'test/clerk': clerks }, desk, flow)
    const run = flow.execute('go', { runId: 'r' })
    const waiting = async (): Promise<string> => {
      for (;;) {
        const [one] = await flow.pending('r').catch(() => [])
        if (one) return one.callId
        await kit.clock.settle()
      }
    }
    const callId = await waiting()
    expect(sent).toEqual([])
    await kit.clock.until(flow.decide('r', { callId, decision: 'approve' }))
    expect(await kit.clock.until(run)).toMatchObject({ report: { status: 'completed' } })
    expect(sent).toEqual(['ann'])
    expect(await kit.clock.until(flow.pending('r'))).toEqual([])
  },
)
