/** Nested supervisors, and those that have changed while a run of them was under way. Those that are killed: ../survival/. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../../src/index.ts'
import { agent, END, ladder, supervisor, workflow } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''

const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })

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
      'test/writer': (request: ModelRequest) => ({ text: `written: ${last(request)}`, usage }),
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
    for (const { parentRunId } of node.children) expect(parentRunId).toBe(node.runId)
    expect(node.usage.total, node.runId).toBe(own + node.children.reduce((sum, child) => sum + child.usage.total, 0))
  }
  expect(await kit.runtime.replay({ kind: 'chief', id: 'r' })).toMatchObject({ verdict: 'identical' })
})
