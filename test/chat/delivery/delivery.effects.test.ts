/** What becomes of an answer on its way to a channel: the rows of the pipeline, one story each. */
import { describe, expect, test } from 'vitest'
import { webChannel } from '../../../src/chat/channels/web.ts'
import { stage, words } from './stage.ts'

const streaming = { streaming: true } as const
/** Each paragraph is a block, and goes without waiting for more. */
const short = { streaming: true, min: 10, max: 200, coalesce: { minChars: 1, maxChars: 10 } } as const

describe('streaming', () => {
  test('[OC-58] without it a long answer is one final message', async () => {
    const turn = await stage().start().say(words(3000)).end().pass(10_000)
    expect(turn.sends).toEqual([])

    const output = await turn.finish([{ text: words(3000) }]).over()

    expect(turn.sends).toEqual([`final: ${words(3000)}`])
    expect(output).toEqual({ counts: { tool: 0, block: 0, final: 1 }, failed: 0, lost: 0, aborted: false, skipped: {} })
  })

  test('[OC-58] blocks go while the text grows, or when the message is over; too long they never get', async () => {
    const paragraphs = [words(900, 'one'), words(900, 'two')].join('\n\n')
    const growing = await stage({ delivery: streaming }).start().say(`${paragraphs}\n\n`).pass(1000)
    expect(growing.sends).toEqual([`block: ${words(900, 'one')}`, `block: ${words(900, 'two')}`])

    const atEnd = await stage({ delivery: { ...streaming, boundary: 'message_end' } })
      .start()
      .say(`${words(900)}\n\n`)
      .pass(10_000)
    expect(atEnd.sends).toEqual([])
    await atEnd.say(words(900)).pass(1000)
    expect(atEnd.sends).toEqual([`block: ${words(900)}`])
  })

  test('[OC-06] no message is longer than its channel takes', async () => {
    const turn = stage({ delivery: streaming, channel: { textMax: 50 } })
    const counted = (from: number) => Array.from({ length: 60 }, (_, place) => from + place).join(' ')

    await turn
      .start()
      .say(counted(100))
      .end()
      .tool('c', counted(200))
      .finish([], { trailing: [{ text: counted(300) }] })
      .over()

    const lengths = turn.channel.sends.map(({ payload }) => payload.text?.length ?? 0)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(50)
    expect(turn.channel.texts.join(' ')).toBe([counted(100), `Tool ${counted(200)}`, counted(300)].join(' '))
    expect(new Set(turn.channel.sends.map(({ key }) => key)).size).toBe(lengths.length)
  })

  test('[OC-60] three short blocks and then silence: one message, a second after the last', async () => {
    const turn = stage({ delivery: { streaming: true, min: 290, max: 1200, coalesce: { minChars: 800 } } }).start()

    for (const word of ['one', 'two', 'six']) await turn.say(`${words(300, word)}\n\n`).pass(200)
    await turn.pass(799)
    expect(turn.sends).toEqual([])
    await turn.pass(1)

    expect(turn.channel.sends).toMatchObject([{ at: 1400, payload: { text: ['one', 'two', 'six'].map((word) => words(300, word)).join('\n\n') } }])
  })

  test('[OC-60] what is too short for a message waits for more, however long that takes', async () => {
    const turn = await stage({ delivery: streaming }).start().say('Hm.').end().pass(60_000)
    expect(turn.sends).toEqual([])

    await turn.finish([{ text: 'Hm.' }]).over()

    expect(turn.sends).toEqual(['block: Hm.'])
  })

  test('[OC-61] messages are sent in their order, one after the other; what is said twice is sent twice, under a key of its own', async () => {
    const turn = stage({ delivery: short })
    turn.channel.delay(5000)

    await turn.start().say('This is A.\n\nThis is B.\n\nThis is A.\n\n').end().pass(4999)
    expect(turn.sends).toEqual(['block: This is A.'])
    const output = await turn.finish().over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is B.', 'block: This is A.'])
    expect(new Set(turn.channel.sends.map(({ key }) => key)).size).toBe(3)
    expect(output).toMatchObject({ counts: { block: 3 }, skipped: {} })
  })

  test('[OC-61] one that cannot be sent is logged, and the next one goes on', async () => {
    const turn = stage({ delivery: short })
    turn.channel.fail(1)

    const output = await turn
      .start()
      .say('This is A.\n\nThis is B.\n\n')
      .end()
      .finish([{ text: 'This is A.' }, { text: 'This is B.' }])
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is B.', 'final: This is A.'])
    expect(output).toMatchObject({ counts: { block: 1, final: 1 }, failed: 1, aborted: false })
    expect(turn.logged).toEqual(['a message could not be sent'])
  })

  test('[OC-62, OC-65] a block that hangs for 15 s is given up, and all after it; the whole answer comes at the end', async () => {
    const turn = stage({ delivery: short })
    turn.channel.hang(2)

    await turn.start().say('This is A.\n\nThis is B.\n\nThis is C.\n\n').pass(14_999)
    expect(turn.state).toEqual({ open: 'flushing' })
    await turn.pass(1)
    expect(turn.state).toBe('broken')
    await turn.say('This is D.\n\n').end().pass(60_000)
    const output = await turn.finish([{ text: 'This is A to D.' }]).over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is B.', 'final: This is A to D.'])
    expect(turn.channel.sends[1]?.outcome).toBe('aborted')
    expect(output).toEqual({ counts: { tool: 0, block: 1, final: 1 }, failed: 1, lost: 0, aborted: true, skipped: { dropped: 2 } })
    expect(turn.logged).toHaveLength(1)
  })

  test('[OC-62] without a limit a send may take as long as it takes', async () => {
    const turn = stage({ delivery: { ...short, sendTimeoutMs: 0 } })
    turn.channel.delay(100_000)

    const output = await turn.start().say('This is A.').end().finish().over()

    expect(output).toMatchObject({ counts: { block: 1 }, aborted: false })
  })

  test('[OC-63] sound waits for the end, and is a voice message if any part of the answer asked for one', async () => {
    const turn = await stage({ delivery: short })
      .start()
      .say('MEDIA: https://example.com/song.mp3\nMEDIA: https://example.com/cover.png\nListen to this.\n\n')
      .pass(1000)
    expect(turn.sends).toEqual(['block: https://example.com/cover.png', 'block: Listen to this.'])

    await turn.say('[[audio_as_voice]]').end().finish().over()

    expect(turn.channel.sends.at(-1)?.payload).toEqual({ media: ['https://example.com/song.mp3'], voice: true })
  })

  test('[OC-64, OC-65] the rest goes before the turn ends, and no final says it again', async () => {
    const turn = stage({ delivery: streaming })
    turn.channel.delay(3000)

    turn
      .start()
      .say(words(500))
      .end()
      .finish([{ text: words(500) }])
    await turn.pass(2999)
    expect(turn.state).toBe('finishing')
    const output = await turn.over()

    expect(turn.sends).toEqual([`block: ${words(500)}`])
    expect(output.counts).toEqual({ tool: 0, block: 1, final: 0 })
  })

  test('[OC-65] that something went wrong is said, whatever was streamed', async () => {
    const turn = stage({ delivery: streaming })

    await turn
      .start()
      .say('I begin to')
      .finish([{ text: 'I begin to' }, { text: 'The model broke down.', error: true }])
      .over()

    expect(turn.sends).toEqual(['block: I begin to', 'final: The model broke down.'])
  })

  test('[OC-66] what was said goes before a tool begins, and then what is told about the tool', async () => {
    const turn = stage({ delivery: streaming })
    turn.channel.delay(2000)

    await turn.start().say('Let me see.').end().tool('c1', 'search: cats').pass(2000)

    expect(turn.sends).toEqual(['block: Let me see.', 'tool: Tool search: cats'])
    expect(turn.channel.sends[1]?.at).toBe(2000)
  })

  test('[OC-87] what is added to an answer comes with it, streamed or not', async () => {
    const turn = stage({ delivery: streaming, prefix: '[bot]' })

    await turn
      .start()
      .say('Hello.')
      .end()
      .finish([{ text: '[bot] Hello.' }], { leading: [{ text: 'New session' }], trailing: [{ text: '3 tokens' }] })
      .over()

    expect(turn.sends).toEqual(['block: [bot] Hello.', 'final: New session', 'final: 3 tokens'])
  })

  test('[OC-78] tags of the model are obeyed, and no part of one is ever seen', async () => {
    const turn = stage({ delivery: { ...short, replyTo: 'off', tagsWhenOff: true }, messageId: 'm7' })

    turn.start().say('[[reply_to').say('_current]]Yes, I am he').say('re.\nMEDIA: https://example.com/a')
    await turn.say('.png\n').end().finish().over()

    expect(turn.channel.sends.map(({ payload }) => payload)).toEqual([
      { text: 'Yes, I am here.', replyTo: 'm7', replyTagged: true },
      { media: ['https://example.com/a.png'], replyTo: 'm7', replyTagged: true },
    ])
  })

  test.each([
    ['all', ['m7', 'm7', 'm7']],
    ['first', ['m7', undefined, undefined]],
    ['off', [undefined, undefined, undefined]],
  ] as const)('messages point at the one that they answer: %s', async (replyTo, targets) => {
    const turn = stage({ delivery: { ...short, replyTo }, messageId: 'm7' })
    turn.channel.fail(2)

    await turn
      .start()
      .say('This is A.\n\nThis is B.\n\n')
      .end()
      .finish([{ text: 'This is A.' }, { text: 'This is B.' }])
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is B.', 'final: This is B.'])
    expect(turn.channel.sends.map(({ payload }) => payload.replyTo)).toEqual(targets)
  })
})

