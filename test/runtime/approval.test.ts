/** A person decides, once, about exactly these arguments. */

import { expect, test } from 'vitest'
import type { Approval } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { expectNothingAlive, type Story, story, work, worker } from './harness.ts'

const asking = (...calls: ReturnType<typeof work>[]) =>
  story([{ calls }, { text: 'done' }], { tools: (world) => [worker({ approval: true, onCrash: 'once' })(world)] })
const approvals = async (told: Story): Promise<Approval[]> => {
  await told.clock.settle()
  return (await told.main.view()).approvals
}

test('a call waits, also over restarts, and runs once when it is approved [INV-12]', async () => {
  await using told = await asking(work('x'))
  await told.say('do x', { idempotencyKey: 'a' })
  const [before] = await approvals(told)
  expect(before).toMatchObject({ name: 'work', input: { name: 'x', ms: 0 }, runId: 'a', why: 'approval' })
  for (const way of ['crash', 'close', 'crash'] as const) {
    await told[way]()
    await told.restart()
  }
  const [approval] = await approvals(told)
  expect(approval).toEqual(before)
  expect(told.did).toEqual([])

  await told.main.decide(approval!, 'approve', 'ann')
  const answer = await told.clock.until(told.main.wait('a'))

  expect(answer.text).toBe('done')
  // Approved is not repeated: it is the first attempt.
  expect(told.did).toEqual(['x starts', 'x ends'])
  expect(told.events('main').find(({ type }) => type === 'decided')).toMatchObject({ decision: 'approve', by: 'ann' })
  expect(await approvals(told)).toEqual([])
  await expectNothingAlive(told)
})

test('a denied call does not run; the model is told', async () => {
  await using told = await asking(work('x'))
  const run = await told.say('do x')
  const [approval] = await approvals(told)

  await told.main.decide(approval!, 'deny')
  await told.clock.until(run.result())

  expect(told.did).toEqual([])
  expect((await told.transcript())[2]).toBe('tool work: ! tool_denied')
})

test('approve and deny say who decided and why; the model is told why not', async () => {
  await using told = await asking(work('x'), work('y'))
  const run = await told.say('do x and y')
  const [x, y] = await approvals(told)

  await told.main.approve(x!, { by: 'ann' })
  await told.main.deny(y!, { by: 'bob', note: 'not on a Sunday' })
  await told.clock.until(run.result())

  expect(told.did).toEqual(['x starts', 'x ends'])
  expect(told.events('main').filter(({ type }) => type === 'decided')).toMatchObject([
    { callId: x!.callId, decision: 'approve', by: 'ann' },
    { callId: y!.callId, decision: 'deny', by: 'bob' },
  ])
  expect(JSON.stringify(await told.main.history())).toContain('not on a Sunday')
})

test('an unknown call, one of another session, other arguments, an id alone and a second decision are refused, each with a code', async () => {
  await using told = await asking(work('x'))
  const run = await told.say('do x')
  const [x] = await approvals(told)
  const other = told.session('other')

  await expect(told.main.approve({ ...x!, callId: 'nobody' })).rejects.toMatchObject({ code: 'not_found', hint: expect.any(String) })
  await expect(other.approve(x!)).rejects.toMatchObject({ code: 'not_found' })
  await expect(told.main.deny({ ...x!, inputHash: '0'.repeat(64) })).rejects.toMatchObject({ code: 'conflict' })
  for (const options of [null, 'because', { reason: 'because' }])
    await expect(told.main.approve(x!, options as never)).rejects.toMatchObject({ code: 'bad_request', hint: expect.any(String) })
  await expect(told.main.approve(x!.callId as never)).rejects.toMatchObject({ code: 'bad_request', hint: expect.stringContaining('approvals') })
  expect(told.did).toEqual([])
  await told.main.deny(x!)
  await expect(told.main.approve(x!)).rejects.toMatchObject({ code: 'already_decided' })
  await told.clock.until(run.result())

  expect(told.did).toEqual([])
})

