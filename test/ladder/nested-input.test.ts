/** What runs inside of another run is given is looked at as if it came from outside. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../src/index.ts'
import { agent, END, type Schema, supervisor, workflow } from '../../src/ladder/index.ts'
import { aLadder, aLadderOf } from './a-ladder.ts'

/** Of no library: what the specification asks for, and no more. */
const even: Schema<number> = {
  '~standard': {
    version: 1,
    vendor: 'ours',
    validate: (value) => (typeof value === 'number' && value % 2 === 0 ? { value: value / 2 } : { issues: [{ message: 'not even' }] }),
  },
}
const half = workflow({ name: 'half', description: 'Halves.', input: even, steps: [{ name: 'all', run: ({ input }) => input }] })

test('[WL-106, WL-122] a workflow inside of another one is given what its schema makes of an input, of whatever library that is', async () => {
  const outer = workflow({ name: 'outer', steps: [{ name: 'inner', agent: half, input: () => 8 }] })
  await using kit = await aLadder(outer, half)
  expect(await kit.clock.until(outer.execute(undefined))).toMatchObject({ data: 4 })
  expect(await kit.clock.until(half.execute(8))).toMatchObject({ data: 4 })
})

test('[WL-003, WL-106] what does not fit fails the step or the branch by name, and nothing inside has run', async () => {
  const outer = workflow({ name: 'outer', steps: [{ name: 'inner', agent: half, input: () => 7 }] })
  const chooser = supervisor({
    name: 'chooser',
    intents: { inner: { agent: half, input: () => 'text' } },
    route: ({ iteration }) => (iteration ? END : 'inner'),
  })
  await using kit = await aLadder(outer, chooser)
  const error = { code: 'SCHEMA_VALIDATION_FAILED', message: "the input of 'half' does not fit its schema: not even" }
  expect(await kit.clock.until(outer.execute(undefined))).toMatchObject({
    error,
    report: { children: [{ name: 'inner', status: 'failed', children: [] }] },
  })
  expect((await kit.clock.until(chooser.execute(undefined))).report).toMatchObject({
    iterations: [{ branches: { inner: { status: 'failed', error } } }],
    children: [],
  })
})

test('[WL-121] what a model calls that takes a text with conditions is told them, and tries again', async () => {
  const shout = agent({ name: 'shout', description: 'Shouts.', model: 'test/shout', input: z.string().min(3) })
  const chief = agent({ name: 'chief', model: 'test/chief', tools: [shout] })
  const asked: string[] = []
  await using kit = await aLadderOf(
    {
      'test/shout': [{ text: 'HELLO' }],
      'test/chief': ({ messages }: ModelRequest) => {
        asked.push(JSON.stringify(messages))
        const text = { 1: 'hi', 2: 'hello' }[asked.length]
        return text === undefined ? { text: 'done' } : { calls: [{ name: 'shout', input: { text } }] }
      },
    },
    chief,
  )
  const { data, report } = await kit.clock.until(chief.execute('go'))
  expect(data).toBe('done')
  expect(asked[1]).toContain('>=3')
  expect(report.children.map(({ status }) => status)).toEqual(['failed', 'completed'])
})
