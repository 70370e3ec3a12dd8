/** Sessions and runs on a Redis server, through a client that belongs to the caller. */
import { LadderError } from '../errors.ts'
import { anything, clock as clockKind, optionsIn } from '../given.ts'
import { keyedCheckpoints } from './keyed-checkpoints.ts'
import { keyedSnapshots } from './keyed-snapshots.ts'
import type { Keys } from './keys.ts'
import type { Now } from './rows.rules.ts'
import type { CheckpointStore, SnapshotStore } from './store.ts'

/** What is used of one: that of the package `redis` (node-redis), say. It comes connected, and is never closed here. */
export interface RedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

export type RedisOptions = {
  /** First characters of all keys. In a cluster its braces put all of them into one slot, where scripts need them. Default: `{statecast}:` */
  prefix?: string
}

/** What is stored stays as long as the server keeps it: see `appendonly` there. @param options.clock ms since the epoch; default: that of the machine @throws LadderError LADDER_CONFIG */
export const redisStore = (client: RedisClient, options: RedisOptions & { clock?: Now } = {}): CheckpointStore => {
  const { clock = Date.now, ...more } = optionsIn<typeof options>(
    options,
    { prefix: anything, clock: clockKind },
    { who: 'redisStore()', code: 'LADDER_CONFIG' },
  )
  return keyedCheckpoints(redisKeys(client, more), clock)
}

/** @throws LadderError LADDER_CONFIG */
export const redisSnapshots = (client: RedisClient, options: RedisOptions = {}): SnapshotStore => keyedSnapshots(redisKeys(client, options))

/** A value is `<revision>:<text>`; its key also stands in an index that is in order. KEYS: of the value, of the index, of the last revision. */
const revisionOf = `local found = redis.call('GET', KEYS[1])
local revision = found and string.match(found, '^%d+') or '0'
if ARGV[2] ~= '' and revision ~= ARGV[2] then return false end
`
const put = `${revisionOf}local new = string.format('%.0f', redis.call('INCR', KEYS[3]))
redis.call('SET', KEYS[1], new .. ':' .. ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return new`
const remove = `${revisionOf}redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[1])`
const list = `local all = {}
for _, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[2], '[' .. ARGV[2] .. '\\255')) do
  local found = redis.call('GET', ARGV[1] .. key)
  if found then all[#all + 1] = key all[#all + 1] = found end
end
return all`

export const redisKeys = (client: RedisClient, options: RedisOptions): Keys => {
  const { prefix = '{statecast}:' } = optionsIn<RedisOptions>(
    options,
    { prefix: anything },
    { who: 'what a store on Redis is given', code: 'LADDER_CONFIG' },
  )
  if (typeof client?.eval !== 'function')
    throw new LadderError('LADDER_CONFIG', 'the client of Redis has no eval', { hint: "give one of the package 'redis', connected" })
  if (typeof prefix !== 'string' || prefix === '')
    throw new LadderError('LADDER_CONFIG', 'the prefix of Redis is empty', { hint: 'name one, so that keys of others stay theirs' })
  const places = (key: string): string[] => [`${prefix}${key}`, `${prefix}index`, `${prefix}revision`]
  const expectedOf = ({ expected }: { expected?: number }): string => (expected === undefined ? '' : String(expected))
  const read = (found: string) => {
    const colon = found.indexOf(':')
    return { value: found.slice(colon + 1), revision: Number(found.slice(0, colon)) }
  }
  return {
    async get(key) {
      const found = await client.eval("return redis.call('GET', KEYS[1])", { keys: [`${prefix}${key}`], arguments: [] })
      return typeof found === 'string' ? read(found) : undefined
    },
    async put(key, value, options = {}) {
      const revision = await client.eval(put, { keys: places(key), arguments: [key, expectedOf(options), value] })
      return revision === null ? undefined : Number(revision)
    },
    async delete(key, options = {}) {
      return (await client.eval(remove, { keys: places(key), arguments: [key, expectedOf(options)] })) === 1
    },
    async list(begin) {
      const found = (await client.eval(list, { keys: [`${prefix}index`], arguments: [prefix, begin] })) as string[]
      return found.flatMap((key, at) => (at % 2 === 0 ? [{ key, ...read(found[at + 1] ?? '') }] : []))
    },
  }
}
