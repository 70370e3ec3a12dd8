/** Schedules as their authors and users meet them. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { RuntimeError, tool } from '../../../src/index.ts'
import {
  type AnyExecutable,
  agent,
  type FiringInput,
  ladder,
  type Schedule,
  type ScheduleDefinition,
  schedule,
  workflow,
} from '../../../src/ladder/index.ts'
import type { TestRuntime } from '../../../src/testing/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
/** Where virtual time begins. */
const origin = Date.UTC(2026, 0, 31, 8, 5)

/** Runs that write down for when they were begun; `lastsMs`: how long one is under way. */
const aFlow = (ran: string[], lastsMs = 0) =>
  workflow({
    name: 'flow',
    input: z.object({ due: z.string() }),
    steps: [
      { name: 'work', run: ({ input }) => void ran.push(input.due) },
      { name: 'last', sleep: lastsMs },
    ],
  })
const input = ({ due }: FiringInput) => ({ due: due.toISOString() })
type When = { at: Date | string | number } | { every: number | string } | { cron: string; timezone?: string }
const aNightly = (flow: AnyExecutable, when: When, more: Partial<ScheduleDefinition<unknown>> = {}): Schedule =>
  schedule({ name: 'nightly', run: flow, input, ...when, ...more })

const words = (kit: TestRuntime): string[] =>
  kit.events('main', 'nightly').flatMap(({ type }) => (type.startsWith('schedule.') ? [type.slice('schedule.'.length)] : []))
const isoOf = (...after: number[]) => after.map((ms) => new Date(origin + ms).toISOString())

test('one that is due at a moment begins its run then, once, by a name that says when; the run is one like any other', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const nightly = aNightly(flow, { at: new Date(origin + hour) })
  await using kit = await aLadder(flow, nightly)

  expect(await kit.clock.until(nightly.next())).toEqual(new Date(origin + hour))
  await kit.clock.advance(hour - second)
  expect(ran).toEqual([])
  await kit.clock.advance(2 * second)
  expect(ran).toEqual(isoOf(hour))
  const result = await kit.clock.until(flow.resume('nightly:2026-01-31T09:05:00Z'))
  await kit.clock.advance(hour)

  expect(result.report).toMatchObject({ type: 'workflow', status: 'completed', startedAt: origin + hour })
  expect(ran).toHaveLength(1)
  expect(await nightly.next()).toBeNull()
  expect(await nightly.history()).toEqual([
    { runId: 'nightly:2026-01-31T09:05:00Z', due: new Date(origin + hour), by: 'clock', at: new Date(origin + hour), status: 'completed' },
  ])
  expect(await kit.runtime.replay({ kind: 'nightly', id: 'main' })).toMatchObject({ verdict: 'identical' })
})

test('one that comes again keeps its rhythm over restarts, and costs no commit while it waits', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const nightly = aNightly(flow, { every: '15m' })
  await using kit = await aLadder(flow, nightly)
  await kit.clock.advance(31 * minute)
  await kit.crash()
  await kit.restart()
  const { seq } = await kit.runtime.actor('nightly', 'main').snapshot()
  await kit.clock.advance(13 * minute)
  expect((await kit.runtime.actor('nightly', 'main').snapshot()).seq).toBe(seq)
  await kit.clock.advance(2 * minute)

  expect(ran).toEqual(isoOf(15 * minute, 30 * minute, 45 * minute))
  expect(await kit.clock.until(nightly.next())).toEqual(new Date(origin + hour))
})

test('a cron expression is read in its zone, over the days on which its clocks are changed', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const nightly = aNightly(flow, { cron: '30 2 * * *', timezone: 'Europe/Berlin' }, { catchUp: 'none' })
  await using kit = await aLadder(flow, nightly)
  // 02:30 is not there on the 29th: it is due when it would have been over.
  const due = ['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']
  for (const time of due) {
    await kit.crash()
    await kit.clock.advance(Date.parse(time) - minute - kit.clock.now())
    await kit.restart()
    await kit.clock.advance(second)
    expect(await kit.clock.until(nightly.next())).toEqual(new Date(time))
    await kit.clock.advance(minute + second)
  }

  expect(ran).toEqual(due)
})

