/** Stop means stop, and what was said is kept. */
import { expect, test, vi } from 'vitest'
import { deleteSession } from '../../src/api/sessions.ts'
import type { UserMessage } from '../../src/contracts/message.ts'
import type { ModelRequest } from '../../src/contracts/model.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { expectNothingAlive, expectPaired, line, outcomes, story, work, worker } from './harness.ts'

const tools = (world: Parameters<ReturnType<typeof worker>>[0]) => [worker()(world)]

test('during a model call: the partial text is kept, and nothing is said after the end [INV-15]', async () => {
  await using told = await story([{ chunks: ['one ', 'two ', 'three '], deltaDelayMs: 100 }, { text: 'next answer' }])
  const run = await told.say('count')
  await told.clock.advance(150)

  await told.main.cancel()
  await told.clock.settle()

  await expect(run.result()).rejects.toMatchObject({ code: 'cancelled', data: { text: 'one two ' } })
  expect(await told.transcript()).toEqual(['user: count', 'assistant (partial): one two '])
  expect(told.events('main').at(-1)).toMatchObject({ type: 'aborted', text: 'one two ', partial: true })
  await told.clock.advance(1000)
  expect(told.events('main').at(-1)?.type).toBe('aborted')
  await expectNothingAlive(told)
  expect((await told.clock.until((await told.say('go on')).result())).text).toBe('next answer')
})

test('no time passes for it, on a model that would go on for ever', async () => {
  await using told = await story([{ text: 'again ', endless: true, deltaDelayMs: 5 }])
  const run = await told.say('talk')
  await told.clock.advance(50)
  const before = told.clock.now()

  await told.main.cancel()
  await told.clock.settle()

  await expect(run.result()).rejects.toMatchObject({ code: 'cancelled' })
  expect(told.clock.now()).toBe(before)
  await expectNothingAlive(told)
})

test('a stop that comes between the end of a model call and its commit leaves no timer', async () => {
  await using told = await story([
    { text: 'let me see', deltaDelayMs: 5 },
    { text: 'so it is', deltaDelayMs: 10 },
    { error: { code: 'provider_rejected' } },
  ])
  const act = (done: Promise<unknown>) => told.clock.until(done).catch(() => undefined)
  await act(told.main.send('one', { queueMode: 'steer' }))
  await act(told.main.cancel())
  await act(told.main.send('two', { queueMode: 'steer' }))
  await act(told.main.send('three', { queueMode: 'interrupt' }))
  await act(told.main.reset())

  await told.clock.advance(0)

  await expectNothingAlive(told)
})

test.each(['', ' over a crash'])(
  'what the next turn reads after a cancel, without any word of a user: what was seen, paired, and that it was stopped%s',
  async (crash) => {
    const asked: ModelRequest[] = []
    await using told = await story(
      (request) => {
        asked.push(request)
        if (asked.length === 1) return { text: 'I begin.', calls: [work('x', 100), work('y', 10_000)] }
        return asked.length === 2 ? { chunks: ['half ', 'an ', 'answer'], deltaDelayMs: 1000 } : { text: 'here again' }
      },
      { tools, toolExecution: 'parallel' },
    )
    await told.say('work', { idempotencyKey: 'a' })
    await told.clock.advance(200)
    await told.main.cancel()
    await told.quiet()
    await told.say('tell me', { idempotencyKey: 'b' })
    await told.clock.advance(1500)
    await told.main.cancel()
    await told.quiet()
    if (crash) {
      await told.crash()
      await told.restart()
    }

    await told.clock.until((await told.say('go on', { idempotencyKey: 'c' })).result())

    const transcript = [
      'user: work',
      'assistant: I begin. <work {"name":"x","ms":100}> <work {"name":"y","ms":10000}>',
      'tool work: "x done"',
      'tool work: ! cancelled',
      'user: tell me',
      'assistant (partial): half an ',
      'user: go on',
      'assistant: here again',
    ]
    expect(await told.transcript()).toEqual(transcript)
    expect(asked[2]?.messages.map(line)).toEqual(transcript.slice(0, -1))
    expectPaired(asked[2]?.messages ?? [])
    const stopped = asked
      .map(({ messages }) => messages.findLast(({ role }) => role === 'user'))
      .map((message) => (message as UserMessage).before ?? '')
    expect(stopped).toEqual(['', expect.stringMatching(/stopped|aborted/i), expect.stringMatching(/stopped|aborted/i)])
    expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'aborted', c: 'final' })
    expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
  },
)

