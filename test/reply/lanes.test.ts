/** Many runs at once on one node, and what it keeps account of: who waits, who is stuck, what was used, what it cost. */

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { noUsage, type Usage } from '../../src/contracts/message.ts'
import type { Model, ModelRequest } from '../../src/contracts/model.ts'
import { tool } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import type { ScriptedResponse } from '../../src/testing/index.ts'
import { type Story, work, worker } from '../runtime/harness.ts'
import {
  ann,
  arrived,
  askToEnd,
  crashes,
  endOf,
  eventsOf,
  expectReplay,
  logged,
  newestText,
  restart,
  type Staged,
  staged,
  tools,
  words,
} from './stage.ts'

describe('room', () => {
  /** Runs that ask the model at this moment, by session; a new life begins with none. */
  const crowd = async (ms: number, options: Staged = {}) => {
    const seen = { now: new Map<string, number>(), most: 0, mostInOne: 0, order: [] as string[] }
    const call: Model['call'] = async ({ messages }) => {
      const { now } = seen
      const text = newestText({ messages })
      const [session = ''] = text.split(' ')
      now.set(session, (now.get(session) ?? 0) + 1)
      seen.order.push(text)
      seen.most = Math.max(
        seen.most,
        [...now.values()].reduce((sum, count) => sum + count, 0),
      )
      seen.mostInOne = Math.max(seen.mostInOne, ...now.values())
      await new Promise<void>((resolve) => void told.clock.setTimeout(resolve, ms))
      now.set(session, (now.get(session) ?? 0) - 1)
      return { text: `re: ${text}`, reasoning: '', calls: [], usage: noUsage, finish: 'stop', model: 'test/model', partial: false }
    }
    const told: Story = await staged([], { lane: 'main', models: { 'test/model': { ref: 'test/model', call } }, ...options })
    return { told, seen }
  }
  const keys = ['s1', 's2', 's3', 's4', 's5', 's6']
  const finals = (told: Story) => keys.map((key) => eventsOf(told, 'final', key).map(({ text }) => text))

  /** Six sessions, two messages each, and room for four. */
  const rush = async (crash: string) => {
    const { told, seen } = await crowd(1000, { queueMode: 'followup', runtime: { lanes: { main: 4 } } })
    await using _ = told
    for (const round of [1, 2])
      for (const key of keys) await told.clock.until(told.session(key).send(`${key} ${round}`, { idempotencyKey: `${key}-${round}` }))
    // By now the first four sessions have answered once: some of them wait, and the last two run.
    await told.clock.advance(1500)
    if (crash) seen.now = new Map()
    if (crash) await restart(told)
    await told.clock.until(() => finals(told).flat().length === 12)
    expect(finals(told)).toEqual(keys.map((key) => [`re: ${key} 1`, `re: ${key} 2`]))
    expect(seen.mostInOne).toBe(1)
    return seen.most
  }
  test('[OC-23] six sessions with two messages each in a lane for four: never more than four runs, never two in a session', async () => {
    expect(await rush('')).toBe(4)
  })
  test('[OC-23] never more than four over a crash', async () => {
    expect(await rush(' over a crash')).toBe(4)
  })

  test('[OC-23] first come, first served; after 2 seconds it is told who waits, behind how many', async () => {
    const { told, seen } = await crowd(3000, { runtime: { lanes: { main: 1 } } })
    await using _ = told
    for (const key of keys.slice(0, 4)) {
      await told.clock.until(told.session(key).send(`${key} 1`, { idempotencyKey: key }))
      await told.clock.advance(10)
    }
    await told.clock.advance(1950)
    expect(logged(told, 'waits for room')).toEqual([])
    await told.clock.advance(40)

    expect(['s2', 's3', 's4'].map((key) => eventsOf(told, 'waiting', key))).toMatchObject([
      [{ runId: 's2', lane: 'main', waitedMs: 2000, ahead: 0 }],
      [{ runId: 's3', lane: 'main', waitedMs: 2000, ahead: 1 }],
      [{ runId: 's4', lane: 'main', waitedMs: 2000, ahead: 2 }],
    ])
    expect(told.log.filter(({ level, message }) => level === 'warn' && message === 'a turn waits for room in its lane')).toHaveLength(3)
    await told.clock.advance(12_000)
    expect(seen.order).toEqual(['s1 1', 's2 1', 's3 1', 's4 1'])
  })

  test('[OC-23] who is stopped leaves the line, and what has ended leaves the lane', async () => {
    const { told, seen } = await crowd(3000, { runtime: { lanes: { main: 1 } } })
    await using _ = told
    for (const key of keys.slice(0, 3)) {
      const run = await told.clock.until(told.session(key).send(`${key} 1`, { idempotencyKey: key }))
      run.result().catch(() => undefined)
    }
    await told.clock.until(told.session('s2').cancel())
    await told.clock.advance(7000)

    expect(seen.order).toEqual(['s1 1', 's3 1'])
    expect(eventsOf(told, 'aborted', 's2')).toHaveLength(1)
  })

  // The crash: a turn waits for its lane, and a message for that turn.
  test.each(crashes)('[OC-23, OC-24] clearing what waits takes a turn out of its lane, and counts it; one that runs goes on%s', async (crash) => {
    const { told, seen } = await crowd(3000, { queueMode: 'followup', runtime: { lanes: { main: 1 } } })
    await using _ = told
    for (const [key, id] of [
      ['s1', 's1'],
      ['s2', 's2'],
      ['s2', 's2-later'],
    ] as const) {
      const run = await told.clock.until(told.session(key).send(`${key} 1`, { idempotencyKey: id }))
      run.result().catch(() => undefined)
    }
    if (crash) await restart(told)
    const clear = async (key: string) => (await told.clock.until(told.session(key).command({ type: 'clear' }))).emitted
    expect(await clear('s2')).toContainEqual({ type: 'cleared', followups: 1, dropped: 0, lane: 1 })
    expect(await clear('s1')).toContainEqual({ type: 'cleared', followups: 0, dropped: 0, lane: 0 })
    await told.clock.advance(10_000)

    expect(new Set(seen.order)).toEqual(new Set(['s1 1']))
    expect(eventsOf(told, 'aborted', 's2').flatMap(({ ids }) => ids)).toEqual(expect.arrayContaining(['s2', 's2-later']))
    expect(eventsOf(told, 'final', 's1')).toHaveLength(1)
    expect(await clear('s2')).toContainEqual({ type: 'cleared', followups: 0, dropped: 0, lane: 0 })
  })

  test('[OC-23] other lanes have room of their own', async () => {
    const { told, seen } = await crowd(1000, { runtime: { lanes: { background: 1 } } })
    await using _ = told
    for (const key of keys) await told.clock.until(told.session(key).send(`${key} 1`))
    await told.clock.advance(500)

    expect(seen.most).toBe(6)
  })
})