test.each<[ScheduleDefinition<unknown>['catchUp'], number[], number]>([
  ['once', [4 * hour], 1],
  ['all', [2 * hour, 3 * hour, 4 * hour], 3],
  ['none', [], 0],
])('what was missed while no process was there: catchUp %s', async (catchUp, missed, begun) => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const nightly = aNightly(flow, { every: hour }, { ...(catchUp && { catchUp }), overlap: 'queue' })
  await using kit = await aLadder(flow, nightly)
  await kit.clock.advance(hour + minute)
  await kit.crash()
  await kit.clock.advance(3.5 * hour)
  await kit.restart()
  await kit.clock.advance(minute)

  expect(ran).toEqual(isoOf(hour, ...missed))
  await kit.clock.advance(hour)
  expect(ran).toEqual(isoOf(hour, ...missed, 5 * hour))
  expect(await nightly.history()).toHaveLength(begun + 2)
  expect(words(kit).includes('missed')).toBe(begun < 3)
})

test.each<[NonNullable<ScheduleDefinition<unknown>['overlap']>, number[], string]>([
  ['skip', [minute, 4 * minute], 'skipped'],
  ['queue', [minute, 2 * minute], 'queued'],
  ['allow', [minute, 2 * minute, 3 * minute, 4 * minute], 'fired'],
])('a run that is under way when the next is due: overlap %s', async (overlap, begun, word) => {
  const ran: string[] = []
  const flow = aFlow(ran, 2.5 * minute)
  const nightly = aNightly(flow, { every: minute }, { overlap })
  await using kit = await aLadder(flow, nightly)
  await kit.clock.advance(4 * minute + 10 * second)

  expect(ran).toEqual(isoOf(...begun))
  expect(words(kit)).toContain(word)
  const statuses = (await kit.clock.until(nightly.history())).map(({ status }) => status)
  expect(statuses).toEqual(
    { skip: ['running', 'skipped', 'skipped', 'completed'], queue: ['running', 'completed'], allow: ['running', 'running', 'running', 'completed'] }[
      overlap
    ],
  )
})

test('a run waits for the one before it, and is begun when that has ended', async () => {
  const ran: string[] = []
  const flow = workflow({ name: 'flow', input: z.object({ due: z.string() }), steps: [{ name: 'wait', waitFor: 'go' }] })
  const nightly = aNightly(flow, { every: hour }, { overlap: 'queue' })
  await using kit = await aLadder(flow, nightly)
  await kit.clock.advance(hour + minute)
  const [first] = await nightly.history()
  await kit.clock.advance(hour)
  expect(await nightly.history()).toHaveLength(1)

  await kit.clock.until(flow.send(first?.runId ?? '', { type: 'go' }))
  await kit.clock.advance(second)

  expect((await kit.clock.until(nightly.history())).map(({ status, due }) => [status, due.toISOString()])).toEqual([
    ['running', ...isoOf(2 * hour)],
    ['completed', ...isoOf(hour)],
  ])
  expect(ran).toEqual([])
})

test('a trigger with the name of a run that was begun begins nothing', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const nightly = aNightly(flow, { every: hour })
  await using kit = await aLadder(flow, nightly)
  const trigger = () => kit.clock.until(nightly.trigger({ runId: 'by-hand' }))

  expect(await trigger()).toEqual({ runId: 'by-hand', status: 'begun' })
  await kit.clock.until(flow.resume('by-hand'))
  expect(await trigger()).toEqual({ runId: 'by-hand', status: 'begun' })
  await kit.clock.advance(minute)

  expect(ran).toHaveLength(1)
  expect(await kit.clock.until(nightly.history())).toMatchObject([{ runId: 'by-hand', by: 'hand' }])
  expect(words(kit).filter((word) => word === 'fired')).toHaveLength(1)
})

test('it is paused and goes on; stopped it stays so over a restart, until it is started; what is triggered begins at once', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const nightly = aNightly(flow, { every: hour })
  await using kit = await aLadder(flow, nightly)

  await kit.clock.until(nightly.pause())
  expect(await kit.clock.until(nightly.next())).toBeNull()
  await kit.clock.advance(2.5 * hour)
  await kit.clock.until(nightly.resume())
  expect(await kit.clock.until(nightly.next())).toEqual(new Date(origin + 3 * hour))
  expect(ran).toEqual([])
  const triggered = await kit.clock.until(nightly.trigger({ runId: 'by-hand' }))
  expect(triggered).toEqual({ runId: 'by-hand', status: 'begun' })
  expect((await kit.clock.until(flow.resume('by-hand'))).report.status).toBe('completed')
  await kit.clock.until(nightly.stop())
  await kit.restart()
  await kit.clock.advance(2 * hour)
  expect(ran).toHaveLength(1)
  const again = kit.clock.now()
  await kit.clock.until(nightly.start())
  await kit.clock.advance(hour + second)

  expect(ran.slice(1)).toEqual([new Date(again + hour).toISOString()])
  expect(words(kit).filter((word) => word !== 'fired')).toEqual(['planned', 'paused', 'resumed', 'stopped', 'planned'])
})

