/** A turn by itself: plain XState, its real loop, tools and stream, and no session, no journal and no runtime. */
import { expect, test } from 'vitest'
import { createActor } from 'xstate'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { noUsage } from '../../../src/contracts/message.ts'
import type { ModelCallOutput } from '../../../src/contracts/model-call.ts'
import { defaultProfile } from '../../../src/contracts/profile.ts'
import type { TurnInput } from '../../../src/contracts/turn.ts'
import { turnActor } from '../../../src/machines/turn/turn.actor.ts'
import type { LocalServices, TurnEffects } from '../../../src/machines/turn/turn.services.ts'
import { virtualClock } from '../../../src/testing/virtual-clock.ts'

const input: TurnInput = {
  session: 'nobody has begun it',
  runId: 'r',
  profile: { ...defaultProfile, agent: 'main', model: 'test/model' },
  prompt: { ids: ['r'] },
  // Neither an id of a session, nor a channel, nor anything that a record would know.
  facts: { compactions: 0, at: 0 },
  transcriptLength: 0,
}
const said = (id: string, more: Partial<ModelCallOutput> = {}): ModelCallOutput => ({
  kind: 'model',
  id,
  text: '',
  reasoning: '',
  calls: [],
  usage: { ...noUsage, inputTokens: 10, outputTokens: 1 },
  model: 'test/model',
  partial: false,
  finish: 'stop',
  at: 0,
  durationMs: 5,
  ...more,
})
const call = {
  callId: 'c1',
  name: 'add',
  input: { a: 1 },
  inputHash: 'h',
  needsApproval: false,
  onCrash: 'retry',
  timeoutMs: 1000,
  attemptMax: 1,
} as const

const alone = (works: Partial<TurnEffects>) => {
  const nothing = () => Promise.reject(new Error('nobody asked for this'))
  const clock = virtualClock()
  const place = { clock, lanes: {}, history: nothing } as unknown as LocalServices
  const heard: { type: string }[] = []
  const actor = createActor(
    turnActor({ callModel: nothing, summarise: nothing, execute: nothing, checkTool: nothing, lookUp: nothing, say: nothing, ...works }, place),
    { input },
  )
  actor.on('*', (event) => void heard.push(event))
  return { actor, heard, ended: new Promise((resolve) => actor.subscribe({ complete: () => resolve(undefined) })) }
}

test('[OC-05] it answers without a record of its session, tools and all, and tells of it to whoever listens', async () => {
  const asked: string[] = []
  const { actor, heard, ended } = alone({
    callModel: async ({ input: { call: step, profile } }) => {
      asked.push(`${step}: verbose ${profile.verbose ?? 'as the agent has it'}`)
      return asked.length === 1 ? said('r:1', { calls: [call], finish: 'tool-calls' } as Partial<ModelCallOutput>) : said('r:2', { text: 'two' })
    },
    execute: async ({ input: { call: one } }) =>
      ({ kind: 'tool', id: `result of ${one.callId}`, callId: one.callId, name: one.name, output: 2 }) as never,
  })

  actor.start()
  await ended

  expect(actor.getSnapshot()).toMatchObject({
    status: 'done',
    output: { status: 'completed', outcome: 'replied', text: 'two', steps: 2, toolCalls: 1 },
  })
  expect(asked).toHaveLength(2)
  expect(heard.at(-1)).toMatchObject({ type: 'final', runId: 'r', text: 'two' })
  // What a session would write down is told; here nobody writes it.
  expect(heard.map(({ type }) => type)).toEqual(expect.arrayContaining(['transcript', 'usage', 'final']))
})

test('[OC-05] what fails, fails it in the same way as with one', async () => {
  const { actor, heard, ended } = alone({ callModel: () => Promise.reject(new RuntimeError('provider_auth', 'no')) })

  actor.start()
  await ended

  expect(actor.getSnapshot().output).toMatchObject({ status: 'failed', outcome: 'failed' })
  expect(heard.at(-1)).toMatchObject({ type: 'error' })
})
