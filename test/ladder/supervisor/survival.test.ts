/** Supervisors that are killed, nested ones, and those that have changed while a run of them was under way. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../../src/index.ts'
import { agent, END, ladder, router, supervisor, workflow } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''

const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
const desk = supervisor({
  name: 'desk',
  state: { parts: 0, reviewed: false },
  intents: {
    one: { agent: writer, output: z.object({ parts: z.number() }).catch({ parts: 1 }), description: 'Writes one part.' },
    two: { agent: writer, input: () => 'the second part', description: 'Writes the other.' },
    review: { run: () => ({ reviewed: true }), description: 'Reviews.' },
  },
  router: router({ intents: ['one', 'two', 'review'], model: 'test/router' }),
})
const models = (paid: string[]) => ({
  'test/writer': (request: ModelRequest) => (paid.push('writer'), { text: `written: ${last(request)}`, usage }),
  'test/router': (request: ModelRequest) => {
    paid.push('router')
    const place = /iteration (\d+)/.exec(last(request))?.[1]
    return { text: JSON.stringify({ next: { 1: ['one', 'two'], 2: 'review' }[place ?? ''] ?? END }), usage }
  },
})

test('[WL-101] killed at any commit it comes to the same report, and no answer that was written down is paid twice', async () => {
  const once: string[] = []
  await using kit = await aLadderOf(models(once), desk)
  const whole = await kit.clock.until(desk.execute('a paper', { runId: 'r' }))
  const { seq } = await kit.runtime.actor('desk', 'r').snapshot()
  expect(whole).toMatchObject({ data: { parts: 1, reviewed: true }, usage: { total: 50 }, report: { terminatedBy: 'router' } })
  expect(once).toHaveLength(5)
  for (let commit = 1; commit <= seq; commit++) {
    const paid: string[] = []
    await using doomed = await aLadderOf(models(paid), desk)
    const result = await killedAt(doomed, () => desk.execute('a paper', { runId: 'r' }), commit)
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    // Two may have been asked at once.
    expect(paid.length, `killed at commit ${commit}: ${paid.join()}`).toBeLessThanOrEqual(once.length + 2)
    expect(await doomed.runtime.replay({ kind: 'desk', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})

test('[WL-101] a run that other intents have begun is refused before anything runs', async () => {
  const made = (...names: string[]) => {
    const intents = Object.fromEntries(names.map((name) => [name, () => undefined]))
    return supervisor({ name: 'desk', intents, route: () => Promise.reject(new Error('stop')) })
  }
  const before = made('a', 'b')
  await using kit = await aLadder(before)
  await kit.clock.until(before.execute(undefined, { runId: 'r' }))
  const after = made('a', 'c')
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  await expect(kit.clock.until(after.resume('r'))).rejects.toMatchObject({ code: 'SUPERVISOR_DRIFT', category: 'drift' })
})

test('[WL-001, WL-005, WL-121] an agent in a supervisor in a workflow in an agent: one journal, one tree, each with its own state', async () => {
  const inner = supervisor({
    name: 'inner',
    description: 'Writes a part.',
    state: { tries: 0, text: '' },
    intents: {
      write: { agent: writer, output: z.string().transform((text) => ({ text })) },
      count: ({ state }) => ({ tries: state.tries + 1 }),
    },
    initialAgent: 'count',
    route: ({ iteration }) => (['write', 'count'] as const)[iteration - 1] ?? END,
  })
  const flow = workflow({
    name: 'flow',
    description: 'Writes.',
    state: { n: 5 },
    steps: [{ name: 'part', agent: inner, input: ({ state }) => `part ${++state.n}` }],
  })
  const chief = agent({ name: 'chief', model: 'test/chief', tools: [flow] })
  await using kit = await aLadderOf(
    {
      ...models([]),
      'test/chief': [
        { calls: [{ name: 'flow', input: { text: 'go' } }], usage },
        { text: 'done', usage },
      ],
    },
    chief,
  )
  const { data, report, usage: used } = await kit.clock.until(chief.execute('go', { runId: 'r' }))
  expect(data).toBe('done')
  expect(used.total).toBe(30)
  const supervised = report.children[0]?.children[0]?.children[0]?.children[0]
  expect(supervised).toMatchObject({
    type: 'supervisor',
    name: 'inner',
    rootRunId: 'r',
    iterations: [{ state: { tries: 1 } }, { state: { tries: 1, text: 'written: part 6' } }, { state: { tries: 2 } }],
    usage: { total: 10 },
  })
  const all = (node: typeof report): (typeof report)[] => [node, ...node.children.flatMap(all)]
  expect(new Set(all(report).map(({ rootRunId }) => rootRunId))).toEqual(new Set(['r']))
  for (const node of all(report)) {
    const own = node.type === 'agent' ? (node.trips ?? 0) * 10 : 0
    expect(node.usage.total, node.runId).toBe(own + node.children.reduce((sum, child) => sum + child.usage.total, 0))
  }
  expect(await kit.runtime.replay({ kind: 'chief', id: 'r' })).toMatchObject({ verdict: 'identical' })
})
