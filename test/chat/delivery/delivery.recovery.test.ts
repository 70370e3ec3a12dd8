/** Attempts that break off, deltas that get lost, processes that crash: what a user gets of an answer all the same. */
import { describe, expect, test } from 'vitest'
import type { AnyActorRef } from 'xstate'
import { createActor, createMachine } from 'xstate'
import { describeEffect } from '../../../src/actors/root/effect.ts'
import type { DeliverOrder } from '../../../src/chat/delivery/delivery.context.ts'
import { deliver } from '../../../src/chat/delivery/delivery.effects.ts'
import { seededRandom, testChannel, virtualClock } from '../../../src/testing/index.ts'
import { stage } from './stage.ts'

/** Each paragraph is a block, and goes without waiting for more. */
const short = { streaming: true, min: 10, max: 200, coalesce: { minChars: 1, maxChars: 10 } } as const

describe('another attempt', () => {
  test('drops what is left of the one before, and does not say again what was sent', async () => {
    const turn = await stage({ delivery: short }).start().say('This is A.\n\nThis is B').pass()
    expect(turn.sends).toEqual(['block: This is A.'])

    const output = await turn
      .start()
      .spell('This is A.\n\nThis is C.')
      .end()
      .finish([{ text: 'This is A.\n\nThis is C.' }])
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is C.'])
    expect(output.counts).toEqual({ tool: 0, block: 2, final: 0 })
  })

  test('that says something else says all of it', async () => {
    const turn = await stage({ delivery: short }).start().say('This is A.\n\nThis is B.\n\n').pass()

    await turn
      .start()
      .say('This is X.\n\nThis is A.\n\n')
      .end()
      .finish([{ text: '…' }])
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is B.', 'block: This is X.', 'block: This is A.'])
  })

  test('drops what waits to be sent', async () => {
    const turn = stage({ delivery: short })
    turn.channel.delay(1000)
    await turn.start().say('This is A.\n\nThis is B.\n\n').pass()

    await turn.start().say('This is A.\n\nThis is C.\n\n').end().finish().over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is C.'])
  })

  test('takes its sound with it', async () => {
    const turn = await stage({ delivery: short }).start().say('MEDIA: https://example.com/old.mp3\n').pass()

    await turn.start().say('MEDIA: https://example.com/new.mp3\n').end().finish().over()

    expect(turn.sends).toEqual(['block: https://example.com/new.mp3'])
  })

  test('leaves alone what an earlier message of the turn said', async () => {
    const turn = stage({ delivery: { ...short, coalesce: { minChars: 800, maxChars: 1200 } } })
      .start()
      .say('This is A.\n\n')
      .end()

    await turn
      .start()
      .say('This is B')
      .start()
      .say('This is C.')
      .end()
      .finish([{ text: '…' }])
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is C.'])
  })
})

describe('deltas are hints', () => {
  test('what got lost of them comes with the end of the message', async () => {
    const turn = stage({ delivery: short }).start().say('This is A.\n\n')
    turn.hear({ type: 'delta', runId: 'r', attempt: 1, index: 2, kind: 'text', text: 'This is C.\n\n' })

    await turn
      .end('This is A.\n\nThis is B.\n\nThis is C.')
      .finish([{ text: '…' }])
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is B.', 'block: This is C.'])
  })

  test('where it does not, the answer is sent as a whole at the end', async () => {
    const turn = stage({ delivery: short }).start().say('This is A.\n\n')
    turn.hear({ type: 'delta', runId: 'r', attempt: 1, index: 2, kind: 'text', text: 'This is C.\n\n' })

    await turn
      .end()
      .finish([{ text: 'A to C' }])
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'final: A to C'])
  })

  test('those that come twice, late, from another run or with nothing in them change nothing', async () => {
    const turn = stage({ delivery: short })
    const delta = { type: 'delta', runId: 'r', attempt: 1, index: 0, kind: 'text', text: 'This is A.\n\n' }

    turn
      .hear(delta)
      .start()
      .hear(delta)
      .hear(delta)
      .hear({ ...delta, index: 1, runId: 'other' })
      .hear({ ...delta, index: 1, text: 7 })
    turn
      .hear({ ...delta, index: 1, text: 'This is B.', count: 3 })
      .hear({ ...delta, index: 4, text: ' Yes.' })
      .hear({ type: 'started' })
      .end()
    await turn
      .hear({ ...delta, index: 5 })
      .start()
      .hear({ ...delta, index: 5 })
      .finish()
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is B. Yes.'])
  })

  test('a text that the model ended otherwise than it streamed it is said as it ended', async () => {
    const turn = await stage({ delivery: short }).start().say('This is A.\n\nThis is B.\n\n').pass()

    await turn
      .end('This is A.\n\nThat was B.')
      .finish([{ text: '…' }])
      .over()

    expect(turn.sends).toEqual(['block: This is A.', 'block: This is B.', 'block: That was B.'])
  })
})

