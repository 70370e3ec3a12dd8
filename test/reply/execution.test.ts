/** How a model is asked, and what is done where it cannot answer: another credential, another model, less to read, plain words. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Message } from '../../src/contracts/message.ts'
import type { Model, ModelRequest } from '../../src/contracts/model.ts'
import type { Origin } from '../../src/contracts/reply.ts'
import { tool } from '../../src/index.ts'
import type { ScriptedResponse } from '../../src/testing/index.ts'
import { expectNothingAlive, type Story, work } from '../runtime/harness.ts'
import {
  ann,
  arrived,
  askToEnd,
  crashes,
  endOf,
  eventsOf,
  expectReplay,
  isSummary,
  listener,
  logged,
  newestText,
  restart,
  staged,
  tools,
  words,
} from './stage.ts'

describe('fallback', () => {
  test('[OC-48] the first model wants to be left alone, the next one answers; one attempt is told, with its reason', async () => {
    const { asked, script } = listener(() => ({ error: { status: 429, message: 'slow down' } }), 0)
    await using told = await staged(script, {
      models: { 'other/b': [{ text: 'hello', delayMs: 1000 }] },
      fallbacks: ['test/model', 'other/b', 'other/b'],
    })
    await told.say('hi', ann('a'))
    await told.clock.advance(500)

    const attempts = [{ model: 'test/model', reason: 'rate_limit', error: { code: 'provider_rate_limit', message: 'slow down' } }]
    expect(await endOf(told, 'a')).toMatchObject({ type: 'final', text: 'hello', model: 'other/b', attempts })
    expect(eventsOf(told, 'fallback')).toMatchObject([{ runId: 'a', model: 'other/b', attempts }])
    expect(eventsOf(told, 'usage')).toEqual([])
    expect(asked).toHaveLength(1)
    expect(arrived(told)).toEqual(['final: hello'])
    await expectNothingAlive(told)
    await expectReplay(told)
  })

  test.each([
    ['an agent that lists none has those of the runtime', {}, 'other/b'],
    ['an empty list is a list', { fallbacks: [] }, undefined],
    ['those that its users may not choose are passed over', { choice: { allowed: ['other/c'] } }, 'other/c'],
  ])('[OC-48] %s', async (_, definition, model) => {
    await using told = await staged(() => ({ error: { status: 401 } }), {
      models: { 'other/b': [{ text: 'b' }], 'other/c': [{ text: 'c' }] },
      runtime: { fallbacks: ['other/b', 'other/c'] },
      ...definition,
    })

    expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject(model === undefined ? { type: 'error' } : { type: 'final', model })
  })

  test('[OC-48, OC-50] whenever the process dies, the same model answers after the same attempts', async () => {
    for (let ms = 0; ms <= 3500; ms += 250) {
      await using told = await staged([{ error: { status: 429 }, delayMs: 1000 }], {
        models: { 'test/b': [{ error: { status: 402 }, delayMs: 1000 }], 'other/c': [{ text: 'hello', delayMs: 1000 }] },
        fallbacks: ['test/b', 'other/c'],
      })
      await told.say('hi', ann('a'))
      await told.clock.advance(ms)
      await restart(told)

      const { model, attempts = [] } = await endOf(told, 'a')
      expect([ms, model, attempts.map(({ reason }) => reason)]).toEqual([ms, 'other/c', ['rate_limit', 'billing']])
      expect(arrived(told)).toEqual(['final: hello'])
    }
  })

  test('[OC-48] where all fail, one error tells of all attempts; where one was asked, it is its own', async () => {
    const options = { models: { 'other/b': [{ error: { status: 402 as const } }] } }
    await using both = await staged([{ error: { status: 401 } }], { ...options, fallbacks: ['other/b'] })
    const { error, attempts } = await askToEnd(both, 'hi', ann('a'))
    expect(attempts).toMatchObject([
      { model: 'test/model', reason: 'auth' },
      { model: 'other/b', reason: 'billing' },
    ])
    expect(error?.message).toMatch(/all 2 models failed: test\/model: .* \| other\/b: /)

    await using alone = await staged([{ error: { status: 401, message: 'no such key' } }], { fallbacks: [] })
    expect((await askToEnd(alone, 'hi', ann('a'))).error).toMatchObject({ code: 'provider_auth', message: 'no such key' })
  })

  test('[OC-48] only what another model may mend goes on to it', async () => {
    const { asked, script } = listener(() => ({ text: 'hello' }), 0)
    await using told = await staged([{ error: { code: 'provider_rejected', message: 'the request is nonsense' } }], {
      models: { 'other/b': script },
      fallbacks: ['other/b'],
    })

    expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject({ type: 'error', error: { code: 'provider_rejected' } })

    expect(asked).toEqual([])
  })

  test('[OC-48] where nobody lists fallbacks, the model of the agent answers for the one that was asked for', async () => {
    await using told = await staged([{ text: 'hello' }], { models: { 'other/b': [{ error: { status: 401 } }] } })

    expect(await askToEnd(told, 'hi', { ...ann('a'), model: 'other/b' })).toMatchObject({ text: 'hello', model: 'test/model' })
  })

  test('[OC-48] a provider whose credentials all rest is passed over, without asking it', async () => {
    const { asked, script } = listener(() => ({ error: { status: 429 } }), 0)
    await using told = await staged(script, {
      models: { 'other/b': [{ text: 'one' }, { text: 'two' }] },
      fallbacks: ['other/b'],
      runtime: { credentials: { test: [{ id: 'A', type: 'key', value: 'a' }] } },
    })
    await askToEnd(told, 'one', ann('1'))
    await told.clock.advance(100)

    expect(await askToEnd(told, 'two', ann('2'))).toMatchObject({ text: 'two', attempts: [{ model: 'test/model', reason: 'rate_limit' }] })
    expect(asked).toHaveLength(1)
  })

  test.each([
    [{ status: 402 }, 'billing'],
    [{ status: 429 }, 'rate_limit'],
    [{ status: 529, message: 'Overloaded' }, 'rate_limit'],
    [{ status: 401 }, 'auth'],
    [{ status: 403 }, 'auth'],
    [{ status: 408 }, 'timeout'],
    [{ code: 'provider_unavailable', message: 'read ECONNRESET' }, 'timeout'],
    [{ code: 'provider_unavailable', message: 'socket hang up' }, 'timeout'],
    [{ code: 'provider_unavailable', message: 'the connection was aborted' }, 'timeout'],
    [{ code: 'provider_rejected', message: 'messages.1.content.0.tool_use.id: String should match pattern' }, 'format'],
  ] as const)('[OC-49] %j is %s, and the next model answers', async (error, reason) => {
    await using told = await staged([{ error }], { models: { 'other/b': [{ text: 'hello' }] }, fallbacks: ['other/b'] })

    expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject({ text: 'hello', attempts: [{ reason }] })
  })

  test('[OC-49] an overload is told as rate_limit, whatever its status', async () => {
    await using told = await staged([{ error: { status: 503, message: 'The model is overloaded' } }], {
      models: { 'other/b': [{ text: 'hello' }] },
      fallbacks: ['other/b'],
    })

    expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject({ text: 'hello', attempts: [{ reason: 'rate_limit' }] })
  })

  test.each(['image exceeds 5 MB maximum', 'image dimensions exceed max allowed size: 8000 pixels'])(
    '[OC-49] of "%s" another model knows nothing better',
    async (message) => {
      const { asked, script } = listener(() => ({ text: 'hello' }), 0)
      const error = { code: 'provider_rejected', message } as const
      await using told = await staged([{ error }], { models: { 'other/b': script }, fallbacks: ['other/b'] })

      expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject({ type: 'error' })

      expect(asked).toEqual([])
    },
  )

  test('[OC-49] who stops a run wants no other model; a model that fell silent is replaced', async () => {
    const { asked, script } = listener(() => ({ text: 'hello' }), 0)
    const options = { models: { 'other/b': script }, fallbacks: ['other/b'], limits: { modelCall: { idleTimeoutMs: 1000 } } }
    await using stopped = await staged([{ hang: true }], options)
    await stopped.say('hi', ann('a'))
    await stopped.clock.advance(500)
    await stopped.clock.until(stopped.main.cancel())
    expect(await endOf(stopped, 'a')).toMatchObject({ type: 'aborted' })
    expect(asked).toEqual([])

    await using silent = await staged([{ hang: true }], options)
    expect(await askToEnd(silent, 'hi', ann('a'))).toMatchObject({ text: 'hello', attempts: [{ reason: 'timeout' }] })
  })

  test('[OC-47] a command begins no run; a message begins one, under its own id, and says which model answers it', async () => {
    await using told = await staged([{ error: { status: 401 } }], { models: { 'other/b': [{ text: 'hello' }] }, fallbacks: ['other/b'] })
    await askToEnd(told, '/status', ann('a'))
    await askToEnd(told, 'hi', ann('b'))

    expect(eventsOf(told, 'started')).toMatchObject([{ runId: 'b', ids: ['b'], model: 'test/model' }])
    expect(eventsOf(told, 'fallback')).toMatchObject([{ runId: 'b', model: 'other/b' }])
    const said = told.events('main').filter((event) => 'runId' in event && event.runId === 'b')
    expect(said[0]?.type).toBe('accepted')
    expect(said[1]?.type).toBe('started')
    expect(said.at(-1)?.type).toBe('final')
  })

  test.each([
    [8000, 'other/b', 0],
    [15_999, 'other/b', 0],
    [16_000, 'test/model', 1],
    [31_999, 'test/model', 1],
    [32_000, 'test/model', 0],
  ])('[OC-53] of a model that reads %i tokens: %s answers, with %i warnings', async (contextTokens, model, warnings) => {
    await using told = await staged(
      { info: { contextTokens }, script: [{ text: 'hello' }] },
      {
        models: { 'other/b': [{ text: 'hello' }] },
        fallbacks: ['other/b'],
      },
    )

    const attempts = model === 'other/b' ? { attempts: [{ model: 'test/model', reason: 'context_window' }] } : {}
    expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject({ text: 'hello', model, ...attempts })

    expect(logged(told, 'reads only')).toHaveLength(warnings)
  })
})

describe('credentials', () => {
  /** It fails once, with this status, each time when it is told to. */
  const moody = (status: number) => {
    const done = new Set<string>()
    return (request: ModelRequest): ScriptedResponse => {
      const text = newestText(request)
      if (isSummary(request)) return { text: 'SUMMARY' }
      if (!text.startsWith('fail') || done.has(text)) return { text: `re: ${text}` }
      done.add(text)
      return { error: { status } }
    }
  }
  const two = { credentials: { test: [key('A', 'oauth'), key('B', 'key')] } }
  function key(id: string, type: 'oauth' | 'token' | 'key') {
    return { id, type, value: id }
  }
  /** What is said in a session of its own, so that nothing is pinned: which credentials failed, and which answered. */
  const used = async (told: Story, text: string): Promise<string[]> => {
    const name = text.replace(/\W/g, '-')
    const { attempts = [], credential = '' } = await told.clock.until((await told.clock.until(told.session(name).send(text))).result())
    return [...attempts.map((attempt) => `${attempt.credential} ${attempt.reason}`), credential]
  }

  // The crash: a credential rests, between two sessions.
  test.each(crashes)('[OC-50] one that is refused rests for a minute, and the next one answers in the same turn%s', async (crash) => {
    await using told = await staged(moody(429), { runtime: two })
    const began = told.clock.now()
    const at = (ms: number) => told.clock.advance(began + ms - told.clock.now())

    expect(await used(told, 'fail 1')).toEqual(['A rate_limit', 'B'])
    await told.clock.settle()
    if (crash) await restart(told)
    await at(59_999)
    expect(await used(told, 'probe 1')).toEqual(['B'])
    await at(60_000)
    expect(await used(told, 'probe 2')).toEqual(['A'])
  })

  test.each([
    [429, 'rate_limit', [1, 5, 25, 60, 60]],
    [402, 'billing', [300, 600, 1200, 1440]],
  ] as const)('[OC-50] after %i each failure in a row makes it rest for longer (%s): so many minutes', async (status, reason, minutes) => {
    await using told = await staged(moody(status), { runtime: two })

    for (const [place, pause] of minutes.entries()) {
      expect(await used(told, `fail ${place}`)).toEqual([`A ${reason}`, 'B'])
      await told.clock.advance(pause * 60_000 - 1)
      expect(await used(told, `probe ${place}`)).toEqual(['B'])
      await told.clock.advance(1)
    }
    // An answer, and all is forgiven.
    expect(await used(told, 'probe')).toEqual(['A'])
    expect(await used(told, 'fail at last')).toEqual([`A ${reason}`, 'B'])
    await told.clock.advance(minutes[0] * 60_000)
    expect(await used(told, 'probe at last')).toEqual(['A'])
  })

  test('[OC-50] a day without a failure, and the next one is the first again', async () => {
    await using told = await staged(moody(429), { runtime: two })
    await used(told, 'fail 1')
    await told.clock.advance(60_000)
    await used(told, 'fail 2')
    await told.clock.advance(24 * 3_600_000)

    await used(told, 'fail 3')
    await told.clock.advance(60_000)

    expect(await used(told, 'probe')).toEqual(['A'])
  })

  test('[OC-50] accounts first, then tokens, then keys', async () => {
    await using told = await staged(({ messages }) => (messages.length > 0 && tries++ < 2 ? { error: { status: 429 } } : { text: 'hello' }), {
      runtime: { credentials: { test: [key('C', 'key'), key('B', 'token'), key('A', 'oauth')] } },
    })
    let tries = 0

    expect(await used(told, 'hi')).toEqual(['A rate_limit', 'B rate_limit', 'C'])
  })

  test('[OC-50] of two alike, the one that was used longest ago is next', async () => {
    await using told = await staged(moody(429), { runtime: { credentials: { test: [key('A', 'key'), key('B', 'key')] } } })

    expect(await used(told, 'one')).toEqual(['A'])
    await told.clock.advance(1000)
    expect(await used(told, 'two')).toEqual(['B'])
  })

  test('[OC-50] a run whose time is up makes it rest, too', async () => {
    await using told = await staged((request) => (newestText(request) === 'hang' ? { hang: true } : { text: 'hello' }), { runtime: two })
    await told.say('hang', { ...ann('a'), timeoutMs: 1000 })
    await endOf(told, 'a')
    await told.clock.settle()

    expect(await used(told, 'probe')).toEqual(['B'])
  })

  // The crash: the session is pinned to its second credential, between two turns.
  test.each(crashes)('[OC-51] five turns of a session stay with one credential; the one that failed does not come back%s', async (crash) => {
    await using told = await staged(moody(429), { runtime: two })
    const credentials: (string | undefined)[] = []
    for (const text of ['1', '2', 'fail 3', '4', '5', '6']) {
      credentials.push((await askToEnd(told, text, ann(text))).credential)
      if (text === 'fail 3') if (crash) await restart(told)
      await told.clock.advance(90_000)
    }

    expect(credentials).toEqual(['A', 'A', 'B', 'B', 'B', 'B'])
  })

  test.each(['/compact', '/new'])('[OC-51] after %s the next one is chosen', async (order) => {
    await using told = await staged(moody(429), { runtime: { credentials: { test: [key('A', 'key'), key('B', 'key')] } } })
    for (const id of ['1', '2']) expect((await askToEnd(told, words(400, id), ann(id))).credential).toBe('A')
    await askToEnd(told, order, ann('o'))
    await told.clock.advance(1000)

    expect((await askToEnd(told, 'hi', ann('3'))).credential).toBe('B')
  })

  test('[OC-51, OC-100] who picks a credential gets that one: where it fails the next model answers, not the next credential', async () => {
    await using told = await staged(moody(429), {
      runtime: { credentials: { test: [key('A', 'key'), key('B', 'key')] } },
      models: { 'other/b': () => ({ text: 'from elsewhere' }) },
      fallbacks: ['other/b'],
    })
    const said = async (text: string, id: string) => (await askToEnd(told, text, ann(id))).text
    expect(await said('/model model@nobody', '1')).toBe("Model: test/model has no credential 'nobody'; it has A, B. Unchanged: test/model.")
    expect(await said('/model test/model@B', '2')).toBe('Model: test/model (default) with the credential B alone.')

    expect(await said('/model', 'm')).toBe('Model: test/model with the credential B alone.')
    expect(await said('/status', 's')).toContain('Model test/model with the credential B alone,')
    for (const id of ['3', '4']) expect((await askToEnd(told, id, ann(id))).credential).toBe('B')
    expect(await askToEnd(told, 'fail', ann('5'))).toMatchObject({ text: 'from elsewhere', model: 'other/b', attempts: [{ credential: 'B' }] })
    await askToEnd(told, '/model default', ann('6'))
    expect((await askToEnd(told, 'and now', ann('7'))).credential).toBe('A')
  })

  test('[OC-48] what all of them have said is told with the credentials that said it', async () => {
    await using told = await staged(() => ({ error: { status: 429 } }), {
      runtime: { credentials: { test: [key('A', 'key')] } },
      models: { 'other/b': [{ error: { status: 429 } }] },
      fallbacks: ['other/b'],
      modelAttemptMax: 1,
    })

    const { error } = (await askToEnd(told, 'hi', ann('a'))) as { error?: { message: string; data?: { attempts?: unknown } } }
    expect(error?.message).toContain('test/model (A)')
    expect(error?.data?.attempts).toMatchObject([{ model: 'test/model', credential: 'A' }, { model: 'other/b' }])
  })

  /** Who answers after B has taken the place of A, the history was shortened, and A can be used again. */
  const afterShortening = async (how: 'order' | 'overflow') => {
    const model = moody(429)
    const script = (request: ModelRequest): ScriptedResponse =>
      newestText(request) === 'long' && request.messages[0]?.role !== 'summary' && !isSummary(request)
        ? { error: { code: 'provider_overflow' } }
        : model(request)
    await using told = await staged(script, { runtime: two })
    for (const id of ['1', 'fail 2']) await askToEnd(told, `${id} ${words(400)}`, ann(id))
    expect((await told.main.view()).record.credential).toBe('B')
    await askToEnd(told, how === 'order' ? '/compact' : 'long', ann('o'))
    expect(eventsOf(told, 'compacted')).toHaveLength(1)
    await told.clock.advance(90_000)
    return (await askToEnd(told, 'hi', ann('3'))).credential
  }
  test('[OC-51] after a compaction nothing is pinned any more', async () => {
    expect(await afterShortening('overflow')).toBe('A')
  })
  test('[OC-51] after a compaction by command nothing is pinned any more', async () => {
    expect(await afterShortening('order')).toBe('A')
  })
})

