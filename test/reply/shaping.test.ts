/** What users get of an answer: what is said of it, what is taken out, and what is added. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RuntimeError, tool } from '../../src/index.ts'
import type { ScriptedResponse } from '../../src/testing/index.ts'
import { work } from '../runtime/harness.ts'
import { ann, arrived, askToEnd, crashes, endOf, eventsOf, expectReplay, logged, restart, staged, tools, words } from './stage.ts'

const short = { streaming: true, min: 10, max: 200, coalesce: { minChars: 1, maxChars: 10 } } as const
/** At once, and in blocks: what users read must be the same. */
const ways = [
  ['at once', false],
  ['in blocks', true],
] as const
const used = { usage: { inputTokens: 1000, outputTokens: 1000 } }
const priced = (script: ScriptedResponse[]) => ({ info: { price: { input: 3, output: 15 } }, script })

/** What one answer comes to. */
const payloadsOf = async (answer: ScriptedResponse, streaming: boolean, options: Parameters<typeof staged>[1] = {}) => {
  await using told = await staged([{ chunkSize: 3, ...answer }], { ...options, delivery: { ...short, streaming, ...options.delivery } })
  const { outcome } = await askToEnd(told, 'go', ann('a'))
  return { outcome, payloads: told.channel.sends.map(({ payload }) => payload), logged: logged(told, 'heartbeat token') }
}
const textsOf = async (...args: Parameters<typeof payloadsOf>) => (await payloadsOf(...args)).payloads.map(({ text }) => text)

