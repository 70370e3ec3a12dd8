/** One run that goes on though its definition has changed, while all others of its kind are refused. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/index.ts'
import { agent, END, ladder, supervisor, type Workflow, workflow } from '../../src/ladder/index.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { aLadder, aLadderOf, timeless } from './a-ladder.ts'

/** It stops at its second step as long as it is told to. */
const letters = (ran: string[], names: readonly string[], { stops = false, version = '1' } = {}) =>
  workflow({
    name: 'letters',
    version,
    steps: names.map((name) => ({ name, run: () => (ran.push(name), stops && name === 'two' ? Promise.reject(new Error('stop')) : name) })),
  })

/** A run that has stopped at its second step, and the steps that there are now. */
const stopped = async (kit: TestRuntime, before: Workflow, ...now: Workflow[]) => {
  for (const runId of ['r', 'other']) await kit.clock.until(before.execute(undefined, { runId }))
  await kit.restart({ extensions: [ladder({ executables: now })] })
}

const wentOn = { status: 'completed', children: [{ name: 'one' }, { name: 'two' }, { name: 'four' }] }

test('[WL-114, WL-113] a run is forced to go on with other steps, once and for all; others stay refused', async () => {
  const ran: string[] = []
  const before = letters(ran, ['one', 'two', 'three'], { stops: true })
  const after = letters(ran, ['one', 'two', 'four'], { version: '2' })
  await using kit = await aLadder(before)
  await stopped(kit, before, after)

  expect((await kit.clock.until(after.resume('r', { force: true }))).report).toMatchObject(wentOn)

  expect(ran).toEqual(['one', 'two', 'one', 'two', 'two', 'four'])
  await expect(kit.clock.until(after.resume('other'))).rejects.toMatchObject({
    code: 'WORKFLOW_DRIFT',
    hint: expect.stringContaining('force: true'),
  })
  await kit.restart()
  expect((await kit.clock.until(after.resume('r'))).report).toMatchObject(wentOn)
  await expect(kit.clock.until(after.resume('nobody', { force: true }))).rejects.toMatchObject({ code: 'not_found' })
})

test('[WL-114] what was forced stands in the journal: it replays, and forks of it go on as it does', async () => {
  const ran: string[] = []
  const before = letters(ran, ['one', 'two', 'three'], { stops: true })
  await using kit = await aLadder(before)
  const after = letters(ran, ['one', 'two', 'four'], { stops: true })
  await stopped(kit, before, after)
  await kit.clock.until(after.resume('r', { force: true }))
  const { seq } = await kit.clock.until(kit.runtime.actor('letters', 'r').snapshot())
  const mended = letters(ran, ['one', 'two', 'four'])
  await kit.restart({ extensions: [ladder({ executables: [mended] })] })

  await kit.clock.until(kit.runtime.command('trace.fork', { kind: 'letters', id: 'r', as: 'fork' }))
  const forked = await kit.clock.until(mended.resume('fork'))
  const { entries } = await kit.runtime.command<{ entries: { event: string }[] }>('trace.read', { kind: 'letters', id: 'r' })

  expect(forked.report).toMatchObject({ ...wentOn, runId: 'r' })
  for (const id of ['r', 'fork']) expect(await kit.runtime.replay({ kind: 'letters', id })).toMatchObject({ verdict: 'identical' })
  expect(entries.filter(({ event }) => event.startsWith('adopted by'))).toHaveLength(1)
  await expect(kit.clock.until(kit.runtime.command('trace.fork', { kind: 'letters', id: 'r', as: 'early', at: 2 }))).rejects.toMatchObject({
    code: 'drift',
  })
  expect(seq).toBeGreaterThan(2)
})