test('a model that ignores its signal is left behind after a moment, with what was seen of it', async () => {
  const deaf = {
    ref: 'test/deaf',
    call: (_: unknown, { onDelta }: { onDelta: (delta: { kind: 'text'; text: string }) => void }) => {
      onDelta({ kind: 'text', text: 'la la' })
      return new Promise<never>(() => undefined)
    },
  }
  await using told = await story([], { runtime: { models: { 'test/deaf': deaf } }, model: 'test/deaf' })
  const run = await told.say('hello')
  await told.clock.advance(10)
  const before = told.clock.now()

  await told.main.cancel()

  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code: 'cancelled', data: { text: 'la la' } })
  expect(told.clock.now() - before).toBeLessThan(200)
  await expectNothingAlive(told)
})

test.each(['parallel', 'sequential'] as const)('during %s tools: they are told to stop, and every call is paired', async (toolExecution) => {
  await using told = await story([{ calls: [work('x', 100), work('y', 10_000), work('z', 10_000)] }, { text: 'never' }], { tools, toolExecution })
  const run = await told.say('work', { idempotencyKey: 'a' })
  await told.clock.advance(200)
  const before = told.clock.now()

  await told.main.cancel()

  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code: 'cancelled' })
  expect(told.clock.now()).toBe(before)
  expect((await told.transcript()).slice(2)).toEqual(['tool work: "x done"', 'tool work: ! cancelled', 'tool work: ! cancelled'])
  expectPaired(await told.main.history())
  expect(told.did.filter((what) => what.endsWith('starts'))).toEqual(
    toolExecution === 'parallel' ? ['x starts', 'y starts', 'z starts'] : ['x starts', 'y starts'],
  )
  expect(told.did).toContain('y stops')
  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted' })
  await expectNothingAlive(told)
})

test('during the pause before another attempt', async () => {
  await using told = await story([{ text: 'never', error: { status: 503 } }])
  const run = await told.say('a')
  await told.clock.advance(100)
  expect(told.said()).toContain('retry')

  await told.main.cancel()

  await expect(run.result()).rejects.toMatchObject({ code: 'cancelled' })
  await expectNothingAlive(told)
})

test('while a call waits for a person: the call is over, a late decision is told so', async () => {
  await using told = await story([{ calls: [work('x')] }], { tools: (world) => [worker({ approval: true })(world)] })
  const run = await told.say('a')
  await told.clock.settle()
  const [approval] = (await told.main.view()).approvals

  await told.main.cancel()

  await expect(run.result()).rejects.toMatchObject({ code: 'cancelled' })
  await expect(told.main.decide(approval!, 'approve')).rejects.toMatchObject({
    code: 'already_decided',
    message: 'this call waits for no decision any more',
    hint: expect.stringContaining('its turn was stopped'),
  })
  expect((await told.main.view()).approvals).toEqual([])
  expect(told.did).toEqual([])
  await expectNothingAlive(told)
})

test('when nothing runs, or another run is meant: not_found; twice in a row is no mistake', async () => {
  await using told = await story([{ text: 'slowly ', deltaDelayMs: 100 }])
  await told.say('a', { idempotencyKey: 'a' })
  await expect(told.main.cancel('b')).rejects.toMatchObject({ code: 'not_found' })

  await Promise.all([told.main.cancel('a'), told.main.cancel()])
  await told.quiet()

  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted' })
  await expect(told.main.cancel()).rejects.toMatchObject({ code: 'not_found' })
})

test('of one run leaves those that wait; of one that waits leaves the others; without a name all end', async () => {
  await using told = await story(() => ({ text: 'ok', delayMs: 100 }), { queueMode: 'followup' })
  for (const id of ['a', 'b', 'c']) await told.say(id, { idempotencyKey: id })
  await told.main.cancel('b')
  await told.main.cancel('a')
  await told.quiet()
  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'aborted', c: 'final' })

  for (const id of ['d', 'e']) await told.say(id, { idempotencyKey: id })
  await told.main.cancel()
  await told.quiet()
  expect(outcomes(told.events('main'))).toMatchObject({ d: 'aborted', e: 'aborted' })
})

