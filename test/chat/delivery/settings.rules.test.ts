import { expect, test } from 'vitest'
import { resolveDelivery } from '../../../src/chat/delivery/settings.rules.ts'
import { type Channel, Delivery, deliveryDefaults } from '../../../src/contracts/channel.ts'

const channel = (change: Partial<Channel> = {}): Channel => ({ id: 'test', markdown: true, textMax: 4000, send: () => undefined, ...change })
const resolved = (...given: Parameters<typeof resolveDelivery>) => deliveryDefaults(resolveDelivery(...given))
const origin = { channel: 'test', to: 'ada' }

test('[OC-58, OC-59, OC-60, OC-62, OC-70] what nobody chose', () => {
  expect(deliveryDefaults()).toEqual({
    streaming: false,
    boundary: 'text_end',
    min: 800,
    max: 1200,
    coalesce: { minChars: 800, maxChars: 1200, idleMs: 1000, joiner: '\n\n' },
    sendTimeoutMs: 15_000,
    typing: { mode: 'instant', everyMs: 6000, lifetimeMs: 120_000 },
    pacing: 'off',
    replyTo: 'all',
    tagsWhenOff: false,
    reasoning: 'off',
    finalOnly: false,
    tokens: { silent: 'NO_REPLY', heartbeat: 'HEARTBEAT_OK' },
  })
})

test('nothing is written down of what follows from the defaults', () => {
  expect(resolveDelivery(channel(), { agent: { streaming: false, pacing: 'off', typing: { mode: 'instant' } } })).toEqual({})
  expect(resolveDelivery(channel(), { agent: { min: 100, max: 200 } })).toEqual({})
})

test('[OC-58] streaming is off, until the agent, the channel, the account or the message wants it; each outranks the one before', () => {
  const streams = (change: Partial<Channel>, wishes = {}) =>
    resolved(channel(change), { origin: { ...origin, account: 'main' }, ...wishes }).streaming

  expect(streams({})).toBe(false)
  expect(streams({ blocks: { streaming: true } })).toBe(true)
  expect(streams({ blocks: { streaming: true } }, { agent: { streaming: false } })).toBe(false)
  expect(streams({ settings: { streaming: true } }, { agent: { streaming: false } })).toBe(true)
  expect(streams({ settings: { streaming: true }, accounts: { main: { streaming: false } } })).toBe(false)
  expect(streams({ accounts: { main: { streaming: true } } }, { call: { streaming: false } })).toBe(false)
  expect(streams({ accounts: { main: { streaming: true } } }, { origin: { ...origin, account: 'other' } })).toBe(false)
  expect(streams({}, { origin: { ...origin, account: 'constructor' } })).toBe(false)
})

test('[OC-59] no block may be longer than the channel takes, and none is worth waiting for that is', () => {
  const { min, max, coalesce } = resolved(channel({ textMax: 50 }), { call: { streaming: true } })

  expect({ min, max, coalesce }).toMatchObject({ min: 50, max: 50, coalesce: { minChars: 50, maxChars: 50 } })
  expect(resolved(channel(), { call: { streaming: true, min: 900, max: 300 } })).toMatchObject({ min: 300, max: 300 })
})

test('[OC-60] what blocks are put together to: account, channel, agent, adapter, the size of a block', () => {
  const least = (change: Partial<Channel>, agent: Delivery = {}) =>
    resolved(channel(change), { origin: { ...origin, account: 'main' }, agent: { streaming: true, ...agent } }).coalesce.minChars

  const blocks = { coalesce: { minChars: 1500 } }
  const settings = { coalesce: { minChars: 1300 } }
  expect(least({})).toBe(800)
  expect(least({}, { min: 300 })).toBe(300)
  expect(least({ blocks }, { min: 300 })).toBe(1500)
  expect(least({ blocks }, { coalesce: { minChars: 1400 } })).toBe(1400)
  expect(least({ blocks, settings }, { coalesce: { minChars: 1400 } })).toBe(1300)
  expect(least({ blocks, settings, accounts: { main: { coalesce: { minChars: 20 } } } })).toBe(20)
  expect(resolved(channel({ blocks }), { agent: { streaming: true } }).coalesce.maxChars).toBe(1500)
})

test('settings in groups are chosen one by one', () => {
  const found = resolved(channel({ settings: { coalesce: { idleMs: 5 } } }), { agent: { streaming: true, coalesce: { joiner: ' ', idleMs: 7 } } })

  expect(found.coalesce).toMatchObject({ idleMs: 5, joiner: ' ' })
})

test.each([
  ['a direct message', {}, 'instant'],
  ['a message that names us', { chatType: 'group', mentioned: true }, 'instant'],
  ['another message in a group', { chatType: 'group' }, 'message'],
  ['another message in a thread', { chatType: 'thread' }, 'message'],
] as const)('[OC-68] %s: typing begins by itself as it is usual', (_, kind, mode) => {
  expect(resolved(channel(), { origin: { ...origin, ...kind } }).typing.mode).toBe(mode)
  expect(resolved(channel(), { origin: { ...origin, ...kind }, agent: { typing: { mode: 'thinking' } } }).typing.mode).toBe('thinking')
})

test('[OC-68] a heartbeat neither types nor streams, whatever was chosen', () => {
  const found = resolved(channel(), { heartbeat: true, call: { streaming: true, typing: { mode: 'instant' } } })

  expect(found).toMatchObject({ streaming: false, typing: { mode: 'never' } })
})

test('[OC-06] the channel says which messages point at the one that they answer, by account and kind of chat', () => {
  const replyTo = ({ chatType }: { chatType?: string | undefined }) => (chatType === 'group' ? 'first' : 'off')
  const adapter = channel({ replyTo, tagsWhenOff: true })

  expect(resolveDelivery(adapter, { origin: { ...origin, chatType: 'group' } })).toEqual({
    replyTo: 'first',
    tagsWhenOff: true,
    typing: { mode: 'message' },
  })
  expect(resolveDelivery(adapter, { origin })).toEqual({ replyTo: 'off', tagsWhenOff: true })
  expect(resolveDelivery(adapter, { origin, call: { replyTo: 'all' } }).replyTo).toBeUndefined()
})

test('what comes out fits the schema that the journal is read by', () => {
  const found = resolveDelivery(channel({ textMax: 1000, blocks: { streaming: true, coalesce: { minChars: 1500 } } }), {
    call: { pacing: { minMs: 1, maxMs: 2 }, sendTimeoutMs: 0 },
  })

  expect(Delivery.parse(found)).toEqual(found)
  expect(found).toEqual({ streaming: true, max: 1000, coalesce: { minChars: 1000 }, pacing: { minMs: 1, maxMs: 2 }, sendTimeoutMs: 0 })
})
