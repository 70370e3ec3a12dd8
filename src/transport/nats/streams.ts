/** The streams that a prefix needs: made when they are missing, checked when they are there. */
import { DiscardPolicy, type JetStreamManager, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream'
import { type Clock, type Environment, pause } from '../../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { partitionCount } from '../../contracts/placement.ts'
import type { Registry } from '../../contracts/transport.ts'
import { inboxMessagesMax } from '../limits.ts'
import { apiCodeOf, apiCodes, fromNats } from './errors.ts'
import { markKey } from './high-water.ts'
import { type Names, ownKeys } from './names.ts'
import { compareSettings, inWords } from './stream-settings.ts'

const seconds = 1_000_000_000
/** How long the server itself knows the ids of messages. */
const duplicateWindowNs = 180 * seconds

type StreamOptions = {
  /** Copies of each stream, 1 to 5; a cluster of three takes 3. */
  replicas: number
  /** Streams that are there may have any number of copies. */
  asIs?: boolean
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
      // Also messages whose subject names no actor, so that none is lost silently: see malformed-messages.ts.
      subjects: [`${prefix}.in`, names.every('in')],
      // Each node that shares the work takes some of the partitions.
      subject_transform: {
        src: `${prefix}.in.*.*`,
        dest: `${prefix}.inbox.{{partition(${partitionCount},1,2)}}.{{wildcard(1)}}.{{wildcard(2)}}`,
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

/** The bucket is made by its own client, and checked like the others. */
const wantedBucket = ({ bucket }: Names, { replicas }: StreamOptions): Wanted => ({
  name: `KV_${bucket}`,
  subjects: [`$KV.${bucket}.>`],
  discard: DiscardPolicy.New,
  max_msgs_per_subject: 1,
  num_replicas: replicas,
  allow_direct: true,
  allow_rollup_hdrs: true,
  allow_msg_ttl: true,
  // Without it no watcher hears of an expiry.
  subject_delete_marker_ttl: seconds,
})

/** A cluster that has just been started elects leaders first. */
const patienceMs = 20_000
const stepMs = 500

/** Repeats for a while what fails for a reason that may pass. */
export const patiently = async <T>(clock: Clock, work: () => Promise<T>): Promise<T> => {
  for (let waited = 0; ; waited += stepMs)
    try {
      return await work()
    } catch (error) {
      if (!isRuntimeError(error) || !error.retryable || waited >= patienceMs) throw error
      await pause(clock, stepMs)
    }
}

/** Which streams were made before: if one of them has gone, a new one in its place would silently begin every conversation anew. */
const madeKey = `${ownKeys}streams`

type StreamEnvironment = Pick<Environment, 'clock' | 'log'>

/** @throws RuntimeError forbidden, conflict when a stream of that name is another's, corrupt_at when one is gone, log_unavailable */
export const ensureStreams = async (
  jsm: JetStreamManager,
  names: Names,
  registry: Registry,
  environment: StreamEnvironment,
  options: StreamOptions,
): Promise<void> => {
  const { clock } = environment
  const asIs = options.asIs ?? false
  await patiently(clock, () => check(jsm, wantedBucket(names, options), asIs, environment))
  const made = (await patiently(clock, () => registry.get(madeKey)))?.value.split(' ') ?? []
  const all = wanted(names, options)
  const stored = made.length === 0 && (await patiently(clock, () => anyStored(jsm, all)))
  const before = ({ name }: Wanted): Before => (made.includes(name) ? { key: madeKey, bucket: names.bucket } : stored ? 'others' : undefined)
  const ensured = await Promise.allSettled(all.map((config) => patiently(clock, () => ensure(jsm, config, asIs, environment, before(config)))))
  // Only when all have ended: the caller closes the connection when it gets the error.
  for (const one of ensured) if (one.status === 'rejected') throw one.reason
  // A new journal begins at its beginning.
  if (!made.includes(names.streams.journal)) await patiently(clock, () => registry.delete(markKey))
  if (all.some(({ name }) => !made.includes(name))) await patiently(clock, () => registry.put(madeKey, all.map(({ name }) => name).join(' ')))
}

/** What proves that a stream was made before: a key of the bucket, or content in the other streams. */
type Before = { key: string; bucket: string } | 'others' | undefined

/** A node stores something only when all streams are there. */
const anyStored = async (jsm: JetStreamManager, all: Wanted[]): Promise<boolean> => {
  const infos = await Promise.all(
    all.map(({ name }) =>
      jsm.streams.info(name).catch((error: unknown) => {
        if (apiCodeOf(error) === apiCodes.streamNotFound) return undefined
        throw fromNats(error, `preparing the stream ${name}`)
      }),
    ),
  )
  return infos.some((info) => (info?.state.last_seq ?? 0) > 0)
}

const ensure = async (jsm: JetStreamManager, config: Wanted, asIs: boolean, environment: StreamEnvironment, before: Before): Promise<void> => {
  try {
    await check(jsm, config, asIs, environment)
  } catch (error) {
    if (!isMissing(error)) throw error
    if (before !== undefined)
      throw new RuntimeError('corrupt_at', `the stream ${config.name} was there before, and is gone`, {
        cause: error,
        hint: `restore it from a backup; to start over without what it held, ${
          before === 'others'
            ? 'delete the other streams of this prefix too'
            : `delete the key ${before.key} from the bucket ${before.bucket}, and the other streams of this prefix`
        }`,
        data: { stream: config.name },
      })
    await jsm.streams.add(config as StreamConfig).catch((cause: unknown) => {
      throw fromNats(cause, `preparing the stream ${config.name}`)
    })
  }
}

const isMissing = (error: unknown): boolean => isRuntimeError(error) && apiCodeOf(error.cause) === apiCodes.streamNotFound

/** @throws RuntimeError conflict, log_unavailable; the error of the server as its cause where the stream is missing */
const check = async (jsm: JetStreamManager, config: Wanted, asIs: boolean, { log }: Pick<Environment, 'log'>): Promise<void> => {
  const found = await jsm.streams.info(config.name).catch((error: unknown) => {
    throw fromNats(error, `preparing the stream ${config.name}`)
  })
  const { broken, noted } = compareSettings(found.config, asIs ? { ...config, num_replicas: found.config.num_replicas } : config)
  if (broken.length > 0)
    throw new RuntimeError('conflict', `the stream ${config.name} is there with other settings: ${inWords(broken)}`, {
      hint: `give the app another 'prefix', or change what is named (nats stream edit ${config.name}); nothing was changed`,
      data: { stream: config.name, different: broken },
    })
  if (noted.length > 0) log.warn({ stream: config.name, different: noted }, `the stream ${config.name} is not as it would be made: ${inWords(noted)}`)
}

/** What is wrong with the streams and the bucket of a prefix, for a reader that changes nothing (`statecast doctor`). */
export const examineStreams = async (
  jsm: JetStreamManager,
  names: Names,
): Promise<{ stream: string; missing: boolean; broken: string; noted: string; replicas: number }[]> =>
  Promise.all(
    [wantedBucket(names, { replicas: 1 }), ...wanted(names, { replicas: 1 })].map(async (config) => {
      try {
        const { config: found } = await jsm.streams.info(config.name)
        const { broken, noted } = compareSettings(found, { ...config, num_replicas: found.num_replicas, max_msgs: found.max_msgs })
        return { stream: config.name, missing: false, broken: inWords(broken), noted: inWords(noted), replicas: found.num_replicas }
      } catch (error) {
        if (apiCodeOf(error) !== apiCodes.streamNotFound) throw fromNats(error, `looking at the stream ${config.name}`)
        return { stream: config.name, missing: true, broken: '', noted: '', replicas: 0 }
      }
    }),
  )
