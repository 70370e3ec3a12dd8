import { expect, test } from 'vitest'
import { type Asked, heartbeatMachine, type Look } from '../../../src/chat/heartbeat/heartbeat.machine.ts'
import { pipe } from '../../machines/pipe.ts'
import { walker } from '../../machines/walk.ts'

const heartbeat = walker(heartbeatMachine, ['look', 'ask'], () => ({ delivery: pipe }))

const start = () => heartbeat.start({ agent: 'main', session: 'main', everyMs: 60_000 })
const looking = () => start().pass(60_000)
const aLook = (look: Partial<Look> = {}): Look => ({
  at: 0,
  showOk: false,
  showAlerts: true,
  route: { channel: 'test', to: 'ann' },
  delivery: {},
  ...look,
})
const anAlert = (at = 0, text = 'the disk is full'): Asked => ({ at, text, payloads: [{ text }] })
const asking = async (look: Partial<Look> = {}) => looking().resolve('look', aLook(look))
const said = (walk: ReturnType<typeof start>) => walk.heard().flatMap((event) => (event.type === 'heartbeat' ? [event.reason ?? event.status] : []))

test('[OC-106] it is due after its time, or when somebody wants it; requests that come together are one', () => {
  expect(start().pass(59_999).state).toBe('resting')
  expect(looking().state).toBe('looking')
  const wanted = start().send({ type: 'wake' }).pass(100).send({ type: 'wake' }).pass(149)
  expect(wanted.state).toBe('gathering')
  expect(wanted.pass(1).state).toBe('looking')

  expect(wanted.inputs('look')).toHaveLength(1)
})

test('[OC-106] while the session is at work it waits, a second at a time; otherwise it says why there is none', async () => {
  const busy = await looking().resolve('look', aLook({ skip: 'requests-in-flight' }))
  expect(said(busy)).toEqual(['requests-in-flight'])
  expect(busy.pass(999).state).toBe('waiting')
  expect(busy.pass(1).state).toBe('looking')

  const quiet = await looking().resolve('look', aLook({ skip: 'quiet-hours' }))
  expect(quiet.state).toBe('resting')
  expect(said(quiet)).toEqual(['quiet-hours'])
})

test('[OC-105] nothing to say: nothing is sent', async () => {
  const walk = await (await asking()).resolve('ask', { at: 0, text: 'HEARTBEAT_OK', payloads: [] })

  expect(walk.state).toBe('resting')
  expect(said(walk)).toEqual(['ok'])
})

test('[OC-107] an alert is told where the last message came from, and the same one not again within a day', async () => {
  const walk = await (await asking()).resolve('ask', anAlert())
  expect(walk.state).toBe('telling')
  expect(walk.child('delivery').getSnapshot().context.told).toMatchObject([{ type: 'delivery.finish', payloads: [{ text: 'the disk is full' }] }])
  walk.tell('delivery', { type: 'flushed' })
  expect(walk.state).toBe('resting')
  const again = async (at: number) => (await walk.pass(60_000).resolve('look', aLook())).resolve('ask', anAlert(at))
  await again(3_600_000)
  expect(said(walk)).toEqual(['told', 'repeated'])

  expect((await again(24 * 3_600_000)).state).toBe('telling')
})

test('[OC-107] one that did not arrive was not told: the same comes again', async () => {
  const walk = await (await asking()).resolve('ask', anAlert())
  walk.tell('delivery', { type: 'lost' })
  expect(said(walk)).toEqual(['failed'])

  expect((await (await walk.pass(60_000).resolve('look', aLook())).resolve('ask', anAlert(1))).state).toBe('telling')
})

test('[OC-107] that all is well is told where somebody wants to see it', async () => {
  const walk = await (await asking({ showOk: true })).resolve('ask', { at: 0, text: 'HEARTBEAT_OK', payloads: [] })
  expect(walk.child('delivery').getSnapshot().context.told).toMatchObject([{ payloads: [{ text: 'HEARTBEAT_OK' }] }])
  walk.tell('delivery', { type: 'flushed' })

  expect(said(walk)).toEqual(['ok'])
})

test('[OC-105] after another definition its time begins anew, and one that is under way goes on', () => {
  const walk = start().pass(30_000).send({ type: 'configure', session: 'other', everyMs: 40_000 })
  expect(walk.pass(39_999).state).toBe('resting')
  walk.pass(1).send({ type: 'configure', session: 'third', everyMs: 10_000 })

  expect(walk.state).toBe('looking')
  expect(walk.inputs('look')).toEqual([{ agent: 'main', session: 'other', everyMs: 40_000 }])
  expect(walk.context).toMatchObject({ session: 'third', everyMs: 10_000 })
})

test('[OC-107] where nobody is to hear of it, it is not told', async () => {
  const { route: _, ...nowhere } = aLook()
  const walk = await (await looking().resolve('look', nowhere)).resolve('ask', anAlert())

  expect(said(walk)).toEqual(['untold'])
})

test('what goes wrong is said, and the next one comes all the same', async () => {
  const walk = await looking().reject('look', new Error('no'))
  await (await walk.pass(60_000).resolve('look', aLook())).reject('ask', new Error('no'))

  expect(said(walk)).toEqual(['failed', 'failed'])
  expect(walk.pass(60_000).state).toBe('looking')
})

test('every transition of the chart has been taken', () => {
  expect(heartbeat.missed()).toEqual([])
})
