/** One question beside a conversation, from its first moment to the one thing that its session is told of it. */
import { expect, test } from 'vitest'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { noUsage } from '../../../src/contracts/message.ts'
import { sideMachine } from '../../../src/machines/side/side.machine.ts'
import { profile } from '../session/stage.ts'
import { walker } from '../walk.ts'

const side = walker(sideMachine, ['ask'])
const start = () => side.start({ session: 's', id: 'b', text: 'why?', profile: profile() })
const answer = { kind: 'side', id: 'b', text: 'So.', model: 'test/model', usage: noUsage, endedAt: 1, durationMs: 1 }
const told = { type: 'side.ended', id: 'b', question: 'why?' }

test('[CH-81] its answer is told, and is the end of it', async () => {
  const walk = start()
  expect(walk.inputs('ask')).toMatchObject([{ session: 's', id: 'b', text: 'why?', profile: { model: 'test/model' } }])
  await walk.resolve('ask', answer)
  expect([walk.state, walk.heard()]).toEqual(['answered', [{ ...told, status: 'completed', answer }]])
})

test('[CH-81] where there is none, it is told why: it failed, took too long, or was stopped', async () => {
  const failed = await start().reject('ask', new RuntimeError('provider_auth', 'no key'))
  expect(failed.heard()).toMatchObject([{ ...told, status: 'failed', error: { code: 'provider_auth' } }])

  const late = start().pass(119_999)
  expect(late.heard()).toEqual([])
  expect(late.pass(1).heard()).toMatchObject([{ ...told, status: 'failed', error: { code: 'provider_timeout' } }])

  const stopped = start().send({ type: 'side.stop' })
  expect(stopped.heard()).toMatchObject([{ ...told, status: 'cancelled', error: { code: 'cancelled' } }])
  await stopped.resolve('ask', answer)
  expect([stopped.state, stopped.heard()]).toEqual(['stopped', []])
})

test('every transition of the chart has been taken', () => {
  expect(side.missed()).toEqual([])
})
