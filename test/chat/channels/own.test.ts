/** The channels that come with us: whoever uses them listens to the session. */
import { expect, test } from 'vitest'
import { stdioChannel } from '../../../src/chat/channels/stdio.ts'
import { webChannel } from '../../../src/chat/channels/web.ts'
import { resolveDelivery } from '../../../src/chat/delivery/settings.rules.ts'
import { deliveryDefaults } from '../../../src/contracts/channel.ts'
import { stage, words } from '../delivery/stage.ts'

const origin = (channel: string) => ({ channel, to: 'me' })

test('[OC-06] the web chat hears every message from its session, with a name by which to know it again', async () => {
  const turn = stage({ delivery: { streaming: true, typing: { mode: 'message' } }, channel: webChannel({ id: 'test' }), own: true })

  await turn
    .start()
    .say('Hello.')
    .end()
    .finish([{ text: 'Hello.' }])
    .over()

  expect(turn.live.map(({ type, kind, payload, active }) => [type, kind ?? active, payload])).toEqual([
    ['typing', true, undefined],
    ['block', 'block', { text: 'Hello.' }],
    ['typing', false, undefined],
  ])
  expect(turn.live.find(({ type }) => type === 'block')?.key).toMatch(/^s\/r\/block\/[0-9a-f]{16}$/)
})

test('[OC-58] the web chat streams where somebody wants it to, the terminal unless somebody does not', () => {
  const streams = (...given: Parameters<typeof resolveDelivery>) => deliveryDefaults(resolveDelivery(...given)).streaming

  expect(streams(webChannel(), { origin: origin('web') })).toBe(false)
  expect(streams(webChannel(), { origin: origin('web'), agent: { streaming: true } })).toBe(true)
  expect(streams(stdioChannel(), { origin: origin('stdio') })).toBe(true)
  expect(streams(stdioChannel({ settings: { streaming: false } }), { origin: origin('stdio') })).toBe(false)
})

test('a terminal takes an answer of any length in one message', async () => {
  const turn = stage({ channel: stdioChannel({ id: 'test' }), own: true })

  await turn.finish([{ text: words(200_000) }]).over()

  expect(turn.live.filter(({ type }) => type === 'block')).toHaveLength(1)
})
