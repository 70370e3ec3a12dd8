/**
 * Three real nodes on a real server under load, harmed by a longer plan than in chaos.test.ts; an independent judge reads what is left. Longer:
 * `node test/chaos/long.ts --kills 500 --lost-acks 200`.
 */
import { beforeAll, expect, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { natsFetchMs } from '../support/nats.ts'
import { chooseSeeds } from '../support/seeds.ts'
import { survives, timeout, undamaged } from './chaos.ts'
import { rolling } from './plan.ts'

beforeAll(() => natsServer(), natsFetchMs)

const { seed } = chooseSeeds(import.meta.url)

test(
  '[INV-1] [INV-5] [INV-7] nodes are killed, frozen and cut off, and no message is lost or doubled, no tool marked once repeated',
  {
    timeout,
  },
  () => survives(seed, { kills: 4, freezes: 3, longestFreezeMs: 6_000, lostAcks: 4, others: 1, serverRestarts: 1 }),
)

test('all nodes are restarted one after the other: nothing fails, and nobody is asked anything', { timeout }, async () => {
  const { figures } = await undamaged(rolling(3))

  expect(figures).toMatchObject({ inDoubt: 0, repeated: {} })
  expect(Object.keys(figures.turns)).toEqual(['completed'])
})
