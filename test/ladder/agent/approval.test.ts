/** Calls of tools that a person has to agree to. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { type ApprovalPolicy, agent, type Decision, type LadderEvent } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }

const broken = (sum: number): boolean => {
  if (sum === 13) throw new Error('out of luck')
  return true
}

/** `did` is what has been paid and looked up. */
const aClerk = (did: unknown[], approval?: ApprovalPolicy) =>
  agent({
    name: 'clerk',
    model: 'test/a',
    toolExecution: 'parallel',
    ...(approval && { approval }),
    tools: [
      tool({
        name: 'pay',
        description: 'Pays.',
        input: z.object({ sum: z.number().max(100).refine(broken) }),
        approval: approval === undefined,
        onCrash: 'retry',
        execute: ({ sum }) => (did.push(sum), `paid ${sum}`),
      }),
      tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => (did.push('look'), 'seen') }),
    ],
  })
const models = () => ({
  'test/a': [
    { calls: [{ name: 'pay', input: { sum: 5 } }, { name: 'look' }], usage },
    { text: 'done', usage },
  ],
})

/** Runs until so many calls wait, which are then decided about. */
const decidedRun = async (did: unknown[], count: number, decide: (name: string) => Omit<Decision, 'callId'>, approval?: ApprovalPolicy) => {
  const clerk = aClerk(did, approval)
  const kit = await aLadderOf(models(), clerk)
  const all = Promise.withResolvers<void>()
  const events: LadderEvent[] = []
  let asked = 0
  const on = {
    '*': (event: LadderEvent) => void events.push(event),
    'agent.approval.requested': () => void (++asked === count && all.resolve()),
  }
  const run = clerk.execute('pay', { runId: 'r', on })
  if (count > 0) await kit.clock.until(all.promise)
  const pending = count > 0 ? await kit.clock.until(clerk.pending('r')) : []
  for (const { callId, name } of pending) await kit.clock.until(clerk.decide('r', { callId, ...decide(name) } as Decision))
  const result = await kit.clock.until(run)
  expect(await kit.runtime.replay({ kind: 'clerk', id: 'r' })).toMatchObject({ verdict: 'identical' })
  return { kit, clerk, result, events, pending }
}

test('[WL-129] a call that is edited runs once with the other input, and the report says who wanted it so', async () => {
  const did: unknown[] = []
  const edit = () => ({ decision: 'edit' as const, input: { sum: 3 }, by: 'ann', note: 'too much' })
  const { kit, result, events } = await decidedRun(did, 1, edit)
  await using _ = kit
  expect(did.filter((one) => one !== 'look')).toEqual([3])
  expect(result).toMatchObject({
    data: 'done',
    report: { children: [{ name: 'pay', status: 'completed', decision: { decision: 'edit', by: 'ann', note: 'too much' } }, { name: 'look' }] },
  })
  expect(result.report.children[1]).not.toHaveProperty('decision')
  expect(events.find(({ type }) => type === 'agent.approval.decided')).toMatchObject({ decision: 'edit', by: 'ann' })
  expect(events.find(({ type, tool: name }) => type === 'agent.tool.called' && name === 'pay')).toMatchObject({ output: 'paid 3' })
})

test('a run waits for its person for days, is listed among all that waits, and goes on with the answer', async () => {
  const did: unknown[] = []
  const clerk = aClerk(did)
  await using kit = await aLadderOf(models(), clerk)
  const asked = Promise.withResolvers<LadderEvent>()
  const run = clerk.execute('pay', { runId: 'r', on: { 'agent.approval.requested': asked.resolve } })
  const at = kit.clock.now()
  const { callId } = (await kit.clock.until(asked.promise)) as LadderEvent & { callId: string }
  await kit.clock.advance(30 * 3_600_000)

  const waiting = await kit.clock.until(kit.runtime.command('approvals.list'))
  expect(waiting).toMatchObject({ approvals: [], runs: [{ actor: 'clerk/r', callId, name: 'pay', input: { sum: 5 }, at: expect.any(Number) }] })
  expect((waiting as { runs: { at: number }[] }).runs[0]?.at).toBeLessThan(at + 60_000)
  expect(kit.log.filter(({ message }) => message === 'a tool call waits for approval').map(({ fields }) => fields)).toMatchObject([
    { actor: 'clerk/r', tool: 'pay', callId },
  ])

  await kit.clock.until(clerk.decide('r', { callId, decision: 'approve' }))

  expect(await kit.clock.until(run)).toMatchObject({ data: 'done' })
  expect(did).toContain(5)
  expect(await kit.clock.until(kit.runtime.command('approvals.list'))).toEqual({ approvals: [], runs: [], unreadable: [] })
})

test('[WL-129] a call that is denied does not run, and the model reads why', async () => {
  const did: unknown[] = []
  const { kit, result, events } = await decidedRun(did, 1, () => ({ decision: 'deny', note: 'no money', by: 'bob' }))
  await using _ = kit
  expect(did).toEqual(['look'])
  expect(result).toMatchObject({ data: 'done', report: { children: [{ status: 'failed', decision: { decision: 'deny', by: 'bob' } }, {}] } })
  expect(JSON.stringify(events.find(({ type }) => type === 'agent.tool.failed'))).toContain('refused by bob: no money')
})

