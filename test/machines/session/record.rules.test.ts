/** What a session keeps of itself, over weeks. */
import { expect, test } from 'vitest'
import { noUsage } from '../../../src/contracts/message.ts'
import type { SessionRecord } from '../../../src/contracts/session.ts'
import type { TurnOutput } from '../../../src/contracts/turn.ts'
import { accounted, emptyRecord, startedOver } from '../../../src/machines/session/record.rules.ts'

const dayMs = 24 * 3_600_000
const start = Date.UTC(2026, 0, 30, 23, 59)
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** After a turn that used a thousand tokens. */
const after = (record: SessionRecord, endedAt: number, costUsd?: number): SessionRecord =>
  accounted(record, {
    status: 'completed',
    usage: { ...noUsage, inputTokens: 1000 },
    model: 'test/model',
    endedAt,
    ...(costUsd === undefined ? {} : { costUsd }),
  } as TurnOutput)

test('[OC-89] costs are kept by day for 31 days: with the 32nd day the first one goes, and the sum keeps it', () => {
  let record = emptyRecord
  const days: string[] = []

  for (let day = 0; day < 40; day++) {
    const at = start + day * dayMs
    days.push(dayOf(at))
    record = after(after(record, at, 0.002), at, 0.001)
    expect(Object.keys(record.spent.days)).toEqual(days.slice(-31))
  }

  for (const costs of Object.values(record.spent.days)) {
    expect(costs.costUsd).toBeCloseTo(0.003, 10)
    expect(costs).toMatchObject({ priced: 2, unpriced: 0 })
  }
  expect(record.spent.costUsd).toBeCloseTo(0.12, 10)
  expect(record.spent).toMatchObject({ turns: 80, priced: 80, usage: { inputTokens: 80_000 } })
})

test('days on which nothing was asked are none of the 31; what had no price is counted as such; days outlive their conversation', () => {
  let record = emptyRecord
  for (let week = 0; week < 31; week++) record = after(record, start + week * 7 * dayMs, week === 0 ? undefined : 0.001)

  expect(Object.keys(record.spent.days)).toHaveLength(31)
  expect(record.spent.days[dayOf(start)]).toEqual({ costUsd: 0, priced: 0, unpriced: 1 })
  const anew = startedOver(record, 'main', start + 300 * dayMs)
  expect(anew.spent).toMatchObject({ turns: 0, costUsd: 0, days: record.spent.days })
  expect(Object.keys(after(anew, start + 300 * dayMs, 1).spent.days)).toHaveLength(31)
})
