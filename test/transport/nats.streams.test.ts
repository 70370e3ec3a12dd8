/** Streams that somebody made or changed: which settings are refused, which are only noted, and what is said of them. */
import { jetstreamManager, type StreamConfig } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { expect, onTestFinished, test } from 'vitest'
import { openNats } from '../../src/transport/nats/open.ts'
import { natsForAll } from '../support/nats.ts'
import { anEnvironment, bytesOf } from './harness.ts'

const server = natsForAll()

let count = 0
/** Streams of a prefix of their own, made by us; then one of them is made anew, or updated, as somebody else would. */
const withStream = async (part: string, change: Partial<StreamConfig>, how: 'update' | 'anew' = 'update') => {
  const prefix = `streams-${++count}`
  const name = part.startsWith('KV') ? `KV_STREAMS-${count}_REGISTRY` : `STREAMS-${count}_${part}`
  await (await openNats({ url: server.url, environment: anEnvironment(), prefix })).close()
  const nc = await connect({ servers: server.url })
  const { streams } = await jetstreamManager(nc)
  if (how === 'update') await streams.update(name, change)
  else {
    const { config } = await streams.info(name)
    await streams.delete(name)
    await streams.add({ ...config, ...change })
  }
  await nc.close()
  const environment = anEnvironment()
  const opened = await openNats({ url: server.url, environment, prefix }).then(
    (transport) => {
      onTestFinished(() => transport.close())
      return undefined
    },
    (error: unknown) => error,
  )
  return { name, opened, warnings: environment.lines.filter(({ level }) => level === 'warn').map(({ message }) => message) }
}

const hour = 3_600_000_000_000

test.each<[string, string, Partial<StreamConfig>, string, ('update' | 'anew')?]>([
  ['frames that go away', 'JOURNAL', { max_age: hour }, `max_age is ${hour} and should be 0`],
  ['frames that make room for newer ones', 'JOURNAL', { discard: 'old' }, 'discard is "old" and should be "new"'],
  ['one frame a root', 'JOURNAL', { max_msgs_per_subject: 1 }, 'max_msgs_per_subject is 1 and should be -1'],
  ['nothing can be deleted', 'JOURNAL', { deny_purge: true }, 'deny_purge is true and should be false', 'anew'],
  ['no direct reads', 'JOURNAL', { allow_direct: false }, 'allow_direct is false and should be true'],
  ['small messages', 'BLOBS', { max_msg_size: 1000 }, 'max_msg_size is 1000 and should be -1'],
  ['wake-ups that make room for newer ones', 'WAKES', { max_msgs: 10 }, 'max_msgs is 10 and should be -1'],
  ['an inbox without partitions', 'INBOX', { subject_transform: undefined } as object, 'subject_transform is not set', 'anew'],
  ['an inbox that forgets ids early', 'INBOX', { duplicate_window: 5_000_000_000 }, 'duplicate_window is 5000000000 and should be'],
  ['a registry that forgets leases', 'KV', { max_age: hour }, `max_age is ${hour} and should be 0`],
])('%s are refused: the message names setting, what was found and what is wanted', async (_, part, change, words, how) => {
  const { name, opened } = await withStream(part, change, how)

  expect(opened).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(words),
    hint: expect.stringContaining(`nats stream edit ${name}`),
    data: { stream: name, different: [{ setting: expect.any(String) }] },
  })
})

test.each<[string, string, Partial<StreamConfig>, string, ('update' | 'anew')?]>([
  ['a limit that only refuses', 'JOURNAL', { max_bytes: 10_000_000 }, 'max_bytes is 10000000 and should be -1'],
  ['messages can be deleted one by one', 'DEAD', { deny_delete: false }, 'deny_delete is false and should be true', 'anew'],
  ['fewer consumers', 'JOURNAL', { max_consumers: 10 }, 'max_consumers is 10 and should be -1', 'anew'],
])('%s: the node starts, and warns', async (_, part, change, words, how) => {
  const { opened, warnings } = await withStream(part, change, how)

  expect(opened).toBeUndefined()
  expect(warnings).toContainEqual(expect.stringContaining(words))
})

test('other copies than were asked for are a warning: an operator changes them without us', async () => {
  const environment = anEnvironment()
  const prefix = `streams-${++count}`
  await (await openNats({ url: server.url, environment: anEnvironment(), prefix })).close()

  const transport = await openNats({ url: server.url, environment, prefix, replicas: 3 })
  await transport.close()

  expect(environment.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', message: expect.stringContaining('num_replicas is 1 and should be 3') }),
  )
})

test('a stream that is gone while others hold something is refused, also where nobody remembers that it was made', async () => {
  const prefix = `streams-${++count}`
  const open = () => openNats({ url: server.url, environment: anEnvironment(), prefix })
  const first = await open()
  await first.inbox.put(`${prefix}.in.session.s`, '1', bytesOf('wait for me'))
  await first.close()
  const nc = await connect({ servers: server.url })
  const { streams } = await jetstreamManager(nc)
  for (const name of [`STREAMS-${count}_JOURNAL`, `KV_STREAMS-${count}_REGISTRY`]) await streams.delete(name)

  await expect(open()).rejects.toMatchObject({
    code: 'corrupt_at',
    message: `the stream STREAMS-${count}_JOURNAL was there before, and is gone`,
    hint: expect.stringContaining('delete the other streams of this prefix'),
  })

  expect((await streams.info(`STREAMS-${count}_INBOX`)).state.messages).toBe(1)
  await expect(streams.info(`STREAMS-${count}_JOURNAL`)).rejects.toThrow('not found')
  await nc.close()
})

test('a start that was cut off before anything was stored is made good', async () => {
  const prefix = `streams-${++count}`
  const open = () => openNats({ url: server.url, environment: anEnvironment(), prefix })
  await (await open()).close()
  const nc = await connect({ servers: server.url })
  const { streams } = await jetstreamManager(nc)
  for (const name of [`STREAMS-${count}_DEAD`, `KV_STREAMS-${count}_REGISTRY`]) await streams.delete(name)

  await (await open()).close()

  expect((await streams.info(`STREAMS-${count}_DEAD`)).state.messages).toBe(0)
  await nc.close()
})
