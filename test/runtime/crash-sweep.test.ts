/**
 * One story with three steps, parallel tools, steering and an approval, killed in process at every hit of every fail point that it passes.
 * test/crash does the same to real processes; this one is quick enough to try every moment.
 */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type FailPoint, failPoints as names } from '../../src/contracts/environment.ts'
import { isRuntimeError, tool } from '../../src/index.ts'
import { aFate, type Fate } from '../support/fate.ts'
import { expectEndedOnce, expectNothingAlive, expectPaired, outcomes, type Story, story, work, worker } from './harness.ts'

const begin = () => {
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: z.object({}),
    onCrash: 'once',
    approval: true,
    execute: (_, { callId }) => void paid.push(callId),
  })
  const script = [
    { text: 'let me see', calls: [work('x', 20), work('y', 20)] },
    { calls: [{ name: 'pay' }, work('z')], chunks: ['now ', 'I pay'], deltaDelayMs: 5 },
    { text: 'all done', deltaDelayMs: 5 },
    { text: 'all done, too' },
  ]
  return { paid, started: story(script, { tools: (world) => [worker()(world), pay] }) }
}

/** A client that never gives up: it sends again what was not acknowledged, approves what is asked, denies what is in doubt. */
const drive = async (told: Story, fate: Fate): Promise<void> => {
  const acked = new Set<string>()
  const attempt = async <T>(act: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await told.clock.until(Promise.race([act(), fate.death]))
    } catch (error) {
      if (fate.down || (isRuntimeError(error) && (error.retryable || error.code === 'already_decided'))) return undefined
      throw error
    }
  }
  for (let round = 0; round < 400; round++) {
    if (fate.down) {
      await told.crash()
      fate.revive()
      told.failPoints.clear()
      await told.restart()
    }
    for (const id of ['a', 'b']) if (!acked.has(id) && (await attempt(() => told.main.send(id, { idempotencyKey: id })))) acked.add(id)
    await told.clock.advance(10)
    if (fate.down) continue
    const view = await attempt(() => told.main.view())
    for (const approval of view?.approvals ?? []) {
      await attempt(() => told.main.decide(approval, approval.why === 'approval' ? 'approve' : 'deny'))
    }
    if (!fate.down && acked.size === 2 && view?.state === 'awaiting-input') return
  }
  throw new Error(`no end: ${told.said().join(' ')}`)
}

/** How often the story passes each point when nothing goes wrong. */
const passes = await (async () => {
  const { started } = begin()
  await using told = await started
  await drive(told, aFate())
  return (Object.keys(names) as FailPoint[]).flatMap((name) =>
    Array.from({ length: told.failPoints.count(name) }, (_, index) => [name, index + 1] as const),
  )
})()

test('the story passes the points of a turn', () => {
  expect(new Set(passes.map(([name]) => name)).size).toBeGreaterThanOrEqual(14)
})

describe('killed at', () => {
  test.each(passes)(
    '%s, hit %i: every message is answered once, what must not run twice does not, replay is identical [INV-1, INV-2, INV-6, INV-13]',
    async (name, hit) => {
      const { started, paid } = begin()
      await using told = await started
      const fate = aFate()
      told.failPoints.call(
        name,
        () => {
          fate.die()
          // K02 lies inside of an append, which the store itself has to see through.
          return name === 'K02' ? undefined : new Promise<never>(() => undefined)
        },
        hit,
      )

      await drive(told, fate)

      expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'final' })
      await expectEndedOnce(told)
      const history = await told.main.history()
      expectPaired(history)
      expect(history.filter(({ role }) => role === 'user')).toHaveLength(2)
      expect(paid.length).toBeLessThanOrEqual(1)
      expect(new Set(paid).size).toBe(paid.length)
      expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
      await expectNothingAlive(told)
    },
  )
})
