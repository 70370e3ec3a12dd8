/** The dispatcher of one answer alone: what it sends when, and what of it has to wait, be dropped or be left out. */
import { describe, expect, test } from 'vitest'
import { dispatcherMachine } from '../../../src/chat/delivery/dispatcher.machine.ts'
import { type Delivery, deliveryDefaults } from '../../../src/contracts/channel.ts'
import { walker } from '../../machines/walk.ts'

const dispatcher = walker(dispatcherMachine, ['send'])
/** Each block goes without waiting for more. */
const short = { streaming: true, coalesce: { minChars: 1, maxChars: 5 } } as const
type Options = { delivery?: Delivery; textMax?: number | null; known?: { kind: 'block' | 'final' | 'tool'; key: string }[] }
const begin = ({ delivery = short, textMax = 100, known = [] }: Options = {}) =>
  dispatcher.start({ delivery: deliveryDefaults({ replyTo: 'off', ...delivery }), textMax, messageId: 'm7', known })

type Walk = ReturnType<typeof begin>
const start = { type: 'delivery.start', attempt: 1 }
const ended = { type: 'message.ended', whole: true }
const superseded = { type: 'message.superseded' }
const abort = { type: 'delivery.abort' }
const say = (...texts: string[]) => ({ type: 'blocks', blocks: texts.map((text) => ({ text })), voice: false })
const tool = (callId: string, text: string) => ({ type: 'delivery.tool', callId, payload: { text } })
const finish = (payloads: object[] = [], trailing: object[] = []) => ({ type: 'delivery.finish', leading: [], payloads, trailing })
const keyOf = (text: string) => JSON.stringify([text, [], ''])

const given = (walk: Walk) => walk.inputs('send').map(({ kind, payload: { text, media } }) => `${kind}: ${text ?? media.join(' ')}`)
/** The channel has taken what it was given last. */
const sent = (walk: Walk) => walk.resolve('send', undefined)
const heard = (walk: Walk, type: string) => walk.heard().filter((event) => event.type === type)
const region = (walk: Walk, name: string) => (walk.state as { delivering: Record<string, unknown> }).delivering[name]

describe('the queue', () => {
  test('[OC-61, OC-72] one message is sent after the other, in the order in which they came', async () => {
    const walk = begin().send(start).send(say('first one')).send(tool('c1', 'search')).send(say('second one'))
    expect(given(walk)).toEqual(['block: first one'])

    await sent(walk)
    await sent(walk)
    expect(given(walk)).toEqual(['block: first one', 'tool: search', 'block: second one'])
    await sent(walk)

    expect(region(walk, 'queue')).toBe('idle')
    expect(walk.context.counts).toEqual({ tool: 1, block: 2, final: 0 })
    expect(heard(walk, 'block.sent').map(({ kind, key }) => [kind, key])).toEqual([
      ['block', keyOf('first one')],
      ['tool', 'c1'],
      ['block', keyOf('second one')],
    ])
  })

  test('[OC-06] what is too long for the channel goes in parts, and counts as one message', async () => {
    const walk = begin({ textMax: 10 }).send(tool('c1', 'and so on and so on'))
    await sent(walk)
    expect(walk.inputs('send').map(({ part }) => part)).toEqual([0, 1])
    expect(walk.context.counts.tool).toBe(0)

    await sent(walk)

    expect(walk.context.counts.tool).toBe(1)
  })

  test('of the messages about one call each has a name of its own, whatever the model calls it', async () => {
    const walk = begin().send(tool('constructor', 'begun')).send(tool('c1', 'begun')).send(tool('constructor', 'done'))
    for (let message = 0; message < 3; message++) await sent(walk)

    expect(heard(walk, 'block.sent').map(({ key }) => key)).toEqual(['constructor', 'c1', 'constructor.2'])
  })

  test('[OC-61] of one that fails the next part is not sent, but the next message is', async () => {
    const walk = begin({ textMax: 10 }).send(tool('c1', 'and so on and so on')).send(tool('c1', 'more'))

    await walk.reject('send', new Error('no'))

    expect(given(walk)).toEqual(['tool: and so on', 'tool: more'])
    expect(walk.context).toMatchObject({ failed: 1, lost: 1, aborted: false })
    expect(heard(walk, 'block.failed')).toEqual([{ type: 'block.failed', kind: 'tool', key: 'c1', timedOut: false }])
    await sent(walk)
    expect(heard(walk, 'block.sent')).toMatchObject([{ key: 'c1.2' }])
  })

  test('[OC-62] after a block that takes too long no other is sent, but what is not a block is', async () => {
    const walk = begin().send(start).send(say('first one', 'second one')).send(tool('c1', 'search'))
    walk.pass(14_999)
    expect(region(walk, 'queue')).toBe('sending')
    walk.pass(1)

    expect(given(walk)).toEqual(['block: first one', 'tool: search'])
    expect(walk.context).toMatchObject({ aborted: true, skipped: { dropped: 1 } })
    await sent(walk)
    walk.send(finish([{ text: 'all of it' }]))
    expect(given(walk).at(-1)).toBe('final: all of it')
  })

  test('[OC-62] without a limit a send may take as long as a timer runs', () => {
    const walk = begin({ delivery: { ...short, sendTimeoutMs: 0 } }).send(tool('c1', 'search'))

    walk.pass(2 ** 31)

    expect(region(walk, 'queue')).toBe('sending')
  })

  test('[OC-72] between blocks is a pause, and none before what is not a block', async () => {
    const walk = begin({ delivery: { ...short, pacing: { minMs: 300, maxMs: 300 } } })
      .send(start)
      .send(say('first one'))
      .send(tool('c1', 'search'))
    walk.send(say('second one'))
    await sent(walk)
    await sent(walk)
    expect(region(walk, 'queue')).toBe('pausing')

    walk.pass(299)
    expect(given(walk)).toHaveLength(2)
    walk.pass(1)
    expect(given(walk).at(-1)).toBe('block: second one')
  })

  test('[OC-72] the natural pause is no shorter than that of a person', async () => {
    const walk = begin({ delivery: { ...short, pacing: 'natural' } })
      .send(start)
      .send(say('first one', 'second one'))
    await sent(walk)

    walk.pass(799)

    expect(region(walk, 'queue')).toBe('pausing')
  })

  test('[OC-72, OC-75] what is nothing, silent or has nowhere to go is left out for that reason; a heartbeat token is noticed once', () => {
    const walk = begin()
      .send(start)
      .send(tool('c1', ' '))
      .send(tool('c2', 'NO_REPLY'))
      .send(tool('c3', 'HEARTBEAT_OK'))
      .send(tool('c4', 'HEARTBEAT_OK'))
    expect(walk.context.skipped).toEqual({ empty: 1, silent: 1, heartbeat: 2 })
    expect(heard(walk, 'stripped')).toHaveLength(1)

    const nowhere = begin({ textMax: null }).send(start).send(say('first one')).send(tool('c1', 'search'))
    expect(nowhere.context).toMatchObject({ skipped: { no_channel: 2 }, lost: 1, complete: false })
    expect(given(nowhere)).toEqual([])
  })
})