test('[WL-114] killed at any commit after it was forced, and while it is, it comes to the same', async () => {
  const wanted = async (commit: number) => {
    const ran: string[] = []
    const before = letters(ran, ['one', 'two', 'three'], { stops: true })
    const after = letters(ran, ['one', 'two', 'four'])
    const kit = await aLadder(before)
    await stopped(kit, before, after)
    const died = Promise.withResolvers<'died'>()
    kit.failPoints.call('K02', () => (died.resolve('died'), new Promise<void>(() => undefined)), commit)
    const first = after.resume('r', { force: true })
    first.catch(() => undefined)
    const how = await kit.clock.until(Promise.race([died.promise, first]))
    if (how === 'died') {
      await kit.crash()
      await kit.restart()
    }
    const result = await kit.clock.until(after.resume('r', { force: true }))
    const replayed = await kit.runtime.replay({ kind: 'letters', id: 'r' })
    await kit.crash()
    return { calm: how !== 'died', result: timeless(result), verdict: replayed.verdict, ran }
  }
  const calm = await wanted(1000)
  expect(calm).toMatchObject({ calm: true, result: { report: wentOn }, verdict: 'identical' })

  for (let commit = 1; ; commit++) {
    const told = await wanted(commit)
    expect(told, `killed at commit ${commit}`).toMatchObject({ result: calm.result, verdict: 'identical' })
    expect(
      told.ran.filter((name) => name === 'one'),
      `killed at commit ${commit}`,
    ).toHaveLength(2)
    if (told.calm) break
    expect(commit).toBeLessThan(50)
  }
})

/** `outer` calls `middle`, and that `inner`, each in the code of a step; the process has died in the second step of the innermost. */
const called = async () => {
  const ran: string[] = []
  const begun = Promise.withResolvers<void>()
  const made = (names: readonly string[], hangs: boolean, last: string) => {
    const step = (name: string) => ({
      name,
      run: () => (ran.push(name), name === 'two' && hangs ? (begun.resolve(), new Promise(() => undefined)) : name),
    })
    const calling = (name: string, one: Workflow, more: readonly string[]) => {
      const call = { name: 'call', run: async ({ run }: { run: Run }) => dataOf(await run(one, 'x')) }
      return workflow({ name, steps: [call, ...more.map(step)] as never })
    }
    const inner = workflow({ name: 'inner', steps: names.map(step) })
    const middle = calling('middle', inner, [last])
    return { outer: calling('outer', middle, [last]), all: [inner, middle] }
  }
  const [before, after] = [made(['one', 'two', 'three'], true, 'last'), made(['one', 'two', 'four'], false, 'end')]
  const kit = await aLadder(before.outer, ...before.all)
  before.outer.execute(undefined, { runId: 'r' }).catch(() => undefined)
  await kit.clock.until(begun.promise)
  await kit.crash()
  await kit.restart({ extensions: [ladder({ executables: [after.outer, ...after.all] })] })
  return { kit, ran, go: () => after.outer.resume('r', { force: true }) }
}
type Run = (one: Workflow, input: unknown) => Promise<{ data?: unknown; error?: Error }>
const dataOf = ({ data, error }: Awaited<ReturnType<Run>>): unknown => {
  if (error) throw error
  return data
}

test('[WL-114, WL-113] what code of a run has called is forced with it, killed at any commit too: nothing that was done is done again', async () => {
  const wentThrough = { status: 'completed', children: [{ name: 'call', children: [{ name: 'middle', status: 'completed' }] }, { name: 'end' }] }
  for (let commit = 0; ; commit++) {
    const { kit, ran, go } = await called()
    await using _ = kit
    const died = Promise.withResolvers<'died'>()
    if (commit > 0) kit.failPoints.call('K02', () => (died.resolve('died'), new Promise<void>(() => undefined)), commit)
    const first = go()
    first.catch(() => undefined)
    const isCalm = (await kit.clock.until(Promise.race([died.promise, first]))) !== 'died'
    if (!isCalm) {
      await kit.crash()
      await kit.restart()
    }
    const { report } = await kit.clock.until(go())
    expect(report, `killed at commit ${commit}`).toMatchObject(wentThrough)
    expect(
      ran.filter((name) => name === 'one'),
      `killed at commit ${commit}`,
    ).toHaveLength(1)
    expect(ran.at(-1)).toBe('end')
    expect(await kit.runtime.replay({ kind: 'outer', id: 'r' })).toMatchObject({ verdict: 'identical' })
    if (isCalm && commit > 0) return expect(commit).toBeGreaterThan(4)
  }
})

