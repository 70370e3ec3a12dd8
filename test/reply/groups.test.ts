/** In a group: which messages are for us, and what tools are told of where they are used. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/index.ts'
import { story } from '../runtime/harness.ts'
import { ann, ask, channels, eventsOf, listener, restart, turns } from './stage.ts'

const group = (id: string, mentioned?: boolean) => ann(id, { chatType: 'group', ...(mentioned === undefined ? {} : { mentioned }) })

test('[OC-06] a message of a group that does not name us is taken in, and nothing is done about it', async () => {
  await using told = await story(listener().script)

  const unnamed = await told.say('hello everybody', group('1', false))
  expect(unnamed.status).toBe('unmentioned')
  expect(await told.clock.until(unnamed.result())).toMatchObject({ outcome: 'silent', text: '' })
  expect((await ask(told, 'hello bot', group('2', true))).outcome).toBe('replied')
  // A channel that says nothing of it hands in what is for us and no more.
  expect((await ask(told, 'hello', group('3'))).outcome).toBe('replied')
  expect(turns(told)).toEqual(['2', '3'])
  expect(eventsOf(told, 'skipped')).toMatchObject([{ id: '1', reason: 'unmentioned' }])
})

test('a message that is skipped is answered with the reason, also to who sends it by a command', async () => {
  await using told = await story(listener().script)

  const skipped = await told.clock.until(told.runtime.command('chat.send', { sessionKey: 'main', message: 'hello', ...group('1', false) }))
  expect(skipped).toMatchObject({ id: '1', status: 'unmentioned' })
})

test('[OC-06, OC-36] where all messages of a group are for us, those are answered, too; also over a crash', async () => {
  await using told = await story(listener().script)
  await ask(told, 'hello bot', group('1', true))
  await told.main.configure({ activation: 'always' })
  await restart(told)

  expect((await ask(told, 'hello everybody', group('2', false))).outcome).toBe('replied')
})

test('[OC-06, OC-103] an order is for us, whoever else is there', async () => {
  await using told = await story(listener().script)
  await told.say('go', group('1', true))

  expect((await ask(told, '/stop', group('2', false))).text).toBe('Stopped.')
})

test('[OC-06] a channel knows how people name us there', async () => {
  const mentioned = (_: unknown, text: string) => text.includes('@bot')
  await using told = await story(listener().script, { runtime: { channels: channels({ id: 'test', mentioned }) } })

  await ask(told, 'hello', group('1'))
  await ask(told, 'hello @bot', group('2'))
  // To us alone nobody needs to name us.
  await ask(told, 'hello', ann('3'))
  expect(turns(told)).toEqual(['2', '3'])
})

test('[OC-06] a channel that promises an answer where it is to give one is none the worse for breaking it', async () => {
  const broken = () => Promise.reject(new Error('no')) as never
  await using told = await story(listener().script, {
    runtime: { channels: channels({ id: 'test', replyTo: broken, groupHint: broken, mentioned: broken, threadContext: broken }) },
  })

  expect((await ask(told, 'hello', group('1'))).outcome).toBe('replied')
})

test.each([
  ['what it says', () => ({ room: 7, topics: ['roses'] }), { room: 7, topics: ['roses'] }],
  ['nothing where it says nothing', () => undefined, undefined],
  ['nothing where it is more than anybody can read', () => ({ all: 'x'.repeat(5000) }), undefined],
  ['nothing where it throws', () => JSON.parse('no') as never, undefined],
])('[OC-06] tools are told of a conversation by its channel: %s, also over a crash', async (_, threadContext, thread) => {
  const seen: unknown[] = []
  const look = tool({
    name: 'look',
    description: 'looks',
    onCrash: 'retry',
    input: z.object({}),
    execute: (_input, context) => void seen.push(context.thread),
  })
  await using told = await story([{ calls: [{ name: 'look' }], delayMs: 100 }, { text: 'seen' }], {
    tools: () => [look],
    runtime: { channels: channels({ id: 'test', threadContext }) },
  })
  await told.say('look around', ann('1'))
  await restart(told)
  await told.quiet()

  expect(seen).toEqual([thread])
})