describe('what is not sent', () => {
  test('[OC-67] of an answer that says nothing is to be sent, nobody sees anything', async () => {
    const seen: string[] = []
    const partial = (text: string) => void seen.push(text)
    const turn = stage({ delivery: { ...short, typing: { mode: 'message' } }, channel: { partial } })

    const output = await turn
      .start()
      .spell('NO_REPLY')
      .end()
      .finish([{ text: 'NO_REPLY' }])
      .over()

    expect([turn.sends, seen, turn.channel.typed]).toEqual([[], [], []])
    expect(output).toMatchObject({ counts: { block: 0, final: 0 }, skipped: { silent: 1 } })
  })

  test('[OC-67] a channel with drafts is shown the text without reasoning and tokens', async () => {
    const seen: string[] = []
    const partial = (text: string) => void seen.push(text)
    const turn = stage({ delivery: short, channel: { partial } })

    await turn.start().say('<think>Hm.</think>Nothing').say(' new.').say(' HEARTBEAT').say('_OK').end().finish().over()

    expect(seen).toEqual(['Nothing', 'Nothing new.'])
    expect(turn.sends).toEqual(['block: Nothing new.'])
  })

  test('[OC-79] of a model that puts its answer in final tags, only that is sent', async () => {
    const turn = stage({ delivery: { ...short, finalOnly: true } })

    await turn
      .start()
      .spell('I think.<final>Here it is.</final>Done.')
      .end()
      .finish([{ text: 'Here it is.' }])
      .over()

    expect(turn.sends).toEqual(['block: Here it is.'])
  })

  test('[OC-67] where the reasoning is shown live, it is shown in place of the text', async () => {
    const seen: unknown[] = []
    const turn = stage({ delivery: { ...short, reasoning: 'stream' }, channel: { partial: (text, { kind }) => void seen.push([kind, text]) } })

    await turn.start().say('Hm', 'reasoning').say('…', 'reasoning').say('Yes, of course.').end().finish().over()

    expect(seen).toEqual([
      ['reasoning', 'Hm'],
      ['reasoning', 'Hm…'],
    ])
    expect(turn.sends).toEqual(['block: Yes, of course.'])
  })

  test('[OC-72] what is empty, silent or only says that all is well is skipped for that reason', async () => {
    const turn = stage()

    const output = await turn
      .finish([{ text: ' ' }, { text: 'NO_REPLY' }, { text: '**HEARTBEAT_OK**' }, { text: 'HEARTBEAT_OK but it rains' }])
      .over()

    expect(turn.sends).toEqual(['final: but it rains'])
    expect(output).toMatchObject({ counts: { final: 1 }, skipped: { empty: 1, silent: 1, heartbeat: 1 } })
    expect(turn.logged).toEqual(['a heartbeat token was taken off an answer'])
  })

  test('a text that only looks like the beginning of a token is sent', async () => {
    const turn = stage({ delivery: short })

    await turn
      .start()
      .spell('NO')
      .end()
      .finish([{ text: 'NO' }])
      .over()

    expect(turn.sends).toEqual(['block: NO'])
  })

  test('an answer to a channel that is not there is no reason for the turn to wait', async () => {
    const turn = stage({ to: 'elsewhere', delivery: short })

    const output = await turn
      .start()
      .say('This is A.')
      .end()
      .tool('c', 'search')
      .finish([{ text: 'This is A.' }])
      .over()

    expect(output).toMatchObject({ counts: { tool: 0, block: 0, final: 0 }, skipped: { no_channel: 3 } })
    expect(turn.logged).toEqual(['there is no such channel: an answer cannot be delivered'])
  })
})

