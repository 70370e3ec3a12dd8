/** Anything may happen in any order: whatever it is, each accepted message gets exactly one outcome and the conversation stays well formed. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { z } from 'zod'
import { isRuntimeError, tool } from '../../src/index.ts'
import { casesOf } from '../support/property.ts'
import { expectEndedOnce, expectNothingAlive, expectPaired, outcomes, type Story, story, work, worker } from './harness.ts'

type Act =
  | { do: 'say'; mode: 'steer' | 'followup' | 'collect' | 'interrupt' }
  | { do: 'decide'; decision: 'approve' | 'deny' }
  | { do: 'pass'; ms: number }
  | { do: 'cancel' | 'cancel one' | 'reset' | 'compact' | 'crash' | 'repeat' }

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('say' as const), mode: fc.constantFrom('steer', 'followup', 'collect', 'interrupt') }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('decide' as const), decision: fc.constantFrom('approve', 'deny') }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 1, 15, 60, 700) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('cancel', 'cancel one', 'reset', 'compact', 'crash', 'crash', 'repeat') }) },
  ),
  { minLength: 3, maxLength: 25 },
)

/** Depends on the request alone: what it does next follows from the length of the conversation. */
const script = ({ messages, instructions }: { messages: { role: string }[]; instructions: string }) => {
  if (instructions.startsWith('You shorten')) return { text: 'SUMMARY', delayMs: 30 }
  const answers = messages.filter(({ role }) => role === 'assistant').length
  if (messages.length > 24) return { error: { code: 'provider_overflow' as const } }
  switch (answers % 5) {
    case 0:
      return { text: 'let me see', calls: [work(`x${answers}`, 20), work(`y${answers}`, 40)], deltaDelayMs: 5 }
    case 1:
      return { text: 'so it is', deltaDelayMs: 10 }
    case 2:
      return { calls: [{ name: 'pay' }, work(`z${answers}`, 10)] }
    case 3:
      return { text: 'thank you', errors: [{ status: 503 }] }
    default:
      return { rawCalls: [{ name: 'nothing', input: '{' }] }
  }
}

const refusals = ['overloaded', 'not_found', 'already_decided', 'session_busy', 'bad_request', 'closed', 'conflict']

const play = async (told: Story, list: Act[]): Promise<void> => {
  let said = 0
  const perform = async (act: Act): Promise<unknown> => {
    switch (act.do) {
      case 'say':
        return told.main.send(`message ${++said}`, { idempotencyKey: `m${said}`, queueMode: act.mode })
      case 'repeat':
        return said > 0 && told.main.send(`message ${said}`, { idempotencyKey: `m${said}` })
      case 'decide': {
        const [approval] = (await told.main.view()).approvals
        return approval && told.main.decide(approval, act.decision)
      }
      case 'pass':
        return told.clock.advance(act.ms)
      case 'cancel':
        return told.main.cancel()
      case 'cancel one':
        return told.main.cancel(`m${said}`)
      case 'reset':
        return told.main.reset()
      case 'compact':
        return told.main.compact()
      case 'crash':
        await told.crash()
        return told.restart()
    }
  }
  for (const act of list)
    await (act.do === 'pass' || act.do === 'crash' ? perform(act) : told.clock.until(perform(act))).catch((error: unknown) => {
      if (!isRuntimeError(error) || !refusals.includes(error.code)) throw error
    })
  if (said === 0) return
  for (let round = 0; round < 200; round++) {
    const { state, approvals } = await told.clock.until(told.main.view())
    if (state === 'awaiting-input') return
    for (const approval of approvals) await told.clock.until(told.main.decide(approval, 'deny'))
    await told.clock.advance(100)
  }
  throw new Error('it does not come to an end')
}

/** @param url of the test file */
export const anyOrder = async (url: string): Promise<void> => {
  await fc.assert(
    fc.asyncProperty(acts, fc.constantFrom('parallel', 'sequential'), async (list, toolExecution) => {
      const paid: string[] = []
      const pay = tool({
        name: 'pay',
        description: 'pays',
        input: z.object({}),
        approval: true,
        execute: (_, { callId, attempt }) => void paid.push(`${callId} ${attempt}`),
      })
      await using told = await story(script, { tools: (world) => [worker()(world), pay], toolExecution, stepMax: 6 })
      await play(told, list)

      if (told.events('main').length === 0) return
      outcomes(told.events('main'))
      await expectEndedOnce(told)
      expect(new Set(paid).size).toBe(paid.length)
      const history = await told.clock.until(told.main.history())
      expectPaired(history)
      expect((await told.main.view()).messages).toBe(history.length)
      expect((await told.runtime.replay(told.main.address)).difference).toBeUndefined()
      await expectNothingAlive(told)
    }),
    casesOf(url),
  )
}
