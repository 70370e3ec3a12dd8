/** Where what a command answered stands in a history. */
import { expect, test } from 'vitest'
import { type Answered, withAnswered } from '../../../src/api/history/answered.rules.ts'
import type { Message } from '../../../src/contracts/message.ts'

const user = (id: string): Message => ({ role: 'user', id, text: id })
const answered = (id: string, seq: number): Answered => ({ id, text: `answer to ${id}`, seq, at: 1 })

/** @param seqs commits of the messages, by their ids */
const placed = (seqs: Record<string, number>, answers: Answered[], { isWhole = true, asked = [] as string[] } = {}): string[] => {
  const said = new Map(asked.map((id) => [id, { role: 'user' as const, id, text: `/${id}` }]))
  const seqOf = (message: Message) => seqs['id' in message ? message.id : '']
  return withAnswered(Object.keys(seqs).map(user), answers, { seqOf, said, isWhole }).map((message) => ('id' in message ? message.id : ''))
}

test('[CH-75] it stands behind the message of the commit right before it, and before that of the commit right behind it', () => {
  expect(placed({ a: 3, b: 5 }, [answered('x', 4)])).toEqual(['a', 'x:reply', 'b'])
  expect(placed({ a: 3, b: 6 }, [answered('x', 4)])).toEqual(['a', 'x:reply', 'b'])
  expect(placed({ a: 3, b: 6 }, [answered('x', 5)])).toEqual(['a', 'x:reply', 'b'])
  expect(placed({ a: 3, b: 5 }, [answered('x', 6)])).toEqual(['a', 'b', 'x:reply'])
})

test('what was answered in the commit of a message stands behind it', () => {
  expect(placed({ a: 3, b: 5 }, [answered('x', 5)])).toEqual(['a', 'b', 'x:reply'])
})

test('several that were answered stand in the order of their commits, in whatever order they were found', () => {
  expect(placed({ a: 1, b: 9 }, [answered('z', 7), answered('x', 3), answered('y', 5)])).toEqual(['a', 'x:reply', 'y:reply', 'z:reply', 'b'])
})

test('the words of a command stand before its answer, where they are known', () => {
  expect(placed({ a: 1 }, [answered('x', 2)], { asked: ['x'] })).toEqual(['a', 'x', 'x:reply'])
})

test('what was answered before the first message of a page stands on the page before; on the first page it begins it', () => {
  expect(placed({ a: 3, b: 5 }, [answered('x', 2), answered('y', 3)], { isWhole: false })).toEqual(['a', 'y:reply', 'b'])
  expect(placed({ a: 3, b: 5 }, [answered('x', 2)])).toEqual(['x:reply', 'a', 'b'])
})