// The crash: the lower level has been found, and is not looked for again.
test.each(crashes)('[OC-52] a provider that knows "low" and not "high" is asked again with low, and answers%s', async (crash) => {
  const { asked, script } = listener(
    ({ settings }) =>
      settings.reasoning === 'low'
        ? { text: 'hello', delayMs: 1000 }
        : {
            error: {
              code: 'provider_rejected',
              message: "Unsupported value: 'high' is not supported (reasoning.effort). Supported values are: 'low'",
            },
          },
    0,
  )
  await using told = await staged(script, { thinking: 'high' })
  await told.say('hi', ann('a'))
  await told.clock.advance(500)
  if (crash) await restart(told)

  expect(await endOf(told, 'a')).toMatchObject({ type: 'final', text: 'hello' })
  expect(asked.map(({ settings }) => settings.reasoning)).toEqual(crash ? ['high', 'low', 'low'] : ['high', 'low'])
})

test('[OC-52] another model has its own idea of what it can think', async () => {
  const levels: unknown[] = []
  const refusing = (levels_: string) => (request: ModelRequest) => {
    levels.push(request.settings.reasoning)
    return { error: { code: 'provider_rejected' as const, message: `reasoning effort is not supported. Supported values are: ${levels_}` } }
  }
  const other = listener(() => ({ text: 'hello' }), 0)
  await using told = await staged((request) => (request.settings.reasoning === 'low' ? { error: { status: 429 } } : refusing('low')(request)), {
    models: { 'other/b': other.script },
    fallbacks: ['other/b'],
    thinking: 'high',
  })

  expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject({ text: 'hello', model: 'other/b' })

  expect(levels).toEqual(['high'])
  expect(other.asked[0]?.settings.reasoning).toBe('high')
})