test('of several decisions the first counts; a wrong hash and an unknown call are told apart [INV-12]', async () => {
  await using told = await asking(work('x', 100))
  const run = await told.say('do x')
  const [approval] = await approvals(told)
  await expect(told.main.decide({ ...approval!, inputHash: '0'.repeat(64) }, 'approve')).rejects.toMatchObject({ code: 'conflict' })
  await expect(told.main.decide({ ...approval!, callId: 'another' }, 'approve')).rejects.toMatchObject({ code: 'not_found' })
  const decisions = await Promise.allSettled([
    told.main.decide(approval!, 'approve'),
    told.main.decide(approval!, 'deny'),
    told.main.decide(approval!, 'approve'),
  ])
  expect(decisions.map((one) => (one.status === 'fulfilled' ? 'counts' : one.reason.code))).toEqual(['counts', 'already_decided', 'already_decided'])
  await told.clock.until(run.result())

  await expect(told.main.decide(approval!, 'deny')).rejects.toMatchObject({ code: 'already_decided' })
  await told.crash()
  await told.restart()
  await expect(told.main.decide(approval!, 'deny')).rejects.toMatchObject({ code: 'already_decided' })
  expect(told.did).toEqual(['x starts', 'x ends'])
})

test('two calls wait at once and are decided apart, over a crash in between', async () => {
  await using told = await asking(work('x'), work('y'))
  await told.say('do x and y', { idempotencyKey: 'a' })
  const [x, y] = await approvals(told)
  expect(x!.inputHash).not.toBe(y!.inputHash)
  await expect(told.main.decide({ ...x!, inputHash: y!.inputHash }, 'approve')).rejects.toMatchObject({ code: 'conflict' })

  await told.main.decide(y!, 'approve')
  await told.clock.settle()
  expect(told.did).toEqual(['y starts', 'y ends'])
  expect(await told.main.view()).toMatchObject({ approvals: [{ callId: x!.callId }] })
  await told.crash()
  await told.restart()
  await told.main.decide(x!, 'deny')
  await told.clock.until(told.main.wait('a'))

  expect(told.did).toEqual(['y starts', 'y ends'])
  expect((await told.transcript()).slice(2, 4)).toEqual(['tool work: ! tool_denied', 'tool work: "y done"'])
})

test('sequential calls ask one after the other', async () => {
  await using told = await story([{ calls: [work('x'), work('y')] }, { text: 'done' }], {
    tools: (world) => [worker({ approval: true })(world)],
    toolExecution: 'sequential',
  })
  const run = await told.say('do x and y')
  for (const decision of ['deny', 'approve'] as const) {
    const waiting = await approvals(told)
    expect(waiting).toHaveLength(1)
    await told.main.decide(waiting[0]!, decision)
  }
  await told.clock.until(run.result())

  expect(told.did).toEqual(['y starts', 'y ends'])
})

test('a rule of the tool asks for some inputs only', async () => {
  const approval = (input: unknown) => (input as { ms: number }).ms > 100
  await using told = await story([{ calls: [work('small', 1), work('large', 1000)] }, { text: 'done' }], {
    tools: (world) => [worker({ approval })(world)],
  })
  await told.say('go')

  expect(await approvals(told)).toMatchObject([{ input: { name: 'large' } }])
})

test('[INV-7, CH-43] a call waits for days without a deadline, also while no process runs, and its turn goes on with the answer', async () => {
  await using told = await asking(work('x'))
  await told.say('do x', { idempotencyKey: 'a' })
  const [approval] = await approvals(told)
  expect(approval).not.toHaveProperty('deadline')
  await told.clock.advance(30 * 3_600_000)
  await told.crash()
  await told.clock.advance(5 * 86_400_000)
  await told.restart()
  await told.clock.advance(30 * 3_600_000)

  expect(await approvals(told)).toEqual([approval])
  await told.main.decide(approval!, 'approve')

  expect((await told.clock.until(told.main.wait('a'))).text).toBe('done')
  expect(told.did).toEqual(['x starts', 'x ends'])
  await expectNothingAlive(told)
  expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
})

