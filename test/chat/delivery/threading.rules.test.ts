/** Which messages of an answer point at what they answer (OC-76). */
import { expect, test } from 'vitest'
import { newThreading, type Threading, threadAll } from '../../../src/chat/delivery/threading.rules.ts'
import type { Payload } from '../../../src/contracts/reply.ts'

const three: Payload[] = [{ text: 'a' }, { text: 'b' }, { text: 'c' }]
const targets = (payloads: Payload[], options: Partial<Threading>) =>
  threadAll(newThreading(options), payloads).payloads.map(({ replyTo }) => replyTo)

test('a channel without a rule points every message at the one it answers', () => {
  expect(targets(three, { messageId: 'm' })).toEqual(['m', 'm', 'm'])
  expect(targets(three, {})).toEqual([undefined, undefined, undefined])
})

test('in mode first only the first message points, also where blocks went before', () => {
  expect(targets(three, { mode: 'first', messageId: 'm' })).toEqual(['m', undefined, undefined])
  const { state } = threadAll(newThreading({ mode: 'first', messageId: 'm' }), [{ text: 'block' }])
  expect(threadAll(state, [{ text: 'a', replyTo: 'x', replyTagged: true }]).payloads).toEqual([{ text: 'a' }])
})

test('a target that the model named goes before the message that is answered', () => {
  expect(targets([{ text: 'a', replyTo: 'x', replyTagged: true }, { text: 'b' }], { mode: 'all', messageId: 'm' })).toEqual(['x', 'm'])
})

test('off removes targets, but for tagged ones where the channel takes them', () => {
  const payloads: Payload[] = [{ text: 'a', replyTo: 'x', replyTagged: true }, { text: 'b', replyTo: 'y' }, { text: 'c' }]
  expect(targets(payloads, { mode: 'off', messageId: 'm' })).toEqual([undefined, undefined, undefined])
  expect(targets(payloads, { mode: 'off', messageId: 'm', tagsWhenOff: true })).toEqual(['x', undefined, undefined])
})

test('the state is plain data, and what a payload holds besides stays', () => {
  const payload: Payload = { text: 'a', media: ['b.png'], voice: true, data: { c: 1 } }
  const state = JSON.parse(JSON.stringify(newThreading({ messageId: 'm' })))
  expect(threadAll(state, [payload]).payloads).toEqual([{ ...payload, replyTo: 'm' }])
})
