/** What is held back, and for how long, where a server would take too long to show it. */
import { setImmediate } from 'node:timers/promises'
import type { JsMsg } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import type { Stored } from '../../src/transport/nats/link.ts'
import { inOrder } from '../../src/transport/nats/workarounds/in-order.ts'
import { aManualClock, anEnvironment } from './harness.ts'

const subject = 'p.inbox.1.session.s'
const delivered = (seq: number, deliverySequence: number) => ({ seq, subject, info: { deliverySequence } }) as JsMsg

/** The stream holds 1 and 2; 1 was lost on its way, 2 has come. */
const gap = () => {
  const clock = aManualClock()
  const environment = anEnvironment({ clock })
  const offered: number[] = []
  let away = false
  const order = inOrder({
    link: {
      next: () => (away ? Promise.reject(new Error('no server')) : Promise.resolve({ seq: 1, subject } as Stored)),
    },
    stream: 'P_INBOX',
    environment,
    doubtMs: 12_000,
    patienceMs: 16_000,
    isHeld: (seq) => seq === 2,
    isDone: () => Promise.resolve(false),
    offer: (seq) => void offered.push(seq),
  })
  order.begin(0, 0)
  order.took(delivered(2, 2), false)
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      // What has been answered is looked at before time goes on.
      await setImmediate()
      clock.advance(100)
    }
    await setImmediate()
  }
  const goAway = (gone: boolean) => {
    away = gone
  }
  return { environment, offered, pass, goAway }
}

test('a message waits sixteen seconds for one before it that does not come, and a warning says so', async () => {
  const { environment, offered, pass } = gap()
  await pass(15_000)
  expect(offered).toEqual([])

  await pass(3_000)

  expect(offered).toEqual([2])
  expect(environment.lines).toMatchObject([{ level: 'warn', fields: { subject, seq: 2 } }])
})

test('the time in which the server is away does not count', async () => {
  const { offered, pass, goAway } = gap()
  goAway(true)
  await pass(60_000)
  goAway(false)

  await pass(15_000)

  expect(offered).toEqual([])
})
