/** What a message is, and what of an answer is left to send (OC-61, 63, 65, 74). */
import { expect, test } from 'vitest'
import { finalsLeft, holdAudio, isAudio, isRenderable, noAudio, payloadKey, releaseAudio } from '../../../src/chat/delivery/blocks.rules.ts'
import type { Payload } from '../../../src/contracts/reply.ts'

test('a payload with neither text nor media nor voice nor data is nothing', () => {
  for (const nothing of [{}, { text: '' }, { text: ' \n' }, { media: [] }, { replyTo: 'm' }, { error: true as const }, { data: {} }])
    expect(isRenderable(nothing)).toBe(false)
  for (const something of [{ text: 'a' }, { media: ['a.png'] }, { voice: true as const }, { data: { buttons: [] } }])
    expect(isRenderable(something)).toBe(true)
})

test('the key of a payload is its trimmed text, its media and its target, and nothing else', () => {
  expect(payloadKey({ text: ' Hi\n', media: [] })).toBe(payloadKey({ text: 'Hi', voice: true }))
  const keys = [
    { text: 'Hi' },
    { text: 'hi' },
    { text: 'Hi', replyTo: 'm' },
    { text: 'Hi', media: ['a'] },
    { media: ['Hi'] },
    { media: ['a', 'b'] },
    { media: ['b', 'a'] },
  ]
  expect(new Set(keys.map(payloadKey)).size).toBe(keys.length)
})

test('finals are dropped after all was streamed; otherwise only those that were delivered', () => {
  const finals: Payload[] = [{ text: 'One.' }, { text: 'Two.' }]
  const sent = [payloadKey({ text: 'One. ' })]

  expect(finalsLeft({ sent, complete: true, aborted: false }, finals)).toEqual([])
  expect(finalsLeft({ sent, complete: true, aborted: true }, finals)).toEqual([{ text: 'Two.' }])
  expect(finalsLeft({ sent, complete: false, aborted: false }, finals)).toEqual([{ text: 'Two.' }])
  expect(finalsLeft({ sent: [], complete: true, aborted: false }, finals)).toEqual(finals)
})

test('after an abort the whole answer still arrives, as its blocks were other payloads', () => {
  const whole: Payload[] = [{ text: 'One.\n\nTwo.' }]
  expect(finalsLeft({ sent: [payloadKey({ text: 'One.' })], complete: false, aborted: true }, whole)).toEqual(whole)
})

const release = (payloads: Payload[]) => {
  let state = noAudio
  const sent = payloads.flatMap((payload) => {
    const step = holdAudio(state, payload)
    state = step.state
    return step.send
  })
  return { sent, released: releaseAudio(state) }
}

test('sound waits to the end, and is all voice if any payload asked for voice, also a later one', () => {
  const payloads: Payload[] = [{ media: ['a.mp3'], text: 'listen' }, { text: 'and' }, { media: ['b.png'] }, { media: ['c.ogg'] }]
  const later: Payload = { media: ['d.opus'], voice: true }

  expect(release(payloads)).toEqual({ sent: [payloads[1], payloads[2]], released: [payloads[0], payloads[3]] })
  expect(release([...payloads, later]).released).toEqual([payloads[0], payloads[3], later].map((payload) => ({ ...payload, voice: true })))
  expect(release([{ media: ['a.wav'] }, { text: 'hi', voice: true }]).released).toEqual([{ media: ['a.wav'], voice: true }])
})

test('sound is known by its ending', () => {
  for (const address of ['a.mp3', 'https://x.org/a.OGG?key=1', 'b.m4a#t=3', './c.flac']) expect(isAudio(address)).toBe(true)
  for (const address of ['a.mp4', 'mp3', 'a.mp3.txt', 'https://x.org/?a=b.mp3x', '']) expect(isAudio(address)).toBe(false)
})