describe('typing and pauses', () => {
  test.each([
    ['never', undefined],
    ['instant', 0],
    ['thinking', 1000],
    ['message', 2000],
  ] as const)('[OC-68, OC-69] in mode %s it begins after %s ms', async (mode, begins) => {
    const turn = await stage({ delivery: { typing: { mode } } })
      .start()
      .pass(1000)

    await turn.say('Hm', 'reasoning').pass(1000)
    await turn.say('Hello').pass(1000)
    await turn.end().tool('c').pass(1000)

    expect(turn.channel.typed[0]).toBe(begins)
    await turn.finish().over()
  })

  test('[OC-70] it is shown every 6 s until all is sent, and never after that', async () => {
    const turn = stage()
    turn.channel.delay(7000)

    turn.start().say('Hello').end()
    await turn.pass(13_000)
    await turn.finish([{ text: 'Hello' }]).over()
    await turn.tool('late', 'late').pass(60_000)

    expect(turn.channel.typed).toEqual([0, 6000, 12_000, 18_000])
    expect(turn.live.filter(({ type }) => type === 'typing').map(({ active }) => active)).toEqual([true, true, true, true, false])
    expect(turn.sends).toEqual(['final: Hello'])
  })

  test('[OC-70] after 2 min of silence nobody is seen to type', async () => {
    const turn = await stage().pass(300_000)

    expect(turn.channel.typed.at(-1)).toBe(114_000)
  })

  test('a channel that cannot show it just now is asked again, and the answer comes all the same', async () => {
    let asked = 0
    const typing = () => {
      asked++
      throw new Error('not now')
    }
    const turn = await stage({ channel: webChannel({ id: 'test', typing, partial: typing }), own: true }).pass(6000)

    const output = await turn
      .start()
      .say('Hello.')
      .end('Hello.')
      .finish([{ text: 'Hello.' }])
      .over()

    expect([asked, output.counts.final]).toEqual([2, 1])
    expect(turn.logged).toEqual(['that somebody types cannot be shown'])
  })

  test('[OC-71] for an answer that is nothing nobody begins to type', async () => {
    const turn = await stage({ delivery: { typing: { lifetimeMs: 100 } } }).pass(1000)
    expect(turn.channel.typed).toEqual([0])

    await turn.finish([{ text: '' }, { text: 'NO_REPLY' }]).over()

    expect(turn.channel.typed).toEqual([0])
  })

  test('[OC-71] for one that is something, somebody does', async () => {
    const turn = await stage({ delivery: { typing: { lifetimeMs: 100 } } }).pass(1000)

    await turn.finish([{ text: 'Here I am.' }]).over()

    expect(turn.channel.typed).toEqual([0, 1000])
  })

  test('[OC-72] between blocks is a pause as a person would make one; not before the first, nor for others', async () => {
    const turn = stage({ delivery: { ...short, pacing: 'natural' } })

    await turn
      .tool('c', 'search')
      .start()
      .say('This is A.\n\nThis is B.\n\nThis is C.\n\n')
      .end()
      .finish([], { trailing: [{ text: '3 tokens' }] })
      .over()

    const [tool = 0, a = 0, b = 0, c = 0, final = 0] = turn.channel.sends.map(({ at }) => at)
    expect([a - tool, final - c]).toEqual([0, 0])
    for (const pause of [b - a, c - b]) expect(pause >= 800 && pause <= 2500).toBe(true)
  })

  test('[OC-73] a slow message about a tool arrives before the turn says that there is nothing to send', async () => {
    const turn = stage()
    turn.channel.delay(9000)

    await turn.tool('c', 'search: cats').finish().pass(8999)
    expect(turn.output).toBeUndefined()

    expect((await turn.over()).counts).toEqual({ tool: 1, block: 0, final: 0 })
  })

  test('[OC-62] a message about a tool that hangs does not hold up the answer', async () => {
    const turn = stage({ delivery: short })
    turn.channel.hang()

    const output = await turn
      .tool('c', 'search')
      .start()
      .say('This is A.')
      .end()
      .finish([{ text: 'This is A.' }])
      .over()

    expect(output).toMatchObject({ counts: { tool: 0, block: 1, final: 0 }, failed: 1, aborted: false })
  })
})