test('another time than before is reckoned anew when a runtime starts with it; runs of the past stay', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const nightly = aNightly(flow, { every: hour })
  await using kit = await aLadder(flow, nightly)
  await kit.clock.advance(hour + minute)

  const often = aNightly(flow, { every: '10m' }, { overlap: 'allow', keep: 2 })
  await kit.restart({ extensions: [ladder({ executables: [flow, often] })] })
  const from = kit.clock.now()
  expect(await kit.clock.until(often.next())).toEqual(new Date(from + 10 * minute))
  await kit.clock.advance(20 * minute + second)

  expect(ran).toEqual([...isoOf(hour), new Date(from + 10 * minute).toISOString(), new Date(from + 20 * minute).toISOString()])
  expect(await often.history()).toHaveLength(2)
  expect(await kit.runtime.replay({ kind: 'nightly', id: 'main' })).toMatchObject({ verdict: 'identical' })
})

test('an input that does not fit, or code that throws, is a firing that failed; the next one is not kept from coming', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  let count = 0
  const nightly = schedule({
    name: 'nightly',
    run: flow,
    every: hour,
    input: ({ due, name, by, runId }) => {
      count++
      if (count === 1) throw new Error('no day')
      return count === 2 ? (5 as never) : { due: `${name} ${by} ${runId === `nightly:${due.toISOString().replace('.000Z', 'Z')}`}` }
    },
  })
  await using kit = await aLadder(flow, nightly)
  await kit.clock.advance(3 * hour + second)

  expect(ran).toEqual(['nightly clock true'])
  expect(await kit.clock.until(nightly.history())).toMatchObject([
    { status: 'completed' },
    { status: 'failed', error: { code: 'SCHEMA_VALIDATION_FAILED' } },
    { status: 'failed', error: { code: 'SCHEDULE_FAILED', message: expect.stringContaining('no day') } },
  ])
  expect(words(kit)).toEqual(['planned', 'failed', 'failed', 'fired'])
})

test('where it may help, a run is tried to be begun again, after a pause', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const tries: number[] = []
  const nightly = schedule({
    name: 'nightly',
    run: flow,
    every: hour,
    input: ({ due }) => {
      if (tries.push(kit.clock.now() - origin - hour) < 4) throw new RuntimeError('overloaded', 'not now', { retryable: true })
      return { due: due.toISOString() }
    },
  })
  await using kit = await aLadder(flow, nightly)
  await kit.clock.advance(hour + minute)

  expect(tries).toEqual([0, 1_000, 3_000, 7_000])
  expect(ran).toEqual(isoOf(hour))
  expect(words(kit)).toEqual(['planned', 'fired'])
})

test('centuries are waited for, and what fell due meanwhile is begun', async () => {
  const ran: string[] = []
  const flow = aFlow(ran)
  const nightly = aNightly(flow, { at: '2399-12-31T23:59:59Z' })
  await using kit = await aLadder(flow, nightly)
  for (const time of [Date.UTC(2026, 5, 1), Date.UTC(2300, 0, 1)]) {
    await kit.crash()
    await kit.clock.advance(time - kit.clock.now())
    await kit.restart()
    await kit.clock.advance(minute)
    expect(ran).toEqual([])
    expect(await nightly.next()).toEqual(new Date('2399-12-31T23:59:59Z'))
  }
  await kit.crash()
  await kit.clock.advance(Date.UTC(2400, 0, 1) - kit.clock.now())
  await kit.restart()
  await kit.clock.advance(minute)

  expect(ran).toEqual(['2399-12-31T23:59:59.000Z'])
})

test('what it is told about is heard', async () => {
  const flow = aFlow([])
  const nightly = aNightly(flow, { every: minute })
  await using kit = await aLadder(flow, nightly)
  const heard: object[] = []
  const leave = new AbortController()
  const listening = (async () => {
    for await (const event of nightly.events({ signal: leave.signal })) heard.push(event)
  })()
  await kit.clock.advance(minute + second)
  leave.abort()
  await listening

  expect(heard).toEqual([
    expect.objectContaining({ type: 'schedule.fired', schedule: 'nightly', runId: 'nightly:2026-01-31T08:06:00Z', by: 'clock' }),
  ])
})

