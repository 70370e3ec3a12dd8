/** How an answer gets to a channel: in blocks or at once, in order, once, and all of it before its outcome is told. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Channel, tool } from '../../src/index.ts'
import type { ScriptedResponse } from '../../src/testing/index.ts'
import { expectNothingAlive, type Story, story, work } from '../runtime/harness.ts'
import { ann, arrived, askToEnd, crashes, endOf, eventsOf, expectReplay, logged, restart, since, staged, tools, tried, words } from './stage.ts'

/** Each paragraph is a block, and goes without waiting for more. */
const short = { streaming: true, min: 10, max: 200, coalesce: { minChars: 1, maxChars: 10 } } as const
/** Paragraphs, one a second; the last is followed by a second of silence, too. */
const slowly = (...chunks: string[]): ScriptedResponse => ({ chunks: chunks.map((chunk) => `${chunk}\n\n`), deltaDelayMs: 1000 })

describe('streaming', () => {
  test('[OC-58] without it a long answer is exactly one final message', async () => {
    await using told = await staged([{ text: words(3000), deltaDelayMs: 10 }])

    await askToEnd(told, 'tell me', ann('a'))

    expect(arrived(told)).toEqual([`final: ${words(3000)}`])
  })

  test.each([
    ['the agent', true, undefined, undefined, 'block'],
    ['the channel', undefined, true, undefined, 'block'],
    ['the account', undefined, false, true, 'block'],
    ['the account, against all others', true, true, false, 'final'],
  ] as const)('[OC-58] %s decides', async (_, agent, channel, account, kind) => {
    const wish = (streaming: boolean | undefined) => (streaming === undefined ? {} : { streaming })
    await using told = await staged([{ text: 'Hello there.' }], {
      delivery: wish(agent),
      channel: { settings: wish(channel), accounts: { work: wish(account) } },
    })

    await askToEnd(told, 'hi', ann('a', { account: 'work' }))

    expect(arrived(told)).toEqual([`${kind}: Hello there.`])
  })

  test.each([
    [true, false, 'block'],
    [false, true, 'final'],
  ])('[OC-58] whoever sends a message decides for its answer alone: %s', async (streaming, otherwise, kind) => {
    await using told = await staged(() => ({ text: 'Hello there.' }), { delivery: { streaming: otherwise } })

    await askToEnd(told, 'hi', { ...ann('a'), streaming })
    await askToEnd(told, 'hi', ann('b'))

    expect(arrived(told)).toEqual([`${kind}: Hello there.`, `${otherwise ? 'block' : 'final'}: Hello there.`])
  })

  test('[OC-58] blocks go as the text grows, or when the message is over; even then none is too long', async () => {
    const texts = [words(900, 'one'), words(900, 'two')]
    await using growing = await staged([slowly(...texts)], { delivery: { streaming: true } })
    await growing.say('go', ann('a'))
    await growing.clock.advance(1100)
    // The second one waits for a second without another.
    expect(arrived(growing)).toEqual([`block: ${texts[0]}`])

    await using atEnd = await staged([slowly(...texts)], { delivery: { streaming: true, boundary: 'message_end' } })
    await atEnd.say('go', ann('a'))
    await atEnd.clock.advance(900)
    expect(arrived(atEnd)).toEqual([])
    await endOf(atEnd, 'a')
    expect(atEnd.channel.sends.every(({ kind, payload }) => kind === 'block' && (payload.text ?? '').length <= 1200)).toBe(true)
    expect(atEnd.channel.texts.join(' ').replace(/\s+/g, ' ')).toBe(texts.join(' '))
  })

  // The crash: inside an open fence, of which one message has arrived.
  test.each(crashes)('[OC-59] code of 3,000 characters: every message is whole Markdown, and together they are the code%s', async (crash) => {
    const lines = Array.from({ length: 100 }, (_, place) => `const line${String(place).padStart(3, '0')} = "${'x'.repeat(12)}"`)
    const code = `\`\`\`ts\n${lines.join('\n')}\n\`\`\``
    expect(code.length).toBeGreaterThanOrEqual(3000)
    await using told = await staged([{ text: code, chunkSize: 100, deltaDelayMs: 100 }], { delivery: { streaming: true } })
    await told.say('code, please', ann('a'))
    await told.clock.until(() => arrived(told).length === 1)
    await told.clock.advance(20)
    if (crash) await restart(told)
    await endOf(told, 'a')

    const texts = told.channel.texts
    expect(told.channel.sends.every(({ kind }) => kind === 'block')).toBe(true)
    expect(texts.length).toBeGreaterThan(2)
    for (const text of texts) {
      expect(text.length).toBeLessThanOrEqual(1200 + '```ts\n\n```'.length)
      expect(text).toMatch(/^```ts\n[\s\S]*\n```$/)
    }
    expect(texts.flatMap((text) => text.split('\n').slice(1, -1))).toEqual(lines)
  })

  test('[OC-60] three blocks of 300 characters, 200 ms apart, and then silence: one message, 1000 ms after the last', async () => {
    const texts = ['one', 'two', 'six'].map((word) => words(300, word))
    await using told = await staged([{ chunks: texts.map((text) => `${text}\n\n`), deltaDelayMs: 200, hang: true }], {
      delivery: { streaming: true, min: 290, coalesce: { minChars: 800 } },
    })

    await told.say('go', ann('a'))
    await told.clock.advance(5000)

    expect(told.channel.sends).toMatchObject([{ at: 1400, kind: 'block', payload: { text: texts.join('\n\n') } }])
  })

  test('[OC-60] how blocks are put together: as the account says, else the channel, the agent, the adapter', async () => {
    const texts = ['one', 'two', 'six'].map((word) => words(300, word))
    const script = [{ chunks: texts.map((text) => `${text}\n\n`), deltaDelayMs: 200, hang: true }]
    const wish = (minChars: number) => ({ coalesce: { minChars } })
    const layers = { adapter: 1500, agent: 600, channel: 900, account: 1 }
    const sentAt = async (...names: (keyof typeof layers)[]) => {
      const has = (name: keyof typeof layers) => (names.includes(name) ? wish(layers[name]) : {})
      await using told = await staged(script, {
        delivery: { streaming: true, min: 290, ...has('agent') },
        channel: { blocks: has('adapter'), settings: has('channel'), accounts: { work: has('account') } },
      })
      await told.say('go', ann('a', { account: 'work' }))
      await told.clock.advance(5000)
      return told.channel.sends.map(({ at }) => at)
    }

    expect(await sentAt('adapter')).toEqual([])
    expect(await sentAt('adapter', 'agent')).toEqual([1400])
    expect(await sentAt('agent', 'channel')).toEqual([1400])
    expect(await sentAt('adapter', 'agent', 'channel', 'account')).toEqual([1400])
    expect(await sentAt()).toEqual([1400])
  })

  // The crash: between two equal blocks, of which one has arrived.
  test.each(crashes)('[OC-61] A, B and A again come in this order, however slow A is, each under a key of its own%s', async (crash) => {
    await using told = await staged([slowly('This is A.', 'This is B.', 'This is A.')], { delivery: short })
    told.channel.delay(5000)
    await told.say('go', ann('a'))
    await told.clock.advance(4900)
    expect(tried(told)).toEqual(['block: This is A.'])
    await told.clock.advance(200)
    if (crash) await restart(told)
    await endOf(told, 'a')

    expect(tried(told)).toEqual(['block: This is A.', 'block: This is B.', 'block: This is A.'])
    expect(new Set(told.channel.sends.map(({ key }) => key)).size).toBe(3)
  })

  test('[OC-61] one that cannot be sent is logged, and the next one goes on', async () => {
    await using told = await staged([slowly('This is A.', 'This is B.')], { delivery: short })
    told.channel.fail(1)

    await askToEnd(told, 'go', ann('a'))

    expect(tried(told).slice(0, 2)).toEqual(['block: This is A.', 'block: This is B.'])
    expect(logged(told, 'could not be sent')).toHaveLength(1)
  })

  test.each([
    ['a final message that is refused', { streaming: false }, (told: Story) => told.channel.fail(1), 1],
    ['one that takes too long', { streaming: false }, (told: Story) => told.channel.hang(1), 1],
    ['a block that is refused, where the whole answer arrives after it', short, (told: Story) => told.channel.fail(1), undefined],
  ] as const)('[OC-61, OC-01] the outcome says of what did not arrive: %s', async (_, delivery, trouble, undelivered) => {
    await using told = await staged([{ text: 'This is A.' }], { delivery })
    trouble(told)

    const outcome = await askToEnd(told, 'go', ann('a'))

    expect(outcome).toMatchObject({ type: 'final', outcome: 'replied', text: 'This is A.' })
    expect(outcome.undelivered).toBe(undelivered)
    expect((await told.main.outcome('a')).undelivered).toBe(undelivered)
    await expectNothingAlive(told)
  })

  test('[OC-61] where its channel is gone after a restart nothing arrives, and the outcome says so', async () => {
    await using told = await staged([{ text: 'Hello.', delayMs: 100 }])
    await told.say('go', ann('a'))
    await told.crash()
    await told.restart({ channels: [] })

    expect(await endOf(told, 'a')).toMatchObject({ type: 'final', text: 'Hello.', undelivered: 1 })
  })

  test.each([
    ['half a character', ['\ud83d ', words(2000)]],
    ['a character that comes in two halves', ['\ud83d', '\ude00 ', words(2000)]],
    ['half a character at the end', [words(2000), ' \ud83d']],
  ])('[OC-61] %s makes nothing be said twice', async (_, chunks) => {
    await using told = await staged([{ chunks, deltaDelayMs: 1 }], { delivery: { streaming: true } })

    const { text } = await askToEnd(told, 'go', ann('a'))

    expect(told.channel.texts.join(' ').replace(/\s+/g, ' ')).toBe(text.replace(/\s+/g, ' '))
  })

  test('[OC-61] what an attempt said that failed is not said again by the next, whatever white space stands between', async () => {
    let attempt = 0
    const script = (): ScriptedResponse =>
      attempt++ === 0
        ? { text: words(3000), chunkSize: 20, error: { status: 503 } }
        : { text: `${words(3000).replaceAll(' ', '\n')}${'\n'.repeat(20_000)}and more`, chunkSize: 20 }
    await using told = await staged(script, { delivery: { streaming: true } })

    await askToEnd(told, 'go', ann('a'))

    expect(told.channel.texts.join(' ').replace(/\s+/g, ' ')).toBe(`${words(3000)} and more`)
  })

  test('[OC-61, OC-102] what the session says about a message and what is answered to another never share a key', async () => {
    await using told = await staged(() => ({ text: 'the answer' }), { delivery: {} })
    for (const id of ['a', 'a:report', 'a:answer', 'a/report']) await askToEnd(told, `/status ${id}`, ann(id))

    const keys = told.channel.sends.map(({ key }) => key)
    expect(keys).toHaveLength(8)
    expect(new Set(keys).size).toBe(8)
  })

  test('[OC-38, OC-103] who stops an answer while it is delivered is told so by the next one', async () => {
    await using told = await staged(
      ({ messages }) => ({ text: messages.length > 1 ? `I was told: ${JSON.stringify(messages.at(-1))}` : words(3000) }),
      { delivery: { streaming: true, pacing: { minMs: 1000, maxMs: 1000 } } },
    )
    await told.say('go', ann('a'))
    await told.clock.advance(500)
    expect((await told.main.view()).state).toEqual({ running: 'delivering' })
    await told.say('/stop', ann('b'))

    expect(await endOf(told, 'a')).toMatchObject({ outcome: 'replied', undelivered: 1 })
    expect((await told.main.view()).record.abortedLastRun).toBe(true)
    expect((await askToEnd(told, 'go on', ann('c'))).text).toContain('your last answer was stopped')
  })

  test('[OC-61] whatever an adapter throws, it is a message that did not arrive', async () => {
    const thrown = new Proxy(new Error('hidden'), {
      get: () => {
        throw new Error('not even its message')
      },
    })
    await using told = await staged([{ text: 'Hello.' }])
    told.channel.fail(1, thrown)

    expect(await askToEnd(told, 'hi', ann('a'))).toMatchObject({ outcome: 'replied', undelivered: 1 })
    expect(logged(told, 'could not be sent')).toHaveLength(1)
  })

  test.each([
    [12, '12'],
    [10n, undefined],
    [{}, undefined],
  ])('[OC-06] whatever an adapter says that a message is called (%s), it arrived', async (given, messageId) => {
    const answers = { send: () => given } as unknown as Partial<Channel>
    const plain: Channel = { id: 'test', markdown: true, textMax: 4000, ...answers, send: answers.send as Channel['send'] }
    await using told = await story([{ text: 'Hello.' }], { runtime: { channels: [plain] } })
    await askToEnd(told, 'hi', ann('a'))

    expect(eventsOf(told, 'block')).toMatchObject([messageId === undefined ? { kind: 'final' } : { kind: 'final', messageId }])
  })

  test('[OC-61] a process that dies while a block is on its way: it may come again, but under its key', async () => {
    await using told = await staged([slowly('This is A.', 'This is B.')], { delivery: short })
    told.channel.hang(2)
    await told.say('go', ann('a'))
    await told.clock.advance(3000)
    await restart(told)
    await endOf(told, 'a')

    const keys = told.channel.sends.map(({ key, payload }) => `${payload.text} ${key}`)
    expect(arrived(told)).toEqual(['block: This is A.', 'block: This is B.'])
    expect(keys[2]).toBe(keys[1])
  })
})

