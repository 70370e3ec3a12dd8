/** Our own programs of the comparison do what its table says; those of others need an installation. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Program } from '../examples/compare/process.ts'
import { again, desk, order, session, told } from '../examples/compare/stories.ts'

const programOf = (name: string): Program => ({ file: join(import.meta.dirname, '../examples/compare/statecast', `${name}.ts`), env: {} })

test('an order that is killed goes on by itself, and nothing that had ended is done again', async () => {
  const program = programOf('order')
  const calm = await order.calm(program)
  const killed = await order.afterChecks(program)

  expect(killed).toMatchObject({ byItself: true, data: calm.data })
  expect(again(calm, killed)).toEqual([])

  const shipping = await order.whileItShips(program)
  expect(shipping).toMatchObject({ byItself: true, data: calm.data })
  expect(again(calm, shipping)).toEqual(['ship'])
  expect(new Set(shipping.deeds.filter(({ what }) => what === 'ship').map(({ key }) => key)).size).toBe(1)
})

test('a desk that is killed while one of three works asks that one again, and nobody else', async () => {
  const program = programOf('desk')
  const calm = await desk.calm(program)
  const killed = await desk.whileOneWorks(program)

  expect(killed).toMatchObject({ byItself: true, data: calm.data })
  expect(again(calm, killed)).toEqual(['model law'])
})

test('a conversation that is killed in a turn answers that turn by itself, and each message stands in it once', async () => {
  const program = programOf('session')
  const calm = await session.calm(program)
  const killed = await session.inTheThirdTurn(program)

  expect(killed).toMatchObject({ byItself: true, data: calm.data })
  expect(again(calm, killed)).toEqual(['model chat'])
  expect(told(killed)).toEqual(told(calm))
})
