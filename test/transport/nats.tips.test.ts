/** What a node remembers of a journal is a witness of its loss only as long as a removal by another node would still be told. */

import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { namesOf } from '../../src/transport/nats/names.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { closedAfterEach } from '../support/kept.ts'
import { natsForAll } from '../support/nats.ts'
import { anEnvironment, aSession, awake, bytesOf, systemClock, textOf } from './harness.ts'
import { appendAll } from './journal.contract.ts'
import { journalOver } from './nats.journal.ts'

const server = natsForAll()
const kept = closedAfterEach()
const hourMs = 3_600_000

/** Two nodes on one server, of which the first has a clock that can be set forward; and what the server does when the word of a removal is a day old. */
const aPair = async (prefix: string) => {
  let passed = 0
  const clock = { ...systemClock, now: () => Date.now() + passed }
  const [one, other] = [
    await openNats({ url: server.url, environment: anEnvironment({ clock }), prefix }),
    await openNats({ url: server.url, environment: anEnvironment(), prefix }),
  ]
  for (const node of [one, other]) kept(node)
  const names = namesOf(prefix)
  const nc = kept(await connect({ servers: server.url }))
  const { streams } = await jetstreamManager(nc)
  const purge = (stream: string, filter: string) => streams.purge(stream, { filter })
  return {
    one: one.journal,
    other: other.journal,
    forward: (ms: number) => void (passed += ms),
    expire: () => purge(names.streams.snapshots, names.snapshot(aSession())),
    lose: () => purge(names.streams.journal, names.journal(aSession())),
  }
}

test('a root that another node removed days ago is not there, and begins anew, also for a node that had it before', async () => {
  const { one, other, forward, expire } = await aPair('days')
  await appendAll(one, ['a', 'b'])
  await other.remove(aSession())
  forward(72 * hourMs)
  await expire()

  expect(await one.head(aSession())).toBeUndefined()
  expect(await one.read(aSession(), 1)).toEqual([])
  expect(await one.append(aSession(), 0, bytesOf('anew'), awake)).toEqual({ outcome: 'ok' })
})

test('one that is gone within the day, and that nobody says was removed, was lost [INV-20]', async () => {
  const { one, forward, lose } = await aPair('lost')
  await appendAll(one, ['a', 'b'])
  forward(72 * hourMs)
  expect((await one.head(aSession()))?.seq).toBe(2)
  forward(20 * hourMs)
  await lose()

  await expect(one.head(aSession())).rejects.toMatchObject({ code: 'corrupt_at', data: { known: 2 } })
})

/** A node whose next publish of a frame stores it, or does not, and then fails as if the link had broken. */
const losing = async (prefix: string) => {
  kept(await openNats({ url: server.url, environment: anEnvironment(), prefix }))
  let losing: 'the answer' | 'the frame' | undefined
  const published: string[] = []
  const journal = await journalOver(server.url, prefix, (link) => ({
    async publish(subject, ...rest) {
      published.push(subject)
      const lost = subject.startsWith(namesOf(prefix).journal(aSession())) ? losing : undefined
      if (lost !== undefined) losing = undefined
      const stored = lost === 'the frame' ? undefined : await link.publish(subject, ...rest)
      if (lost === undefined && stored !== undefined) return stored
      throw new Error('the link is gone')
    },
  }))
  return { journal, published, lose: (what: 'the answer' | 'the frame') => void (losing = what) }
}

test('after an append without an answer the next one asks what stands there before it sends anything', async () => {
  const { journal, published, lose } = await losing('unsure')
  await journal.append(aSession(), 0, bytesOf('a'), awake)
  lose('the answer')
  expect(await journal.append(aSession(), 1, bytesOf('b'), awake)).toMatchObject({ outcome: 'unknown' })
  published.length = 0

  expect(await journal.append(aSession(), 1, bytesOf('other'), { at: 0, wakeAt: 5 })).toEqual({ outcome: 'fenced', last: 2 })

  expect(published).toEqual([])
  expect(await journal.append(aSession(), 2, bytesOf('c'), awake)).toEqual({ outcome: 'ok' })
})

test('after an append that was lost on its way another node may be first, and its wake time stays', async () => {
  const { journal, lose } = await losing('overtaken')
  const other = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix: 'overtaken' })).journal
  const third = kept(await openNats({ url: server.url, environment: anEnvironment(), prefix: 'overtaken' })).journal
  await journal.append(aSession(), 0, bytesOf('a'), awake)
  lose('the frame')
  expect(await journal.append(aSession(), 1, bytesOf('b'), awake)).toMatchObject({ outcome: 'unknown' })
  await other.append(aSession(), 1, bytesOf('theirs'), { at: 0, wakeAt: 5 })
  const told: (number | null)[] = []
  third.watchWakes((_, wakeAt) => void told.push(wakeAt))

  expect(await journal.append(aSession(), 1, bytesOf('b'), { at: 0, wakeAt: 900 })).toEqual({ outcome: 'fenced', last: 2 })

  await expect.poll(() => third.due(10, 10)).toMatchObject([{ seq: 2, wakeAt: 5 }])
  expect(told.filter((wakeAt) => wakeAt !== 5)).toEqual([])
})

test.each(['the answer', 'the frame'] as const)('an append that was repeated after %s was lost is there once', async (what) => {
  const { journal, lose } = await losing(`again-${what.slice(4)}`)
  await journal.append(aSession(), 0, bytesOf('a'), awake)
  lose(what)
  expect(await journal.append(aSession(), 1, bytesOf('b'), awake)).toMatchObject({ outcome: 'unknown' })

  const again = await journal.append(aSession(), 1, bytesOf('b'), awake)

  expect(again).toEqual(what === 'the frame' ? { outcome: 'ok' } : { outcome: 'fenced', last: 2 })
  expect((await journal.read(aSession(), 1)).map(({ bytes }) => textOf(bytes))).toEqual(['a', 'b'])
})