describe('trouble', () => {
  test('[OC-62, OC-65] a block that hangs for 15 s ends the streaming: no block follows, and the whole answer comes at the end', async () => {
    await using told = await staged([slowly('This is A.', 'This is B.', 'This is C.', ...Array<string>(15).fill('…'), 'This is D.')], {
      delivery: short,
    })
    told.channel.hang(2)
    await told.say('go', ann('a'))
    await told.clock.until(() => told.channel.sends.length === 2)
    const began = since(told)
    await told.clock.advance(14_999)
    expect(told.channel.sends[1]?.outcome).toBe('sending')
    await told.clock.advance(1)
    expect(told.channel.sends[1]?.outcome).toBe('aborted')
    expect(since(told) - began).toBe(15_000)

    await endOf(told, 'a')

    expect(tried(told).slice(0, 2)).toEqual(['block: This is A.', 'block: This is B.'])
    expect(arrived(told)).toHaveLength(2)
    expect(arrived(told)[1]).toMatch(/^final: This is A\.\n\nThis is B\.\n\nThis is C\.[\s\S]*This is D\.$/)
    expect(logged(told, 'took too long')).toHaveLength(1)
    await expectNothingAlive(told)
    await expectReplay(told)
  })

  test('[OC-62] over a crash after the streaming was given up: still no block, and the whole answer comes at the end', async () => {
    await using told = await staged([slowly('This is A.', 'This is B.', 'This is C.', 'This is D.')], {
      delivery: { ...short, sendTimeoutMs: 1000 },
    })
    told.channel.hang(2)
    await told.say('go', ann('a'))
    await told.clock.until(() => told.channel.sends[1]?.outcome === 'aborted')
    await told.clock.advance(100)
    await restart(told)
    await endOf(told, 'a')

    expect(arrived(told)).toEqual(['block: This is A.', 'final: This is A.\n\nThis is B.\n\nThis is C.\n\nThis is D.'])
  })

  test.each([0, -1])('[OC-62] a limit of %s is none', async (sendTimeoutMs) => {
    await using told = await staged([slowly('This is A.')], { delivery: { ...short, sendTimeoutMs } })
    told.channel.delay(100_000)

    await askToEnd(told, 'go', ann('a'))

    expect(arrived(told)).toEqual(['block: This is A.'])
    expect(since(told)).toBeGreaterThanOrEqual(100_000)
  })

  test('[OC-65] what was streamed to its end is not sent again', async () => {
    await using told = await staged([{ text: 'This is A.\n\nThis is B.' }], { delivery: short })

    expect(await askToEnd(told, 'go', ann('a'))).toMatchObject({ type: 'final', text: 'This is A.\n\nThis is B.' })

    expect(tried(told)).toEqual(['block: This is A.', 'block: This is B.'])
  })

  test('[OC-65] where one block was lost, the message that it belonged to comes whole; others do not come again', async () => {
    await using told = await staged([{ text: 'Let me see.', calls: [work('x')] }, { text: 'It is cold.' }], { tools, delivery: short })
    told.channel.fail(2)

    await askToEnd(told, 'how is it', ann('a'))

    expect(arrived(told)).toEqual(['block: Let me see.', 'final: It is cold.'])
  })
})