describe('short blocks', () => {
  const patient = { streaming: true, coalesce: { minChars: 10, maxChars: 50, idleMs: 1000 } } as const

  test('[OC-60] go together once no more come for a while', () => {
    const walk = begin({ delivery: patient }).send(start).send(say('one and')).pass(999).send(say('two and')).pass(999)
    expect([region(walk, 'blocks'), given(walk)]).toEqual(['holding', []])

    walk.pass(1)

    expect([region(walk, 'blocks'), given(walk)]).toEqual(['none', ['block: one and\n\ntwo and']])
  })

  test('[OC-60, OC-66] that are too short wait for more, however long that takes, but not beyond the beginning of a tool', () => {
    const walk = begin({ delivery: patient }).send(start).send(say('one')).pass(1000).pass(60_000)
    expect([region(walk, 'blocks'), given(walk)]).toEqual(['short', []])

    walk.send({ type: 'delivery.tool', callId: 'c1' })

    expect([region(walk, 'blocks'), given(walk)]).toEqual(['none', ['block: one']])
  })

  test('[OC-63] sound waits for the end, and is a voice message if the model once wanted that', async () => {
    const walk = begin()
      .send(start)
      .send({ type: 'blocks', blocks: [{ media: ['song.mp3'] }], voice: false })
      .send({ type: 'blocks', blocks: [], voice: true })
    expect([region(walk, 'blocks'), given(walk)]).toEqual(['none', []])

    walk.send(ended).send(finish())

    expect(walk.inputs('send')).toMatchObject([{ payload: { media: ['song.mp3'], voice: true } }])
  })
})

