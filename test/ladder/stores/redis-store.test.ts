/** Sessions and runs on a Redis server, where this machine has one: `apt-get install redis-server`. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RedisClient, redisSnapshots, redisStore, redisVectors } from '../../../src/ladder/index.ts'
import { needsProgram } from '../../support/programs.ts'
import { type Redis, redisServer, startRedis } from '../../support/redis.ts'
import { describeVectorStore } from '../memory/vectors.contract.ts'
import { aRow } from './a-row.ts'
import { describeCheckpointStore, describeSnapshotStore } from './store.contract.ts'

const wrong = expect.objectContaining({ code: 'LADDER_CONFIG', category: 'validation' })

test('what is no client of Redis, or an empty prefix, is refused when the store is made', () => {
  expect(() => redisStore({} as RedisClient)).toThrow(wrong)
  expect(() => redisSnapshots({ eval: async () => null }, { prefix: '' })).toThrow(wrong)
})

test('a client that is not connected is STORE_FAILED', async () => {
  const store = redisStore({ eval: () => Promise.reject(new Error('The client is closed')) })
  await expect(store.load('desk', 's')).rejects.toMatchObject({ code: 'STORE_FAILED', message: 'the store failed: The client is closed' })
})

describe('with a server', () => {
  let server: Redis | undefined
  let client: Awaited<ReturnType<Redis['connect']>>
  beforeEach(() => needsProgram('redis-server'))
  beforeAll(async () => {
    if (redisServer === undefined) return
    server = await startRedis()
    client = await server.connect()
  })
  afterAll(() => server?.stop())
  const reopened = async (): Promise<RedisClient> => {
    const present = server as Redis
    await present.restart()
    client = await present.connect()
    return client
  }

  describeCheckpointStore({
    name: 'sessions on a Redis server',
    open: async (clock) => redisStore(client, { clock }),
    reopen: async (clock) => redisStore(await reopened(), { clock }),
  })
  describeSnapshotStore({
    name: 'runs on a Redis server',
    open: async () => redisSnapshots(client),
    reopen: async () => redisSnapshots(await reopened()),
  })

  describeVectorStore({
    name: 'vectors on a Redis server',
    open: async () => redisVectors(client),
    reopen: async () => redisVectors(await reopened()),
  })

  test('stores with different prefixes share nothing', async () => {
    const [one, other] = [redisStore(client, { prefix: 'one:' }), redisStore(client, { prefix: 'other:' })]
    await one.save(aRow('desk'))
    expect(await other.load('desk', 's')).toBeUndefined()
    expect(await other.list?.('desk')).toEqual([])
    expect(await one.list?.('desk')).toEqual(['s'])
  })
})
