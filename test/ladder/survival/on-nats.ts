/**
 * Lives on a NATS server, each with streams of its own. Where a commit is written and nobody is told, the next life is another node, which takes over what the dead
 * one had; where it is lost, it is the next life of a lone process.
 */
import { expect, test } from 'vitest'
import { virtualClock } from '../../../src/testing/index.ts'
import { ownNats } from '../../support/nats.ts'
import { natsStore } from '../../support/nats-store.ts'
import { type Death, inMemory, livedThrough, type Place } from './lives.ts'
import type { Scenario } from './scenario.ts'
import { sweep } from './sweep.ts'

/** @param wanted whether it dies at this one; default: at each @param wanted.place of the scenario among the others */
export const retellKilled = (scenarios: readonly Scenario[], wanted: (death: Death, place: number) => boolean = () => true): void => {
  // What a machine loses when its power is cut is another test's matter.
  const server = ownNats({ jetStreamConfig: 'sync_interval: 2m' })
  let count = 0
  const onNats = (death?: Death): Place => {
    const prefix = `lives${++count}x`
    const store = natsStore(server.url, prefix, { alone: death?.before === 'append', patienceMs: 60_000 })
    return { store, prefix, clock: virtualClock(undefined, { outside: () => store.outside() }), gone: () => store.wipe() }
  }

  test.for([...scenarios.entries()].map(([place, scenario]) => ({ place, scenario, name: scenario.name })))(
    '[WL-025, WL-101, WL-113, WL-125, WL-132, WL-133] $name on a NATS server: whichever commit its node dies at, another one comes to the same report and the same trace as in memory; nothing that was written down is paid or done again',
    { timeout: 1_800_000 },
    async ({ scenario, place }) => {
      const embedded = await livedThrough(scenario, inMemory())
      const { calm, died, doubted } = await sweep(scenario, onNats, (death) => wanted(death, place))

      expect(calm.result).toEqual(embedded?.result)
      expect(calm.trace).toEqual(embedded?.trace)
      expect(died).toBeGreaterThan(0)
      if (!scenario.doubtful) expect(doubted).toBe(0)
    },
  )
}