// The crash: half of the time is up.
test.each(crashes)('[OC-54] 1000 ms, and a silent model: after that the run is over, and its user hears why%s', async (crash) => {
  await using told = await staged([{ hang: true }, { text: 'hello' }])
  const began = told.clock.now()
  await told.say('hi', { ...ann('a'), timeoutMs: 1000 })
  await told.clock.advance(500)
  if (crash) await restart(told)

  expect(await endOf(told, 'a')).toMatchObject({ type: 'error', outcome: 'failed', error: { code: 'budget_time' } })
  expect(told.clock.now() - began).toBe(1000)
  expect(arrived(told)).toEqual(['final: The answer took too long and was stopped. Please try again, or ask for less at a time.'])
  await told.clock.advance(100)
  await expectNothingAlive(told)
})

describe('a model that does not stream', () => {
  const mute: Model = {
    ref: 'test/model',
    call: async () => ({
      text: 'This is A.\n\nThis is B.',
      reasoning: '',
      calls: [],
      usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 },
      finish: 'stop',
      model: 'test/model',
      partial: false,
    }),
  }

  // The crash: the whole answer is in the journal, and one of its two blocks has arrived.
  test.each(crashes)('[OC-56] its answer is delivered in blocks all the same%s', async (crash) => {
    const delivery = { streaming: true, min: 5, coalesce: { minChars: 1, maxChars: 10 } }
    await using told = await staged([], { models: { 'test/model': mute }, delivery })
    told.channel.delay(1000)
    await told.say('hi', ann('a'))
    await told.clock.advance(1010)
    if (crash) await restart(told)
    await endOf(told, 'a')

    expect(arrived(told)).toEqual(['block: This is A.', 'block: This is B.'])
  })

  test('[OC-56] a page on the web gets a beginning, the text and an end', async () => {
    await using told = await staged([], { models: { 'test/model': mute } })

    await askToEnd(told, 'hi', ann('a', { channel: 'web' }))

    expect(told.said().filter((type) => ['started', 'block', 'final'].includes(type))).toEqual(['started', 'block', 'final'])
    expect(eventsOf(told, 'block')).toMatchObject([{ kind: 'final', payload: { text: 'This is A.\n\nThis is B.' } }])
  })
})

