/** What a caller brings along reaches the code of all that runs inside. */
import { expect, test } from 'vitest'
import { agent, batch, memoryAnswers, planner, supervisor, workflow } from '../../src/ladder/index.ts'
import { aLadderOf } from './a-ladder.ts'

test('the context of a caller reaches the code of every run inside, at any depth, and is gone with the run', async () => {
  const seen: unknown[] = []
  const writer = agent({ name: 'writer', model: 'test/a', prompt: (_, { context }) => `for ${String(context.who)}` })
  const draft = workflow({
    name: 'draft',
    steps: [
      { name: 'note', run: ({ context }) => void seen.push(context.who) },
      { name: 'write', agent: writer },
    ],
  })
  const boss = supervisor({ name: 'boss', intents: { draft }, route: ({ iteration }) => (iteration === 0 ? 'draft' : '__end__') })
  await using kit = await aLadderOf(
    { 'test/a': ({ messages }) => (seen.push(messages.map((one) => one.role === 'user' && one.text).join()), { text: 'yes' }) },
    boss,
  )
  await kit.clock.until(boss.execute('go', { context: { who: 'ann' } }))
  await kit.clock.until(boss.execute('go'))
  expect(seen).toEqual(['ann', 'for ann', undefined, 'for undefined'])
})

test('[WL-008] what code brings along for a run that it calls reaches all that runs inside of that, and nothing that its own caller has brought along does', async () => {
  const seen: unknown[] = []
  const see = ({ context }: { context: Readonly<Record<string, unknown>> }) => void seen.push(context.who)
  const note = workflow({ name: 'note', steps: [{ name: 'note', run: see }] })
  const called = [
    { one: workflow({ name: 'flow', steps: [{ name: 'inner', agent: note }] }), input: 'x' },
    { one: batch(note, { name: 'all' }), input: ['x'] },
    {
      one: planner({ name: 'plan', model: 'test/plan', capabilities: { look: { description: 'Looks.', use: (_, more) => see(more) } } }),
      input: 'x',
    },
    { one: agent({ name: 'writer', model: 'test/a', middleware: [{ name: 'seen', execute: { before: see }, trip: { before: see } }] }), input: 'x' },
    {
      one: agent({ name: 'keeper', model: 'test/a', cache: { store: memoryAnswers(), scope: ({ context }) => (see({ context }), 'x') } }),
      input: 'x',
    },
  ]
  const top = workflow({
    name: 'top',
    steps: called.map(({ one, input }) => ({
      name: one.name,
      run: async ({ run, context }) => void (await run(one, input as never, { context: { who: `${String(context.who)} for ${one.name}` } })),
    })),
  })
  await using kit = await aLadderOf(
    { 'test/a': () => ({ text: 'yes' }), 'test/plan': () => ({ text: '{"steps":[{"id":"a","capability":"look"}]}' }) },
    top,
    ...called.map(({ one }) => one),
  )
  await kit.clock.until(top.execute('go', { context: { who: 'ann' } }))
  expect([...new Set(seen)]).toEqual(called.map(({ one }) => `ann for ${one.name}`))
})

test('[WL-003, WL-008] who executes a run under another input, and is refused, does not take away what its first caller has brought along', async () => {
  const seen: unknown[] = []
  const order = workflow({
    name: 'order',
    steps: [
      { name: 'wait', waitFor: 'paid' },
      { name: 'send', run: ({ context }) => void seen.push(context.who) },
    ],
  })
  await using kit = await aLadderOf({}, order)
  const waiting = new Promise<void>((resolve) => order.on({ 'workflow.step.starting': () => resolve() }))
  const first = order.execute('bee', { runId: 'r', context: { who: 'ann' } })
  await kit.clock.until(waiting)
  await expect(kit.clock.until(order.execute('wasp', { runId: 'r', context: { who: 'bob' } }))).rejects.toMatchObject({ code: 'INPUT_CONFLICT' })
  await kit.clock.until(order.send('r', { type: 'paid' }))
  await kit.clock.until(first)
  expect(seen).toEqual(['ann'])
})