test('[OC-63] sound before a wish to have it as a voice message: it waits for the end, and is one', async () => {
  await using told = await staged(
    [
      {
        chunks: ['MEDIA: https://example.com/song.mp3\n', 'Listen.\n\n', 'MEDIA: https://example.com/cover.png\n', '[[audio_as_voice]]'],
        deltaDelayMs: 1000,
      },
    ],
    {
      delivery: short,
    },
  )

  await askToEnd(told, 'sing', ann('a'))

  expect(told.channel.sends.map(({ payload: { replyTo: _, ...payload } }) => payload)).toEqual([
    { text: 'Listen.' },
    { media: ['https://example.com/cover.png'] },
    { media: ['https://example.com/song.mp3'], voice: true },
  ])
})

test('[OC-64, OC-04] what waits when the model has ended is delivered before the outcome is told', async () => {
  await using told = await staged([{ text: words(500) }], { delivery: { streaming: true } })
  told.channel.delay(3000)
  await told.say('go', ann('a'))
  await told.clock.advance(2990)
  expect(eventsOf(told, 'final')).toEqual([])
  expect(told.channel.sends[0]?.outcome).toBe('sending')
  await told.clock.advance(20)
  await endOf(told, 'a')

  expect(arrived(told)).toEqual([`block: ${words(500)}`])
  const said = told.events('main').map(({ type }) => type)
  expect(said.indexOf('block')).toBeLessThan(said.indexOf('final'))
  await expectNothingAlive(told)
})

