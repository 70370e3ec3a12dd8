/** Machines of authors that ask agents: in conversations inside of their own actor, as many as they like. */
import { expect, test } from 'vitest'
import { assign, sendTo, setup } from 'xstate'
import { z } from 'zod'
import { type AskOutput, type AskReport, agent, askAgent, tool } from '../../../src/index.ts'
import { type TestRuntime, testRuntime } from '../../../src/testing/index.ts'

const looked: string[] = []
const look = tool({
  name: 'look',
  onCrash: 'retry',
  description: 'Looks something up.',
  input: z.object({ what: z.string() }),
  execute: ({ what }, { callId }) => (looked.push(callId), `${what} is blue`),
})
const pay = tool({
  name: 'pay',
  onCrash: 'retry',
  description: 'Pays.',
  input: z.object({ sum: z.number() }),
  approval: true,
  execute: ({ sum }) => `paid ${sum}`,
})

type Context = { topic: string; answers: Record<string, AskOutput>; waiting: AskReport['report'][] }

const ask = (name: string) => ({
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        id: name,
        src: 'ask' as const,
        input: ({ context }: { context: Context }) => ({
          agent: 'researcher',
          conversation: name,
          text: `${name}: ${context.topic}`,
          reports: true as const,
        }),
        onDone: {
          target: 'asked',
          actions: { type: 'keep' as const, params: ({ event }: { event: { output: AskOutput } }) => ({ name, answer: event.output }) },
        },
      },
    },
    asked: { type: 'final' as const },
  },
})

/** Two questions at once, and then one more in the conversation of the first. */
const study = setup({
  types: {
    input: {} as { topic: string },
    context: {} as Context,
    events: {} as { type: 'begin' } | { type: 'decide'; decision: 'approve' | 'deny' } | AskReport,
  },
  actors: { ask: askAgent },
  actions: {
    keep: assign(({ context }, { name, answer }: { name: string; answer: AskOutput }) => ({ answers: { ...context.answers, [name]: answer } })),
    hear: assign(({ context, event }) =>
      event.type === 'ask.reported' && event.report.type === 'tool.waiting' ? { waiting: [...context.waiting, event.report] } : {},
    ),
    decide: sendTo('again', ({ context, event }) => {
      const [first] = context.waiting
      if (first?.type !== 'tool.waiting' || event.type !== 'decide') throw new Error('nobody waits')
      const { callId, inputHash, attempt } = first.approval
      return { type: 'approve', callId, inputHash, attempt, decision: event.decision } as never
    }),
  },
}).createMachine({
  id: 'study',
  context: ({ input }) => ({ topic: input.topic, answers: {}, waiting: [] }),
  initial: 'ready',
  on: { 'ask.reported': { actions: 'hear' } },
  states: {
    ready: { on: { begin: 'both' } },
    both: { type: 'parallel', states: { one: ask('one'), two: ask('two') }, onDone: 'again' },
    again: {
      invoke: {
        id: 'again',
        src: 'ask',
        input: ({ context }) => ({
          agent: 'researcher',
          conversation: 'one',
          text: 'pay for it',
          after: context.answers.one?.length ?? 0,
          reports: true,
        }),
        onDone: { target: 'done', actions: { type: 'keep', params: ({ event }) => ({ name: 'again', answer: event.output }) } },
      },
      on: { decide: { actions: 'decide' } },
    },
    done: { type: 'final' },
  },
})

/** Says what it was shown, so that a conversation that is not whole shows. */
const model = ({ messages }: { messages: { role: string; text?: string; output?: unknown }[] }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { text: `${messages.length}: ${String(last.output)}` }
  return last?.text === 'pay for it'
    ? { calls: [{ name: 'pay', input: { sum: messages.length } }] }
    : { calls: [{ name: 'look', input: { what: last?.text ?? '' } }] }
}

const aStudy = () =>
  testRuntime({
    machines: { study },
    agents: [agent({ name: 'researcher', model: 'test/a', tools: [look, pay] })],
    models: { 'test/a': model },
  })

