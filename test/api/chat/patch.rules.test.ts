import fc from 'fast-check'
import { expect, test } from 'vitest'
import { patchOf } from '../../../src/api/chat/patch.rules.ts'
import type { ChatBlock, ChatEvent } from '../../../src/contracts/gateway.ts'
import { casesOf } from '../../support/property.ts'

const eventOf = (content: ChatBlock[]): ChatEvent => ({
  runId: 'k1',
  sessionKey: 'main',
  seq: 1,
  ids: ['k1'],
  state: 'delta',
  message: { role: 'assistant', content, timestamp: 1 },
})
const text = (id: string, said: string): ChatBlock => ({ type: 'text', id, text: said })

/** What a client makes of a patch, by the words of the contract. */
const applied = (shown: readonly ChatBlock[], { message, from }: ChatEvent): ChatBlock[] => {
  const content = message?.content ?? []
  if (from === undefined) return content
  const [first, ...rest] = content
  const before = shown[from.block]
  if (from.offset === 0 || first === undefined) return [...shown.slice(0, from.block), ...content]
  const whole = (a: ChatBlock | undefined, b: ChatBlock): ChatBlock => {
    if (a?.type === 'text' && b.type === 'text') return { ...b, text: a.text.slice(0, from.offset) + b.text }
    if (a?.type === 'thinking' && b.type === 'thinking') return { ...b, thinking: a.thinking.slice(0, from.offset) + b.thinking }
    throw new Error('a patch goes on where there is no text')
  }
  return [...shown.slice(0, from.block), whole(before, first), ...rest]
}

test('who has seen nothing gets all of it', () => {
  expect(patchOf(eventOf([text('a', 'hello')]), [])).toEqual(eventOf([text('a', 'hello')]))
})

test('of a text that got longer only the rest is sent', () => {
  const shown = [text('a', 'first'), text('b', 'hello')]
  const patch = patchOf(eventOf([shown[0] as ChatBlock, text('b', 'hello there')]), shown)
  expect(patch).toMatchObject({ from: { block: 1, offset: 5 }, message: { content: [{ type: 'text', id: 'b', text: ' there' }] } })
})

test('a text that was taken back is replaced', () => {
  const shown = [text('a', 'first'), text('b', 'hel')]
  const patch = patchOf(eventOf([shown[0] as ChatBlock, text('c', 'other')]), shown)
  expect(patch).toMatchObject({ from: { block: 1, offset: 0 }, message: { content: [text('c', 'other')] } })
})

test('patches one after the other, some of them left out, end where the whole does', () => {
  const block = fc.record({ type: fc.constantFrom('text', 'thinking'), id: fc.constantFrom('a', 'b'), said: fc.string({ maxLength: 6 }) })
  const blockOf = ({ type, id, said }: { type: string; id: string; said: string }): ChatBlock =>
    type === 'text' ? { type, id, text: said } : { type: 'thinking', id, thinking: said }
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.array(block, { maxLength: 4 }), fc.boolean()), { maxLength: 8 }), (states) => {
      let sent: ChatBlock[] = []
      let client: ChatBlock[] = []
      for (const [blocks, isDropped] of states) {
        if (isDropped) continue
        // As the view does: blocks that have not changed stay the same objects.
        const content = blocks.map(blockOf).map((one, at) => (JSON.stringify(sent[at]) === JSON.stringify(one) ? (sent[at] as ChatBlock) : one))
        client = applied(client, patchOf(eventOf(content), sent))
        sent = content
      }
      expect(client).toEqual(sent)
    }),
    casesOf(import.meta.url),
  )
})