test('[OC-66] what was said goes before the tool that follows begins', async () => {
  const sent: number[] = []
  const look = tool({
    name: 'work',
    description: 'looks',
    onCrash: 'retry',
    input: z.object({}),
    execute: () => void sent.push(told.channel.sends.length),
  })
  await using told = await staged(
    [
      { text: 'Let me see.', calls: [{ name: 'work' }] },
      { text: 'It is cold.', delayMs: 1000 },
    ],
    {
      tools: () => [look],
      delivery: { streaming: true },
    },
  )
  await told.say('how is it', ann('a'))
  await told.clock.advance(500)
  await endOf(told, 'a')

  expect(sent).toEqual([1])
  expect(tried(told)).toEqual(['block: Let me see.', 'block: It is cold.'])
})

describe('what is being written', () => {
  /** A channel that can change a message again. */
  const drafts = () => {
    const shown: string[] = []
    const channel = { partial: (text: string, { kind }: { kind: string }) => void shown.push(`${kind}: ${text}`) }
    return { shown, channel }
  }
  const live = { streaming: true, typing: { mode: 'message' } } as const

  test('[OC-67] NO_REPLY, one character after the other: nothing is shown, nobody types, nothing is sent', async () => {
    const { shown, channel } = drafts()
    await using told = await staged([{ text: 'NO_REPLY', chunkSize: 1, deltaDelayMs: 100 }], { delivery: live, channel })

    expect(await askToEnd(told, 'hm', ann('a'))).toMatchObject({ outcome: 'silent' })

    expect([shown, told.channel.typed, tried(told)]).toEqual([[], [], []])
  })

  test('[OC-67, OC-79] tokens and tags of reasoning are never seen, however they are cut', async () => {
    const { shown, channel } = drafts()
    await using told = await staged(
      [{ text: '<think>they want <b>tea</b></think><final>HEARTBEAT_OK Tea is ready.</final>', chunkSize: 3, deltaDelayMs: 10 }],
      { delivery: live, channel },
    )

    await askToEnd(told, 'tea?', ann('a'))

    expect(shown.at(-1)).toBe('text: Tea is ready.')
    expect(shown.join('\n')).not.toMatch(/think|want|<|HEART|_OK/)
    expect(arrived(told)).toEqual(['block: Tea is ready.'])
  })

  test('[OC-67] where reasoning is shown live, it is shown in place of the text', async () => {
    const { shown, channel } = drafts()
    await using told = await staged([{ reasoning: 'let me think', text: 'Tea is ready.' }], { delivery: { ...live, reasoning: 'stream' }, channel })

    await askToEnd(told, 'tea?', ann('a'))

    expect(shown.at(-1)).toBe('reasoning: let me think')
    expect(shown.some((text) => text.startsWith('text'))).toBe(false)
    expect(arrived(told)).toEqual(['block: Tea is ready.'])
  })

  test('[OC-78] a tag that is split over two deltas is never seen, and obeyed', async () => {
    const { shown, channel } = drafts()
    await using told = await staged([{ chunks: ['[[reply', '_to: a]] Look', ' here. MEDIA: no'], deltaDelayMs: 100 }], { delivery: live, channel })

    await askToEnd(told, 'where', ann('a'))

    expect(shown.join('\n')).not.toMatch(/\[|reply/)
    expect(told.channel.sends.map(({ payload }) => payload)).toEqual([{ text: 'Look here. MEDIA: no', replyTo: 'a', replyTagged: true }])
  })
})

describe('the order of all messages', () => {
  test('[OC-72] a natural pause of 0.8 to 2.5 s between three blocks, and none before the first', async () => {
    await using told = await staged([{ text: 'This is A.\n\nThis is B.\n\nThis is C.' }], { delivery: { ...short, pacing: 'natural' } })

    await askToEnd(told, 'go', ann('a'))

    const times = told.channel.sends.map(({ at }) => at)
    expect(times).toHaveLength(3)
    expect(times[0]).toBe(0)
    for (const [place, at] of times.slice(1).entries()) {
      expect(at - (times[place] ?? 0)).toBeGreaterThanOrEqual(800)
      expect(at - (times[place] ?? 0)).toBeLessThanOrEqual(2500)
    }
  })

  test('[OC-72] tools, blocks and the end share one line, and only blocks are paced', async () => {
    await using told = await staged(
      [
        { text: 'Let me see.', calls: [work('x')] },
        { text: 'It is cold.', usage: { inputTokens: 10, outputTokens: 5 } },
      ],
      {
        tools,
        verbose: 'on',
        usage: 'tokens',
        delivery: { ...short, pacing: { minMs: 1000, maxMs: 1000 } },
      },
    )
    told.channel.delay(300)

    await askToEnd(told, 'how is it', ann('a'))

    expect(told.channel.sends.map(({ kind, at }) => [kind, at])).toEqual([
      ['block', 0],
      ['tool', 300],
      ['block', 1300],
      ['final', 1300],
      ['final', 1300],
    ])
  })

  test('[OC-73] a slow message of a tool is waited for before anything is decided', async () => {
    await using told = await staged([{ calls: [work('x')] }, { text: 'NO_REPLY' }], { tools, verbose: 'on' })
    told.channel.delay(5000)
    await told.say('go', ann('a'))
    await told.clock.advance(4000)
    expect(eventsOf(told, 'final')).toEqual([])
    await told.clock.advance(1100)

    expect(await endOf(told, 'a')).toMatchObject({ outcome: 'silent' })
    const said = told.events('main').map(({ type }) => type)
    expect(said.indexOf('block')).toBeLessThan(said.indexOf('final'))
    expect(arrived(told)).toEqual(['tool: Tool work: {"name":"x","ms":0}'])
  })
})

test('[OC-61, OC-64, OC-65] whenever the process dies, each message arrives once, in order, and the outcome last', async () => {
  for (let ms = 0; ms <= 9000; ms += 375) {
    await using told = await staged(
      [
        { ...slowly('This is A.', 'This is B.'), calls: [work('x', 1000)], usage: { inputTokens: 10 } },
        { ...slowly('This is C.', 'This is D.'), usage: { inputTokens: 10, outputTokens: 5 } },
      ],
      { tools, verbose: 'on', usage: 'tokens', delivery: short },
    )
    for (let nth = 1; nth < 20; nth++) told.channel.delay(100, nth)
    await told.say('go', ann('a'))
    await told.clock.advance(ms)
    await restart(told)
    await endOf(told, 'a')

    // What was on its way at that moment may come again, under its key.
    const messages = new Map(told.channel.sends.map(({ key, kind, payload }) => [key, `${kind}: ${payload.text}`]))
    const { sessionId } = (await told.main.view()).record
    expect([ms, ...messages.values()]).toEqual([
      ms,
      'block: This is A.',
      'block: This is B.',
      'tool: Tool work: {"name":"x","ms":1000}',
      'block: This is C.',
      'block: This is D.',
      `final: New session: ${sessionId}`,
      'final: Usage: 20 in / 5 out',
    ])
    expect(told.channel.sends.length - messages.size).toBeLessThanOrEqual(1)
    expect(told.said().at(-1)).toBe('final')
  }
})

test('[OC-06] a channel that takes 50 characters gets no more at a time, streamed or not', async () => {
  const text = Array.from({ length: 100 }, (_, place) => 100 + place).join(' ')
  for (const streaming of [true, false]) {
    await using told = await staged([{ text, deltaDelayMs: 10 }], { delivery: { streaming }, channel: { textMax: 50 } })

    await askToEnd(told, 'count', ann('a'))

    expect(Math.max(...told.channel.texts.map(({ length }) => length))).toBeLessThanOrEqual(50)
    expect(told.channel.texts.join(' ')).toBe(text)
  }
})

// The crash: two messages wait, for other people than the run.
test.each(crashes)('[OC-22] what waited is answered where it was asked, though somebody wrote from elsewhere since%s', async (crash) => {
  await using told = await staged(
    [1, 2, 3].map((n) => ({ text: `answer ${n}`, delayMs: 1000 })),
    { queueMode: 'followup' },
  )
  await told.say('one', ann('1', { to: 'ann' }))
  await told.clock.advance(100)
  await told.say('two', ann('2', { to: 'bea' }))
  await told.say('three', ann('3', { to: 'cid', thread: 't' }))
  await told.clock.advance(200)
  if (crash) await restart(told)
  await told.quiet()

  expect(told.channel.sends.map(({ route, payload, outcome }) => [route.to, route.thread, payload.text, outcome])).toEqual([
    ['ann', undefined, 'answer 1', 'sent'],
    ['bea', undefined, 'answer 2', 'sent'],
    ['cid', 't', 'answer 3', 'sent'],
  ])
})

test.each([
  ['completed', [{ text: 'Hello.\n\nAnd more.', deltaDelayMs: 100 }], 'final'],
  ['silent', [{ text: 'NO_REPLY' }], 'final'],
  ['empty', [{ text: '' }], 'error'],
  ['failed', [{ error: { code: 'provider_auth' } }], 'error'],
  ['stopped', [{ text: 'Hello.\n\nAnd more.', deltaDelayMs: 5000 }], 'aborted'],
] as const)('[OC-04] a turn that is %s leaves no timer, no typing and no child', async (how, script, type) => {
  await using told = await staged([...script], { delivery: short })
  const run = await told.say('go', ann('a'))
  run.result().catch(() => undefined)
  await told.clock.advance(200)
  if (how === 'stopped') await told.clock.until(told.main.cancel())

  expect(await endOf(told, 'a')).toMatchObject({ type })

  await told.clock.advance(1000)
  await expectNothingAlive(told)
  const before = told.channel.typed.length
  await told.clock.advance(60_000)
  expect(told.channel.typed).toHaveLength(before)
  if (how !== 'stopped') expect(eventsOf(told, 'typing').at(-1)?.active ?? false).toBe(false)
})

// The stream ends with `stream.abort` at once, so what its effect says of the end of typing is lost.
test('[OC-04] whoever follows a turn that is stopped hears that nobody types any more', async () => {
  await using told = await staged([{ text: 'Hello.', deltaDelayMs: 5000 }])
  await told.say('go', ann('a'))
  await told.clock.advance(200)
  await told.clock.until(told.main.cancel())
  await endOf(told, 'a')
  await told.clock.advance(1000)

  expect(eventsOf(told, 'typing').map(({ active }) => active)).toEqual([true, false])
})

test('[OC-06] what arrived late has arrived, also when its turn is over', async () => {
  await using told = await staged([{ text: 'Hello.' }])
  told.channel.delay(1000)
  await askToEnd(told, 'hi', ann('a'))

  expect(told.channel.texts).toEqual(['Hello.'])
})

test.each(['steered', 'queued'] as const)('[OC-04] a message that is %s leaves no typing of its own', async (status) => {
  await using told = await staged([{ text: 'one', delayMs: 1000 }, { text: 'two' }], { queueMode: status === 'steered' ? 'steer' : 'followup' })
  await told.say('go', ann('a'))
  await told.clock.advance(100)
  expect(await told.say('and', ann('b', { to: 'bea' }))).toMatchObject({ status })
  await told.clock.advance(500)

  expect(eventsOf(told, 'typing').map(({ runId, route }) => [runId, route.to])).toEqual([['a', 'ann']])
  await told.quiet()
  await expectNothingAlive(told)
})

describe('the order of phases', () => {
  const full = 'final: Usage: 10 in / 5 out'
  /** A second turn with everything in it, in words. */
  const phases = async () => {
    await using told = await staged(
      {
        info: { contextTokens: 200_000 },
        script: ({ messages }) => {
          const newest = messages.at(-1)
          if (newest?.role === 'user' && newest.text.startsWith('take notes')) return { text: 'NO_REPLY' }
          if (newest?.role === 'user' && newest.text === 'how is it') return { text: 'Let me see.', calls: [work('x')] }
          const last = { text: 'It is cold.', usage: { inputTokens: 10, outputTokens: 5 } }
          return newest?.role === 'tool' ? last : { text: 'Hello.', usage: { inputTokens: 176_000, outputTokens: 0 } }
        },
      },
      { tools, verbose: 'on', usage: 'tokens', delivery: short, memoryFlush: { prompt: 'take notes' } },
    )
    await askToEnd(told, 'hi', ann('a'))
    const before = told.events('main').length
    await askToEnd(told, 'how is it', ann('b'))
    await expectReplay(told)
    return told
      .events('main')
      .slice(before)
      .flatMap((event) => {
        if (event.type === 'block') return [`${event.kind}: ${event.payload.text}`]
        if (event.type === 'typing') return [`typing ${event.active}`]
        return ['accepted', 'started', 'flushed', 'usage', 'final'].includes(event.type) ? [event.type] : []
      })
  }

  test('[OC-02] typing, notes, execution, the rest of the blocks, what the turn itself has to say, the outcome', async () => {
    expect((await phases()).filter((phase) => phase !== 'usage')).toEqual([
      'accepted',
      'started',
      'typing true',
      'flushed',
      'block: Let me see.',
      expect.stringMatching(/^tool: Tool work/),
      'block: It is cold.',
      full,
      'typing false',
      'final',
    ])
  })
})

// The crash: a message waits behind an answer that is on its way.
test.each(crashes)('[OC-09, OC-12] what is said while the answer is being delivered gets a turn of its own%s', async (crash) => {
  await using told = await staged(({ messages }) => ({ text: `saw ${messages.length}` }), { queueMode: 'steer' })
  told.channel.delay(3000)
  await told.say('one', ann('a'))
  await told.clock.advance(1000)
  expect(await told.say('two', ann('b'))).toMatchObject({ status: 'queued' })
  if (crash) await restart(told)
  await endOf(told, 'b')

  expect(arrived(told)).toEqual(['final: saw 1', 'final: saw 3'])
  await expectReplay(told)
})

test('[OC-62] of a message in parts the first that takes too long counts, and the others are not sent', async () => {
  const paragraphs = ['One', 'Two', 'Three'].map((word) => `${word} ${'x'.repeat(45)}`)
  const limits = { streaming: true, min: 10, max: 60, sendTimeoutMs: 1000, coalesce: { minChars: 1, idleMs: 0 } }
  await using told = await staged([slowly(...paragraphs)], { channel: { textMax: 60 }, responsePrefix: 'PREFIX PREFIX PREFIX', delivery: limits })
  told.channel.hang(1)
  told.channel.fail(2)
  await askToEnd(told, 'go', ann('a'))

  expect(told.channel.sends.map(({ kind }) => kind).slice(1)).not.toContain('block')
})
