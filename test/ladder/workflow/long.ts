/** A workflow of many steps: retries, parallel ones, a sleep of two days and a call that waits for a person, on disk, over a crash. Told in both tiers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { openTransport, type Transport, tool } from '../../../src/index.ts'
import { agent, ladder, type Step, workflow } from '../../../src/ladder/index.ts'
import { entriesOf } from '../../../src/ladder/kept.rules.ts'
import type { RunContext } from '../../../src/ladder/workflow/workflow.context.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { type TestStore, testRuntime } from '../../../src/testing/index.ts'

type Count = { count: number }
const [day, pause] = [86_400_000, 2 * 86_400_000]
/** Of ten steps two are tried twice, one is three at once. */
const cycle = 10

const onDisk = (folder: string): TestStore => {
  let open: Transport | undefined
  return {
    open: async (environment) => (open = await openTransport(`embedded:${folder}`, { environment })),
    crash: async () => open?.close(),
  }
}

const aLongOne = (steps: number, did: Map<string, number>) => {
  const work = (name: string) => did.set(name, (did.get(name) ?? 0) + 1)
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    approval: true,
    onCrash: 'once',
    execute: () => work('pay') && 'paid',
  })
  const clerk = agent({ name: 'clerk', model: 'test/clerk', tools: [pay] })
  const stepAt = (index: number): Step<unknown, Count, string> => {
    const name = `step-${index}`
    if (index === Math.floor(steps / 2)) return { name: 'pause', sleep: pause }
    if (index === Math.floor((steps * 3) / 4)) return { name: 'ask', agent: clerk, input: () => 'pay' }
    if (index % cycle === 3)
      return { name, parallel: ['a', 'b', 'c'].map((part) => ({ name: `${name}-${part}`, run: () => work(`${name}-${part}`) && { part } })) }
    return {
      name,
      run: ({ state, attempt }) => {
        work(name)
        if (index % cycle > 7 && attempt === 1) throw new Error('busy')
        state.count++
        return { index, text: `what the step ${index} came to` }
      },
      retry: { attempts: 2, backoff: 'none' },
    }
  }
  return workflow({
    name: 'long',
    state: { count: 0 },
    maxSteps: steps,
    steps: Array.from({ length: steps }, (_, index) => stepAt(index)),
    output: ({ state }) => state.count,
  })
}

const model = ({ messages }: { messages: { role: string }[] }) =>
  messages.some(({ role }) => role === 'tool') ? { text: 'paid' } : { calls: [{ name: 'pay', input: {} }] }

const mean = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0) / sizes.length

/** @param edge how many commits of each end are compared */
export const tellLong = async ({ steps, edge }: { steps: number; edge: number }): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-long-'))
  try {
    const did = new Map<string, number>()
    const long = aLongOne(steps, did)
    const options = { extensions: [ladder({ executables: [long] })], models: { 'test/clerk': model }, checkDeterminism: 'off' as const }
    await using kit = await testRuntime({ ...options, store: onDisk(folder) })
    const state = () => kit.runtime.actor('long', 'r').snapshot()
    const { promise: asleep, resolve } = Promise.withResolvers<void>()
    long.stream(undefined, { runId: 'r' }).on({ 'workflow.step.starting': ({ step }) => step === 'pause' && resolve() })
    await kit.clock.until(asleep, day)
    const half = await partsOf(kit.runtime).transport.journal.head({ kind: 'long', id: 'r' })
    const done = new Map(did)

    await kit.crash()
    await kit.clock.advance(pause - 60_000)
    await kit.restart()
    expect(did).toEqual(done)
    const attached = long.execute(undefined, { runId: 'r' })
    await kit.clock.until(
      kit.runtime.actor('long', 'r').waitFor(({ context }) => context.waiting.length > 0),
      day,
    )
    const [call] = await long.pending('r')
    await kit.clock.until(long.decide('r', { callId: call?.callId ?? '', decision: 'approve' }))
    const { data, error, report } = await kit.clock.until(attached, day)

    // All of it came to what it should, and nothing was done once more than it is tried.
    const whole = steps - 2
    const parallel = report.children.filter(({ children }) => children.length === 3)
    const tried = report.children.filter(({ attempts }) => attempts === 2)
    expect(error).toBeUndefined()
    expect(report.children.map(({ status }) => status)).toEqual(Array.from({ length: steps }, () => 'completed'))
    expect(data).toBe(whole - parallel.length)
    expect([parallel.length, tried.length].map((count) => Math.abs(count - steps / cycle) < 2 || Math.abs(count - (2 * steps) / cycle) < 2)).toEqual([
      true,
      true,
    ])
    expect(report.children.find(({ name }) => name === 'pause')?.duration).toBe(pause)
    expect(did.get('pay')).toBe(1)
    for (const { name, attempts, children } of report.children) if (!children.length && name !== 'pause') expect(did.get(name)).toBe(attempts)

    // What a commit and a snapshot weigh follows from what has happened in it, not from how much has happened before.
    const { journal } = partsOf(kit.runtime).transport
    const sizes = (await journal.read({ kind: 'long', id: 'r' }, 1)).map(({ bytes }) => bytes.length)
    expect(sizes.length).toBeGreaterThan((half?.seq ?? 0) + steps / 2)
    expect(mean(sizes.slice(-edge))).toBeLessThan(mean(sizes.slice(0, edge)) * 1.15)
    const { children, context } = await state()
    const records = entriesOf((context as RunContext).steps).length
    expect(records).toBe(steps + 3 * parallel.length)
    expect(Object.keys(children)).toEqual([])
    const snapshot = await journal.snapshot({ kind: 'long', id: 'r' })
    if (snapshot) expect(snapshot.bytes.length / records).toBeLessThan(300)
    expect(await kit.runtime.replay({ kind: 'long', id: 'r' })).toMatchObject({ verdict: 'identical' })
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
