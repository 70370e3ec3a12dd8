/** Who may be answered, as the operator says it in `sendPolicy` and a conversation with /send. */
import { expect, test } from 'vitest'
import type { Origin } from '../../../src/contracts/reply.ts'
import type { RuntimeOptions } from '../../../src/index.ts'
import { ann, ask, crashes, expectReplay, listener, restart } from '../../reply/stage.ts'
import { expectNothingAlive, story } from '../../runtime/harness.ts'

const place = async (sendPolicy: NonNullable<RuntimeOptions['sendPolicy']>, keys: { key?: string } = {}) => {
  const { asked, script } = listener()
  const told = await story(script, { runtime: { sendPolicy } })
  /** What becomes of a message. */
  const say = async (id: string, text: string, origin: Partial<Origin> = {}): Promise<string> => {
    const { idempotencyKey, ...more } = ann(id, origin)
    try {
      return (await told.clock.until((await told.clock.until(told.session(keys.key ?? 'main').send(text, { idempotencyKey, ...more }))).result()))
        .outcome
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  return { told, asked, say }
}

test('[OC-104] what a rule of the runtime denies is refused before any model is asked, and nothing of it stays; the rest is answered', async () => {
  const { told, asked, say } = await place([{ action: 'deny', channel: 'test', chatType: 'group' }, { action: 'allow' }])
  await using _ = told

  expect(await say('g', 'to the group', { chatType: 'group' })).toBe('forbidden')
  expect(asked).toEqual([])
  expect(await say('d', 'to me', { chatType: 'direct' })).toBe('replied')

  expect(asked).toHaveLength(1)
  expect(await told.transcript()).toEqual(['user: to me', 'assistant: re: to me'])
  expect(told.channel.sends.map(({ payload }) => payload.text)).toEqual(['re: to me'])
  await expectNothingAlive(told)
})

test.each(crashes)('[OC-104] the word of the conversation goes before every rule, until it is taken back%s', async (crash) => {
  const { told, say } = await place([{ action: 'deny', channel: 'test' }])
  await using _ = told
  const again = async () => {
    if (crash) await restart(told)
  }

  expect(await say('1', 'hello')).toBe('forbidden')
  await ask(told, '/send on', ann('on'))
  await again()
  expect(await say('2', 'hello')).toBe('replied')
  await ask(told, '/send inherit', ann('inherit'))
  await again()
  expect(await say('3', 'hello')).toBe('forbidden')
  await expectReplay(told)
})

test('[OC-104] a conversation that says /send off does not answer, whatever the rules allow', async () => {
  const { told, asked, say } = await place([{ action: 'allow' }])
  await using _ = told
  await ask(told, '/send off', ann('off'))

  expect(await say('1', 'hello')).toBe('forbidden')
  expect(asked).toEqual([])
})

test('[OC-104] a rule may be about the key of a session; without rules everybody is answered', async () => {
  const denied = await place([{ action: 'deny', keyPrefix: 'private:' }], { key: 'private:1' })
  await using _ = denied.told
  const open = await place([{ action: 'deny', keyPrefix: 'private:' }], { key: 'public:1' })
  await using __ = open.told
  const free = await place([], { key: 'private:1' })
  await using ___ = free.told

  expect([await denied.say('1', 'hello'), await open.say('1', 'hello'), await free.say('1', 'hello')]).toEqual(['forbidden', 'replied', 'replied'])
})
