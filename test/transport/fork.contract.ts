/** What a fork of a journal is: it shares what was written before, and goes its own way from there. */
import { expect } from 'vitest'
import { beingImported, type Journal } from '../../src/contracts/transport.ts'
import { aSession, awake, bytesOf, textOf } from './harness.ts'
import { appendAll, shown } from './journal.contract.ts'
import type { Suite } from './transport.contract.ts'

const main = aSession('main')
const fork = aSession('fork')
const recorded = { answers: 'recorded' } as const

/** With whose frames they are. */
const told = async (journal: Journal, address = fork, from = 1) =>
  (await journal.read(address, from)).map(({ seq, bytes, of }) => `${seq}:${textOf(bytes)}${of ? ` of ${of.id}` : ''}`)

export const forkContract = ({ claim, open, reopen, beside }: Suite): void => {
  claim('a fork has the frames of its origin up to where it was made, and whose they are; its own come behind them', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b', 'c', 'd'], main)

    await journal.fork(main, 2, fork, recorded, { wakeAt: null, at: 5 })

    expect(await told(journal)).toEqual(['1:a of main', '2:b of main'])
    expect(await journal.head(fork)).toEqual({ address: fork, seq: 2, wakeAt: null, at: 5, origin: { address: main, at: 2, ...recorded } })
    expect(await journal.last(fork)).toEqual({ seq: 2, bytes: bytesOf('b'), of: main })
    expect((await journal.list()).map(({ address, seq }) => [address.id, seq])).toEqual([
      ['fork', 2],
      ['main', 4],
    ])

    expect(await journal.append(fork, 4, bytesOf('no'), awake)).toEqual({ outcome: 'fenced', last: 2 })
    expect(await journal.append(fork, 0, bytesOf('no'), awake)).toEqual({ outcome: 'fenced', last: 2 })
    expect(await journal.append(fork, 2, bytesOf('C'), awake)).toEqual({ outcome: 'ok' })
    expect(await journal.append(fork, 3, bytesOf('D'), awake)).toEqual({ outcome: 'ok' })

    expect(await told(journal)).toEqual(['1:a of main', '2:b of main', '3:C', '4:D'])
    expect(await told(journal, fork, 2)).toEqual(['2:b of main', '3:C', '4:D'])
    expect(await told(journal, fork, 3)).toEqual(['3:C', '4:D'])
    expect(shown(await journal.read(fork, 1, { limit: 3 }))).toEqual(['1:a', '2:b', '3:C'])
    expect(shown(await journal.read(fork, 2, { limit: 1 }))).toEqual(['2:b'])
    expect(await journal.last(fork)).toEqual({ seq: 4, bytes: bytesOf('D') })
    expect((await journal.head(fork))?.origin).toEqual({ address: main, at: 2, ...recorded })
    expect(await told(journal, main)).toEqual(['1:a', '2:b', '3:c', '4:d'])
  })

  claim('a fork keeps what it was told when it was made', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b'], main)
    const change = { seq: 2, input: 0, event: { type: 'message', text: 'bonjour' }, inputs: 'kQ==' }

    await journal.fork(main, 1, fork, { answers: 'live', change }, awake)
    await journal.append(fork, 1, bytesOf('B'), awake)

    expect(await journal.origin(fork)).toEqual({ address: main, at: 1, answers: 'live', change })
    expect((await journal.head(fork))?.origin).toEqual({ address: main, at: 1, answers: 'live' })
    expect(await journal.origin(main)).toBeUndefined()
    expect(await journal.origin(aSession('nobody'))).toBeUndefined()
  })

  claim('a fork of a fork has frames of both, also where it was made before the first one went its own way', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b', 'c'], main)
    await journal.fork(main, 2, fork, recorded, awake)
    await journal.append(fork, 2, bytesOf('C'), awake)
    const [late, early, unsaid] = [aSession('late'), aSession('early'), aSession('unsaid')]

    await journal.fork(fork, 3, late, recorded, awake)
    await journal.fork(fork, 1, early, recorded, awake)
    await journal.fork(late, 3, unsaid, recorded, awake)
    for (const [address, seq] of [
      [late, 3],
      [early, 1],
      [unsaid, 3],
    ] as const)
      await journal.append(address, seq, bytesOf('mine'), awake)

    expect(await told(journal, late)).toEqual(['1:a of main', '2:b of main', '3:C of fork', '4:mine'])
    expect(await told(journal, early)).toEqual(['1:a of main', '2:mine'])
    expect(await told(journal, unsaid)).toEqual(['1:a of main', '2:b of main', '3:C of fork', '4:mine'])
    expect((await journal.head(early))?.origin?.address).toEqual(fork)
  })

  claim('what becomes of the origin does not touch its forks: written on, truncated, removed, begun anew', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b', 'c'], main)
    const second = aSession('second')
    await journal.fork(main, 2, fork, recorded, awake)
    await journal.append(fork, 2, bytesOf('C'), awake)
    await journal.fork(fork, 3, second, recorded, awake)
    const before = [await told(journal), await told(journal, second)]

    await journal.append(main, 3, bytesOf('d'), awake)
    expect([await told(journal), await told(journal, second)]).toEqual(before)
    await journal.truncate(main, 3)
    expect([await told(journal), await told(journal, second)]).toEqual(before)
    await journal.remove(main)
    expect([await told(journal), await told(journal, second)]).toEqual(before)
    await appendAll(journal, ['x', 'y', 'z'], main)
    expect([await told(journal), await told(journal, second)]).toEqual(before)
    await journal.remove(fork)
    expect(await journal.read(fork, 1)).toEqual([])
    expect(await told(journal, second)).toEqual(before[1])
    // Whoever is refused there learns by that that nobody has begun it.
    expect(await journal.append(second, 0, bytesOf('no'), awake)).toEqual({ outcome: 'fenced', last: 3 })
    expect(await journal.last(second)).toEqual({ seq: 3, bytes: bytesOf('C'), of: fork })
    expect(await journal.append(second, 3, bytesOf('on'), awake)).toEqual({ outcome: 'ok' })
    expect(await told(journal, second)).toEqual([...(before[1] ?? []), '4:on'])
    expect(await told(journal, main)).toEqual(['1:x', '2:y', '3:z'])
  })

  claim('a fork that goes away leaves its origin alone, and its place is free again', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b'], main)
    await journal.fork(main, 1, fork, recorded, awake)
    await journal.append(fork, 1, bytesOf('B'), awake)

    await journal.remove(fork)

    expect(await journal.head(fork)).toBeUndefined()
    expect(await told(journal, main)).toEqual(['1:a', '2:b'])
    await journal.fork(main, 2, fork, recorded, awake)
    expect(await told(journal)).toEqual(['1:a of main', '2:b of main'])
    await journal.remove(fork)
    await appendAll(journal, ['new'], fork)
    expect(await told(journal)).toEqual(['1:new'])
    expect(await journal.head(fork)).toEqual({ address: fork, seq: 1, ...awake })
  })

  claim('a fork forgets its front like any other, and its origin does not', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b', 'c'], main)
    await journal.fork(main, 3, fork, recorded, awake)

    await journal.truncate(fork, 2)
    // What it shares it may keep.
    expect(shown(await journal.read(fork, 1)).slice(-2)).toEqual(['2:b', '3:c'])
    await journal.append(fork, 3, bytesOf('D'), awake)
    await journal.truncate(fork, 4)

    expect(shown(await journal.read(fork, 1))).toEqual(['4:D'])
    expect(await journal.append(fork, 4, bytesOf('E'), awake)).toEqual({ outcome: 'ok' })
    expect(shown(await journal.read(fork, 1))).toEqual(['4:D', '5:E'])
    expect((await journal.head(fork))?.origin).toEqual({ address: main, at: 3, ...recorded })
    expect(await told(journal, main)).toEqual(['1:a', '2:b', '3:c'])
  })

  claim('what cannot be forked is refused by name, and nothing is begun', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b'], main)
    await appendAll(journal, ['x'], aSession('there'))
    await journal.append(aSession('half'), 0, bytesOf('a'), { wakeAt: beingImported, at: 1 })

    await expect(journal.fork(aSession('nobody'), 1, fork, recorded, awake)).rejects.toMatchObject({ code: 'not_found' })
    for (const at of [0, -1, 3, 1.5, Number.NaN])
      await expect(journal.fork(main, at, fork, recorded, awake)).rejects.toMatchObject({ code: 'bad_request', field: 'at' })
    await expect(journal.fork(main, 1, { kind: 'order', id: 'x' }, recorded, awake)).rejects.toMatchObject({ code: 'bad_request', field: 'as' })
    await expect(journal.fork(main, 1, aSession('there'), recorded, awake)).rejects.toMatchObject({ code: 'conflict', field: 'as' })
    await expect(journal.fork(main, 1, main, recorded, awake)).rejects.toMatchObject({ code: 'conflict', field: 'as' })
    await expect(journal.fork(aSession('half'), 1, fork, recorded, awake)).rejects.toMatchObject({ code: 'conflict' })
    await journal.truncate(main, 2)
    await expect(journal.fork(main, 2, fork, recorded, awake)).rejects.toMatchObject({ code: 'bad_request', field: 'at' })

    expect(await journal.head(fork)).toBeUndefined()
    expect(shown(await journal.read(aSession('there'), 1))).toEqual(['1:x'])
  })

  claim('of many who make the same fork one does, and the others are told that it is there', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b', 'c'], main)

    const told = await Promise.allSettled([1, 2, 3, 1, 2, 3].map((at) => journal.fork(main, at, fork, recorded, awake)))

    expect(told.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of told) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' })
  })

  claim('a fork is found by whoever looks for work, and its snapshot is its own', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b'], main)
    await journal.saveSnapshot(main, 1, bytesOf('of main'))
    const woken: string[] = []
    journal.watchWakes(({ id }) => woken.push(id))

    await journal.fork(main, 2, fork, recorded, { wakeAt: 0, at: 5 })

    expect((await journal.due(10, 10)).map(({ address }) => address.id)).toEqual(['fork'])
    expect(woken).toContain('fork')
    expect(await journal.snapshot(fork)).toBeUndefined()
    await journal.saveSnapshot(fork, 2, bytesOf('of the fork'))
    expect(textOf((await journal.snapshot(fork))?.bytes)).toBe('of the fork')
    expect(textOf((await journal.snapshot(main))?.bytes)).toBe('of main')
  })

  claim('long ones are shared and copied as a whole', async () => {
    const { journal } = await open()
    const texts = Array.from({ length: 150 }, (_, index) => `f${index + 1}`)
    await appendAll(journal, texts, main)
    await journal.fork(main, 140, fork, recorded, awake)
    await journal.append(fork, 140, bytesOf('mine'), awake)
    const whole = [...texts.slice(0, 140), 'mine'].map((text, index) => `${index + 1}:${text}`)

    expect(shown(await journal.read(fork, 1))).toEqual(whole)
    expect(shown(await journal.read(fork, 100, { limit: 45 }))).toEqual(whole.slice(99))
    await journal.remove(main)
    expect(shown(await journal.read(fork, 1))).toEqual(whole)
    expect(shown(await journal.read(fork, 17, { limit: 3 }))).toEqual(whole.slice(16, 19))
    await journal.truncate(fork, 141)
    expect(shown(await journal.read(fork, 1))).toEqual(whole.slice(140))
  })

  claim('a fork is what it was when the store is opened again [INV-4]', async () => {
    const one = await open()
    await appendAll(one.journal, ['a', 'b', 'c'], main)
    await one.journal.fork(main, 2, fork, recorded, { wakeAt: 0, at: 5 })
    await one.journal.append(main, 3, bytesOf('d'), awake)

    const again = await reopen(one)

    expect(await told(again.journal)).toEqual(['1:a of main', '2:b of main'])
    expect((await again.journal.due(10, 10)).map(({ address }) => address.id)).toEqual(['fork'])
    expect(await again.journal.append(fork, 2, bytesOf('C'), awake)).toEqual({ outcome: 'ok' })
    expect(await told(again.journal)).toEqual(['1:a of main', '2:b of main', '3:C'])
  })

  if (beside)
    claim('a fork that one node has made is whole on another, also when that one takes the origin away', async () => {
      const one = await open()
      const other = await beside(one)
      await appendAll(one.journal, ['a', 'b', 'c'], main)
      await one.journal.fork(main, 2, fork, recorded, awake)

      expect(await told(other.journal)).toEqual(['1:a of main', '2:b of main'])
      expect(await other.journal.append(fork, 2, bytesOf('C'), awake)).toEqual({ outcome: 'ok' })
      expect(await one.journal.append(fork, 2, bytesOf('late'), awake)).toEqual({ outcome: 'fenced', last: 3 })
      await other.journal.remove(main)

      expect(await told(one.journal)).toEqual(['1:a of main', '2:b of main', '3:C'])
    })
}
