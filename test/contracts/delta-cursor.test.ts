/** Deltas arrive late, doubled and with gaps: whoever reads them shows the same beginning of the same text, and never a word of an attempt that is over. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RunView } from '../../src/api/chat/run-view.rules.ts'
import { AnswerParts } from '../../src/api/ui-stream/answer-parts.rules.ts'
import { DeltaReader } from '../../src/chat/delivery/delta-reader.ts'
import { DeltaCursor } from '../../src/contracts/delta-cursor.ts'
import { answerText } from '../../src/runtime/turn-text.ts'
import { casesOf } from '../support/property.ts'

type Delta = { type: 'delta'; runId: string; answerId: string; attempt: number; index: number; kind: 'text'; text: string; count?: number }
const delta = (attempt: number, index: number, text: string, count?: number): Delta => ({
  type: 'delta',
  runId: 'r',
  answerId: 'r:1',
  attempt,
  index,
  kind: 'text',
  text,
  ...(count !== undefined && { count }),
})

/** What a reader shows of the newest attempt. */
const readers: Record<string, (deltas: readonly Delta[]) => string> = {
  'a text stream, OpenAI, the agent protocol, the command line': (deltas) => {
    const heard = answerText()
    return (
      deltas
        .map((one) => heard.delta(one))
        .join('')
        .split('\n\n')
        .at(-1) ?? ''
    )
  },
  'the delivery to a channel': (deltas) => {
    const reader = new DeltaReader(0)
    return deltas.reduce((text, one) => {
      const heard = reader.take(one)
      return heard ? (heard.anew ? '' : text) + heard.text : text
    }, '')
  },
  'the socket': (deltas) => {
    const view = new RunView('main', { runId: 'r', ids: ['r'] })
    for (const one of deltas) view.delta(one)
    return view.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
  'a UI stream': (deltas) => {
    const parts = new AnswerParts('r', 'r')
    let text = ''
    for (const one of deltas)
      for (const part of parts.take(one)) {
        if (part.type === 'text-start') text = ''
        if (part.type === 'text-delta') text += part.delta
      }
    return text
  },
}

describe.each(Object.entries(readers))('%s', (_, shown) => {
  test('a host that was replaced goes on saying its attempt: nothing of it is shown, and nothing of the new one is lost', () => {
    expect(
      shown([delta(2, 0, 'Hello'), delta(1, 4, ' LATE'), delta(1, 0, 'LATE'), delta(2, 1, ' world'), delta(1, 5, ' LATE'), delta(2, 2, '!')]),
    ).toBe('Hello world!')
  })

  test('a piece that equals what came before it is said again', () => {
    const pieces = ['1 2 3 4 5 6 7 8 9 ', '1 2 3 4 5 6 7 8 9 ', 'haha', 'hahahaha', 'order-', '4711-', 'order-4711-']

    expect(shown(pieces.map((text, index) => delta(1, index, text)))).toBe(pieces.join(''))
  })

  test('a piece that comes twice on its way is said once, and put together it counts as many', () => {
    expect(shown([delta(1, 0, 'a'), delta(1, 0, 'a'), delta(1, 1, 'bc', 2), delta(1, 1, 'bc', 2), delta(1, 3, 'd')])).toBe('abcd')
  })

  test('after a gap nothing more is shown, whatever comes late', () => {
    expect(shown([delta(1, 0, 'a'), delta(1, 2, 'c'), delta(1, 1, 'b'), delta(1, 2, 'c')])).toBe('a')
  })
})

/**
 * The deltas of some attempts, each in its order, with a pace of its own, doubled or lost here and there. Each attempt says something else: who reads a UI stream
 * cannot be taken back what the attempt before has said, and is not told it again.
 */
const streams = fc
  .array(
    fc.array(fc.record({ text: fc.constantFrom('a', 'ab', 'aab', 'b'), fate: fc.constantFrom('comes', 'comes', 'comes', 'twice', 'lost') }), {
      maxLength: 6,
    }),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .chain((attempts) => fc.tuple(fc.constant(attempts), fc.array(fc.nat({ max: attempts.length - 1 }), { maxLength: 24 })))
  .map(([attempts, order]) => {
    const waiting = attempts.map((pieces, place) =>
      pieces.flatMap(({ text, fate }, index) =>
        Array.from({ length: { comes: 1, twice: 2, lost: 0 }[fate] }, () => delta(place + 1, index, `${place + 1}${text}`)),
      ),
    )
    return order.flatMap((place) => waiting[place]?.splice(0, 1) ?? [])
  })

test('all readers show the same of any deltas: the longest beginning of the newest attempt that came without a gap', () => {
  fc.assert(
    fc.property(streams, (deltas) => {
      const newest = deltas.reduce((max, { attempt }) => Math.max(max, attempt), 0)
      let [next, isWhole, expected] = [0, true, '']
      for (const { attempt, index, text } of deltas) {
        if (attempt !== newest) continue
        if (index > next) isWhole = false
        if (!isWhole || index !== next) continue
        expected += text
        next++
      }

      for (const [name, shown] of Object.entries(readers)) if (expected !== '') expect(shown(deltas), name).toBe(expected)
    }),
    casesOf(import.meta.url),
  )
})

test('what is over is over: of an attempt that has ended, and of those before it, nothing follows', () => {
  const cursor = new DeltaCursor()
  cursor.take({ attempt: 3, index: 0 })
  cursor.end()

  expect([2, 3].map((attempt) => cursor.take({ attempt, index: 1 }))).toEqual(Array(2).fill({ begins: false, follows: false }))
  expect(cursor.take({ attempt: 4, index: 0 })).toEqual({ begins: true, follows: true })
})
