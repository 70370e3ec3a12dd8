import { expect, test } from 'vitest'
import { socketMachine } from '../../../src/client/socket/socket.machine.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { walker } from '../../machines/walk.ts'
import { welcome } from './a-socket-gateway.ts'

const socket = walker(socketMachine, ['link', 'greet', 'ask', 'probe'])
const gone = new RuntimeError('log_unavailable', 'nobody is there', { retryable: true })
const wrong = new RuntimeError('unauthorised', 'wrong token')

const start = () => socket.start(undefined)
const greeting = () => start().send({ type: 'challenged' })
const ready = () => greeting().send({ type: 'welcomed', welcome: welcome() })
const waiting = () => start().send({ type: 'lost', error: gone })

test('a link is opened, asks who we are, and is ready once we are taken', () => {
  const walk = start()
  expect(walk.state).toEqual({ linked: 'connecting' })

  walk.send({ type: 'challenged' })
  expect(walk.state).toEqual({ linked: 'handshaking' })

  walk.send({ type: 'welcomed', welcome: welcome() })
  expect(walk.state).toEqual({ linked: { ready: 'resting' } })
  expect(walk.context).toMatchObject({ welcome: welcome(), error: undefined })
})

test('[CH-07] a connection that is lost is tried again after 0.5, 1, 2, 4, 8, 16 and then every 30 s', () => {
  const walk = waiting()
  const pauses = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]

  for (const ms of pauses) {
    expect(walk.state).toHaveProperty('waiting')
    walk.pass(ms - 1)
    expect(walk.state).toHaveProperty('waiting')
    walk.pass(1)
    expect(walk.state).toEqual({ linked: 'connecting' })
    walk.send({ type: 'lost', error: gone })
  }
  expect(walk.context.error).toBe(gone)
})

test('[CH-07] one that lasted is tried again soon, one that was dropped at once later', () => {
  const dropped = ready().send({ type: 'lost', error: gone }).pass(500).send({ type: 'challenged' }).send({ type: 'welcomed', welcome: welcome() })
  dropped.pass(4_999).send({ type: 'lost', error: gone }).pass(500)
  expect(dropped.state).toEqual({ waiting: 'resting' })
  dropped.pass(500).send({ type: 'challenged' }).send({ type: 'welcomed', welcome: welcome() })

  dropped.pass(5_000).send({ type: 'lost', error: gone }).pass(500)

  expect(dropped.state).toEqual({ linked: 'connecting' })
})

test('[CH-07] a node that was not reached is probed every 2 s, with 1.5 s to answer; one that is ready ends the wait', async () => {
  const walk = waiting()
  for (const ms of [500, 1_000, 2_000, 4_000, 8_000]) walk.pass(ms).send({ type: 'lost', error: gone })
  expect(walk.state).toEqual({ waiting: 'watching' })

  await walk.pass(2_000).reject('probe', gone)
  expect(walk.state).toEqual({ waiting: 'watching' })
  walk.pass(2_000)
  expect(walk.state).toEqual({ waiting: 'probing' })
  walk.pass(1_500)
  expect(walk.state).toEqual({ waiting: 'watching' })
  await walk.pass(2_000).resolve('probe', undefined)
  expect(walk.state).toEqual({ linked: 'connecting' })
})

test('[CH-07] a node that answers and ends every link is not probed', () => {
  const walk = greeting().send({ type: 'lost', error: gone })
  for (const ms of [500, 1_000, 2_000]) walk.pass(ms).send({ type: 'challenged' }).send({ type: 'lost', error: gone })

  walk.pass(3_999)
  expect(walk.state).toEqual({ waiting: 'resting' })
  expect(walk.inputs('probe')).toEqual([])
})

test('[CH-07] whoever comes back to the page does not wait', () => {
  const walk = waiting().send({ type: 'wake' })
  expect(walk.state).toEqual({ linked: 'connecting' })

  const up = ready().send({ type: 'wake' })
  expect(up.state).toEqual({ linked: { ready: 'asking' } })
})

test('[CH-07] every 30 s it is asked whether anybody is there; 10 s without an answer are a lost link', async () => {
  const walk = ready().pass(30_000)
  expect(walk.state).toEqual({ linked: { ready: 'asking' } })
  await walk.resolve('ask', undefined)
  expect(walk.state).toEqual({ linked: { ready: 'resting' } })
  await walk.pass(30_000).reject('ask', new RuntimeError('forbidden', 'not for you'))
  expect(walk.state).toEqual({ linked: { ready: 'resting' } })

  walk.pass(30_000).pass(9_999)
  expect(walk.state).toEqual({ linked: { ready: 'asking' } })
  walk.pass(1)

  expect(walk.state).toEqual({ waiting: 'resting' })
  expect(walk.context.error).toMatchObject({ code: 'timeout', retryable: true })
})

test('a server that says nothing is given up after 10 s, be it before the challenge or after the greeting', () => {
  expect(start().pass(10_000).state).toEqual({ waiting: 'watching' })
  expect(greeting().pass(10_000).state).toEqual({ waiting: 'resting' })
})

test('a wrong token and another protocol are never tried again, a gateway that is full is', () => {
  const denied = greeting().send({ type: 'denied', error: wrong })
  expect(denied.state).toBe('refused')
  expect(denied.context.error).toBe(wrong)

  const other = greeting().send({ type: 'welcomed', welcome: welcome({ protocol: 2 }) })
  expect(other.state).toBe('refused')
  expect(other.context.error).toMatchObject({ code: 'unsupported', retryable: false })

  expect(greeting().send({ type: 'denied', error: new RuntimeError('overloaded', 'full', { retryable: true }) }).state).toEqual({
    waiting: 'resting',
  })
})

test('it can be closed at any time', () => {
  for (const walk of [start(), greeting(), ready(), waiting()]) expect(walk.send({ type: 'close' }).state).toBe('closed')
})

test('every transition of the chart was taken', () => {
  expect(socket.missed()).toEqual([])
})
