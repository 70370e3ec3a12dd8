/** Short blocks become longer ones (OC-60). */
import { expect, test } from 'vitest'
import { type CoalesceLimits, coalesce, flush, newCoalescer } from '../../../src/chat/delivery/coalescer.rules.ts'
import type { Payload } from '../../../src/contracts/reply.ts'
import { seededRandom } from '../../../src/testing/seeded.ts'

/** A pipeline in which what is `idle` or `force` stands between the blocks. */
const run = (steps: (Payload | 'idle' | 'force')[], limits: Partial<CoalesceLimits> = {}): Payload[] => {
  let state = newCoalescer({ min: 800, max: 1200, joiner: '\n\n', ...limits })
  return steps.flatMap((step) => {
    const next = typeof step === 'string' ? flush(state, { force: step === 'force' }) : coalesce(state, step)
    state = JSON.parse(JSON.stringify(next.state))
    return next.send
  })
}
const text = (length: number, letter = 'a') => ({ text: letter.repeat(length) })

test('three blocks of 300 characters are one message when it is idle', () => {
  expect(run([text(300, 'a'), text(300, 'b'), text(300, 'c'), 'idle'])).toEqual([
    { text: ['a', 'b', 'c'].map((letter) => letter.repeat(300)).join('\n\n') },
  ])
})

test('what is too short waits on when it is idle, but not when it is forced', () => {
  expect(run([text(799), 'idle'])).toEqual([])
  expect(run([text(800), 'idle'])).toEqual([text(800)])
  expect(run([text(1), 'idle', 'force', 'force'])).toEqual([text(1)])
})

test('what would become too long is sent, and the next one waits', () => {
  expect(run([text(700, 'a'), text(700, 'b')])).toEqual([text(700, 'a')])
  expect(run([text(700, 'a'), text(700, 'b'), 'force'])).toEqual([text(700, 'a'), text(700, 'b')])
})

test('what is as long as allowed is sent at once, and what is longer passes through', () => {
  expect(run([text(1200)])).toEqual([text(1200)])
  expect(run([text(10), text(1188, 'b')])).toEqual([{ text: `${'a'.repeat(10)}\n\n${'b'.repeat(1188)}` }])
  expect(run([text(10), text(3000, 'b'), text(5, 'c'), 'force'])).toEqual([text(10), text(3000, 'b'), text(5, 'c')])
})

test('another target or voice flag ends what came before', () => {
  const to = (replyTo: string) => ({ ...text(5), replyTo })
  expect(run([to('m1'), to('m2'), text(5), 'force'])).toEqual([to('m1'), to('m2'), text(5)])
  expect(run([text(5), { ...text(5), voice: true }, 'force'])).toEqual([text(5), { ...text(5), voice: true }])
  expect(run([to('m1'), to('m1'), 'force'])).toEqual([{ text: 'aaaaa\n\naaaaa', replyTo: 'm1' }])
})

test('media, errors and data pass through, behind what was waiting', () => {
  for (const other of [{ media: ['a.png'] }, { text: 'see', media: ['a.png'] }, { text: 'oh', error: true as const }, { data: { a: 1 } }])
    expect(run([text(5), other, text(6), 'force'])).toEqual([text(5), other, text(6)])
})

test('nothing is not a block', () => {
  expect(run([text(5), {}, { text: ' \n' }, text(5), 'force'])).toEqual([{ text: 'aaaaa\n\naaaaa' }])
})

test('the joiner stands only where the blocks bring no white space of their own', () => {
  for (const joiner of ['\n\n', '\n', ' '] as const) {
    expect(run([{ text: 'One.' }, { text: 'Two.' }, 'force'], { joiner })).toEqual([{ text: `One.${joiner}Two.` }])
    expect(run([{ text: 'One. ' }, { text: 'Two.' }, { text: '\nThree.' }, 'force'], { joiner })).toEqual([{ text: 'One. Two.\nThree.' }])
  }
})

test('a minimum above the maximum counts as the maximum', () => {
  expect(newCoalescer({ min: 1500, max: 100, joiner: ' ' }).min).toBe(100)
  expect(run([text(99), text(50)], { min: 1500, max: 100 })).toEqual([text(99)])
})

test('whatever comes, nothing is lost, swapped or longer than allowed', () => {
  const random = seededRandom(60)
  for (let round = 0; round < 500; round++) {
    const blocks: Payload[] = Array.from({ length: 20 }, (_, index) => ({
      text: `<${index}>`.repeat(1 + Math.floor(random.next() * 8)),
      ...(random.next() < 0.1 ? { media: [`${index}.png`] } : {}),
      ...(random.next() < 0.2 ? { replyTo: 'm' } : {}),
    }))
    const steps = blocks.flatMap((block) => (random.next() < 0.2 ? [block, 'idle' as const] : [block]))
    const sent = run([...steps, 'force'], { min: 30, max: 60, joiner: ' ' })
    expect(sent.map((payload) => payload.text).join(' ')).toBe(blocks.map((payload) => payload.text).join(' '))
    expect(sent.flatMap((payload) => payload.media ?? [])).toEqual(blocks.flatMap((payload) => payload.media ?? []))
    expect(sent.every((payload) => (payload.text ?? '').length <= 60)).toBe(true)
  }
})