describe('what a model is shown', () => {
  const roles = (messages: Message[] = []) => messages.map((message) => `${message.role}: ${'text' in message ? message.text : ''}`)

  /** What is shown after one message got no answer and another one came. */
  const shownAfterLoss = async (historyTurns?: number) => {
    const { asked, script } = listener((request) => (newestText(request) === 'lost' ? { error: { status: 401 } } : { text: 'hello' }), 0)
    await using told = await staged(script, historyTurns === undefined ? {} : { historyTurns })
    for (const text of ['one', 'two', 'three', 'lost', 'four']) await askToEnd(told, text, ann(text))
    expect((await told.transcript()).filter((line) => line.startsWith('user'))).toHaveLength(5)
    return roles(asked.at(-1)?.messages)
  }
  const rolesOf = (shown: string[]) => shown.map((line) => line.replace(/:[\s\S]*/, ''))

  test('[OC-57] where history is limited, so many turns of the user are shown, one message each', async () => {
    expect(rolesOf(await shownAfterLoss(2))).toEqual(['user', 'assistant', 'user'])
    expect(rolesOf(await shownAfterLoss(1))).toEqual(['user'])
  })

  // The crash: a stopped call and one that has ended are in the history.
  test.each(crashes)('[OC-57] every call has its result, in the order of the calls, also where somebody stopped it%s', async (crash) => {
    const { asked, script } = listener(
      (request) => (newestText(request) === 'go' ? { calls: [work('x', 5000), work('y', 100)] } : { text: 'hello' }),
      0,
    )
    await using told = await staged(script, { tools })
    await told.say('go', ann('a'))
    await told.clock.advance(1000)
    await told.clock.until(told.main.cancel())
    await endOf(told, 'a')
    if (crash) await restart(told)
    await askToEnd(told, 'hi', ann('b'))

    const shown = asked.at(-1)?.messages ?? []
    expect(shown.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user'])
    expect(shown.map((message) => (message.role === 'tool' ? message.isError : undefined)).slice(2, 4)).toEqual([true, false])
  })

  // The crash: between the new rule and the prompt that states it.
  test.each(crashes)('[OC-36] in a group the first prompt says how to behave there, and after another rule the next one%s', async (crash) => {
    const { asked, script } = listener((request) => (newestText(request) === 'lost' ? { error: { status: 401 } } : { text: 'hello' }), 0)
    await using told = await staged(script, { instructions: 'Be kind.' })
    const group = { chatType: 'group' as const, subject: 'Family', members: ['ann', 'bea'] } satisfies Partial<Origin>
    const intros = () => asked.map(({ instructions }) => instructions !== 'Be kind.')

    for (const text of ['lost', 'one', 'two']) await askToEnd(told, text, ann(text, group))
    expect(intros()).toEqual([true, true, false])
    expect(asked[1]?.instructions).toMatch(/^Be kind\.\n\n.*"Family"[\s\S]*"ann", "bea"[\s\S]*mention you[\s\S]*NO_REPLY/)

    await told.clock.until(told.main.configure({ activation: 'always' }))
    if (crash) await restart(told)
    for (const text of ['three', 'four']) await askToEnd(told, text, ann(text, group))
    expect(intros().slice(3)).toEqual([true, false])
    expect(asked[3]?.instructions).toContain('Every message of the group reaches you')
  })
})

describe('pruning', () => {
  const book = tool({ name: 'book', description: 'reads', input: z.object({ chars: z.number() }), execute: ({ chars }) => 'x'.repeat(chars) })
  const picture = tool({
    name: 'picture',
    description: 'looks',
    input: z.object({}),
    execute: () => ({ type: 'image', mimeType: 'image/png', data: 'x'.repeat(5000) }),
  })
  /** A turn that reads, three answers that are protected, and what the next request holds after a while. */
  const read = async (calls: { name: string; input?: object }[], inputTokens: number, pauseMs: number, pruning: object | null = {}) => {
    const { asked, script } = listener(({ messages }) => {
      const answers = messages.filter(({ role }) => role === 'assistant').length
      return answers === 0 ? { calls, usage: { inputTokens } } : { text: `answer ${answers}`, usage: { inputTokens } }
    }, 0)
    await using told = await staged({ info: { contextTokens: 100_000 }, script }, { tools: () => [book, picture], ...(pruning ? { pruning } : {}) })
    for (const id of ['1', '2', '3']) await askToEnd(told, id, ann(id))
    await told.clock.advance(pauseMs)
    await askToEnd(told, '4', ann('4'))
    const results = (messages: Message[] = []) => messages.flatMap((message) => (message.role === 'tool' ? [JSON.stringify(message.output)] : []))
    return { shown: results(asked.at(-1)?.messages), stored: results(await told.main.history()) }
  }
  const minutes = 60_000
  const long = { name: 'book', input: { chars: 5000 } }

  test('[OC-46] five minutes after the last call, at 0.3 of the window: long results keep their ends; what is stored stays', async () => {
    const { shown, stored } = await read([long], 30_000, 5 * minutes)

    expect(shown[0]).toMatch(/^"x{1500}[^x].*2000 characters.*[^x]x{1500}"$/)
    expect(stored).toEqual([`"${'x'.repeat(5000)}"`])
  })

  test.each([
    ['the cache is warm', [long], 30_000, 5 * minutes - 1, {}],
    ['there is room', [long], 29_999, 5 * minutes, {}],
    ['nobody wants it', [long], 30_000, 5 * minutes, null],
    ['it has 4,000 characters', [{ name: 'book', input: { chars: 4000 } }], 30_000, 5 * minutes, {}],
    ['it holds a picture', [{ name: 'picture' }], 30_000, 5 * minutes, {}],
    ['its tool is not among those', [long], 30_000, 5 * minutes, { allow: ['pic*'] }],
    ['its tool is among the others', [long], 30_000, 5 * minutes, { deny: ['b*k'] }],
  ] as const)('[OC-46] a result stays where %s', async (_, calls, tokens, pauseMs, pruning) => {
    const { shown, stored } = await read([...calls], tokens, pauseMs, pruning)

    expect(shown).toEqual(stored)
  })

  test('[OC-46] from 0.5 on, results of 50,000 characters are taken out; of less they stay', async () => {
    const calls = (count: number) => Array.from({ length: count }, () => ({ name: 'book', input: { chars: 4000 } }))
    const much = await read(calls(13), 60_000, 5 * minutes)
    expect(much.shown[0]).toMatch(/removed/)
    expect(much.stored.every((result) => result.length === 4002)).toBe(true)

    const less = await read(calls(12), 60_000, 5 * minutes)
    expect(less.shown).toEqual(less.stored)
  })
})

describe('too long', () => {
  const overflow = { error: { code: 'provider_overflow' } } as const
  const began = async (told: Story) => {
    for (const id of ['1', '2']) await askToEnd(told, `${id} ${words(400)}`, ann(id))
  }

  // The crash: the summary is being written, and a block of the failed call has arrived.
  test.each(crashes)('[OC-42] one overflow: one compaction is counted, and no text is delivered twice%s', async (crash) => {
    const script = (request: ModelRequest): ScriptedResponse => {
      if (isSummary(request)) return { text: 'SUMMARY', delayMs: 1000 }
      if (newestText(request) !== '3') return { text: 'hello' }
      if (request.messages[0]?.role !== 'summary') return { text: 'This is A.\n\nThis', ...overflow, delayMs: 100 }
      return { text: 'This is A.\n\nThis is B.' }
    }
    await using told = await staged(script, { delivery: { streaming: true, min: 5, coalesce: { minChars: 1, maxChars: 10 } } })
    await began(told)
    await told.say('3', ann('3'))
    await told.clock.advance(600)
    if (crash) await restart(told)
    await endOf(told, '3')

    expect(arrived(told).slice(2)).toEqual(['block: This is A.', 'block: This is B.'])
    expect(eventsOf(told, 'final').at(-1)).toMatchObject({ ids: ['3'], text: 'This is A.\n\nThis is B.', steps: 1, compactions: 1 })
    expect((await told.main.view()).record.compactions).toBe(1)
    expect((await told.transcript())[0]).toBe('summary: SUMMARY')
    expect(eventsOf(told, 'compacted')).toHaveLength(1)
    await expectReplay(told)
  })

  test('[OC-42] about 20,000 tokens of the newest messages stay as they are', async () => {
    let full = false
    const script = (request: ModelRequest): ScriptedResponse => {
      if (isSummary(request)) return { text: 'SUMMARY' }
      return full && request.messages[0]?.role !== 'summary' ? overflow : { text: 'hello' }
    }
    await using told = await staged(script)
    for (let n = 0; n < 40; n++) await askToEnd(told, words(10_000), ann(String(n)))
    full = true
    await askToEnd(told, 'hi', ann('last'))

    const kept = (await told.main.history()).slice(1).reduce((sum, message) => sum + ('text' in message ? message.text.length : 0), 0) / 4
    expect(kept).toBeGreaterThan(15_000)
    expect(kept).toBeLessThan(25_000)
  })
})
