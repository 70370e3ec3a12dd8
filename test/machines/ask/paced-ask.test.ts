/** Agents that are asked step by step: whoever asks says when they go on. */
import { expect, test } from 'vitest'
import { assign, enqueueActions, setup } from 'xstate'
import { z } from 'zod'
import { type AskOutput, type AskReport, agent, askAgentByStep, tool } from '../../../src/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'

type Plan = { stopAt?: string; model?: string }
type Context = Plan & { steps: string[]; answer?: AskOutput }

/** Goes on with each step but one. */
const overseer = setup({
  types: { input: {}, context: {} as Context, events: {} as { type: 'begin' } | AskReport },
  actors: { ask: askAgentByStep },
  actions: {
    look: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'ask.reported') return
      const { report } = event
      if (report.type !== 'step.wanted' && report.type !== 'step.answered') return
      const said =
        report.type === 'step.wanted' ? `wanted ${report.step}` : `answered ${report.step} ${report.calls.map(({ name }) => name).join()}`.trim()
      enqueue.assign({ steps: [...context.steps, said] })
      if (said === context.stopAt) enqueue.sendTo('ask', { type: 'cancel' })
      else enqueue.sendTo('ask', { type: 'proceed', ...(context.model !== undefined && report.step === 1 && { model: context.model }) })
    }),
    keep: assign({ answer: (_, { answer }: { answer: AskOutput }) => answer }),
  },
}).createMachine({
  id: 'overseer',
  context: ({ input }) => ({ ...input, steps: [] }),
  initial: 'ready',
  on: { 'ask.reported': { actions: 'look' } },
  states: {
    ready: { on: { begin: 'asking' } },
    asking: {
      invoke: {
        id: 'ask',
        src: 'ask',
        input: { agent: 'clerk', conversation: 'talk', text: 'go', reports: true },
        onDone: { target: 'done', actions: { type: 'keep', params: ({ event }) => ({ answer: event.output }) } },
      },
    },
    done: { type: 'final' },
  },
})

const overseen = async (plan: Plan) => {
  const did: string[] = []
  const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => did.push('look') })
  const usage = { inputTokens: 5, outputTokens: 2 }
  const script = (who: string) => (request: { messages: { role: string }[] }) => {
    did.push(who)
    return request.messages.some(({ role }) => role === 'tool') ? { text: `seen by ${who}`, usage } : { calls: [{ name: 'look' }], usage }
  }
  await using kit = await testRuntime({
    machines: { overseer },
    agents: [agent({ name: 'clerk', model: 'test/a', tools: [look] })],
    models: { 'test/a': script('a'), 'test/b': script('b') },
  })
  const actor = kit.runtime.actor('overseer', 'o', plan)
  await actor.send({ type: 'begin' })
  const { context } = await kit.clock.until(actor.waitFor(({ status }) => status === 'done'))
  expect(await kit.runtime.replay({ kind: 'overseer', id: 'o' })).toMatchObject({ verdict: 'identical' })
  const { steps, answer } = context
  return { steps, did, answer }
}

test('it says before each call of the model and after each answer what it would do next, and then does it', async () => {
  const { steps, did, answer } = await overseen({})
  expect(steps).toEqual(['wanted 1', 'answered 1 look', 'wanted 2', 'answered 2'])
  expect(did).toEqual(['a', 'look', 'a'])
  expect(answer).toMatchObject({ status: 'completed', text: 'seen by a', steps: 2, toolCalls: 1, usage: { inputTokens: 10 } })
})

test.for([
  ['wanted 1', [], 0],
  ['answered 1 look', ['a'], 5],
  ['wanted 2', ['a', 'look'], 5],
  ['answered 2', ['a', 'look', 'a'], 10],
] as const)('stopped at %s nothing further is done; what was used counts', async ([stopAt, expected, inputTokens]) => {
  const { did, answer } = await overseen({ stopAt })
  expect(did).toEqual(expected)
  expect(answer).toMatchObject({ status: 'cancelled', usage: { inputTokens } })
})

test('another model goes on where one is named', async () => {
  expect(await overseen({ model: 'test/b' })).toMatchObject({ did: ['b', 'look', 'b'], answer: { text: 'seen by b', model: 'test/b' } })
})
