/** Runs that code of an intent or of a step calls. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../src/index.ts'
import { tool } from '../../src/index.ts'
import { agent, batch, END, type Executable, type LadderEvent, ladder, planner, type Report, supervisor, workflow } from '../../src/ladder/index.ts'
import { aLadder, aLadderOf, killedAt, timeless } from './a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''
const once =
  <Name extends string>(name: Name) =>
  ({ iteration }: { iteration: number }) =>
    iteration === 0 ? name : END
/** `type name(status)` of each node, as deep as it stands. */
const drawn = (report: Report, depth = 0): string[] => [
  `${'  '.repeat(depth)}${report.type} ${report.name} ${report.usage.total}`,
  ...report.children.flatMap((child) => drawn(child, depth + 1)),
]
const all = (node: Report): Report[] => [node, ...node.children.flatMap(all)]

const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => 'bees' })
const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer', tools: [look] })
const answer = (request: ModelRequest) => {
  const isLooked = request.messages.some(({ role }) => role === 'tool')
  return isLooked || !last(request).startsWith('look')
    ? { text: `written: ${last(request)}`, usage }
    : { calls: [{ name: 'look', input: {} }], usage }
}

test('[WL-008, WL-100] what an intent calls stands below it once, with its tools and its usage: by name, by run, or simply executed', async () => {
  const desk = supervisor({
    name: 'desk',
    state: { texts: [] as (string | undefined)[] },
    intents: {
      write: async ({ run }) => {
        const explicit = await run(writer, 'look first')
        expectTypeOf(explicit.data).toEqualTypeOf<string | undefined>()
        const [ambient, streamed] = await Promise.all([writer.execute('second'), writer.stream('third').result])
        return { texts: [explicit.data, ambient.data, streamed.data] }
      },
      quiet: () => undefined,
    },
    route: once('write'),
  })
  await using kit = await aLadderOf({ 'test/writer': answer }, desk, writer)
  const { data, report, usage: used, error } = await kit.clock.until(desk.execute('go', { runId: 'r' }))
  expect(error).toBeUndefined()
  expect(data).toEqual({ texts: ['written: look first', 'written: second', 'written: third'] })
  expect(drawn(report)).toEqual([
    'supervisor desk 40',
    '  callback write 40',
    '    agent writer 20',
    '      tool look 0',
    '    agent writer 10',
    '    agent writer 10',
  ])
  expect(used.total).toBe(40)
  for (const node of all(report)) expect(node.rootRunId).toBe('r')
  expect(new Set(all(report).map(({ runId }) => runId)).size).toBe(6)
  expect(report.children[0]?.children[0]?.parentRunId).toBe(report.children[0]?.runId)
  expect(await kit.runtime.replay({ kind: 'desk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-008] what a step calls stands below it, that of an attempt that failed too; with a runId of its own it is a run of its own', async () => {
  let attempts = 0
  const flow = workflow({
    name: 'flow',
    steps: [
      {
        name: 'write',
        retry: { attempts: 2, backoff: 'none' },
        run: async ({ run }) => {
          const { data } = await run(writer, 'a')
          if (++attempts === 1) throw new Error('not good enough')
          await writer.execute('apart', { runId: 'apart' })
          return data
        },
      },
    ],
  })
  await using kit = await aLadderOf({ 'test/writer': answer }, flow, writer)
  const { data, report } = await kit.clock.until(flow.execute('go', { runId: 'r' }))
  expect(data).toBe('written: a')
  expect(drawn(report)).toEqual(['workflow flow 20', '  step write 20', '    agent writer 10', '    agent writer 10'])
  expect(new Set(all(report).map(({ runId }) => runId)).size).toBe(4)
})

test('[WL-008] what chooses and what evaluates may call too: that stands below the supervisor', async () => {
  const desk = supervisor({
    name: 'desk',
    intents: { a: () => undefined },
    route: async ({ iteration }) => ((await writer.execute(`choice ${iteration}`)).data === 'written: choice 0' ? 'a' : END),
    evaluate: async () => void (await writer.execute('good?')),
  })
  await using kit = await aLadderOf({ 'test/writer': answer }, desk, writer)
  const { report } = await kit.clock.until(desk.execute('go'))
  expect(drawn(report)).toEqual(['supervisor desk 30', '  agent writer 10', '  agent writer 10', '  callback a 0', '  agent writer 10'])
})

test('[WL-100] code dispatches intents by name, and streams them, executables among them which nobody gave to the runtime; their results are its own affair', async () => {
  const desk = supervisor({
    name: 'desk',
    state: { text: '', noted: false },
    intents: {
      lead: async ({ dispatch }) => {
        const { data } = await dispatch('write', 'a poem')
        const noted = await dispatch('note', data)
        const lost = await dispatch('broken')
        expect(lost.error).toMatchObject({ code: 'SUPERVISOR_FAILED', message: expect.stringContaining('no paper') })
        const pieces: unknown[] = []
        for await (const { type, delta } of writer.stream('a song')) if (type === 'agent.trip.streaming') pieces.push(delta)
        expect(pieces.join('')).toBe('written: a song')
        return { text: String(noted.data) }
      },
      write: { agent: writer },
      note: ({ input }) => `${input as string}!` as never,
      broken: () => Promise.reject(new Error('no paper')),
    },
    route: once('lead'),
  })
  await using kit = await aLadderOf({ 'test/writer': answer }, desk)
  const { data, report, error } = await kit.clock.until(desk.execute('go', { runId: 'r' }))
  expect(error).toBeUndefined()
  expect(data).toEqual({ text: 'written: a poem!', noted: false })
  expect(drawn(report)).toEqual([
    'supervisor desk 20',
    '  callback lead 20',
    '    callback write 10',
    '      agent writer 10',
    '    callback note 0',
    '    callback broken 0',
    '    agent writer 10',
  ])
  expect(report.children[0]?.children.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'completed'])
})

test.each(['itself', 'resume', 'inside', 'called', 'other'])(
  '[WL-008, WL-100] code that would wait for a run that waits for it is told so, and does not wait for ever: %s',
  async (how) => {
    const seen: unknown[] = []
    const caught = (wanted: Promise<unknown>) => wanted.catch((error: unknown) => void seen.push(error))
    const inner: Executable<string> = workflow({
      name: 'inner',
      steps: [{ name: 'back', run: () => caught(flow.execute('go', { runId: 'r' })) }],
    })
    const flow: Executable<string> = workflow({
      name: 'flow',
      steps: [
        {
          name: 'all',
          run: async ({ input, run }) => {
            if (how === 'itself') await caught(flow.execute(input, { runId: 'r' }))
            if (how === 'resume') await caught(flow.resume('r'))
            if (how === 'called') await run(inner, input)
            if (how === 'other') await inner.execute('go', { runId: 'other' })
          },
        },
        ...(how === 'inside' ? [{ name: 'held', agent: inner }] : []),
      ],
    })
    await using kit = await aLadder(flow, inner)
    expect(await kit.clock.until(flow.execute('go', { runId: 'r' }))).toMatchObject({ report: { status: 'completed' } })
    expect(seen).toMatchObject([
      { code: 'SUPERVISOR_DISPATCH_CYCLE', message: expect.stringContaining('flow/r'), hint: expect.stringContaining('of its own') },
    ])
  },
)

test('[WL-100] A → B → A is a cycle that says so by its names; branches beside each other may dispatch the same', async () => {
  const seen: unknown[] = []
  const desk = supervisor({
    name: 'desk',
    intents: {
      a: async ({ dispatch }) => void (await dispatch('b')),
      b: async ({ dispatch }) => void (await dispatch('a')),
      c: async ({ dispatch }) => void seen.push((await dispatch('d')).data),
      e: async ({ dispatch }) => void seen.push((await dispatch('d')).data),
      d: () => ({ done: true }),
      // @ts-expect-error: there is no such intent, and the types say so
      lost: async ({ dispatch }) => void (await dispatch('nobody')),
    },
    route: ({ iteration }) => (iteration === 0 ? ['a', 'c', 'e', 'lost'] : END),
  })
  await using kit = await aLadder(desk)
  const { report } = await kit.clock.until(desk.execute('go'))
  expect(report.iterations).toMatchObject([
    {
      branches: {
        a: { status: 'failed', error: { code: 'SUPERVISOR_DISPATCH_CYCLE', context: { chain: ['desk', 'desk.a', 'desk.b', 'desk.a'] } } },
        c: { status: 'completed' },
        e: { status: 'completed' },
        lost: { status: 'failed', error: { code: 'SUPERVISOR_INVALID_ROUTE' } },
      },
    },
  ])
  expect(seen).toEqual([{ done: true }, { done: true }])
})

test('[WL-100] executables that call each other through code are a cycle too, and a run of another branch is none', async () => {
  const one = supervisor({
    name: 'one',
    intents: {
      a: async ({ run }) => {
        const { report, error } = await run(two, 'x')
        if (error) throw error
        return { status: report.children[0]?.error?.code, chain: report.children[0]?.error?.context.chain }
      },
    },
    route: once('a'),
  })
  const two: ReturnType<typeof workflow> = workflow({
    name: 'two',
    steps: [
      {
        name: 'back',
        run: async () => {
          const { error } = await one.execute('again')
          if (error) throw error
        },
        onFailure: () => ({ end: true }),
      },
    ],
  })
  await using kit = await aLadder(one, two)
  expect((await kit.clock.until(one.execute('go'))).data).toEqual({
    status: 'SUPERVISOR_DISPATCH_CYCLE',
    chain: ['one', 'one.a', 'two', 'two.back', 'one'],
  })
})

test('[WL-004, WL-100] a workflow whose code executes it again is told what it may do, which needs no supervisor', async () => {
  const again: ReturnType<typeof workflow> = workflow({
    name: 'again',
    steps: [{ name: 'all', run: async () => (await again.execute(undefined)).data }],
  })
  await using kit = await aLadder(again)
  expect(await kit.clock.until(again.execute(undefined))).toMatchObject({
    error: { code: 'SUPERVISOR_DISPATCH_CYCLE', context: { chain: ['again', 'again.all', 'again'] }, hint: expect.stringContaining('start()') },
  })
})

test('[WL-100] a batch and a planner that code of their own items and steps calls are a cycle too', async () => {
  const refused: unknown[] = []
  let rounds = 0
  const again = (top: () => Executable<string[], unknown>) =>
    workflow({
      name: 'again',
      steps: [
        {
          name: 'call',
          run: async ({ run }) => {
            rounds++
            await run(top(), ['x']).catch(({ code }: { code: string }) => refused.push(code))
          },
        },
      ],
    })
  const items: Executable<string[], unknown> = batch(
    again(() => items),
    { name: 'items' },
  )
  const steps: Executable<string[], unknown> = planner({
    name: 'steps',
    model: 'test/plan',
    input: z.array(z.string()),
    capabilities: { again: { description: 'Again.', use: again(() => steps) } },
  })
  await using kit = await aLadderOf({ 'test/plan': () => ({ text: '{"steps":[{"id":"a","capability":"again"}]}' }) }, items, steps)
  // Whoever began it has not been called by code: so it is noticed in the second round.
  for (const top of [items, steps]) await kit.clock.until(top.execute(['x']))
  expect(rounds).toBe(4)
  expect(refused).toEqual(['SUPERVISOR_DISPATCH_CYCLE', 'SUPERVISOR_DISPATCH_CYCLE'])
})

test('[WL-008, WL-102] a run that is cancelled cancels what its code has called; what it tells is heard above', async () => {
  const leave = new AbortController()
  const events: LadderEvent[] = []
  const slow = workflow({ name: 'slow', steps: [{ name: 'sleeps', sleep: 1_000_000 }] })
  const desk = supervisor({ name: 'desk', intents: { a: async ({ run }) => void (await run(slow, 'x')) }, route: once('a') })
  await using kit = await aLadder(desk, slow)
  const hear = (event: LadderEvent) => {
    events.push(event)
    if (event.type === 'workflow.step.starting') leave.abort('enough')
  }
  expect(await kit.clock.until(desk.execute('go', { runId: 'r', signal: leave.signal, on: { '*': hear } }))).toMatchObject({
    error: { code: 'SUPERVISOR_CANCELLED' },
    report: { children: [{ type: 'callback', name: 'a', status: 'cancelled', children: [{ name: 'slow', status: 'cancelled' }] }] },
  })
  const called = events.find(({ type }) => type === 'workflow.starting')
  expect(called).toMatchObject({ rootRunId: 'r' })
  const { context } = await kit.clock.until(kit.runtime.actor('slow', called?.runId ?? '').waitFor(({ status }) => status === 'done'))
  expect(context).toMatchObject({ error: { code: 'WORKFLOW_CANCELLED' } })
})

test('[WL-008] what is called while a runtime shuts down goes on with the run in the next one', async () => {
  const release = Promise.withResolvers<void>()
  const asked: string[] = []
  const desk = supervisor({ name: 'desk', intents: { a: async ({ run }) => ({ text: (await run(writer, 'x')).data }) }, route: once('a') })
  const model = async (request: ModelRequest) => {
    asked.push(last(request))
    if (asked.length === 1) release.resolve()
    return asked.length === 1 ? new Promise<never>(() => undefined) : { text: 'later', usage }
  }
  await using kit = await aLadderOf({ 'test/writer': model }, desk, writer)
  const first = desk.execute('go', { runId: 'r' })
  first.catch(() => undefined)
  await kit.clock.until(release.promise)
  await kit.restart()
  expect(await kit.clock.until(desk.execute('go', { runId: 'r' }))).toMatchObject({ data: { text: 'later' } })
  expect(asked).toEqual(['x', 'x'])
})

test('[WL-008] an executable that no runtime has cannot be called, and says what to do', async () => {
  const nobody = workflow({ name: 'nobody', steps: [{ name: 'a', run: () => 1 }] })
  const desk = supervisor({ name: 'desk', intents: { a: async ({ run }) => void (await run(nobody, 'x')) }, route: once('a') })
  await using kit = await aLadder(desk)
  expect((await kit.clock.until(desk.execute('go'))).report.iterations).toMatchObject([
    { branches: { a: { error: { code: 'LADDER_CONFIG', hint: expect.stringContaining('ladder(') } } } },
  ])
  const other = workflow({ name: 'writer', steps: [{ name: 'a', run: () => 1 }] })
  const dispatching = supervisor({ name: 'sends', intents: { write: writer, a: () => undefined }, route: once('a') })
  expect(() => ladder({ executables: [dispatching, other] })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
})

const asked = (did: string[]) =>
  tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ sum: z.number().max(100) }),
    approval: true,
    onCrash: 'retry',
    execute: ({ sum }) => (did.push(`paid ${sum}`), `paid ${sum}`),
  })