test.each<[string, object, RegExp]>([
  ['no time', {}, /does not say when/],
  ['two of them', { at: 5, every: 5_000 }, /has at and every/],
  ['a moment without a zone', { at: '2027-01-01T09:00:00' }, /no moment/],
  ['a word as a moment', { at: 'tomorrow' }, /no moment/],
  ['no date', { at: new Date(Number.NaN) }, /no moment/],
  ['a word as a time', { every: 'often' }, /every "often"/],
  ['less than a second', { every: 10 }, /every 10/],
  ['no number', { every: Number.NaN }, /every/],
  ['a field too few', { cron: '* * *' }, /cannot be due by/],
  ['a minute too many', { cron: '61 * * * *' }, /cannot be due by/],
  ['a day that there is not', { cron: '0 9 30 2 *' }, /never due/],
  ['a zone that there is not', { cron: '0 9 * * *', timezone: 'Nowhere/City' }, /Nowhere/],
  ['another overlap', { every: '1h', overlap: 'both' }, /overlap 'both'/],
  ['another catchUp', { every: '1h', catchUp: 'some' }, /catchUp 'some'/],
  ['no patience that there is', { every: '1h', graceMs: -1 }, /graceMs/],
  ['nothing that it keeps', { every: '1h', keep: 0 }, /keeps 0/],
  ['the name of what it runs', { every: '1h', name: 'flow' }, /named like/],
  ['no name', { every: '1h', name: 'A b' }, /no name of a schedule/],
  ['nothing to run', { every: '1h', run: {} }, /nothing to run/],
])('%s is refused where it is written', (_, more, message) => {
  expect(() => schedule({ name: 'nightly', run: aFlow([]), ...more } as never)).toThrow(
    expect.objectContaining({
      code: 'SCHEDULE_CONFIG',
      category: 'validation',
      message: expect.stringMatching(message),
      hint: expect.any(String),
    }),
  )
})

test('one without what it runs is refused, and one of no runtime says so', async () => {
  const flow = aFlow([])
  const nightly = aNightly(flow, { every: '1h' })

  expect(() => ladder({ executables: [nightly] })).toThrow(
    expect.objectContaining({ code: 'LADDER_CONFIG', hint: 'write ladder({ executables: [flow, nightly] })' }),
  )
  await expect(nightly.next()).rejects.toMatchObject({ code: 'LADDER_CONFIG' })
})

test('wrong inputs and wrong words are errors of the compiler', () => {
  const flow = aFlow([])
  const nightly = schedule({ name: 'nightly', run: flow, every: '1h', input: { due: 'now' } })
  expectTypeOf(nightly.next).returns.resolves.toEqualTypeOf<Date | null>()
  // @ts-expect-error the input of the workflow is another one
  schedule({ name: 'nightly', run: flow, every: '1h', input: { due: 5 } })
  // @ts-expect-error the same, made of the firing
  schedule({ name: 'nightly', run: flow, every: '1h', input: () => ({ when: 'now' }) })
  // @ts-expect-error there is no such overlap
  expect(() => schedule({ name: 'nightly', run: flow, every: '1h', overlap: 'both' })).toThrow()
  // @ts-expect-error it has to say when
  expect(() => schedule({ name: 'nightly', run: flow })).toThrow()
})

test.each([
  ['denies a call that needs a person at once', undefined, 'nobody is there who could'],
  ['waits for as long as its agent says', { timeoutMs: 10 * minute }, 'within 600 s'],
])('a scheduled run %s', async (_, approval, reason) => {
  const shown: string[] = []
  const pay = tool({ name: 'pay', description: 'Pays.', input: z.object({}), approval: true, execute: () => 'paid' })
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [pay], ...(approval && { approval }) })
  // Inside of a workflow: what the schedule says of its run holds for all that is asked in it.
  const flow = workflow({
    name: 'flow',
    input: z.object({ due: z.string() }),
    steps: [{ name: 'ask', agent: clerk, input: ({ input }) => input.due }],
  })
  const nightly = aNightly(flow, { at: new Date(origin + hour) })
  const model = ({ messages }: { messages: readonly { role: string }[] }) => {
    shown.push(JSON.stringify(messages.at(-1)))
    return messages.at(-1)?.role === 'tool' ? { text: 'then not' } : { calls: [{ name: 'pay' }] }
  }
  await using kit = await aLadderOf({ 'test/a': model }, flow, nightly)

  await kit.clock.advance(hour + second)
  const ended = kit.clock.until(flow.resume('nightly:2026-01-31T09:05:00Z'))

  expect(await ended).toMatchObject({ data: 'then not', report: { status: 'completed' } })
  expect(shown.at(-1)).toContain('tool_denied')
  expect(shown.at(-1)).toContain(reason)
  expect(kit.clock.now() - origin - hour < minute).toBe(approval === undefined)
})