describe.each(ways)('%s', (_, streaming) => {
  test.each(['', '   ', '  \n\n '])('[OC-74] of %j nothing is sent, but that there was nothing', async (text) => {
    expect(await payloadsOf({ text }, streaming)).toMatchObject({ outcome: 'failed', payloads: [{ error: true }] })
  })

  test.each(['[[reply_to_current]]', '<think>only thoughts</think>', 'NO_REPLY'])('[OC-74] of %j nothing is sent', async (text) => {
    expect(await payloadsOf({ text }, streaming)).toMatchObject({ outcome: 'silent', payloads: [] })
  })

  test.each([
    ['alone', 'HEARTBEAT_OK', []],
    ['in bold print', '**HEARTBEAT_OK**', []],
    ['at the beginning', 'HEARTBEAT_OK Dinner is ready.', ['Dinner is ready.']],
    ['at the end', 'Dinner is ready. HEARTBEAT_OK', ['Dinner is ready.']],
    ['in the middle', 'The word HEARTBEAT_OK means that all is well.', ['The word HEARTBEAT_OK means that all is well.']],
  ])('[OC-75] the word of a heartbeat %s', async (_where, text, texts) => {
    const said = await payloadsOf({ text }, streaming)

    expect(said.payloads.map((payload) => payload.text)).toEqual(texts)
    expect(said.outcome).toBe(texts.length > 0 ? 'replied' : 'silent')
  })

  test.each([
    ['alone', 'NO_REPLY', []],
    ['at the beginning', 'NO_REPLY since nothing is to be said', []],
    ['at the end', 'Nothing is to be said. NO_REPLY', []],
    ['in the middle', 'The word NO_REPLY means silence.', ['The word NO_REPLY means silence.']],
  ])('[OC-75] the silent word %s', async (_where, text, texts) => {
    expect(await textsOf({ text, chunkSize: 100 }, streaming)).toEqual(texts)
  })

  test('[OC-75] of a silent answer with a picture the picture is sent, and no text', async () => {
    const { payloads } = await payloadsOf({ text: 'NO_REPLY\nMEDIA:https://example.com/cat.png' }, streaming)

    expect(payloads).toMatchObject([{ media: ['https://example.com/cat.png'] }])
    expect(payloads[0]?.text).toBeUndefined()
  })

  test('[OC-76] of three messages in mode first, the first points at the one that it answers', async () => {
    const script = [{ text: 'One.', calls: [work('x')] }, { text: 'Two.', calls: [work('y')] }, { text: 'Three.' }]
    await using told = await staged(script, { tools, delivery: { ...short, streaming, replyTo: 'first' } })

    await askToEnd(told, 'go', ann('a'))

    expect(told.channel.sends.map(({ payload }) => [payload.text, payload.replyTo])).toEqual([
      ['One.', 'a'],
      ['Two.', undefined],
      ['Three.', undefined],
    ])
  })

  test.each([
    ['a named message', '[[reply_to: a]] Yes.', 'a'],
    ['the present one', '[[reply_to_current]] Yes.', 'a'],
  ])('[OC-76] a tag points at %s; where threading is off, only on a channel that allows it', async (_what, text, replyTo) => {
    const allowed = await payloadsOf({ text }, streaming, { delivery: { replyTo: 'off' }, channel: { tagsWhenOff: true } })
    const forbidden = await payloadsOf({ text }, streaming, { delivery: { replyTo: 'off' } })

    expect(allowed.payloads).toEqual([{ text: 'Yes.', replyTo, replyTagged: true }])
    expect(forbidden.payloads).toEqual([{ text: 'Yes.' }])
  })

  test('[OC-76] where a channel has no rule, all point; its rule may depend on the kind of chat', async () => {
    const modes = { replyTo: ({ chatType = 'direct' }) => (chatType === 'group' ? ('off' as const) : ('all' as const)) }
    await using told = await staged([{ text: 'One.' }, { text: 'Two.' }], { delivery: { ...short, streaming }, channel: modes })

    await askToEnd(told, 'go', ann('a'))
    await askToEnd(told, 'go', ann('b', { chatType: 'group' }))

    expect(told.channel.sends.map(({ payload }) => payload.replyTo)).toEqual(['a', undefined])
  })

  test('[OC-78] what the model asks for in its text is done and taken out; in code it stays', async () => {
    const text = 'Here.\nMEDIA:https://example.com/cat.png\nIn code: `[[audio_as_voice]]`\n```\nMEDIA:https://example.com/dog.png\n```'
    const { payloads } = await payloadsOf({ text }, streaming)

    expect(payloads.flatMap(({ media = [] }) => media)).toEqual(['https://example.com/cat.png'])
    expect(payloads.some(({ voice }) => voice)).toBe(false)
    const said = payloads.map((payload) => payload.text ?? '').join('\n')
    expect(said).toContain('`[[audio_as_voice]]`')
    expect(said).toContain('MEDIA:https://example.com/dog.png')
    expect(said).not.toContain('cat')
  })

  test('[OC-78] a file at /etc/passwd is not sent: its line is text', async () => {
    const { payloads } = await payloadsOf({ text: 'Here.\nMEDIA:/etc/passwd' }, streaming)

    expect(payloads.flatMap(({ media = [] }) => media)).toEqual([])
    expect(payloads.map(({ text }) => text)).toEqual(['Here.\nMEDIA:/etc/passwd'])
  })

  test('[OC-79] no tag of reasoning leaks, however it is cut; in code it stays', async () => {
    const text = '<think>They are <b>cold</b>.</think><final>Put on a coat.</final> Write `<think>` to think.'

    expect((await textsOf({ text, chunkSize: 1 }, streaming)).join(' ')).toBe('Put on a coat. Write `<think>` to think.')
  })

  test('[OC-79] keeps a paragraph that follows itself', async () => {
    const text = 'Put on a coat.\n\nPut on a coat.\n\nAnd a hat.'
    expect((await textsOf({ text }, streaming)).join('\n\n')).toBe(text)
  })

  test.each([
    ['a fault of its own', new Error('the cable is cut'), 1],
    ['arguments that do not fit', undefined, 0],
  ])('[OC-80] a tool that failed of %s and no answer: so many messages', async (_what, error, count) => {
    const cut = tool({
      name: 'work',
      description: 'works',
      input: z.object({ name: z.string() }),
      execute: () => {
        throw error ?? new Error('it was not to be called')
      },
    })
    const script = [{ calls: [{ name: 'work', input: error ? { name: 'x' } : { nonsense: 1 } }] }, { text: '' }]
    await using told = await staged(script, { tools: () => [cut], delivery: { ...short, streaming } })

    await askToEnd(told, 'go', ann('a'))

    const { payloads } = { payloads: told.channel.sends.map(({ payload }) => payload) }
    expect(payloads).toHaveLength(count)
    if (count > 0) expect(payloads).toMatchObject([{ text: expect.stringContaining('work'), error: true }])
  })

  test('[OC-80] where there is an answer, it says itself what failed', async () => {
    const cut = tool({
      name: 'work',
      description: 'works',
      input: z.object({}),
      execute: () => Promise.reject(new RuntimeError('tool_failed', 'cut')),
    })
    const script = [{ calls: [{ name: 'work' }] }, { text: 'The cable is cut.' }]
    await using told = await staged(script, { tools: () => [cut], delivery: { ...short, streaming } })

    await askToEnd(told, 'go', ann('a'))

    expect(told.channel.texts).toEqual(['The cable is cut.'])
  })

  test('[OC-82] the reasoning is a message of its own before the answer, and is not said twice', async () => {
    const script = [{ reasoning: 'They are cold.', text: 'Put on a coat.' }]
    await using told = await staged(script, { reasoning: 'on', delivery: { ...short, streaming } })
    await askToEnd(told, 'go', ann('a'))
    const texts = told.channel.texts

    expect(texts.toSorted()).toEqual(['Put on a coat.', 'Reasoning:\nThey are cold.'])
    if (!streaming) expect(texts[0]).toBe('Reasoning:\nThey are cold.')
  })

  test('[OC-82] nobody sees it unless somebody wants to', async () => {
    expect(await textsOf({ reasoning: 'They are cold.', text: 'Put on a coat.' }, streaming)).toEqual(['Put on a coat.'])
  })

  // The crash: the second model is answering, so the prefix has changed.
  test.each(crashes)(
    '[OC-83] the prefix names the model that answered, after a fallback too; what nobody knows stays as it stands%s',
    async (crash) => {
      await using told = await staged([{ error: { status: 401 } }], {
        models: { 'other/big': [{ text: 'This is A.\n\nThis is B.', delayMs: 1000 }] },
        fallbacks: ['other/big'],
        thinking: 'high',
        responsePrefix: '[{provider} {model} {modelFull} {thinkingLevel} {identity.name} {weather}]',
        delivery: { ...short, streaming },
      })
      await told.say('go', ann('a'))
      await told.clock.advance(500)
      if (crash) await restart(told)
      await endOf(told, 'a')

      const prefix = '[other big other/big high main {weather}]'
      expect(told.channel.texts).toEqual(streaming ? [`${prefix} This is A.`, `${prefix} This is B.`] : [`${prefix} This is A.\n\nThis is B.`])
    },
  )

  test('[OC-83] it is put neither before what has it already nor before a word that is for us', async () => {
    const options = { responsePrefix: '[{model}]' }
    expect(await textsOf({ text: '[model] Hello there.' }, streaming, options)).toEqual(['[model] Hello there.'])
    expect(await textsOf({ text: 'NO_REPLY' }, streaming, options)).toEqual([])
  })

  test('[OC-86, OC-87, OC-93] the line with what it cost is delivered, once', async () => {
    await using told = await staged(priced([{ text: 'Put on a coat.', delayMs: 1000, ...used }]), {
      usage: 'full',
      delivery: { ...short, streaming },
    })
    await told.say('go', ann('a'))
    await told.clock.advance(500)
    await endOf(told, 'a')

    const line = 'Usage: 1.0k in / 1.0k out · est $0.02 · session main'
    expect(told.channel.texts).toEqual(streaming ? ['Put on a coat.', line] : [`Put on a coat.\n${line}`])
    await expectReplay(told)
  })
})