test('[WL-129] what is no decision is thrown, as is an input that does not fit; the call waits on. A second decision is told of the first', async () => {
  const did: unknown[] = []
  const clerk = aClerk(did)
  await using kit = await aLadderOf(models(), clerk)
  const asked = Promise.withResolvers<LadderEvent>()
  const run = clerk.execute('pay', { runId: 'r', on: { 'agent.approval.requested': asked.resolve } })
  const { callId } = (await kit.clock.until(asked.promise)) as LadderEvent & { callId: string }
  const invalid = { code: 'SCHEMA_VALIDATION_FAILED', category: 'validation', hint: expect.any(String) }
  const bad = [
    { callId, decision: 'yes' },
    { callId, decision: 'edit' },
    { callId, decision: 'edit', input: { sum: 'much' } },
    { callId, decision: 'edit', input: { sum: 1000 } },
    { callId, decision: 'edit', input: { sum: 13 } },
    { callId, decision: 'approve', input: {} },
    { decision: 'approve' },
  ]
  for (const one of bad) await expect(kit.clock.until(clerk.decide('r', one as never)), JSON.stringify(one)).rejects.toMatchObject(invalid)
  expect(await kit.clock.until(clerk.pending('r'))).toMatchObject([{ callId }])

  // At the same moment: one of them comes first.
  const both = await kit.clock.until(
    Promise.allSettled([clerk.decide('r', { callId, decision: 'approve', by: 'ann' }), clerk.decide('r', { callId, decision: 'deny', by: 'bob' })]),
  )
  expect(both).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'APPROVAL_UNKNOWN', context: { decided: { decision: 'approve', by: 'ann' } } } },
  ])
  expect(await kit.clock.until(run)).toMatchObject({ data: 'done' })
  expect(did.filter((one) => one === 5)).toEqual([5])
  await expect(kit.clock.until(clerk.decide('r', { callId, decision: 'deny' }))).rejects.toMatchObject({
    message: expect.stringContaining('decided before, by ann'),
    context: { decided: { decision: 'approve' } },
  })
  await expect(kit.clock.until(clerk.decide('r', { callId: 'x', decision: 'deny' }))).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
})

test('[WL-129] an agent says which calls wait: all but some, some, or as a function of the call says', async () => {
  const policies: [ApprovalPolicy, string[]][] = [
    [{ allow: ['look'] }, ['pay']],
    [{ allow: [] }, ['pay', 'look']],
    [{ deny: ['look'] }, ['look']],
    [({ input }) => (input as { sum?: number }).sum === 5, ['pay']],
    [async () => false, []],
  ]
  for (const [policy, waiting] of policies) {
    const did: unknown[] = []
    const { kit, result, pending } = await decidedRun(did, waiting.length, () => ({ decision: 'approve' }), policy)
    expect(new Set(pending.map(({ name }) => name)), JSON.stringify(waiting)).toEqual(new Set(waiting))
    expect(result).toMatchObject({ data: 'done' })
    expect(did).toHaveLength(2)
    await kit.close()
  }
  for (const approval of [{ allow: 'look' }, { allow: [], deny: [] }])
    expect(() => agent({ name: 'a', approval: approval as never })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
  // @ts-expect-error one of them
  void ({ allow: [], deny: [] } satisfies ApprovalPolicy)
})

test('[WL-129] killed at any commit, an edited call runs with the other input, and the report is the same', async () => {
  const edited = (clerk: ReturnType<typeof aClerk>) => {
    const on = {
      'agent.approval.requested': ({ callId }: LadderEvent) =>
        void clerk.decide('r', { callId: callId as string, decision: 'edit', input: { sum: 3 }, by: 'ann' }).catch(() => undefined),
    }
    return async () => {
      const run = clerk.execute('pay', { runId: 'r', on })
      // It may wait since before the crash.
      for (const { callId } of await clerk.pending('r').catch(() => []))
        await clerk.decide('r', { callId, decision: 'edit', input: { sum: 3 }, by: 'ann' }).catch(() => undefined)
      return run
    }
  }
  const calm = aClerk([])
  await using kit = await aLadderOf(models(), calm)
  const whole = await kit.clock.until(edited(calm)())
  expect(whole).toMatchObject({ data: 'done', report: { children: [{ decision: { decision: 'edit' } }, {}] } })
  const { seq } = await kit.runtime.actor('clerk', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const did: unknown[] = []
    const clerk = aClerk(did)
    await using doomed = await aLadderOf(models(), clerk)
    expect(timeless(await killedAt(doomed, edited(clerk), commit)), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(new Set(did), `killed at commit ${commit}`).toEqual(new Set([3, 'look']))
    expect(await doomed.runtime.replay({ kind: 'clerk', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})