const studied = async (kit: TestRuntime): Promise<Context> => {
  const actor = kit.runtime.actor('study', 's', { topic: 'sky' })
  await actor.send({ type: 'begin' }, { id: 'begin' })
  const waits = (context: unknown) => (context as Context).waiting.length > 0
  await kit.clock.until(actor.waitFor((at) => at.status === 'done' || waits(at.context)))
  await actor.send({ type: 'decide', decision: 'approve' }, { id: 'decide' }).catch(() => undefined)
  return (await kit.clock.until(actor.waitFor((at) => at.status === 'done'))).context as Context
}

test('two conversations of one actor do not see each other, and one of them goes on; a person agrees to a call in it', async () => {
  await using kit = await aStudy()
  const { answers } = await studied(kit)

  expect(answers.one).toMatchObject({ status: 'completed', text: '3: one: sky is blue', steps: 2, toolCalls: 1, length: 4, error: null })
  expect(answers.two).toMatchObject({ status: 'completed', text: '3: two: sky is blue' })
  // It was shown four messages that stood there, the question and its own call.
  expect(answers.again).toMatchObject({ status: 'completed', text: '7: paid 5', length: 8 })
  expect(await kit.runtime.replay({ kind: 'study', id: 's' })).toMatchObject({ verdict: 'identical' })
})

test('killed at any commit it comes to the same, with no look done twice under another name', async () => {
  looked.length = 0
  await using calm = await aStudy()
  const whole = await studied(calm)
  const names = new Set(looked)
  const { seq } = await calm.runtime.actor('study', 's').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    looked.length = 0
    await using kit = await aStudy()
    const died = Promise.withResolvers<'died'>()
    kit.failPoints.call('K02', () => (died.resolve('died'), new Promise<void>(() => undefined)), commit)
    const first = studied(kit)
    first.catch(() => undefined)
    expect(await kit.clock.until(Promise.race([died.promise, first])), `at commit ${commit}`).toBe('died')
    await kit.crash()
    await kit.restart()
    const { answers } = await studied(kit)
    const said = (all: Context['answers']) =>
      Object.fromEntries(Object.entries(all).map(([name, { text, length, usage }]) => [name, [text, length, usage]]))
    expect(said(answers), `at commit ${commit}`).toEqual(said(whole.answers))
    expect(new Set(looked), `at commit ${commit}`).toEqual(names)
  }
})

test('an agent that is not there, and a model that fails, are answers with an error', async () => {
  const lonely = setup({
    types: { events: {} as { type: 'begin'; agent: string }, context: {} as { answer: AskOutput | null } },
    actors: { ask: askAgent },
    actions: { keep: assign((_, { answer }: { answer: AskOutput }) => ({ answer })) },
  }).createMachine({
    id: 'lonely',
    context: { answer: null },
    initial: 'ready',
    states: {
      ready: { on: { begin: 'asking' } },
      asking: {
        invoke: {
          src: 'ask',
          input: ({ event }) => ({ agent: (event as { agent: string }).agent, conversation: 'c', text: 'hi' }),
          onDone: { target: 'done', actions: { type: 'keep', params: ({ event }) => ({ answer: event.output }) } },
        },
      },
      done: { type: 'final' },
    },
  })
  await using kit = await testRuntime({
    machines: { lonely },
    agents: [agent({ name: 'broken', model: 'test/a' })],
    models: { 'test/a': [{ error: { code: 'provider_auth', message: 'no key' } }] },
  })
  const asked = async (name: string) => {
    const actor = kit.runtime.actor('lonely', name)
    await actor.send({ type: 'begin', agent: name })
    return (await kit.clock.until(actor.waitFor((at) => at.status === 'done'))).context
  }

  expect(await asked('nobody')).toMatchObject({ answer: { status: 'failed', error: { code: 'not_found' }, length: 0 } })
  expect(await asked('broken')).toMatchObject({ answer: { status: 'failed', error: { code: 'provider_auth' }, attempts: [{ model: 'test/a' }] } })
})