describe('when it is over', () => {
  test('[OC-04] of a turn that is stopped nothing is left: no timer, no listener, no typing', async () => {
    const turn = stage({ delivery: { ...short, pacing: 'natural' } })
    turn.channel.hang(2)
    await turn.start().say('This is A.\n\nThis is B.\n\nThis is C.\n\n').pass(3000)
    expect(turn.channel.sends).toHaveLength(2)

    await turn.tell({ type: 'turn.stopped' }).pass()

    expect(turn.state).toBe('aborted')
    expect([turn.clock.pending(), turn.listeners.size]).toEqual([0, 0])
    expect(turn.channel.sends[1]?.outcome).toBe('aborted')
    expect(turn.live.at(-1)).toMatchObject({ type: 'typing', active: false })
    expect(turn.logged).toEqual([])
  })

  test.each([
    ['a reply', [{ text: 'Hello.' }]],
    ['nothing to say', []],
  ])('[OC-04] after %s nothing is left either', async (_, payloads) => {
    const turn = stage({ delivery: streaming }).start().say('Hello.').end()

    await turn.finish(payloads).over()
    await turn.pass()

    expect([turn.clock.pending(), turn.listeners.size]).toEqual([0, 0])
  })

  test('of a turn that its host lets go of nothing is left either, and nobody hears of it', async () => {
    const turn = stage({ delivery: { ...short, pacing: 'natural' } })
    turn.channel.hang(1)
    await turn.start().say('This is A.\n\nThis is B.\n\n').pass(3000)
    const live = [...turn.live]

    await turn.stop().pass()

    expect([turn.clock.pending(), turn.listeners.size]).toEqual([0, 0])
    expect(turn.channel.sends.map(({ outcome }) => outcome)).toEqual(['aborted'])
    expect([turn.live, turn.logged]).toEqual([live, []])
  })

  test('an answer that no messages can be made of ends all the same, as one that was given up', async () => {
    const turn = stage().start().end()

    const output = await turn.finish([null as never]).over()

    expect(output).toMatchObject({ counts: { final: 0 }, aborted: true })
    expect(turn.logged).toEqual(['an answer could not be delivered to its end'])
  })

  test('whoever listens to the session hears what was delivered, and where', async () => {
    const turn = stage({ delivery: { typing: { mode: 'never' } } })

    await turn
      .tool('c1', 'search')
      .finish([{ text: 'Found.' }])
      .over()

    const route = { channel: 'test', to: 'ada' }
    expect(turn.live).toEqual([
      { type: 'block', runId: 'r', kind: 'tool', key: 's/r/tool/c1', route, payload: { text: 'Tool search' }, messageId: 'test-1' },
      { type: 'block', runId: 'r', kind: 'final', key: 's/r/final/final.1', route, payload: { text: 'Found.' }, messageId: 'test-2' },
    ])
  })
})
