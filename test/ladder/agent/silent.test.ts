/** Tools whose results no model reads. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent as sessionAgent, tool } from '../../../src/index.ts'
import { agent, type LadderEvent } from '../../../src/ladder/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
type Request = { messages: { role: string; name?: string; output?: unknown; isError?: boolean }[] }

const note = (did: string[] = []) =>
  tool({
    name: 'note',
    description: 'Notes.',
    input: z.object({ text: z.string() }),
    mode: 'silent',
    onCrash: 'retry',
    execute: ({ text }, { callId }) => (did.push(`${callId} ${text}`), { secret: text }),
  })
const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => 'seen' })

test('[WL-120] a trip of silent calls alone is the last: the model is asked once', async () => {
  const did: string[] = []
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [note(did), look] })
  const model = (request: Request) => {
    if (request.messages.some(({ role }) => role === 'tool')) throw new Error('it was asked again')
    return {
      text: 'I note it.',
      calls: [
        { name: 'note', input: { text: 'a' } },
        { name: 'note', input: { text: 'b' } },
      ],
      usage,
    }
  }
  await using kit = await aLadderOf({ 'test/a': model }, clerk)
  const told: LadderEvent[] = []
  const on = { 'agent.tool.called': (event: LadderEvent) => void told.push(event) }
  expect(await kit.clock.until(clerk.execute('go', { runId: 'r', on }))).toMatchObject({
    data: 'I note it.',
    usage: { total: 10 },
    report: {
      trips: 1,
      children: [
        { name: 'note', status: 'completed' },
        { name: 'note', status: 'completed' },
      ],
    },
  })
  expect(did).toHaveLength(2)
  expect(told.map(({ output }) => output)).toEqual(expect.arrayContaining([{ secret: 'a' }, { secret: 'b' }]))
  expect(await kit.runtime.replay({ kind: 'clerk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-120, WL-119] beside a call that is not silent the model goes on, and reads nothing of the result; what failed is told', async () => {
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [note(), look] })
  const read: Request['messages'] = []
  const model = ({ messages }: Request) => {
    const results = messages.filter(({ role }) => role === 'tool')
    const place = messages.filter(({ role }) => role === 'assistant').length
    if (place === 2) read.push(...results)
    return [
      { calls: [{ name: 'note', input: { text: 'hidden' } }, { name: 'look' }], usage },
      { calls: [{ name: 'note', input: { text: 1 } }], usage },
      { calls: [{ name: 'note', input: { text: 'well' } }], usage },
    ][place]
  }
  await using kit = await aLadderOf({ 'test/a': model as never }, clerk)
  expect(await kit.clock.until(clerk.execute('go'))).toMatchObject({ data: '', report: { status: 'completed', trips: 3 } })
  expect(JSON.stringify(read)).not.toContain('secret')
  expect(read).toMatchObject([
    { name: 'note', isError: false },
    { name: 'look', output: 'seen' },
    { name: 'note', isError: true },
  ])
})

test('[WL-120] an executable is silent too; and a tool of an agent of a session', async () => {
  const scribe = agent({ name: 'scribe', description: 'Writes it down.', model: 'test/s' })
  const boss = agent({ name: 'boss', model: 'test/b', tools: [scribe.asTool({ mode: 'silent' })] })
  await using kit = await aLadderOf(
    { 'test/b': [{ calls: [{ name: 'scribe', input: { text: 'x' } }], usage }], 'test/s': [{ text: 'y', usage }] },
    boss,
  )
  expect(await kit.clock.until(boss.execute('go'))).toMatchObject({
    data: '',
    usage: { total: 20 },
    report: { trips: 1, children: [{ name: 'scribe', status: 'completed', children: [{ name: 'scribe' }] }] },
  })

  const main = sessionAgent({ name: 'main', model: 'test/a', tools: [note()] })
  await using other = await testRuntime({
    agents: [main],
    models: { 'test/a': [{ calls: [{ name: 'note', input: { text: 'x' } }] }, { text: 'next' }] },
  })
  const said = async (text: string) => other.clock.until((await other.session('s').send(text)).result())
  expect(await said('go')).toMatchObject({ status: 'completed', steps: 1 })
  expect(await said('and now?')).toMatchObject({ text: 'next' })
})

test('[WL-120, WL-125] killed at any commit it comes to the same report', async () => {
  const model = () => ({ calls: [{ name: 'note', input: { text: 'a' } }], usage })
  const made = () => agent({ name: 'clerk', model: 'test/a', tools: [note()] })
  const calm = made()
  await using kit = await aLadderOf({ 'test/a': model }, calm)
  const whole = await kit.clock.until(calm.execute('go', { runId: 'r' }))
  const { seq } = await kit.runtime.actor('clerk', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const clerk = made()
    await using doomed = await aLadderOf({ 'test/a': model }, clerk)
    expect(timeless(await killedAt(doomed, () => clerk.execute('go', { runId: 'r' }), commit)), `killed at commit ${commit}`).toEqual(timeless(whole))
  }
})

test('what is no mode is said where it is written', () => {
  expect(() => tool({ name: 'a', description: 'b', input: z.object({}), mode: 'loud' as never, execute: () => 1 })).toThrow(/no mode/)
})
