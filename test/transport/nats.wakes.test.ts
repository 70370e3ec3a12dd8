/** Who wants to be woken must be found by whoever takes over, whatever happens to the one who said so. */
import { connect } from '@nats-io/transport-node'
import { expect, test, vi } from 'vitest'
import { type Link, openLink } from '../../src/transport/nats/link.ts'
import { namesOf } from '../../src/transport/nats/names.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { openWakes } from '../../src/transport/nats/wakes.ts'
import { closedAfterEach } from '../support/kept.ts'
import { natsForAll } from '../support/nats.ts'
import { aManualClock, anEnvironment, aSession, aSignal } from './harness.ts'

const server = natsForAll()

const kept = closedAfterEach()

let count = 0
const open = async () => {
  const prefix = `wakes-${++count}`
  const names = namesOf(prefix)
  // Makes the streams.
  await (await openNats({ url: server.url, environment: anEnvironment(), prefix })).close()
  const clock = aManualClock()
  const environment = { ...anEnvironment(), clock }
  const node = async (change: (link: Link) => Partial<Link> = () => ({})) => {
    const nc = await connect({ servers: server.url })
    const link = await openLink(nc)
    const wakes = await openWakes({ ...link, ...change(link) }, names, environment)
    await wakes.ready
    kept({ close: () => Promise.all([wakes.stop(), link.close()]) })
    const written = async () => (await link.jsm.streams.info(names.streams.wakes)).state.last_seq
    return { wakes, written, found: () => wakes.before(clock.now()).map(({ id }) => id) }
  }
  return { clock, node }
}

test('what is wanted while its wake-up is being taken back is found all the same', async () => {
  const { clock, node } = await open()
  const clearing = aSignal()
  const held = aSignal()
  const cleared = aSignal()
  const a = await node((link) => ({
    publish: async (subject, data, options) => {
      if (data.length > 0) return link.publish(subject, data, options)
      clearing.give()
      await held.promise
      return link.publish(subject, data, options).finally(() => cleared.give())
    },
  }))
  await a.wakes.want(aSession(), 0, true)
  a.wakes.rest(aSession())
  clock.advance(2_000)
  await clearing.promise

  await a.wakes.want(aSession(), 0, true)
  held.give()
  await cleared.promise

  const b = await node()
  await vi.waitFor(() => expect(b.found()).toEqual(['one']))
})

test('one who writes frame after frame writes its wake-up once; one who was away, or after another, writes it again', async () => {
  const { clock, node } = await open()
  const a = await node()
  const writes = async (unbroken: boolean): Promise<number> => {
    const before = await a.written()
    await a.wakes.want(aSession(), 0, unbroken)
    return (await a.written()) - before
  }

  expect(await writes(false)).toBe(1)
  expect(await writes(true)).toBe(0)
  clock.advance(9_000)
  expect(await writes(true)).toBe(0)
  expect(await writes(false)).toBe(1)
  clock.advance(11_000)
  expect(await writes(true)).toBe(1)
})

test('what another wanted is taken away when half a minute of looks was in vain, and not one look before', async () => {
  const { clock, node } = await open()
  const [a, b] = [await node(), await node()]
  await a.wakes.want(aSession(), 0, true)
  await vi.waitFor(() => expect(b.found()).toEqual(['one']))
  const look = (wants: boolean, seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      b.wakes.looked(aSession(), wants)
      clock.advance(1_000)
    }
  }

  look(false, 29)
  look(true, 1)
  look(false, 30)
  expect(b.found()).toEqual(['one'])
  look(false, 2)
  expect(b.found()).toEqual([])
  await vi.waitFor(() => expect(a.found()).toEqual([]))
})

test('who did not write the frame before may bring a wake-up forward, and never put it off', async () => {
  const { clock, node } = await open()
  const a = await node()
  await a.wakes.want(aSession(), 500, false)
  clock.advance(1_000)

  await a.wakes.want(aSession(), clock.now() + 60_000, false)
  expect(a.found()).toEqual(['one'])
  clock.advance(11_000)
  await a.wakes.want(aSession(), clock.now() + 60_000, true)
  expect(a.found()).toEqual([])
})

test('one whose frame was refused leaves the wish of the frame that stands there', async () => {
  const prefix = `wakes-${++count}`
  const options = () => ({ url: server.url, environment: anEnvironment(), prefix })
  const [a, b, c] = [await openNats(options()), await openNats(options()), await openNats(options())]
  for (const one of [a, b, c]) kept(one)
  const [frame, another] = [new Uint8Array([1]), new Uint8Array([2])]
  const later = { at: 0, wakeAt: Date.now() + 3_600_000 }
  // The second has written the frame before, so it may say that there is more time; and it does not know of the third.
  await b.journal.append(aSession(), 0, frame, { at: 0, wakeAt: null })
  await a.journal.append(aSession(), 1, frame, { at: 0, wakeAt: 0 })

  expect(await b.journal.append(aSession(), 1, another, later)).toEqual({ outcome: 'fenced', last: 2 })

  await vi.waitFor(async () => expect(await c.journal.due(Date.now(), 10)).toMatchObject([{ seq: 2, wakeAt: 0 }]))
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(await c.journal.due(Date.now(), 10)).toMatchObject([{ seq: 2, wakeAt: 0 }])
})

test('what another process wants is told as soon as it is heard, so that nobody has to look for it', async () => {
  const prefix = `wakes-${++count}`
  const options = () => ({ url: server.url, environment: anEnvironment(), prefix })
  const [a, b] = [await openNats(options()), await openNats(options())]
  for (const one of [a, b]) kept(one)
  const heard: string[] = []
  b.journal.watchWakes(({ id }, wakeAt) => void heard.push(`${id} ${wakeAt}`))

  await a.journal.append(aSession(), 0, new Uint8Array([1]), { at: 0, wakeAt: 0 })

  await vi.waitFor(() => expect(heard).toEqual(['one 0']))
})
