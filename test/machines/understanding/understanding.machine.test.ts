/** What is done about links and media of messages, and what about one of them. */
import { expect, test } from 'vitest'
import { lookUpMachine } from '../../../src/machines/understanding/lookup.machine.ts'
import { understandingMachine } from '../../../src/machines/understanding/understanding.machine.ts'
import { reader } from '../reader.ts'
import { walker } from '../walk.ts'

const understanding = walker(understandingMachine, ['say'], () => ({ lookup: reader }))
const lookUp = walker(lookUpMachine, ['lookUp'])
const at = { session: 's', runId: 'r', agent: 'main' }
const link = (name: string) => ({ kind: 'link' as const, url: `https://${name}.example/` })
const file = (kind: 'image' | 'audio') => ({ kind, file: { id: 'f'.repeat(64), mimeType: `${kind}/x`, bytes: 1, fileName: 'f' } })
const start = (unread: object[]) => understanding.start({ ...at, unread, candidates: { links: ['a', 'b'], image: ['i'], audio: ['e'] } })
const ended = (walk: ReturnType<typeof start>, index: number, more: object = { id: `m:lookup-${index}` }) =>
  walk.tell(`lookup-${index}`, { type: 'say', event: { type: 'lookup.ended', index, ...more } })
const isThere = (walk: ReturnType<typeof start>) => [0, 1, 2, 3, 4].filter((index) => walk.child(`lookup-${index}`) !== undefined)

test('[CH-20, CH-21] links are looked at all at once, media two at a time; what nobody could say anything of is left out', () => {
  const walk = start([
    { id: 'm', items: [file('image'), file('image'), file('image'), link('a')] },
    { id: 'n', items: [link('b')] },
  ])
  expect(isThere(walk)).toEqual([0, 1, 3, 4])
  ended(walk, 4, { id: 'n:lookup-0' })
  ended(walk, 3)
  expect(isThere(walk)).not.toContain(2)
  ended(walk, 1, {})
  expect(isThere(walk)).toContain(2)
  ended(walk, 2)
  ended(walk, 0)

  expect(walk.state).toBe('ended')
  expect(walk.heard()).toEqual([
    {
      type: 'understood',
      ids: ['m', 'n'],
      found: [
        { id: 'm', names: ['m:lookup-0', 'm:lookup-2', 'm:lookup-3'] },
        { id: 'n', names: ['n:lookup-0'] },
      ],
      spoken: false,
    },
  ])
})

test('[CH-20] an order that was spoken is said; where that fails, it is told to the model as anything else', async () => {
  const spoken = () => ended(start([{ id: 'm', items: [file('audio')], annotations: { origin: 1 } }]), 0, { id: 'm:lookup-0', order: '/status' })
  const said = spoken()
  expect(said.inputs('say')).toEqual([{ ...at, message: 'm', text: '/status', annotations: { origin: 1 } }])
  await said.resolve('say', null)
  expect(said.heard()).toMatchObject([{ spoken: true }])
  const failed = spoken()
  await failed.reject('say', new Error('draining'))

  expect(failed.heard()).toMatchObject([{ found: [{ id: 'm', names: ['m:lookup-0'] }], spoken: false }])
})

const plan = { ...at, id: 'm:lookup-0', index: 0, item: link('a'), candidates: ['a', 'b'] }
const found = (order?: string) => ({ kind: 'lookup', id: 'm:lookup-0', text: 'x', by: 'b', ...(order && { order }) })

test('[CH-21] who fails, and who has taken half a minute, is followed by the next one, and the last one by nobody', async () => {
  const walk = lookUp.start(plan)
  await walk.reject('lookUp', new Error('no'))
  expect(walk.inputs('lookUp').map(({ candidate }) => candidate)).toEqual(['a', 'b'])
  await walk.resolve('lookUp', found('/stop'))
  expect(walk.heard()).toEqual([{ type: 'lookup.ended', index: 0, id: 'm:lookup-0', order: '/stop' }])

  const slow = lookUp.start(plan).pass(30_000)
  expect(slow.state).toBe('asking')
  expect(slow.pass(29_999).state).toBe('asking')
  expect(slow.pass(1).state).toBe('failed')
  expect(slow.heard()).toEqual([{ type: 'lookup.ended', index: 0 }])

  const failing = lookUp.start({ ...plan, candidates: ['a'] })
  await failing.reject('lookUp', new Error('no'))
  expect(failing.state).toBe('failed')
})

test('[CH-20] a model has a minute for a file', () => {
  const walk = lookUp.start({ ...plan, item: file('image'), candidates: ['i'] }).pass(59_999)
  expect([walk.state, walk.pass(1).state]).toEqual(['asking', 'failed'])
})

test('every transition of both charts has been taken', () => {
  expect([...understanding.missed(), ...lookUp.missed()]).toEqual([])
})
