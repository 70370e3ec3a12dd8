/** `trace.coverage`: in portions, at every door, and only of what a token reaches. */
import { expect, test } from 'vitest'
import { createMachine } from 'xstate'
import type { CoverageAnswer } from '../../src/api/index.ts'
import { testRuntime } from '../../src/testing/index.ts'
import { aGateway } from './http/harness.ts'

const light = createMachine({
  id: 'light',
  initial: 'off',
  states: { off: { on: { toggle: 'on' } }, on: { on: { toggle: 'off', smash: 'dark' } }, dark: {} },
})

test('all actors of a kind are covered in portions that follow each other; what cannot be folded is named, and the others count', async () => {
  await using kit = await testRuntime({ machines: { light } })
  for (const id of ['a', 'b', 'c', 'd', 'e']) await kit.runtime.actor('light', id).send({ type: 'toggle' })
  const ask = (input: object) => kit.clock.until(kit.runtime.command<CoverageAnswer>('trace.coverage', { kind: 'light', ...input }))

  const first = await ask({ limit: 3 })
  const rest = await ask({ limit: 3, after: first.next })
  const some = await ask({ ids: ['a', 'nobody'] })

  expect(first).toMatchObject({ kind: 'light', sessions: 3, next: 'light/c', hint: expect.stringContaining('`after`') })
  expect(rest).toMatchObject({ sessions: 2, unreadable: [], next: null })
  expect(rest.machines[0]?.transitions.map(({ ref, taken, sessions }) => [ref.source, ref.eventType, taken, sessions])).toEqual([
    ['light.on', 'toggle', 0, []],
    ['light.on', 'smash', 0, []],
    ['light.off', 'toggle', 2, ['light/d', 'light/e']],
  ])
  expect(some).toMatchObject({ sessions: 1, unreadable: [{ session: 'light/nobody', error: { code: 'not_found' } }], next: null })
  await expect(ask({ kind: 'lamp' })).rejects.toMatchObject({ code: 'not_found', hint: expect.stringContaining('light') })
  await expect(ask({ limit: 5000 })).rejects.toMatchObject({ code: 'bad_request' })
})

test('while many journals are folded, others have their turn after each', async () => {
  await using kit = await testRuntime({ machines: { light } })
  for (let index = 0; index < 100; index++) await kit.runtime.actor('light', `l-${index}`).send({ type: 'toggle' })
  let turns = 0
  let over = false
  const tick = (): void => {
    turns++
    if (!over) setImmediate(tick)
  }
  setImmediate(tick)

  const { sessions } = await kit.runtime.command<CoverageAnswer>('trace.coverage', { kind: 'light' })
  over = true

  expect(sessions).toBe(100)
  expect(turns).toBeGreaterThanOrEqual(100)
})

test('[INV-19] a token of some sessions gets the coverage of those, and cannot tell others from ones that are not there', async () => {
  const made = await aGateway()
  for (const key of ['agent:main:web:mine', 'agent:main:sms:foreign']) await (await made.runtime.session(key).send('hello')).result()
  const { json } = await made.rpc('tokens.create', { name: 'page', scopes: ['read'], sessions: ['agent:main:web:*'] })
  const own = async (input: object) =>
    (await made.call('POST', '/rpc/trace.coverage', { headers: { authorization: `Bearer ${json.token}` }, body: JSON.stringify(input) }))
      .json as CoverageAnswer

  const all = await own({})
  expect(all.sessions).toBe(1)
  expect(JSON.stringify(all)).not.toContain('foreign')
  expect(all.machines.find(({ machine }) => machine.id === 'turn')?.sessions).toBe(1)
  const [foreign, nobody] = [await own({ ids: ['agent:main:sms:foreign'] }), await own({ ids: ['agent:main:sms:nobody'] })]
  expect(JSON.stringify(foreign).replaceAll('foreign', 'K')).toBe(JSON.stringify(nobody).replaceAll('nobody', 'K'))
  expect((await own({ kind: 'heartbeat' })).sessions).toBe(0)
  expect((await made.rpc('trace.coverage')).json.sessions).toBe(2)
})
