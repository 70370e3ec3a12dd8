/** What a caller brings along reaches the code of all that runs inside. */
import { expect, test } from 'vitest'
import { agent, supervisor, workflow } from '../../src/ladder/index.ts'
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
