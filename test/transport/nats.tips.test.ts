/** What a node remembers of a journal is a witness of its loss only as long as a removal by another node would still be told. */

import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { namesOf } from '../../src/transport/nats/names.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { closedAfterEach } from '../support/kept.ts'
import { natsForAll } from '../support/nats.ts'
import { anEnvironment, aSession, awake, bytesOf, systemClock } from './harness.ts'
import { appendAll } from './journal.contract.ts'

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