/** A heartbeat token on both answers of a turn, and what was logged of it. */
const strippedBy = async (streaming: boolean) => {
  const script = [{ text: 'HEARTBEAT_OK One.', calls: [work('x')] }, { text: 'HEARTBEAT_OK Two.' }]
  await using told = await staged(script, { tools, delivery: { ...short, streaming } })
  await askToEnd(told, 'go', ann('a'))
  expect(told.channel.texts).toEqual(['One.', 'Two.'])
  return logged(told, 'heartbeat token')
}
test('[OC-75] that the word of a heartbeat was taken off is logged once (in blocks)', async () => {
  expect(await strippedBy(true)).toHaveLength(1)
})

/** A model that needs final tags. */
const finalOf = (streaming: boolean) => textsOf({ text: 'Well, <final>put on a coat.</final> Done.' }, streaming, { delivery: { finalOnly: true } })
test('[OC-79] of a model that needs final tags, only what is in them is shown (in blocks)', async () => {
  expect(await finalOf(true)).toEqual(['put on a coat.'])
})
test('[OC-79] of a model that needs final tags, only what is in them is shown (at once)', async () => {
  expect(await finalOf(false)).toEqual(['put on a coat.'])
})

describe('messages of tools', () => {
  const mail = tool({
    name: 'mail',
    description: 'sends a mail',
    input: z.object({ text: z.string(), to: z.string().default('bea'), works: z.boolean().default(true) }),
    sends: ({ text, to }) => ({ text, route: { channel: 'test', to } }),
    execute: ({ works }) => {
      if (!works) throw new Error('no connection')
      return 'sent'
    },
  })
  const answered = async (input: object, text: string, streaming = false) => {
    await using told = await staged([{ calls: [{ name: 'mail', input }] }, { text }], { tools: () => [mail], delivery: { ...short, streaming } })
    await askToEnd(told, 'go', ann('a'))
    return told.channel.texts
  }

  const repeated = async (streaming: boolean) => {
    expect(await answered({ text: 'Dinner is READY  at eight 🎉' }, 'Dinner is ready at eight', streaming)).toEqual([])
    expect(await answered({ text: 'Dinner is ready at eight' }, 'I wrote: dinner is ready at eight.', streaming)).toEqual([])
  }
  test('[OC-77] what a tool has sent is not said again', async () => {
    await repeated(false)
  })

  test.each(ways)('[OC-77] where the tool failed, the answer arrives (%s)', async (_, streaming) => {
    expect(await answered({ text: 'Dinner is ready at eight', works: false }, 'Dinner is ready at eight', streaming)).toEqual([
      'Dinner is ready at eight',
    ])
  })

  test('[OC-77] where the tool wrote to the very place of the answer, the answer is not sent', async () => {
    expect(await answered({ text: 'Dinner at eight', to: 'ann' }, 'I have told you.')).toEqual([])
  })

  test('[OC-81] where nobody wants to know, nothing is told of tools; where somebody does, that each begins', async () => {
    const script = [{ calls: [work('x', 1000)] }, { calls: [work('y', 1000)] }, { text: 'done' }]
    for (const verbose of ['off', 'on'] as const) {
      await using told = await staged(script, { tools, verbose })
      await told.say('go', ann('a'))
      await told.clock.advance(500)
      await endOf(told, 'a')

      const starts = ['tool: Tool work: {"name":"x","ms":1000}', 'tool: Tool work: {"name":"y","ms":1000}']
      expect(arrived(told).filter((line) => line.startsWith('tool'))).toEqual(verbose === 'on' ? starts : [])
      expect(arrived(told).at(-1)).toBe('final: done')
    }
  })

  // The crash: the setting has changed within the turn.
  test.each(crashes)('[OC-81] switched off between two tools: only the first has a message%s', async (crash) => {
    await using told = await staged([{ calls: [work('x', 1000)] }, { delayMs: 1000, calls: [work('y', 1000)] }, { text: 'done' }], {
      tools,
      verbose: 'on',
    })
    await told.say('go', ann('a'))
    await told.clock.advance(1500)
    await told.say('/verbose off', ann('b'))
    if (crash) await restart(told)
    await endOf(told, 'a')

    expect(arrived(told).filter((line) => line.startsWith('tool'))).toEqual(['tool: Tool work: {"name":"x","ms":1000}'])
  })

  test('[OC-81] full: also what came of it, cut where it is long', async () => {
    const book = tool({ name: 'work', description: 'reads', input: z.object({}), execute: () => words(5000) })
    await using told = await staged([{ calls: [{ name: 'work' }] }, { text: 'done' }], { tools: () => [book], verbose: 'full' })

    await askToEnd(told, 'go', ann('a'))

    const [, start, end] = arrived(told)
    expect([start, end].filter((line) => line?.startsWith('tool'))).toHaveLength(1)
    expect(arrived(told).find((line) => line.includes('answered'))).toMatch(/^tool: Tool work answered: word word[\s\S]*more\)$/)
  })
})

