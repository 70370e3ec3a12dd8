/** The streams that a prefix needs: made when they are missing, checked when they are there. */
import { DiscardPolicy, type JetStreamManager, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream'
import { type Clock, pause } from '../../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { Registry } from '../../contracts/transport.ts'
import { inboxMessagesMax } from '../limits.ts'
import { apiCodeOf, apiCodes, fromNats } from './errors.ts'
import { type Names, ownKeys } from './names.ts'

const partitions = 64
const seconds = 1_000_000_000
/** How long the server itself knows the ids of messages. */
const duplicateWindowNs = 180 * seconds

export type StreamOptions = {
  /** Copies of each stream, 1 to 5; a cluster of three takes 3. */
  replicas: number
  inboxMax?: number | undefined
}

type Wanted = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>

const wanted = (names: Names, { replicas, inboxMax = inboxMessagesMax }: StreamOptions): Wanted[] => {
  const { streams, prefix } = names
  const common = { storage: StorageType.File, num_replicas: replicas, allow_direct: true, discard: DiscardPolicy.New, deny_delete: true }
  const newest = { max_msgs_per_subject: 1, discard: DiscardPolicy.Old, deny_delete: false, allow_rollup_hdrs: true, allow_msg_ttl: true }
  return [
    { ...common, name: streams.journal, subjects: [names.every('journal')], description: 'journals of actors: one message a commit' },
    { ...common, ...newest, name: streams.snapshots, subjects: [names.every('snapshot')], description: 'the newest snapshot of each actor' },
    { ...common, ...newest, name: streams.wakes, subjects: [names.every('wake')], description: 'actors that want to be woken, and when' },
    {
      ...common,
      deny_delete: false,
      name: streams.inbox,
      subjects: [`${prefix}.in.*.*`],
      // So that nodes which share their work can each take some partitions.
      subject_transform: {
        src: `${prefix}.in.*.*`,
        dest: `${prefix}.inbox.{{partition(${partitions},1,2)}}.{{wildcard(1)}}.{{wildcard(2)}}`,
      },
      retention: RetentionPolicy.Workqueue,
      max_msgs: inboxMax,
      duplicate_window: duplicateWindowNs,
      description: 'commands for actors until their journals have them',
    },
    { ...common, name: streams.dead, subjects: [names.every('dead')], description: 'what could not be processed, with the reason' },
    { ...common, name: streams.blobs, subjects: [names.every('blob')], description: 'large contents by their hash' },
  ]
}

/** What must not differ: with other subjects, or another way of keeping messages, the promises of the journal do not hold. */
const decisive = ['subjects', 'retention', 'storage', 'max_msgs_per_subject', 'discard'] as const

/** A cluster that has just been started elects leaders first. */
const patienceMs = 20_000
const stepMs = 500

/** Tries again for a while what may pass. */
export const patiently = async <T>(clock: Clock, work: () => Promise<T>): Promise<T> => {
  for (let waited = 0; ; waited += stepMs)
    try {
      return await work()
    } catch (error) {
      if (!isRuntimeError(error) || !error.retryable || waited >= patienceMs) throw error
      await pause(clock, stepMs)
    }
}

/** Which streams were made: one that is missing since would begin every conversation anew without a word. */
const madeKey = `${ownKeys}streams`

/** @throws RuntimeError forbidden, conflict when a stream of that name is another's, corrupt_at when one is gone, log_unavailable */
export const ensureStreams = async (jsm: JetStreamManager, names: Names, registry: Registry, clock: Clock, options: StreamOptions): Promise<void> => {
  const made = (await patiently(clock, () => registry.get(madeKey)))?.value.split(' ') ?? []
  const all = wanted(names, options)
  await Promise.all(all.map((config) => patiently(clock, () => ensure(jsm, config, made.includes(config.name) ? names.bucket : undefined))))
  if (all.some(({ name }) => !made.includes(name))) await patiently(clock, () => registry.put(madeKey, all.map(({ name }) => name).join(' ')))
}

/** @param madeBefore the bucket that knows of it, if one does */
const ensure = async (jsm: JetStreamManager, config: Wanted, madeBefore: string | undefined): Promise<void> => {
  const doing = `preparing the stream ${config.name}`
  try {
    const found = await jsm.streams.info(config.name)
    const different = decisive.filter((key) => config[key] !== undefined && JSON.stringify(found.config[key]) !== JSON.stringify(config[key]))
    if (different.length > 0)
      throw new RuntimeError('conflict', `the stream ${config.name} is there with other settings: ${different.join(', ')}`, {
        hint: 'give the app another `prefix`, or make the stream what the reference says; nothing was changed',
        data: { stream: config.name, different },
      })
  } catch (error) {
    if (apiCodeOf(error) !== apiCodes.streamNotFound) throw fromNats(error, doing)
    if (madeBefore !== undefined)
      throw new RuntimeError('corrupt_at', `the stream ${config.name} was there before, and is gone`, {
        cause: error,
        hint: `restore it from a backup; to begin anew without what it held, delete the key ${madeKey} from the bucket ${madeBefore}`,
        data: { stream: config.name },
      })
    await jsm.streams.add(config as StreamConfig).catch((cause: unknown) => {
      throw fromNats(cause, doing)
    })
  }
}
