import { expect, test } from 'vitest'
import { peerMachine } from '../../src/cluster/peer.machine.ts'
import { walker } from '../machines/walk.ts'

const peer = walker(peerMachine, ['listens'])
const open = () => peer.start({ node: 'b', revision: 3 })

test('a node that listens is there, however late its word', async () => {
  const walk = await open().resolve('listens', true)

  expect(walk.output).toEqual({ gone: false })
})

test('a node that has hung up is gone when it does not come back', async () => {
  const walk = await open().resolve('listens', false)
  expect(walk.state).toBe('doubted')

  await walk.pass(750).resolve('listens', false)

  expect(walk.output).toEqual({ gone: true })
  expect(walk.inputs('listens')).toEqual([
    { node: 'b', revision: 3 },
    { node: 'b', revision: 3 },
  ])
})

test('a node whose link broke is there when it has come back', async () => {
  const walk = await open().resolve('listens', false)

  await walk.pass(750).resolve('listens', true)

  expect(walk.output).toEqual({ gone: false })
})

test('a question that could not be asked says nothing against a node', async () => {
  expect((await open().reject('listens', new Error('no link'))).output).toEqual({ gone: false })

  const walk = await open().resolve('listens', false)
  await walk.pass(750).reject('listens', new Error('no link'))
  expect(walk.output).toEqual({ gone: false })
})

test('every transition of the chart has been taken', () => {
  expect(peer.missed()).toEqual([])
})