test('[OC-86] text and then a picture: the line ends the text', async () => {
  const script = [{ text: 'Here it is.', calls: [work('x')], ...used }, { text: 'MEDIA:https://example.com/cat.png' }]
  await using told = await staged(script, { tools, usage: 'tokens' })

  await askToEnd(told, 'a cat', ann('a'))

  expect(told.channel.sends.map(({ payload: { replyTo: _, ...payload } }) => payload)).toEqual([
    { text: 'Here it is.\nUsage: 1.0k in / 1.0k out' },
    { media: ['https://example.com/cat.png'] },
  ])
})

test.each(ways)('[OC-87] notices, the reasoning, the answer and its cost, in this order (%s)', async (_, streaming) => {
  await using told = await staged([{ reasoning: 'They are cold.', text: 'Put on a coat.', ...used }], {
    verbose: 'on',
    reasoning: 'on',
    usage: 'tokens',
    responsePrefix: '[{model}]',
    delivery: { ...short, streaming },
  })

  await askToEnd(told, 'go', ann('a'))

  const { sessionId } = (await told.main.view()).record
  const notices = [`final: New session: ${sessionId}`, 'final: Reasoning:\nThey are cold.']
  const line = 'Usage: 1.0k in / 1.0k out'
  expect(arrived(told)).toEqual(
    streaming ? ['block: [model] Put on a coat.', ...notices, `final: ${line}`] : [...notices, `final: [model] Put on a coat.\n${line}`],
  )
  expect(eventsOf(told, 'final')).toHaveLength(1)
})

