/** Side questions of a session, over crashes and beside its turns. */
import { expect, test } from 'vitest'
import type { ScriptedSource } from '../../src/testing/index.ts'
import { expectNothingAlive, story } from './harness.ts'

const aside: ScriptedSource = ({ messages }) => {
  const last = messages.at(-1)
  const text = last?.role === 'user' ? last.text : ''
  return text.includes('The side question:') ? { text: 'So it is.', delayMs: 1_000 } : { text: `heard ${text}`, delayMs: 3_000 }
}
const ask = { type: 'side', id: 'b1', text: 'why?' }
const results = (events: { type: string }[]) => events.filter(({ type }) => type === 'side_result')

test('[CH-81] a crash in the middle of it: it is answered once, and the turn beside it as well', async () => {
  await using told = await story(aside)
  await told.say('hello', { idempotencyKey: 'k1' })
  await told.clock.until(told.main.command(ask))
  await told.clock.advance(500)
  expect(results(told.events('main'))).toEqual([])
  await told.crash()
  await told.restart()

  expect(await told.clock.until(told.main.wait('b1'))).toMatchObject({ status: 'completed', side: true, text: 'So it is.' })
  expect(await told.clock.until(told.main.wait('k1'))).toMatchObject({ text: 'heard hello' })
  expect(results(told.events('main'))).toMatchObject([{ runId: 'b1', question: 'why?', text: 'So it is.', isError: false }])
  expect(await told.transcript()).toEqual(['user: hello', 'assistant: heard hello'])
  await told.crash()
  await told.restart()
  // It has its outcome: nobody is asked again.
  expect(await told.main.outcome('b1')).toMatchObject({ text: 'So it is.' })
  await told.clock.advance(5_000)
  expect((await told.main.record())?.spent.turns).toBe(1)
  expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
  await expectNothingAlive(told)
})

test('[CH-81] where the node was away for longer than anybody waits, it says so', async () => {
  await using told = await story(() => ({ text: 'late', delayMs: 100_000 }))
  await told.clock.until(told.main.command(ask))
  await told.crash()
  await told.clock.advance(130_000)
  await told.restart()
  await told.clock.advance(1)

  await expect(told.clock.until(told.main.wait('b1'))).rejects.toMatchObject({ code: 'provider_timeout' })
  expect(results(told.events('main'))).toMatchObject([{ runId: 'b1', isError: true, text: expect.stringContaining('did not answer in time') }])
})

test('[CH-81] asked on a channel, the answer goes there while the turn goes on; what a stranger asks is skipped', async () => {
  await using told = await story(aside)
  const origin = { channel: 'test', to: 'ann' }
  const turn = await told.say('hello', { idempotencyKey: 'k1', origin })
  const run = await told.say('/btw why?', { idempotencyKey: 'b1', origin })
  expect(run.status).toBe('side')

  expect(await told.clock.until(run.text())).toBe('So it is.')
  await told.clock.settle()
  expect(told.channel.texts).toEqual(['Aside, on “why?”: So it is.'])
  expect((await told.clock.until(turn.result())).text).toContain('hello')
  expect((await told.say('/btw why?', { origin: { ...origin, authorised: false } })).status).toBe('unauthorised')
  expect(await told.transcript()).toHaveLength(2)
})
