/** What a crash in the middle of a tool call means is the tool's own word; executions are counted in a file, which no crash forgets. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { FailPoint } from '../../src/contracts/environment.ts'
import { type Approval, tool } from '../../src/index.ts'
import { expectNothingAlive, type Story, story } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'statecast-policy-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0

type Effect = { callId: string; attempt: number }
type Policy = 'retry' | 'idempotent' | 'once'

/** A story about one call that a crash interrupts, at a point before or after its effect. */
const interrupted = async (onCrash: Policy, at: FailPoint, inDoubt: 'ask' | 'report' = 'ask', consent = false) => {
  const file = join(folder, `${++files}.jsonl`)
  appendFileSync(file, '')
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: z.object({ amount: z.number() }),
    onCrash,
    approval: consent,
    execute: (_, { callId, attempt }) => {
      appendFileSync(file, `${JSON.stringify({ callId, attempt })}\n`)
      return 'paid'
    },
  })
  const told = await story([{ calls: [{ name: 'pay', input: { amount: 3 } }] }, { text: 'thank you' }], { tools: () => [pay], inDoubt })
  const effects = (): Effect[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((text) => JSON.parse(text) as Effect)
  told.failPoints.hold(at)
  const there = told.failPoints.untilHit(at)
  await told.say('pay 3', { idempotencyKey: 'a' })
  if (consent) {
    await told.clock.settle()
    await told.main.decide(await waiting(told), 'approve')
  }
  await told.clock.until(there)
  await told.crash()
  await told.restart()
  await told.clock.settle()
  return { told, effects }
}
const waiting = async (told: Story): Promise<Approval> => (await told.main.view()).approvals[0] as Approval

test.each(['retry', 'idempotent'] as const)('%s: it runs again, under the same name, as the second attempt', async (policy) => {
  const { told, effects } = await interrupted(policy, 'K11')
  await using _ = told

  await told.clock.until(told.main.wait('a'))

  expect(effects().map(({ attempt }) => attempt)).toEqual([1, 2])
  expect(new Set(effects().map(({ callId }) => callId)).size).toBe(1)
  expect(await told.transcript()).toEqual(['user: pay 3', 'assistant:  <pay {"amount":3}>', 'tool pay: "paid"', 'assistant: thank you'])
})

test.each(['K09', 'K10', 'K11'] as const)(
  'once, killed at %s: a person is asked and nothing runs meanwhile; denied: the model is told [INV-6]',
  async (at) => {
    const { told, effects } = await interrupted('once', at)
    await using _ = told
    const before = effects().length
    const approval = await waiting(told)
    expect(approval).toMatchObject({ name: 'pay', input: { amount: 3 }, why: 'in_doubt' })
    await told.crash()
    await told.restart()
    await told.clock.advance(10_000)
    expect(await waiting(told)).toEqual(approval)

    await told.main.decide(approval, 'deny')
    await told.clock.until(told.main.wait('a'))

    expect(effects()).toHaveLength(before)
    expect((await told.transcript())[2]).toBe('tool pay: ! tool_in_doubt')
    expect(told.events('main').find((event) => event.type === 'tool' && event.phase === 'in_doubt')).toBeDefined()
    await expectNothingAlive(told)
  },
)

test('once, approved: it runs again, once, because a person said so [INV-6]', async () => {
  const { told, effects } = await interrupted('once', 'K11')
  await using _ = told
  const approval = await waiting(told)

  await told.main.decide(approval, 'approve')
  await told.clock.until(told.main.wait('a'))

  expect(effects().map(({ attempt }) => attempt)).toEqual([1, 2])
  expect((await told.transcript())[2]).toBe('tool pay: "paid"')
})

test('once, interrupted again after the approval: asked again, never run by itself [INV-6]', async () => {
  const { told, effects } = await interrupted('once', 'K11')
  await using _ = told
  const first = await waiting(told)
  told.failPoints.hold('K11')
  const there = told.failPoints.untilHit('K11')
  await told.main.decide(first, 'approve')
  await told.clock.until(there)
  await told.crash()
  await told.restart()
  await told.clock.settle()

  const second = await waiting(told)
  expect(second.why).toBe('in_doubt')
  expect(effects()).toHaveLength(2)
  await told.main.decide(second, 'deny')
  await told.clock.until(told.main.wait('a'))
  expect(effects()).toHaveLength(2)
})

test('once, with approval: the same consent sent again after a crash is none to a repetition [INV-6, INV-12]', async () => {
  const { told, effects } = await interrupted('once', 'K11', 'ask', true)
  await using _ = told
  const inDoubt = await waiting(told)
  expect(inDoubt).toMatchObject({ why: 'in_doubt', attempt: 2 })

  const again = told.main.decide({ ...inDoubt, attempt: 1 }, 'approve')

  await expect(again).rejects.toMatchObject({ code: 'already_decided' })
  expect(effects()).toHaveLength(1)
  expect((await told.main.view()).approvals).toHaveLength(1)
})

test('once, with `report`: nobody is asked, the model is told that nobody knows [INV-6]', async () => {
  const { told, effects } = await interrupted('once', 'K11', 'report')
  await using _ = told

  await told.clock.until(told.main.wait('a'))

  expect(effects()).toHaveLength(1)
  expect((await told.transcript())[2]).toBe('tool pay: ! tool_in_doubt')
})

test('a result that is in the journal is never asked for again [INV-6]', async () => {
  const { told, effects } = await interrupted('retry', 'K13')
  await using _ = told

  await told.clock.until(told.main.wait('a'))

  expect(effects()).toHaveLength(1)
})

test('cancel while a call is in doubt: the turn ends, and the model will read that nobody knows', async () => {
  const { told, effects } = await interrupted('once', 'K11')
  await using _ = told

  await told.main.cancel()
  await told.quiet()

  expect(effects()).toHaveLength(1)
  expect((await told.transcript())[2]).toBe('tool pay: ! tool_in_doubt')
})
