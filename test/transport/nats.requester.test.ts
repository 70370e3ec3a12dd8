/** Requests to a server, by a process that is kept from its work. */
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requesterOn } from '../../src/transport/nats/workarounds/requester.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()
let nc: Awaited<ReturnType<typeof connect>>
beforeAll(async () => {
  nc = await connect({ servers: server.url })
})
afterAll(() => nc.close())

/** Nothing else happens in this process meanwhile, as in one that is frozen or on a machine that has no time for it. */
const keep = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('an answer that came while nobody could look for it is no silence', async () => {
  const requester = requesterOn(nc)
  const asked = requester.nc.request('$JS.API.INFO', '', { timeout: 200 })
  await Promise.resolve()

  keep(1_000)

  expect((await asked).json()).toMatchObject({ type: 'io.nats.jetstream.api.v1.account_info_response' })
  requester.stop()
})

test('a server that is silent is waited for once more, and no longer', async () => {
  const requester = requesterOn(nc)
  const silent = nc.subscribe('silent', { callback: () => undefined })
  const asked = requester.nc.request('silent', '', { timeout: 200 }).catch((error: unknown) => error)
  await Promise.resolve()

  keep(1_000)

  expect(await asked).toMatchObject({ name: 'TimeoutError' })
  silent.unsubscribe()
  requester.stop()
})