const paying = ({ messages }: ModelRequest) =>
  messages.some(({ role }) => role === 'tool') ? { text: 'done', usage } : { calls: [{ name: 'pay', input: { sum: 5 } }], usage }

/** Code of an intent calls a clerk whose tool a person has to agree to; the whole runs inside of the step of a workflow. */
const anOffice = (intent: 'a' | 'one') => {
  const did: string[] = []
  const clerk = agent({ name: 'clerk', description: 'Pays.', model: 'test/clerk', tools: [asked(did)] })
  const desk = supervisor({
    name: 'desk',
    state: { texts: [] as unknown[] },
    intents: {
      a: async ({ run, dispatch }) => ({ texts: [(await run(clerk, 'one')).data, (await dispatch('b', 'two')).data] }),
      b: clerk,
      one: async ({ run }) => ({ texts: [(await run(clerk, 'one')).data] }),
    },
    route: once(intent),
  })
  const office = workflow({ name: 'office', steps: [{ name: 'ask', agent: desk }] })
  return { did, clerk, desk, office }
}

test('[WL-008, WL-129] a person sees and decides at the root what waits in runs that code has called, at any depth', async () => {
  const { did, clerk, office } = anOffice('a')
  await using kit = await aLadderOf({ 'test/clerk': paying }, office, clerk)
  const requests: LadderEvent[] = []
  let next = Promise.withResolvers<void>()
  const on = { 'agent.approval.requested': (event: LadderEvent) => (requests.push(event), next.resolve()) }
  const run = office.execute('go', { runId: 'r', on })
  await kit.clock.until(next.promise)
  next = Promise.withResolvers()
  const [first, ...others] = await kit.clock.until(office.pending('r'))
  expect(others).toEqual([])
  expect(first).toMatchObject({ name: 'pay', input: { sum: 5 }, callId: requests[0]?.callId })
  const { callId = '' } = first ?? {}
  const decide = (given: object) => kit.clock.until(office.decide('r', { callId, ...given } as never))
  await expect(decide({ decision: 'edit', input: { sum: 1000 } })).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED' })
  await expect(decide({ decision: 'approve', callId: 'x' })).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
  await decide({ decision: 'edit', input: { sum: 3 }, by: 'ann' })
  await kit.clock.until(next.promise)
  await expect(decide({ decision: 'deny' })).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
  const [second] = await kit.clock.until(office.pending('r'))
  expect(second?.callId).not.toBe(callId)
  await decide({ callId: second?.callId, decision: 'approve' })
  const { data, error } = await kit.clock.until(run)
  expect(error).toBeUndefined()
  expect(data).toEqual({ texts: ['done', 'done'] })
  expect(did).toEqual(['paid 3', 'paid 5'])
  expect(await kit.clock.until(office.pending('r'))).toEqual([])
  const { context } = await kit.runtime.actor('office', 'r').snapshot()
  expect(context).toMatchObject({ waiting: [] })
  expect(await kit.runtime.replay({ kind: 'office', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-008, WL-129] killed at any commit, what waits in a called run is seen and decided at the root', async () => {
  const made = () => {
    const all = anOffice('one')
    return {
      ...all,
      /** What a run has said before anybody listens again is in no event: so it is looked at. */
      execute: async (clock: { setTimeout(work: () => void, ms: number): unknown }) => {
        let isOver = false
        const deciding = async (): Promise<void> => {
          for (const { callId } of await all.office.pending('r').catch(() => []))
            await all.office.decide('r', { callId, decision: 'approve' }).catch(() => undefined)
          if (!isOver) clock.setTimeout(() => void deciding(), 1_000)
        }
        const run = all.office.execute('go', { runId: 'r' })
        void deciding()
        return run.finally(() => {
          isOver = true
        })
      },
    }
  }
  const whole = made()
  await using kit = await aLadderOf({ 'test/clerk': paying }, whole.office, whole.clerk)
  const expected = await kit.clock.until(whole.execute(kit.clock))
  expect(expected.data).toEqual({ texts: ['done'] })
  let died = 0
  for (let commit = 1; ; commit++) {
    const other = made()
    await using doomed = await aLadderOf({ 'test/clerk': paying }, other.office, other.clerk)
    const result = await killedAt(doomed, () => other.execute(doomed.clock), commit)
    if (!result) break
    died++
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(expected))
  }
  expect(died).toBeGreaterThan(10)
})

test('[WL-008, WL-102, WL-115] killed at any commit before or after it was cancelled, a run ends when what its code has called has, and counts what that used', async () => {
  const made = () => {
    const flow = workflow({
      name: 'flow',
      steps: [
        {
          name: 'both',
          parallel: [
            { name: 'one', run: ({ run }) => run(writer, 'one') },
            { name: 'two', run: ({ run }) => run(writer, 'two') },
          ],
        },
        { name: 'after', run: () => 'never' },
      ],
    })
    const execute = () => {
      const leave = new AbortController()
      const heard = new Set<string>()
      const on = { 'agent.trip.streaming': ({ runId }: LadderEvent) => heard.add(runId).size === 2 && leave.abort('enough') }
      return flow.execute('go', { runId: 'r', signal: leave.signal, on })
    }
    return { flow, execute, models: { 'test/writer': () => ({ chunks: ['a', 'b', 'c'], deltaDelayMs: 10_000, usage }) } }
  }
  const { flow, execute, models } = made()
  await using kit = await aLadderOf(models, flow, writer)
  const whole = await kit.clock.until(execute())
  expect(whole).toMatchObject({ error: { code: 'WORKFLOW_CANCELLED', context: { reason: 'enough' } }, usage: { total: 20 } })
  expect(drawn(whole.report).slice(0, 2)).toEqual(['workflow flow 20', '  step both 20'])
  const writers = all(whole.report).filter(({ type }) => type === 'agent')
  expect(writers.map(({ status, parentRunId }) => [status, parentRunId])).toEqual([
    ['cancelled', 'r/one'],
    ['cancelled', 'r/two'],
  ])
  let died = 0
  for (let commit = 1; ; commit++) {
    const other = made()
    await using doomed = await aLadderOf(other.models, other.flow, writer)
    const result = await killedAt(doomed, other.execute, commit)
    if (!result) break
    died++
    expect(result, `killed at commit ${commit}`).toMatchObject({ error: { code: 'WORKFLOW_CANCELLED' } })
    // What a model had used that died before it told is not known to anybody.
    expect(result.usage.total, `killed at commit ${commit}`).toBeOneOf([20, 10, 0])
    const { actors } = await doomed.clock.until(doomed.runtime.command<{ actors: { id: string }[] }>('actors.list', { kind: 'writer' }))
    expect(actors, `killed at commit ${commit}`).toHaveLength(2)
    for (const { id } of actors)
      expect((await doomed.runtime.actor('writer', id).snapshot()).status, `killed at commit ${commit}: ${id}`).toBe('done')
    expect(await doomed.runtime.replay({ kind: 'flow', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
  expect(died).toBeGreaterThan(6)
})

const planning = (use: () => unknown, onStep?: () => Promise<undefined>) =>
  planner({ name: 'plan', model: 'test/plan', capabilities: { write: { use, description: 'Writes.' } }, ...(onStep && { onStep }) })
const aPlan = { steps: [{ id: 's1', capability: 'write', input: {} }] }

test('[WL-008] what code of a capability calls, and what says how it goes on, stands below the step, with its usage', async () => {
  const plan = planning(
    async () => (await writer.execute('a')).data,
    async () => void (await writer.execute('good?')),
  )
  await using kit = await aLadderOf({ 'test/writer': answer, 'test/plan': [{ text: JSON.stringify(aPlan), usage }] }, plan, writer)
  const { data, report, usage: used } = await kit.clock.until(plan.execute('go', { runId: 'r' }))
  expect(data).toEqual({ s1: 'written: a' })
  expect(drawn(report).slice(-3)).toEqual(['  step s1 20', '    agent writer 10', '    agent writer 10'])
  expect(used.total).toBe(30)
  for (const node of all(report)) expect(node.rootRunId).toBe('r')
  expect(await kit.runtime.replay({ kind: 'plan', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-008] killed at any commit, code of a capability calls once and comes to the same report', async () => {
  const models = { 'test/writer': answer, 'test/plan': [{ text: JSON.stringify(aPlan), usage }] }
  const make = () => planning(async () => (await writer.execute('a')).data)
  const whole = make()
  await using kit = await aLadderOf(models, whole, writer)
  const calm = await kit.clock.until(whole.execute('go', { runId: 'r' }))
  expect(calm.usage.total).toBe(20)
  let commit = 1
  for (; ; commit++) {
    const life = make()
    await using doomed = await aLadderOf({ ...models, 'test/plan': () => ({ text: JSON.stringify(aPlan), usage }) }, life, writer)
    const result = await killedAt(doomed, () => life.execute('go', { runId: 'r' }), commit)
    if (!result) break
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(calm))
  }
  expect(commit).toBeGreaterThan(8)
})

test('[WL-008] a planner that is cancelled while code of a capability calls has what that had used, and what waits there is asked of it', async () => {
  const asks = tool({ name: 'asks', description: 'Asks.', input: z.object({}), onCrash: 'retry', approval: true, execute: () => 'yes' })
  const asker = agent({ name: 'asker', description: 'Asks.', model: 'test/asker', tools: [asks] })
  const plan = planning(async () => (await asker.execute('a')).data)
  await using kit = await aLadderOf(
    { 'test/asker': [{ calls: [{ name: 'asks', input: {} }], usage }], 'test/plan': [{ text: JSON.stringify(aPlan), usage }] },
    plan,
    asker,
  )
  const asked = Promise.withResolvers<void>()
  const run = plan.execute('go', { runId: 'r', on: { 'agent.approval.requested': () => asked.resolve() } })
  await kit.clock.until(asked.promise)
  expect(await kit.clock.until(plan.pending('r'))).toMatchObject([{ name: 'asks' }])
  await kit.clock.until(plan.cancel('r'))
  const { error, report, usage: used } = await kit.clock.until(run)
  expect(error).toMatchObject({ code: 'PLANNER_CANCELLED' })
  expect(drawn(report).slice(-3)).toEqual(['  step s1 10', '    agent asker 10', '      tool asks 0'])
  expect(used.total).toBe(20)
})
