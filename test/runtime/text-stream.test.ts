/** The text of an answer while it is made: the same for all who read it, whenever they come. */
import { expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { TextStream } from '../../src/runtime/text-stream.ts'
import { type Story, story, work, worker } from './harness.ts'

const counting = { chunks: ['one ', 'two ', 'three'], deltaDelayMs: 100 }

/** @param upTo pieces after which it stops reading */
const read = async ({ textStream }: Pick<Run, 'textStream'>, upTo = Number.POSITIVE_INFINITY): Promise<{ pieces: string[]; error?: unknown }> => {
  const pieces: string[] = []
  try {
    for await (const piece of textStream) if (pieces.push(piece) >= upTo) break
  } catch (error) {
    return { pieces, error }
  }
  return { pieces }
}
const ended = async (told: Story, run: Run) => told.clock.until(Promise.allSettled([run.result()]))

test('it comes piece by piece, without the reasoning, and ends with the turn', async () => {
  await using told = await story([{ reasoning: 'let me think', ...counting }])
  const run = await told.say('count')

  const { pieces, error } = await told.clock.until(read(run))

  expect(pieces).toEqual(['one ', 'two ', 'three'])
  expect(error).toBeUndefined()
  expect(await run.text()).toBe('one two three')
})

test('two readers, one who stops and those who come late all get the same', async () => {
  await using told = await story([counting])
  const run = await told.say('count')
  const first = read(run)
  const impatient = read(run, 1)
  await told.clock.advance(150)
  const second = read(run)
  await ended(told, run)
  const late = read(run)

  const whole = { pieces: ['one ', 'two ', 'three'] }
  expect(await Promise.all([first, second, late])).toEqual([whole, whole, whole])
  expect(await impatient).toEqual({ pieces: ['one '] })
})

test('a first reader in the middle, or after the end, has missed nothing', async () => {
  await using told = await story([counting, counting])
  const run = await told.say('count')
  await told.clock.advance(150)
  const middle = read(run)
  await ended(told, run)
  const again = await told.say('once more')
  await ended(told, again)

  expect((await middle).pieces).toEqual(['one ', 'two ', 'three'])
  expect((await read(again)).pieces).toEqual(['one ', 'two ', 'three'])
})

test('what was read as events by then is read as text all the same', async () => {
  await using told = await story([counting])
  const run = await told.say('count')
  await told.clock.advance(150)
  for await (const event of run.events()) if (event.type === 'delta') break
  const reading = read(run)
  await ended(told, run)

  expect((await reading).pieces).toEqual(['one ', 'two ', 'three'])
})

const twoCalls = () =>
  story(
    [
      { text: 'I look it up.', calls: [work('x', 100)] },
      { chunks: ['It ', 'is 7.'], deltaDelayMs: 100 },
    ],
    { tools: (world) => [worker()(world)] },
  )
const bothCalls = 'I look it up.\n\nIt is 7.'

test('who reads the events of all calls first, and then the text, has what each of them said', async () => {
  await using told = await twoCalls()
  const run = await told.say('what is it?')
  const events = (async () => {
    for await (const _ of run.events());
  })()
  await ended(told, run)
  await events

  expect((await read(run)).pieces.join('')).toBe(bothCalls)
})

test.each([
  ['while the tool works', 50],
  ['in the midst of the second call', 150],
  ['at the end', 10_000],
])('a message that is repeated %s has the text of all calls', async (_, ms) => {
  await using told = await twoCalls()
  await told.say('what is it?', { idempotencyKey: 'a' })
  await told.clock.advance(ms)

  const again = await told.say('what is it?', { idempotencyKey: 'a' })
  const reading = read(again)
  await ended(told, again)

  expect(again.status).toBe('duplicate')
  expect((await reading).pieces.join('')).toBe(bothCalls)
  expect((await read(again)).pieces.join('')).toBe(bothCalls)
  expect(await again.text()).toBe('It is 7.')
})

test('a message that is repeated has what was said in a turn that was stopped, and its error', async () => {
  await using told = await twoCalls()
  const run = await told.say('what is it?', { idempotencyKey: 'a' })
  await told.clock.advance(150)
  await run.cancel()
  await ended(told, run)

  const again = read(await told.say('what is it?', { idempotencyKey: 'a' }))

  expect(await again).toEqual({ pieces: ['I look it up.\n\nIt '], error: expect.objectContaining({ code: 'cancelled' }) })
})

test('who stops while the next piece is on its way does not wait for it', async () => {
  await using told = await story([{ text: 'word ', hang: true }])
  const run = await told.say('talk')
  await told.clock.advance(10)
  const reader = run.textStream[Symbol.asyncIterator]()
  expect(await reader.next()).toEqual({ done: false, value: 'word ' })
  const pending = reader.next()

  expect(await reader.return?.()).toEqual({ done: true, value: undefined })
  expect(await pending).toEqual({ done: true, value: undefined })
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

test('a message that is repeated has the text of its answer', async () => {
  await using told = await story([counting])
  await ended(told, await told.say('count', { idempotencyKey: 'a' }))

  const again = await told.say('count', { idempotencyKey: 'a' })

  expect(again.status).toBe('duplicate')
  expect(await read(again)).toEqual({ pieces: ['one two three'] })
  expect(await again.text()).toBe('one two three')
})

test('what two calls of the model say is parted by a blank line; the answer is what was said last', async () => {
  await using told = await story([{ text: 'I look it up.', calls: [work('x', 10)] }, { text: 'It is 7.' }], {
    tools: (world) => [worker()(world)],
  })
  const run = await told.say('what is it?')

  expect((await told.clock.until(read(run))).pieces.join('')).toBe('I look it up.\n\nIt is 7.')
  expect(await run.text()).toBe('It is 7.')
})

test('of a turn that is stopped it has what was said, and throws the error of the outcome', async () => {
  await using told = await story([counting])
  const run = await told.say('count')
  const reading = read(run)
  await told.clock.advance(150)
  await run.cancel()
  await ended(told, run)

  const stopped = { pieces: ['one ', 'two '], error: expect.objectContaining({ code: 'cancelled' }) }
  expect(await reading).toEqual(stopped)
  expect(await read(run)).toEqual(stopped)
  await expect(run.text()).rejects.toMatchObject({ code: 'cancelled', data: { text: 'one two ' } })
})

test('of a turn that fails it throws the typed error, also to who comes late', async () => {
  await using told = await story([{ error: { status: 400 } }])
  const run = await told.say('count')
  const reading = read(run)
  await ended(told, run)
  const failure = await run.text().catch((error: unknown) => error)

  expect(failure).toMatchObject({ code: expect.stringMatching(/^provider_/) })
  expect(await reading).toEqual({ pieces: [], error: failure })
  expect(await read(run)).toEqual({ pieces: [], error: failure })
})

test('where the runtime closes, readers are told so', async () => {
  await using told = await story([{ text: 'word ', hang: true }])
  const run = await told.say('talk')
  const reading = read(run)
  await told.clock.advance(10)
  await told.close()

  expect(await reading).toEqual({ pieces: ['word '], error: expect.objectContaining({ code: 'closed' }) })
})

const delta = (attempt: number, index: number, text: string) => ({ attempt, index, text, kind: 'text' })
test.each<[string, ReturnType<typeof delta>[], string, string]>([
  ['nothing was lost', [delta(1, 0, 'a'), delta(1, 1, 'b')], 'ab', 'ab'],
  ['the end was lost', [delta(1, 0, 'a'), delta(1, 1, 'b')], 'abcd', 'abcd'],
  ['the middle was lost', [delta(1, 0, 'a'), delta(1, 2, 'c')], 'abc', 'abc'],
  ['the beginning was lost', [delta(1, 1, 'b'), delta(1, 2, 'c')], 'abc', 'abc'],
  ['one came twice', [delta(1, 0, 'a'), delta(1, 0, 'a'), delta(1, 1, 'b')], 'ab', 'ab'],
  ['a call broke off and was made again', [delta(1, 0, 'wro'), delta(2, 0, 'right')], 'right', 'wro\n\nright'],
  ['the call that was made again was not heard', [delta(1, 0, 'wro')], 'right', 'wro\n\nright'],
  ['the last call says nothing', [delta(1, 0, 'a')], '', 'a'],
])('it ends with the whole answer where %s', async (_, deltas, answer, whole) => {
  const textStream = new TextStream()
  for (const one of deltas) textStream.take(one)
  textStream.end([answer])

  expect((await read({ textStream })).pieces.join('')).toBe(whole)
})