describe('who is stuck', () => {
  const hangs = { limits: { modelCall: { idleTimeoutMs: 600_000 } } }
  const stuck = (told: Story) => eventsOf(told, 'stuck')

  test('[OC-96] a model that hangs: 150 seconds later one event in the session says so, with run and age', async () => {
    await using told = await staged([{ hang: true }], hangs)
    await told.say('hi', { idempotencyKey: 'a' })
    await told.clock.advance(149_900)
    expect(stuck(told)).toEqual([])
    await told.clock.advance(200)

    expect(stuck(told)).toMatchObject([{ type: 'stuck', runId: 'a', ageMs: 150_000 }])
  })

  // `Diagnostics.hear` takes our own signs of typing for a sign of life, for the two minutes that they last.
  test('[OC-96] the same where somebody waits on a channel', async () => {
    await using told = await staged([{ hang: true }], hangs)
    await told.say('hi', ann('a'))
    await told.clock.advance(150_100)

    expect(stuck(told)).toMatchObject([{ runId: 'a', ageMs: 150_000 }])
  })

  test('[OC-96] a model that hangs in the middle of what it says is found as well, half a minute later at most', async () => {
    await using told = await staged([{ chunks: ['a ', 'b '], deltaDelayMs: 100_000, hang: true }], hangs)
    await told.say('hi', { idempotencyKey: 'a' })
    // The last of it comes after 100 s.
    await told.clock.advance(219_000)
    expect(stuck(told)).toEqual([])
    await told.clock.advance(60_000)

    expect(stuck(told)).toMatchObject([{ type: 'stuck', runId: 'a' }])
  })

  test('[OC-96] neither one that goes on nor one that waits for a person is stuck', async () => {
    const asking = worker({ approval: true })
    await using told = await staged([{ chunks: ['a ', 'b ', 'c '], deltaDelayMs: 100_000, calls: [work('x')] }], {
      ...hangs,
      tools: (world) => [asking(world)],
    })
    await told.say('hi', { idempotencyKey: 'a' })
    await told.clock.advance(300_000)
    expect(eventsOf(told, 'approval')).toHaveLength(1)
    await told.clock.advance(600_000)

    expect(stuck(told)).toEqual([])
  })

  // The crash: one message is being answered, and one waits.
  test.each(crashes)('[OC-96] what becomes of a message is told: accepted, queued, and how it ended%s', async (crash) => {
    await using told = await staged((request) => (newestText(request) === 'lost' ? { error: { status: 401 } } : { text: 'hello', delayMs: 1000 }), {
      queueMode: 'followup',
    })
    await told.say('hi', ann('a'))
    await told.clock.advance(100)
    await told.say('lost', ann('b'))
    await told.say('hi', { ...ann('a'), idempotencyKey: 'again' })
    if (crash) await restart(told)
    await endOf(told, 'b')

    expect(eventsOf(told, 'accepted').map(({ id, status }) => [id, status])).toEqual([
      ['a', 'started'],
      ['b', 'queued'],
    ])
    expect(eventsOf(told, 'skipped')).toMatchObject([{ id: 'again', reason: 'duplicate' }])
    expect(await endOf(told, 'a')).toMatchObject({ type: 'final', durationMs: 1000 })
    expect(await endOf(told, 'b')).toMatchObject({ type: 'error', error: { code: 'provider_auth' } })
  })
})