test('a message that comes while the turn is being stopped is not stopped with it', async () => {
  await using told = await story([{ text: 'slowly ', hang: true }, { text: 'the next turn' }])
  await told.say('a', { idempotencyKey: 'a' })
  await told.clock.advance(10)

  const [, run] = await Promise.all([told.main.cancel(), told.main.send('b', { idempotencyKey: 'b' })])

  expect(run.status).toBe('queued')
  expect((await told.clock.until(run.result())).text).toBe('the next turn')
  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'final' })
})

test('a crash between the stop and the end: the turn is stopped all the same', async () => {
  await using told = await story([{ text: 'word ', hang: true }])
  await told.say('a', { idempotencyKey: 'a' })
  await told.clock.advance(10)
  const stopped = told.failPoints.untilHit('K03')
  await Promise.all([told.main.cancel(), stopped.then(() => told.crash())]).catch(() => undefined)
  await told.restart()
  await told.quiet()

  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted' })
  await expectNothingAlive(told)
})

test('a run stops its own turn; once more, and after its end, nothing happens', async () => {
  await using told = await story([{ chunks: ['one ', 'two '], deltaDelayMs: 100 }, { text: 'fine' }])
  const run = await told.say('count')
  await told.clock.advance(150)

  await Promise.all([run.cancel(), run.cancel()])
  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code: 'cancelled', data: { text: 'one two ' } })
  await run.cancel()
  const next = await told.say('and now?')
  await told.clock.until(next.result())
  const { seq } = await told.main.view()
  await next.cancel()

  expect(await next.text()).toBe('fine')
  expect((await told.main.view()).seq).toBe(seq)
})

test('a run that has ended without having been told so has nothing left to stop; of a deleted session none is known', async () => {
  await using told = await story([{ text: 'fine', delayMs: 100 }])
  const run = await told.say('hello', { idempotencyKey: 'a' })
  const deaf = vi.spyOn(partsOf(told.runtime).outputs, 'listen').mockReturnValue(() => undefined)
  const unaware = await told.say('hello', { idempotencyKey: 'a' })
  deaf.mockRestore()
  await told.clock.until(run.result())
  expect(unaware).toMatchObject({ status: 'duplicate', endSeq: undefined })

  await expect(unaware.cancel()).resolves.toBeUndefined()
  await deleteSession(partsOf(told.runtime), told.main.address)
  await expect(unaware.cancel()).rejects.toMatchObject({ code: 'not_found' })
})

test('a run that waits leaves the others alone', async () => {
  await using told = await story(() => ({ text: 'ok', delayMs: 100 }), { queueMode: 'followup' })
  const [a, b, c] = [await told.say('a'), await told.say('b'), await told.say('c')]
  await b.cancel()
  await told.quiet()
  expect(outcomes(told.events('main'))).toEqual({ [a.id]: 'final', [b.id]: 'aborted', [c.id]: 'final' })
})

test('of a run whose runtime was closed it is refused: its turn goes on when the runtime is back, and can be stopped then', async () => {
  await using told = await story([
    { text: 'slowly ', hang: true },
    { chunks: ['one ', 'two '], deltaDelayMs: 100 },
  ])
  const run = await told.say('count', { idempotencyKey: 'a' })
  await told.clock.advance(10)
  await told.close()

  await expect(run.result()).rejects.toMatchObject({ code: 'closed' })
  await expect(run.cancel()).rejects.toMatchObject({ code: 'closed', retryable: true, hint: expect.stringContaining('when it is back') })

  await told.restart()
  await (await told.say('count', { idempotencyKey: 'a' })).cancel()
  await told.quiet()
  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted' })
})

test('a message that never had a turn is told apart from a turn that was stopped', async () => {
  await using told = await story(() => ({ chunks: ['ok ', 'so'], deltaDelayMs: 100 }), { queueMode: 'followup' })
  const [first, waiting] = [await told.say('a'), await told.say('b')]
  await told.clock.advance(150)
  await waiting.cancel()
  await first.cancel()
  await told.quiet()

  await expect(waiting.result()).rejects.toMatchObject({ code: 'cancelled', message: 'the message was cancelled before the model answered it' })
  await expect(first.result()).rejects.toMatchObject({ code: 'cancelled', message: 'the turn was cancelled' })
})