/** A turn that works for ten minutes, waits for a person for two hours with a crash in between, and then works on. */
const interrupted = async (wallTimeMs: number) => {
  const told = await story([{ calls: [work('before', 600_000)] }, { calls: [{ ...work('x', 600_000), name: 'pay' }] }, { text: 'done' }], {
    tools: (world) => [worker({ timeoutMs: 3_600_000 })(world), worker({ name: 'pay', approval: true, timeoutMs: 3_600_000 })(world)],
    turnTimeMs: wallTimeMs,
    runTimeoutMs: 86_400_000,
  })
  await told.say('do x', { idempotencyKey: 'a' })
  await told.clock.advance(600_000)
  const [approval] = await approvals(told)
  await told.clock.advance(3_600_000)
  await told.crash()
  await told.restart()
  await told.clock.advance(3_600_000)
  await told.main.decide(approval!, 'approve')
  return told
}

test('[INV-7] time that waits for a person does not count towards the limit of a turn, over a restart too', async () => {
  await using told = await interrupted(1_201_000)

  expect((await told.clock.until(told.main.wait('a'))).text).toBe('done')
  await expectNothingAlive(told)
})

test('[INV-7] a turn that a person let go on ends when the rest of its time is over', async () => {
  await using told = await interrupted(900_000)
  const ended = told.main.wait('a', 7_200_000)
  ended.catch(() => undefined)
  await told.clock.advance(299_000)
  expect((await told.main.view()).run).not.toBeNull()

  await told.clock.advance(1_000)

  await expect(told.clock.until(ended)).rejects.toMatchObject({ code: 'budget_time' })
  expect(told.did.at(-1)).toBe('x stops')
  await expectNothingAlive(told)
})

test('a call that its agent gives a deadline carries it, and is denied then', async () => {
  await using told = await story([{ calls: [work('x')] }, { text: 'then not' }], {
    tools: (world) => [worker({ approval: true })(world)],
    approval: { timeoutMs: 60_000 },
  })
  const asked = told.clock.now()
  const run = await told.say('do x', { idempotencyKey: 'a' })
  const [approval] = await approvals(told)
  expect(approval).toMatchObject({ at: asked, deadline: asked + 60_000 })

  expect((await told.clock.until(run.result())).text).toBe('then not')

  expect((await told.transcript())[2]).toBe('tool work: ! tool_denied')
  await expect(told.main.decide(approval!, 'approve')).rejects.toMatchObject({ code: 'already_decided' })
})

test('the session is asleep while it waits: a decision wakes it', async () => {
  await using told = await asking(work('x'))
  const run = await told.say('do x', { idempotencyKey: 'a' })
  const [approval] = await approvals(told)
  await told.clock.advance(600_000)
  expect(partsOf(told.runtime).host.liveCount).toBe(0)

  await told.main.decide(approval!, 'approve')

  expect((await told.clock.until(run.result())).text).toBe('done')
})

test('a closed runtime takes no decision, and says when one is taken', async () => {
  await using told = await asking(work('x'))
  await told.say('do x', { idempotencyKey: 'a' })
  const [x] = await approvals(told)
  const { main } = told
  await told.close()

  await expect(main.approve(x!)).rejects.toMatchObject({ code: 'closed', hint: expect.stringMatching(/^ask the same again when it is back/) })
  await told.restart()
  await told.main.approve(x!)
  expect((await told.clock.until(told.main.wait('a'))).text).toBe('done')
})

test('the outcome of a message that nobody has sent is not_found, and says which ids there are', async () => {
  await using told = await asking(work('x'))
  await told.say('do x')

  await expect(told.main.wait('zzz')).rejects.toMatchObject({ code: 'not_found', hint: expect.stringContaining('idempotency key') })
})