/** The effect alone, started again after a crash with all orders that it had got. */
const again = async (orders: DeliverOrder[], delivery: object = short) => {
  const clock = virtualClock()
  const channel = testChannel(clock)
  const reports: Record<string, unknown>[] = []
  let hear: (event: { type: string }) => void = () => undefined
  const logic = deliver({
    channel: () => channel,
    hear: (_, listener) => {
      hear = listener
      return () => undefined
    },
    clock,
    random: seededRandom(1).next,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  })
  const input = { session: 's', runId: 'r', route: { channel: 'test', to: 'ada' }, delivery, messageId: 'm7' }
  const machine = createMachine(
    { invoke: { id: 'deliver', src: 'deliver', input: () => input as never }, on: { '*': { actions: 'report' } } },
    { actors: { deliver: logic }, actions: { report: ({ event }) => void reports.push(event as never) } },
  )
  const actor = createActor(machine, {
    inspect: ({ type, actorRef }) => {
      const ref = actorRef as AnyActorRef
      if (type === '@xstate.actor' && ref.id === 'deliver')
        describeEffect(ref, {
          key: 'k',
          attempt: 2,
          epoch: 2,
          restarted: true,
          confirm: async () => undefined,
          tell: () => undefined,
          report: async () => undefined,
          waits: () => undefined,
          leaves: () => false,
        })
    },
  }).start()
  for (const order of orders) actor.getSnapshot().children.deliver?.send(order)
  await clock.advance(0)
  return {
    send: (order: DeliverOrder) => actor.getSnapshot().children.deliver?.send(order),
    say: (text: string, index = 0) => hear({ type: 'delta', runId: 'r', attempt: 2, index, kind: 'text', text } as never),
    settled: () => clock.until(() => reports.some(({ type }) => type === 'delivery.finished'), 60_000),
    clock,
    reports,
    get sends() {
      return channel.sends.map(({ kind, payload: { text, media } }) => `${kind}: ${text ?? media?.join(' ')}`)
    },
    keys: () => channel.sends.map(({ key }) => key),
  }
}
const known = (text: string): DeliverOrder => ({ type: 'known', kind: 'block', key: JSON.stringify([text, [], 'm7']) })
const finish: DeliverOrder = { type: 'delivery.finish', leading: [], payloads: [{ text: 'A and B' }], trailing: [{ text: '3 tokens' }] }

describe('after a crash', () => {
  test('what had arrived of the message that is being written is not sent again when the model says it again', async () => {
    const effect = await again([{ type: 'delivery.start', attempt: 1 }, known('This is A.')])

    effect.say('This is A.\n\nThis is B.\n\n')
    effect.send({ type: 'delivery.end', text: 'This is A.\n\nThis is B.\n\n' })
    effect.send(finish)
    await effect.settled()

    expect(effect.sends).toEqual(['block: This is B.', 'final: 3 tokens'])
    expect(effect.reports.at(-1)).toMatchObject({ counts: { tool: 0, block: 2, final: 1 } })
  })

  test('what is missing of a message that was over is sent', async () => {
    const effect = await again([
      { type: 'delivery.start', attempt: 1 },
      { type: 'delivery.end', text: 'This is A.\n\nThis is B.' },
      { type: 'delivery.tool', callId: 'c1', payload: { text: 'search' } },
      known('This is A.'),
      { type: 'delivery.start', attempt: 2 },
      { type: 'known', kind: 'tool', key: 'c1' },
      { type: 'delivery.end', text: 'This is C.' },
      finish,
    ])
    await effect.settled()

    expect(effect.sends).toEqual(['block: This is B.', 'block: This is C.', 'final: 3 tokens'])
  })

  test('of finals only those are sent that had not arrived, under the same keys', async () => {
    const orders: DeliverOrder[] = [finish, { type: 'known', kind: 'final', key: 'final.1' }]
    const effect = await again(orders, {})
    await effect.settled()

    expect(effect.sends).toEqual(['final: 3 tokens'])
    expect(effect.keys()).toEqual(['s/r/final/trailing.1'])
    expect(effect.reports.at(-1)).toMatchObject({ counts: { final: 2 } })
  })

  test('where nobody can tell what a message said, the answer is sent as a whole', async () => {
    const effect = await again([{ type: 'delivery.start', attempt: 1 }, known('This is A.'), { type: 'delivery.end' }, finish])
    await effect.settled()

    expect(effect.sends).toEqual(['final: A and B', 'final: 3 tokens'])
  })
})