test('[WL-114] a run that would do again what was done, or stands where there is no place for it, is refused with its code, and stays as it was', async () => {
  const ran: string[] = []
  const before = letters(ran, ['one', 'two', 'three'], { stops: true })
  await using kit = await aLadder(before)
  await stopped(kit, before, letters(ran, ['one', 'two', 'three'], { stops: true }))
  ran.length = 0

  for (const names of [
    ['two', 'one', 'three'],
    ['one', 'three'],
    ['one', 'new', 'two', 'three'],
  ]) {
    const after = letters(ran, names)
    await kit.restart({ extensions: [ladder({ executables: [after] })] })
    await expect(kit.clock.until(after.resume('r', { force: true })), names.join()).rejects.toMatchObject({
      code: 'WORKFLOW_DRIFT',
      category: 'drift',
      context: { runId: 'r' },
      hint: expect.stringContaining('begin another run'),
    })
  }
  expect(ran).toEqual([])
  const mended = letters(ran, ['one', 'two', 'three'])
  await kit.restart({ extensions: [ladder({ executables: [mended] })] })
  expect((await kit.clock.until(mended.resume('r'))).report).toMatchObject({ status: 'completed' })
})

test('[WL-101] a supervisor is forced to go on with more intents, and does no iteration again', async () => {
  const ran: string[] = []
  const desk = (names: readonly string[], stops: boolean) =>
    supervisor({
      name: 'desk',
      intents: Object.fromEntries(names.map((name) => [name, () => void ran.push(name)])),
      route: ({ iterations }) => {
        if (iterations.length === 0) return 'a'
        if (stops) throw new Error('stop')
        return iterations.length === 1 ? 'c' : END
      },
    })
  const before = desk(['a', 'b'], true)
  await using kit = await aLadder(before)
  expect((await kit.clock.until(before.execute(undefined, { runId: 'r' }))).report.status).toBe('failed')
  const after = desk(['a', 'b', 'c'], false)
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  await expect(kit.clock.until(after.resume('r'))).rejects.toMatchObject({ code: 'SUPERVISOR_DRIFT' })

  const { report } = await kit.clock.until(after.resume('r', { force: true }))

  expect(ran).toEqual(['a', 'c'])
  expect(report).toMatchObject({ type: 'supervisor', runId: 'r' })
  expect(await kit.runtime.replay({ kind: 'desk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-125] an agent of another version is forced to go on in the second trip, and calls no tool of the first again', async () => {
  const did: string[] = []
  const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), execute: () => did.push('look') && 'seen' })
  const clerk = (version: string) => agent({ name: 'clerk', version, model: 'test/a', tools: [look] })
  let fails = true
  const model = ({ messages }: { messages: { role: string }[] }) => {
    if (messages.at(-1)?.role !== 'tool') return { calls: [{ name: 'look' }] }
    if (fails) throw new Error('stop')
    return { text: 'done' }
  }
  const before = clerk('1')
  await using kit = await aLadderOf({ 'test/a': model }, before)
  expect((await kit.clock.until(before.execute('go', { runId: 'r' }))).report.status).toBe('failed')
  fails = false
  const after = clerk('2')
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  await expect(kit.clock.until(after.resume('r'))).rejects.toMatchObject({ code: 'AGENT_DRIFT' })

  expect(await kit.clock.until(after.resume('r', { force: true }))).toMatchObject({ data: 'done' })

  expect(did).toEqual(['look'])
  expect(await kit.runtime.replay({ kind: 'clerk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})