// The crash: the first turn has ended, and the one that waited is running.
test.each(crashes)('[OC-87] what waited for its turn is decorated in the same way%s', async (crash) => {
  await using told = await staged(
    [
      { text: 'One.', delayMs: 1000, ...used },
      { text: 'HEARTBEAT_OK Two.', delayMs: 1000, ...used },
    ],
    {
      queueMode: 'followup',
      usage: 'tokens',
      responsePrefix: '[{model}]',
    },
  )
  await told.say('one', ann('1'))
  await told.clock.advance(100)
  await told.say('two', ann('2'))
  await told.clock.advance(1500)
  if (crash) await restart(told)
  await endOf(told, '2')

  const line = 'Usage: 1.0k in / 1.0k out'
  expect(told.channel.sends.map(({ payload }) => [payload.text, payload.replyTo])).toEqual([
    [`[model] One.\n${line}`, '1'],
    [`[model] Two.\n${line}`, '2'],
  ])
})

test('[OC-75] within a long answer the word for silence is text, also at the edge of a block', async () => {
  const parts = [words(900, 'first'), `NO_REPLY is what an agent says; ${words(900, 'second')}`, words(900, 'third')]
  for (const streaming of [false, true])
    expect((await textsOf({ text: parts.join('\n\n') }, streaming)).join(' ')).toContain('NO_REPLY is what an agent says')
})
