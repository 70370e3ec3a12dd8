/** steer-backlog: a message that joins the run, and has a turn of its own after it. */
import { expect, test } from 'vitest'
import { expectEndedOnce, outcomes, story } from '../runtime/harness.ts'
import { ann, ask, crashes, listener, newest, restart, turns } from './stage.ts'

test.each(crashes)('[OC-11] steer-backlog: the message joins the run, and gets a turn of its own after it%s', async (crash) => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'steer-backlog' })
  await told.say('cats', ann('a'))
  await told.clock.advance(40)

  const backlog = await told.say('dogs', ann('b'))
  if (crash) await restart(told)
  await told.quiet()

  expect(backlog.status).toBe('queued')
  expect(turns(told)).toEqual(['a', 'b'])
  expect(asked.map(newest).slice(-2)).toEqual(['dogs', 'dogs'])
  expect((await told.transcript()).filter((line) => line === 'user: dogs')).toHaveLength(2)
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'final' })
  await expectEndedOnce(told)
})

test.each(['stop', 'clear', 'interrupt', 'a full queue', 'cancel'])(
  '[OC-11, OC-14, OC-16, OC-24, OC-103] one that had joined and is dropped before the model saw it leaves a conversation that goes on: %s',
  async (how) => {
    await using told = await story(listener().script, { queueCap: 1, queueDrop: 'old' })
    await told.say('cats', ann('a'))
    await told.clock.advance(40)
    await told.say('dogs', { ...ann('b'), queueMode: 'steer-backlog' })

    if (how === 'stop') await told.say('stop', ann('c'))
    if (how === 'clear') await told.main.command({ type: 'clear' })
    if (how === 'interrupt') await told.say('mice', { ...ann('c'), queueMode: 'interrupt' })
    if (how === 'a full queue') await told.say('mice', { ...ann('c'), queueMode: 'followup' })
    if (how === 'cancel') await told.main.cancel('b')
    await told.quiet()

    expect((await ask(told, 'and now', ann('d'))).status).toBe('completed')
    expect((await told.transcript()).at(-2)).toBe('user: and now')
    expect(outcomes(told.events('main'))).toMatchObject({ b: 'aborted', d: 'final' })
    await expectEndedOnce(told)
  },
)
