/**
 * Three real nodes on a real server under load, harmed by a seeded plan; an independent judge reads what is left. Longer: chaos.long.test.ts, or
 * `node test/chaos/long.ts --kills 500 --lost-acks 200`.
 */
import { beforeAll, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { natsFetchMs } from '../support/nats.ts'
import { chooseSeeds } from '../support/seeds.ts'
import { survives, timeout } from './chaos.ts'

beforeAll(() => natsServer(), natsFetchMs)

const { seed } = chooseSeeds(import.meta.url)

test(
  '[INV-1] [INV-5] [INV-7] nodes are killed, frozen and cut off, and no message is lost or doubled, no tool marked once repeated',
  {
    timeout,
  },
  () => survives(seed, { kills: 2, freezes: 1, longestFreezeMs: 4_000, lostAcks: 2, others: 0, serverRestarts: 0 }),
)