describe('another attempt at a message', () => {
  test('drops what of it waits or pauses, and says which blocks went out', async () => {
    const walk = begin({ delivery: { ...short, pacing: { minMs: 300, maxMs: 300 } } })
      .send(start)
      .send(say('first one', 'second one', 'third one'))
    await sent(walk)
    expect(region(walk, 'queue')).toBe('pausing')

    walk.send({ ...start, attempt: 2 })

    expect(region(walk, 'queue')).toBe('idle')
    expect(heard(walk, 'superseded')).toEqual([{ type: 'superseded', said: [{ key: keyOf('first one'), text: 'first one' }] }])
    walk
      .send({ type: 'block.found', block: { key: keyOf('first one'), text: 'first one' } })
      .send(ended)
      .send(finish([{ text: '…' }]))
    expect(walk.state).toBe('done')
    expect(given(walk)).toEqual(['block: first one'])
  })

  test('lets go on what is being sent, also the second time', async () => {
    const walk = begin().send(start).send(say('first one', 'second one')).send(superseded).send(superseded)

    await sent(walk)

    expect(given(walk)).toEqual(['block: first one'])
    expect(walk.context.counts.block).toBe(1)
  })

  test('leaves alone what earlier messages said, and what was sent about tools', async () => {
    const walk = begin().send(start).send(say('hold on')).send(say('first one')).send(tool('c1', 'search')).send(ended)

    walk
      .send({ ...start, prefix: '[bot]' })
      .send(say('second one'))
      .send(superseded)
      .send(say('third one'))
    for (let message = 0; message < 3; message++) await sent(walk)

    expect(given(walk)).toEqual(['block: hold on', 'block: first one', 'tool: search', 'block: [bot] third one'])
  })

  test('[OC-63] takes back the sound of its message, and leaves alone that of earlier ones', () => {
    const sound = (file: string) => ({ type: 'blocks', blocks: [{ media: [file] }], voice: false })
    const walk = begin().send(start).send(sound('before.mp3')).send(ended).send(start).send(sound('old.mp3')).send(superseded)

    walk.send(ended).send(finish())

    expect(given(walk)).toEqual(['block: before.mp3'])
    expect(walk.context.waiting).toEqual([])
  })
})

describe('the end', () => {
  test('[OC-64, OC-65] what was streamed goes first, then what was not, and then it is done', async () => {
    const walk = begin()
      .send(start)
      .send(say('first one'))
      .send(ended)
      .send(finish([{ text: 'first one' }], [{ text: '3 tokens' }]))
    expect([region(walk, 'answer'), given(walk)]).toEqual(['flushing', ['block: first one']])

    await sent(walk)
    expect([region(walk, 'answer'), given(walk).at(-1)]).toEqual(['finishing', 'final: 3 tokens'])
    await sent(walk)

    expect(walk.state).toBe('done')
    expect(walk.output).toEqual({ counts: { tool: 0, block: 1, final: 1 }, failed: 0, lost: 0, aborted: false, skipped: {} })
  })

  test('[OC-65] where something of the message got lost on its way, the answer goes as a whole', async () => {
    const walk = begin()
      .send(start)
      .send(say('first one'))
      .send({ type: 'message.ended', whole: false })
      .send(finish([{ text: 'one and all' }]))

    await sent(walk)

    expect(given(walk)).toEqual(['block: first one', 'final: one and all'])
  })

  test('[OC-65] after streaming was given up in another life as well', () => {
    const walk = begin()
      .send({ type: 'broken' })
      .send(start)
      .send(say('first one'))
      .send(finish([{ text: 'one and all' }]))

    expect(given(walk)).toEqual(['final: one and all'])
  })

  test('what had arrived in another life counts and is not sent again', async () => {
    const known = [
      { kind: 'block', key: keyOf('first one') },
      { kind: 'tool', key: 'c1' },
    ] as const
    const walk = begin({ known: [...known] })
      .send(start)
      .send(say('first one', 'second one'))
      .send(tool('c1', 'search'))
    expect(given(walk)).toEqual(['block: second one'])

    await sent(walk)
    walk.send(ended).send(finish([{ text: '…' }]))

    expect(walk.output.counts).toEqual({ tool: 1, block: 2, final: 0 })
  })

  test('[OC-70, OC-71] typing is told what goes on: at the end only that there is something to send, if there is', () => {
    const told = (walk: Walk) => heard(walk, 'typing').map(({ trigger }) => trigger)
    expect(
      told(
        begin()
          .send(start)
          .send(tool('c1', 'x'))
          .send(finish([{ text: 'NO_REPLY' }]))
          .pass(15_000),
      ),
    ).toEqual(['run.start', 'message.start', 'tool', 'run.complete', 'cleanup'])
    expect(told(begin().send(finish([{ text: 'yes' }])))).toEqual(['run.start', 'run.start', 'run.complete'])
    expect(told(begin().send(abort))).toEqual(['run.start', 'cleanup'])
  })

  test('[OC-04] when nobody wants more, what is left is lost: of blocks all as one', () => {
    const walk = begin().send(start).send(say('first one', 'second one')).send(tool('c1', 'search')).send(abort)

    expect(walk.state).toBe('aborted')
    expect(walk.output).toEqual({ counts: { tool: 0, block: 0, final: 0 }, failed: 0, lost: 2, aborted: true, skipped: {} })
    expect(walk.pass(60_000).inputs('send')).toHaveLength(1)
  })
})

test('every transition of the chart has been taken', () => {
  expect(dispatcher.missed()).toEqual([])
})