describe('accounts', () => {
  const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0, reasoningTokens = 0, cacheWriteTokens = 0): Usage => ({
    inputTokens,
    outputTokens,
    cachedInputTokens,
    reasoningTokens,
    cacheWriteTokens,
  })
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
  /** What each answer uses, by the message that it answers and the number of results of tools that it has seen. */
  const answers: Record<string, ScriptedResponse[]> = {
    streamed: [{ text: words(900), usage: usage(4000, 1000, 1000, 400, 1000) }],
    steered: [{ text: 'so far', delayMs: 1000, usage: usage(2000, 100, 1500) }],
    'and this': [{ text: 'so be it', delayMs: 500, usage: usage(2200, 200, 2000, 50) }],
    failed: [{ calls: [work('x', 1000)], usage: usage(3000, 300, 0, 100) }, { error: { status: 401 } }],
    followup: [{ text: 'later', usage: usage(5000, 500, 1000) }],
    unpriced: [{ text: 'for nothing', usage: usage(700, 70) }],
    silent: [{ text: 'NO_REPLY', usage: usage(1000, 10, 900, 5) }],
  }
  const script = (request: ModelRequest): ScriptedResponse => {
    const { messages } = request
    const open = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
    return answers[newestText(request)]?.[open.filter(({ role }) => role === 'tool').length] ?? { error: { status: 400 } }
  }
  /**
   * By hand. Of what is read, that of the cache is taken out; USD are tokens of each kind times its price, by the million:
   * streamed 2000 × 3 + 1000 × 15 + 1000 × 0.3 + 1000 × 3.75 = 25,050; steered 500 × 3 + 100 × 15 + 1500 × 0.3 = 3450 and 200 × 3 + 200 × 15
   * + 2000 × 0.3 = 4200; failed 3000 × 3 + 300 × 15 = 13,500; followup, of another model, 4000 × 1 + 500 × 5 + 1000 × 1 = 7500; silent 100 × 3
   * + 10 × 15 + 900 × 0.3 = 720.
   */
  const table = [
    ['streamed', 'test/model', 2000, 1000, 1000, 1000, 4000, 5000, 0.02505],
    ['steered', 'test/model', 700, 300, 3500, 0, 4200, 4500, 0.00765],
    ['failed', 'test/model', 3000, 300, 0, 0, 3000, 3300, 0.0135],
    ['followup', 'other/b', 4000, 500, 1000, 0, 5000, 5500, 0.0075],
    ['unpriced', 'free/c', 700, 70, 0, 0, 700, 770, undefined],
    ['silent', 'test/model', 100, 10, 900, 0, 1000, 1010, 0.00072],
  ] as const

  /** A day in the life of a session. */
  const day = async (crash: string) => {
    const told = await staged(
      { info: { contextTokens: 200_000, price }, script },
      {
        tools,
        delivery: { streaming: true },
        models: { 'other/b': { info: { price: { input: 1, output: 5 } }, script }, 'free/c': { info: {}, script } },
      },
    )
    await askToEnd(told, 'streamed', ann('streamed'))
    await told.say('steered', ann('steered'))
    await told.clock.advance(300)
    await told.say('and this', ann('and this'))
    await told.clock.advance(900)
    if (crash) await restart(told)
    await endOf(told, 'steered')
    await told.say('failed', ann('failed'))
    await told.clock.advance(300)
    await told.say('followup', { ...ann('followup'), queueMode: 'followup', model: 'other/b' })
    if (crash) await restart(told)
    await endOf(told, 'followup')
    await askToEnd(told, 'unpriced', { ...ann('unpriced'), model: 'free/c' })
    await askToEnd(told, '/status', ann('o'))
    await askToEnd(told, 'silent', ann('silent'))
    return told
  }

  test.each(crashes)(
    '[OC-89, OC-90, OC-91] what runs have used is told once for each, stands in the record, and is what the trace has%s',
    async (crash) => {
      await using told = await day(crash)

      expect(eventsOf(told, 'usage').map((event) => event.runId)).toEqual(table.map(([id]) => id))
      for (const [place, [runId, model, input, output, cacheRead, cacheWrite, promptTokens, total, costUsd]] of table.entries()) {
        const event = eventsOf(told, 'usage')[place]
        expect(event).toMatchObject({
          runId,
          session: 'main',
          model,
          provider: model.split('/')[0],
          usage: { input, output, cacheRead, cacheWrite, promptTokens, total },
          durationMs: expect.any(Number),
          seq: expect.any(Number),
        })
        if (costUsd === undefined) expect(event).not.toHaveProperty('costUsd')
        else expect(event?.costUsd).toBeCloseTo(costUsd, 10)
      }
      const { spent } = (await told.main.view()).record
      expect(spent).toMatchObject({ turns: 6, usage: usage(17_900, 2180, 6400, 555, 1000), unpriced: 1 })
      expect(spent.costUsd).toBeCloseTo(0.05442, 10)
      const used = (await told.trace('main')).flatMap(({ detail }) => {
        const { kind, usage: one } = (detail as { data?: { kind?: string; usage?: Usage } } | undefined)?.data ?? {}
        return kind === 'model' && one ? [one] : []
      })
      const sum = (field: keyof Usage) => used.reduce((all, one) => all + one[field], 0)
      expect(Object.keys(noUsage).map((field) => sum(field as keyof Usage))).toEqual([17_900, 2180, 6400, 555, 1000])
      await expectReplay(told)
    },
  )

  test('[OC-91] the metrics of the node add up to the same', async () => {
    await using told = await day('')

    expect(told.runtime.metrics()).toMatchObject({
      runs: { ended: 6, failed: 1, aborted: 0 },
      model_tokens_total: {
        'test/model': { input: 5800, output: 1610, cacheRead: 5400, cacheWrite: 1000 },
        'other/b': { input: 4000, output: 500, cacheRead: 1000, cacheWrite: 0 },
        'free/c': { input: 700, output: 70, cacheRead: 0, cacheWrite: 0 },
      },
    })
  })

  /** Where a summary was made on the way: what events and record say of tokens and cost. */
  const shortenedBy = async (how: 'order' | 'overflow') => {
    const summarising = (request: ModelRequest): ScriptedResponse => {
      if (request.instructions.startsWith('You shorten')) return { text: 'SUMMARY', usage: usage(1000, 100) }
      if (newestText(request) === 'long' && request.messages[0]?.role !== 'summary') return { error: { code: 'provider_overflow' } }
      return { text: 'hello', usage: usage(100, 10) }
    }
    await using told = await staged({ info: { price }, script: summarising })
    for (const id of ['1', '2']) await askToEnd(told, words(400, id), ann(id))
    await askToEnd(told, how === 'order' ? '/compact' : 'long', ann('o'))
    const events = eventsOf(told, 'usage')
    const total = (field: 'input' | 'output') => events.reduce((sum, event) => sum + event.usage[field], 0)
    const { spent } = (await told.main.view()).record
    return {
      events: [total('input'), total('output'), events.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0).toFixed(6)],
      record: [spent.usage.inputTokens, spent.usage.outputTokens, spent.costUsd.toFixed(6)],
    }
  }
  // 300 or 200 × 3 + 30 or 20 × 15 for the answers, and 1000 × 3 + 100 × 15 for the summary.
  test('[OC-89, OC-91] a summary within a run is part of what the run has used, and cost', async () => {
    const used = [1300, 130, '0.005850']
    expect(await shortenedBy('overflow')).toEqual({ events: used, record: used })
  })
  // `takeSummary` of the session writes it into the record and emits no `usage`: whoever counts events, as the metrics do, never hears of it.
  test('[OC-89, OC-91] a summary by command is used and paid for, too', async () => {
    const used = [1200, 120, '0.005400']
    expect(await shortenedBy('order')).toEqual({ events: used, record: used })
  })

  test('[OC-90] 1000 tokens of each kind at 3, 15, 0.3 and 3.75: 0.02205 USD', async () => {
    await using told = await staged({ info: { price }, script: [{ text: 'hello', usage: usage(3000, 1000, 1000, 0, 1000) }] })

    expect((await askToEnd(told, 'hi', ann('a'))).costUsd).toBeCloseTo(0.02205, 10)
  })

  test('[OC-91] a streamed turn with nothing left to send at its end: one event with all that there is to tell', async () => {
    await using told = await staged(
      { info: { contextTokens: 200_000, price }, script: [{ text: 'hello', delayMs: 700, usage: usage(3000, 1000) }] },
      {
        delivery: { streaming: true },
      },
    )

    await askToEnd(told, 'hi', ann('a'))

    expect(arrived(told)).toEqual(['block: hello'])
    expect(eventsOf(told, 'usage')).toEqual([
      {
        type: 'usage',
        runId: 'a',
        session: 'main',
        sessionId: expect.any(String),
        channel: 'test',
        at: expect.any(Number),
        provider: 'test',
        model: 'test/model',
        usage: { input: 3000, output: 1000, cacheRead: 0, cacheWrite: 0, promptTokens: 3000, total: 4000 },
        contextLimit: 200_000,
        contextUsed: 4000,
        costUsd: 0.024,
        durationMs: 700,
        attempts: 0,
        seq: expect.any(Number),
      },
    ])
  })

  // The event has neither `sessionId` nor `channel`, and nothing that is published has a time.
  test.each(['sessionId', 'channel', 'at'])('[OC-91] the event has its %s', async (field) => {
    await using told = await staged([{ text: 'hello', usage: usage(1, 1) }])
    await askToEnd(told, 'hi', ann('a'))

    expect(eventsOf(told, 'usage')[0]).toHaveProperty(field)
  })

  test('[OC-91] where another model takes over within a run, each has what it used', async () => {
    let tired = false
    const first = () => (tired ? { error: { status: 401 } } : { calls: [work('x')], usage: usage(100, 10) })
    await using told = await staged(first, {
      tools: () => [tool({ name: 'work', description: 'tires', input: z.object({}).loose(), execute: () => void (tired = true) })],
      models: { 'other/b': () => ({ text: 'hello', usage: usage(200, 20) }) },
      fallbacks: ['other/b'],
    })
    await askToEnd(told, 'hi', ann('a'))

    expect(told.runtime.metrics().model_tokens_total).toMatchObject({
      'test/model': { input: 100, output: 10 },
      'other/b': { input: 200, output: 20 },
    })
  })

  test('[OC-89] without any usage, model, provider and window are kept all the same', async () => {
    await using told = await staged({ info: { contextTokens: 100_000 }, script: [{ text: 'one', usage: usage(300, 30) }, { text: 'two' }] })
    await askToEnd(told, 'one', ann('1'))
    expect((await told.main.view()).record.tokens).toMatchObject({ input: 300, output: 30, total: 330, window: 100_000 })

    await askToEnd(told, 'two', ann('2'))
    expect((await told.main.view()).record.tokens).toMatchObject({ input: 300, output: 30, window: 100_000, model: 'test/model', provider: 'test' })
  })

  test('[OC-89] the model that is kept is the one that answered', async () => {
    await using told = await staged([{ error: { status: 401 } }], {
      models: { 'other/b': [{ text: 'hello', usage: usage(1, 1) }] },
      fallbacks: ['other/b'],
    })
    await askToEnd(told, 'hi', ann('a'))

    expect((await told.main.view()).record.tokens).toMatchObject({ model: 'other/b', provider: 'other' })
  })

  // `MetricsCounter` drops the end of a run whose beginning it did not hear, and a new life has heard of none.
  test('[OC-91] a run that a crash cut in two is counted when it ends', async () => {
    await using told = await staged([{ calls: [work('x', 1000)] }, { text: 'hello', delayMs: 1000 }], { tools })
    await told.say('hi', ann('a'))
    await told.clock.advance(1500)
    await restart(told)
    await endOf(told, 'a')

    expect(told.runtime.metrics().runs).toEqual({ ended: 1, failed: 0, aborted: 0 })
  })

  test('[OC-91] a listener that throws disturbs nobody', async () => {
    await using told = await staged([{ text: 'hello', usage: usage(1, 1) }])
    partsOf(told.runtime).outputs.listen('session/main', () => {
      throw new Error('no')
    })

    expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject({ type: 'final' })
    expect(logged(told, 'a listener threw').length).toBeGreaterThan(0)
    expect(eventsOf(told, 'usage')).toHaveLength(1)
  })
})
