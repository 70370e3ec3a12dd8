import { expect, test } from 'vitest'
import type { SendOptions } from '../../src/contracts/channel.ts'
import { testChannel, virtualClock } from '../../src/testing/index.ts'

const options = (change: Partial<SendOptions> = {}): SendOptions => ({
  route: { channel: 'test', to: 'ada' },
  kind: 'final',
  key: 'k',
  signal: new AbortController().signal,
  emit: () => undefined,
  ...change,
})

test('it remembers what was sent and when, and what became of it', async () => {
  const clock = virtualClock()
  const channel = testChannel(clock)
  await clock.advance(100)

  expect(await channel.send({ text: 'one' }, options({ kind: 'block' }))).toBe('test-1')
  await channel.typing?.({ channel: 'test', to: 'ada' }, { signal: options().signal })

  expect(channel.sends).toEqual([
    { at: 100, kind: 'block', key: 'k', route: { channel: 'test', to: 'ada' }, payload: { text: 'one' }, outcome: 'sent' },
  ])
  expect([channel.typed, channel.texts]).toEqual([[100], ['one']])
})

test('the nth send from now on can be made to fail, hang or take its time', async () => {
  const clock = virtualClock()
  const channel = testChannel(clock)
  const abort = new AbortController()
  channel.fail(1)
  channel.delay(50, 2)
  channel.hang(3)

  await expect(channel.send({ text: 'one' }, options())).rejects.toThrow('refused')
  const second = channel.send({ text: 'two' }, options())
  const third = channel.send({ media: ['c.png'] }, options({ signal: abort.signal }))
  await clock.advance(50)
  expect(channel.sends.map(({ outcome }) => outcome)).toEqual(['failed', 'sent', 'sending'])
  abort.abort(new Error('enough'))

  await second
  await expect(third).rejects.toThrow('enough')
  await channel.send({ media: ['d.png'] }, options())
  expect(channel.texts).toEqual(['two', 'd.png'])
  expect(clock.pending()).toBe(0)
})

test('it takes every setting of a channel, and may be one that cannot show typing', () => {
  const channel = testChannel(virtualClock(), { id: 'mine', textMax: 50, typing: false, repeatable: true })

  expect(channel).toMatchObject({ id: 'mine', textMax: 50, markdown: true, repeatable: true })
  expect(channel.typing).toBeUndefined()
})
