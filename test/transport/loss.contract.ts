/** What a backend says of a journal that has lost its end behind its back, and what a removal leaves that was cut off. */
import { expect } from 'vitest'
import { anEnvironment, aSession, awake, bytesOf } from './harness.ts'
import { appendAll, shown } from './journal.contract.ts'
import type { Suite } from './transport.contract.ts'

export const lossContract = ({ claim, open, reopen, shorten }: Suite): void => {
  for (const to of [2, 0])
    claim(`a journal that has lost its end (${to} of 4 left) is damaged, neither fenced nor empty, and takes nothing more [INV-20]`, async () => {
      const transport = await open()
      const { journal } = transport
      await appendAll(journal, ['a'], aSession('other'))
      await appendAll(journal, ['a', 'b', 'c', 'd'])

      await shorten(transport, aSession(), to)

      const damaged = { reason: { code: 'corrupt_at', retryable: false, data: { kind: 'session', id: 'one' } } }
      const answers = await Promise.allSettled([
        journal.append(aSession(), 4, bytesOf('e'), awake),
        journal.append(aSession(), to, bytesOf('another c'), awake),
        journal.last(aSession()),
        journal.head(aSession()),
        journal.read(aSession(), 1),
        journal.read(aSession(), 4),
      ])
      for (const answer of answers) expect(answer).toMatchObject(damaged)
      // What is there can be read.
      expect(shown(await journal.read(aSession(), 1, { limit: to }))).toEqual(['1:a', '2:b'].slice(0, to))
      expect(await journal.append(aSession('other'), 1, bytesOf('b'), awake)).toEqual({ outcome: 'ok' })
    })

  claim('a journal that has lost its end can be removed, and then begins anew', async () => {
    const transport = await open()
    const { journal } = transport
    await appendAll(journal, ['a', 'b', 'c', 'd'])
    await shorten(transport, aSession(), 2)

    await journal.remove(aSession())

    expect(await journal.head(aSession())).toBeUndefined()
    await appendAll(journal, ['again'])
    expect(shown(await journal.read(aSession(), 1))).toEqual(['1:again'])
  })

  for (const hit of [1, 2])
    claim(`a removal that is cut off at its step ${hit} leaves the journal as it was, without a snapshot, or nothing`, async () => {
      const environment = anEnvironment()
      const first = await open({ environment })
      await appendAll(first.journal, ['a', 'b'])
      await first.journal.saveSnapshot(aSession(), 2, bytesOf('at two'))
      let hits = 0
      environment.failPoints.hit = (name) => {
        if (name === 'K21' && ++hits === hit) throw new Error('killed')
      }
      await expect(first.journal.remove(aSession())).rejects.toThrow('killed')

      const { journal } = await reopen(first)

      const frames = shown(await journal.read(aSession(), 1))
      const snapshot = await journal.snapshot(aSession())
      expect([['1:a', '2:b'], []]).toContainEqual(frames)
      if (frames.length === 0) expect(snapshot).toBeUndefined()
      expect(await journal.append(aSession(), frames.length, bytesOf('next'), awake)).toEqual({ outcome: 'ok' })
      await journal.remove(aSession())
      expect(await journal.head(aSession())).toBeUndefined()
    })

  claim('a snapshot that was on its way when its root was removed is dropped, also when the root has begun anew', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b'])
    await journal.remove(aSession())

    await journal.saveSnapshot(aSession(), 2, bytesOf('late'))

    expect(await journal.snapshot(aSession())).toBeUndefined()
  })
}
