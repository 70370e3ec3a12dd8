import { expect, test } from 'vitest'
import { beginning, inOrder } from '../../src/api/place.ts'
import type { OutEvent } from '../../src/runtime/index.ts'

const at = (seq: number, part = 0): OutEvent => ({ type: `${seq}.${part}`, path: '/', seq, part })
const delta: OutEvent = { type: 'delta', path: '/' }

/** What a reader hears when these come, and the journal is in these lives, one after another, whenever it is asked. */
const heard = async (events: OutEvent[], lives: (string | undefined | Error)[], stamped = false) => {
  const asked: (string | undefined | Error)[] = []
  const birth = async () => {
    const life = lives[Math.min(asked.length, lives.length - 1)]
    asked.push(life)
    if (life instanceof Error) throw life
    return life
  }
  const types: string[] = []
  const comes = async function* () {
    yield* events
  }
  for await (const { type } of inOrder(comes(), beginning, { birth, stamped })) types.push(type)
  return { types, asked: asked.length }
}

test('what a host that took over says again is heard once, and asked about once', async () => {
  expect(await heard([at(1), at(2), delta, at(3), at(1), at(2), at(3), at(3, 1)], ['a'])).toEqual({
    types: ['1.0', '2.0', 'delta', '3.0', '3.1'],
    asked: 2,
  })
})

test('where the numbers begin again in another life, restart comes first and nothing is dropped', async () => {
  expect((await heard([at(1), at(2), at(1), at(2), at(3)], ['a', 'b'])).types).toEqual(['1.0', '2.0', 'restart', '1.0', '2.0', '3.0'])
})

test.each([[[new Error('nobody answers'), 'a']], [['a', new Error('nobody answers')]], [['a', undefined]]])(
  'who cannot be asked which life it is, %s, hears of no restart that perhaps was none',
  async (lives) => {
    expect((await heard([at(1), at(2), at(1), at(3)], lives)).types).toEqual(['1.0', '2.0', '3.0'])
  },
)
