import fc from 'fast-check'
import { expect } from 'vitest'
import { beingImported, type Frame, type Journal } from '../../src/contracts/transport.ts'
import { casesOf } from '../support/property.ts'
import { anEnvironment, aSession, aSignal, awake, bytesOf, textOf } from './harness.ts'
import type { Suite } from './transport.contract.ts'

export const appendAll = async (journal: Journal, texts: string[], address = aSession()): Promise<void> => {
  for (const [index, text] of texts.entries()) expect(await journal.append(address, index, bytesOf(text), awake)).toEqual({ outcome: 'ok' })
}
export const shown = (frames: Frame[]) => frames.map(({ seq, bytes }) => `${seq}:${textOf(bytes)}`)

export const journalContract = ({ claim, open, reopen, beside }: Suite): void => {
  claim('an empty journal has no frames, no last frame and no head', async () => {
    const { journal } = await open()

    expect(await journal.read(aSession(), 1)).toEqual([])
    expect(await journal.last(aSession())).toBeUndefined()
    expect(await journal.head(aSession())).toBeUndefined()
    expect(await journal.list()).toEqual([])
  })

  claim('[INV-8] frames come back in order, from where one asks and as many as one asks for', async () => {
    const { journal } = await open()

    await appendAll(journal, ['a', 'b', 'c', ''])

    expect(shown(await journal.read(aSession(), 1))).toEqual(['1:a', '2:b', '3:c', '4:'])
    expect(shown(await journal.read(aSession(), 3))).toEqual(['3:c', '4:'])
    expect(shown(await journal.read(aSession(), 2, { limit: 1 }))).toEqual(['2:b'])
    expect(await journal.read(aSession(), 5)).toEqual([])
    expect(await journal.last(aSession())).toEqual({ seq: 4, bytes: bytesOf('') })
  })

  claim('whoever expects another sequence is fenced, is told the last one, and changes nothing', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b'])

    const answers = [
      await journal.append(aSession(), 1, bytesOf('late'), { wakeAt: 5, at: 6 }),
      await journal.append(aSession(), 7, bytesOf('early'), awake),
    ]
    const toNothing = await journal.append(aSession('other'), 3, bytesOf('lost'), awake)

    expect(answers).toEqual([
      { outcome: 'fenced', last: 2 },
      { outcome: 'fenced', last: 2 },
    ])
    expect(toNothing).toEqual({ outcome: 'fenced', last: 0 })
    expect(shown(await journal.read(aSession(), 1))).toEqual(['1:a', '2:b'])
    expect(await journal.head(aSession())).toEqual({ address: aSession(), seq: 2, ...awake })
    expect(await journal.head(aSession('other'))).toBeUndefined()
  })

  claim('of many who append at the same place at the same time exactly one wins', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a'])

    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => journal.append(aSession(), 1, bytesOf(`racer ${index}`), awake)))

    expect(answers.filter(({ outcome }) => outcome === 'ok')).toHaveLength(1)
    expect(answers.filter(({ outcome }) => outcome === 'fenced')).toHaveLength(49)
    expect(await journal.read(aSession(), 1)).toHaveLength(2)
  })

  if (beside) {
    claim('of two transports that begin a journal one creates it; the other one, which has never seen it, is fenced [INV-4, INV-5]', async () => {
      const one = await open()
      const other = await beside(one)

      const first = await one.journal.append(aSession(), 0, bytesOf('one'), awake)
      const second = await other.journal.append(aSession(), 0, bytesOf('other'), awake)

      expect([first, second]).toEqual([{ outcome: 'ok' }, { outcome: 'fenced', last: 1 }])
      expect(shown(await other.journal.read(aSession(), 1))).toEqual(['1:one'])
    })

    claim('of two transports that append at the same places at the same time at most one is told that it wrote, and both read that', async () => {
      const one = await open()
      const both = [one.journal, (await beside(one)).journal]
      const addresses = Array.from({ length: 20 }, (_, index) => aSession(`root-${index}`))

      for (const address of addresses) {
        const acknowledged: string[] = []
        for (const seq of [1, 2, 3]) {
          const texts = [`one at ${seq}`, `other at ${seq}`]
          const answers = await Promise.all(both.map((journal, place) => journal.append(address, seq - 1, bytesOf(texts[place]!), awake)))
          const wrote = texts.filter((_, place) => answers[place]?.outcome === 'ok')
          expect(wrote.length).toBeLessThanOrEqual(1)
          acknowledged.push(...wrote.map((text) => `${seq}:${text}`))
        }
        const [mine, yours] = await Promise.all(both.map(async (journal) => shown(await journal.read(address, 1))))
        expect(mine).toEqual(yours)
        expect(mine).toEqual(expect.arrayContaining(acknowledged))
        expect(mine?.map((frame) => frame.split(':')[0])).toEqual(['1', '2', '3'].slice(0, mine?.length))
      }
    })
  }

  claim('what was written is a copy: its writer may use a Buffer again', async () => {
    const { journal } = await open()
    const buffer = Buffer.from('frame')
    const image = Buffer.from('image')
    await journal.append(aSession(), 0, buffer, awake)
    await journal.saveSnapshot(aSession(), 1, image)

    buffer.fill('x')
    image.fill('x')

    expect((await journal.read(aSession(), 1)).map(({ bytes }) => textOf(bytes))).toEqual(['frame'])
    expect(textOf((await journal.snapshot(aSession()))?.bytes)).toBe('image')
  })

  claim('one refused append does not disturb the others that were sent with it', async () => {
    const { journal } = await open()

    const answers = await Promise.allSettled([
      journal.append(aSession('good'), 0, bytesOf('1'), awake),
      journal.append(aSession('bad'), 9, bytesOf('1'), awake),
      journal.append({ kind: 'Not a kind', id: 'x' }, 0, bytesOf('1'), awake),
      journal.append(aSession('good'), 1, bytesOf('2'), awake),
    ])

    expect(answers).toMatchObject([
      { value: { outcome: 'ok' } },
      { value: { outcome: 'fenced', last: 0 } },
      { reason: { code: 'bad_request' } },
      { value: { outcome: 'ok' } },
    ])
    expect(shown(await journal.read(aSession('good'), 1))).toEqual(['1:1', '2:2'])
  })

  claim('[INV-1, INV-3] however appends interleave, each journal is gapless and holds what was acknowledged, once, in order', async () => {
    const { journal } = await open()
    let round = 0
    const steps = fc.array(fc.record({ root: fc.integer({ min: 0, max: 2 }), lag: fc.integer({ min: -1, max: 2 }), wait: fc.boolean() }), {
      maxLength: 60,
    })

    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        round += 1
        const acknowledged: string[][] = [[], [], []]
        const flying: Promise<void>[] = []
        for (const [index, { root, lag, wait }] of script.entries()) {
          const text = `${round} ${index}`
          const expected = Math.max(0, acknowledged[root]!.length - lag)
          const flight = journal.append(aSession(`${round}-${root}`), expected, bytesOf(text), awake).then((answer) => {
            if (answer.outcome === 'ok') acknowledged[root]![expected] = text
          })
          flying.push(flight)
          if (wait) await flight
        }
        await Promise.all(flying)

        for (const [root, texts] of acknowledged.entries()) {
          const frames = await journal.read(aSession(`${round}-${root}`), 1)
          expect(shown(frames)).toEqual(Array.from(texts, (text, index) => `${index + 1}:${text}`))
        }
      }),
      casesOf(import.meta.url),
    )
  })

  claim('[INV-16] a resolved append is there after a reopen, and the next one continues it', async () => {
    const first = await open()
    await appendAll(first.journal, ['a', 'b'])

    const second = await reopen(first)

    expect(shown(await second.journal.read(aSession(), 1))).toEqual(['1:a', '2:b'])
    expect(await second.journal.append(aSession(), 2, bytesOf('c'), awake)).toEqual({ outcome: 'ok' })
    expect(shown(await second.journal.read(aSession(), 1))).toEqual(['1:a', '2:b', '3:c'])
  })

  claim('a head tells the last sequence, the time and the wish to be woken', async () => {
    const { journal } = await open()

    await journal.append(aSession(), 0, bytesOf('a'), { wakeAt: 500, at: 100 })
    const waiting = await journal.head(aSession())
    await journal.append(aSession(), 1, bytesOf('b'), { wakeAt: null, at: 200 })

    expect(waiting).toEqual({ address: aSession(), seq: 1, wakeAt: 500, at: 100 })
    expect(await journal.head(aSession())).toEqual({ address: aSession(), seq: 2, wakeAt: null, at: 200 })
  })

  claim('those who want to be woken are found by time, earliest first, also after a reopen', async () => {
    const first = await open()
    const times: [string, number | null][] = [
      ['late', 900],
      ['now', 0],
      ['never', null],
      ['soon', 100],
      ['sooner', 50],
    ]
    for (const [id, wakeAt] of times) await first.journal.append(aSession(id), 0, bytesOf(id), { wakeAt, at: 1 })
    await first.journal.append(aSession('sooner'), 1, bytesOf('slept in'), { wakeAt: null, at: 2 })

    const { journal } = await reopen(first)

    expect((await journal.due(100, 10)).map(({ address }) => address.id)).toEqual(['now', 'soon'])
    expect((await journal.due(1_000, 2)).map(({ address }) => address.id)).toEqual(['now', 'soon'])
    expect(await journal.due(-1, 10)).toEqual([])
    // Those that nobody wants crowd nobody out.
    expect((await journal.due(1_000, 1, ({ id }) => id !== 'now')).map(({ address }) => address.id)).toEqual(['soon'])
  })

  claim('an append that is refused leaves the wake time that stands there', async () => {
    const { journal } = await open()
    await journal.append(aSession(), 0, bytesOf('a'), { wakeAt: 50, at: 1 })

    for (const wakeAt of [900, null])
      expect(await journal.append(aSession(), 0, bytesOf('b'), { wakeAt, at: 2 })).toEqual({ outcome: 'fenced', last: 1 })

    expect(await journal.due(100, 10)).toMatchObject([{ seq: 1, wakeAt: 50 }])
    expect(await journal.append(aSession(), 0, bytesOf('b'), { wakeAt: 10, at: 2 })).toEqual({ outcome: 'fenced', last: 1 })
    expect(await journal.due(20, 10)).toEqual([])
    expect(await journal.due(100, 10)).toMatchObject([{ seq: 1, wakeAt: 50 }])
  })

  claim('who listens hears of every wake time that an append sets', async () => {
    const { journal } = await open()
    const heard = new Set<string>()
    const stop = journal.watchWakes(({ id }, wakeAt) => void heard.add(`${id} ${wakeAt}`))
    await journal.append(aSession('now'), 0, bytesOf('a'), { wakeAt: 0, at: 1 })
    await journal.append(aSession('never'), 0, bytesOf('a'), { wakeAt: null, at: 1 })
    await journal.append(aSession('imported'), 0, bytesOf('a'), { wakeAt: beingImported, at: 1 })
    await journal.append(aSession('late'), 0, bytesOf('a'), { wakeAt: 900, at: 1 })
    await journal.append(aSession('late'), 1, bytesOf('b'), { wakeAt: 800, at: 1 })
    stop()
    await journal.append(aSession('after'), 0, bytesOf('a'), { wakeAt: 0, at: 1 })

    expect([...heard]).toEqual(['now 0', `imported ${beingImported}`, 'late 900', 'late 800'])
  })

  claim('roots are listed in address order, by kind and page by page', async () => {
    const { journal } = await open()
    for (const [kind, id] of [
      ['turn', 'a'],
      ['session', 'b'],
      ['session', 'a'],
      ['session', 'ä'],
      ['session', 'a.b/c *'],
    ] as const)
      await journal.append({ kind, id }, 0, bytesOf('x'), awake)
    const ids = async (options?: Parameters<Journal['list']>[0]) => (await journal.list(options)).map(({ address: { kind, id } }) => `${kind} ${id}`)

    expect(await ids()).toEqual(['session a', 'session a.b/c *', 'session b', 'session ä', 'turn a'])
    expect(await ids({ kind: 'turn' })).toEqual(['turn a'])
    expect(await ids({ after: aSession('a'), limit: 2 })).toEqual(['session a.b/c *', 'session b'])
    expect(await ids({ kind: 'session', after: aSession('b') })).toEqual(['session ä'])
    expect(await ids({ kind: 'session', after: { kind: 'turn', id: 'a' } })).toEqual([])
    expect(await ids({ kind: 'turn', after: aSession('b') })).toEqual(['turn a'])
  })

  claim('the newest snapshot wins, whatever the order of saving', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a', 'b', 'c'])

    await journal.saveSnapshot(aSession(), 2, bytesOf('at two'))
    await journal.saveSnapshot(aSession(), 1, bytesOf('at one'))

    expect(await journal.snapshot(aSession())).toEqual({ seq: 2, bytes: bytesOf('at two') })
    expect(await journal.snapshot(aSession('other'))).toBeUndefined()
  })

  claim('a snapshot is given back also where the journal ends before it: it says what was there', async () => {
    const { journal } = await open()
    await appendAll(journal, ['a'])

    await journal.saveSnapshot(aSession(), 5, bytesOf('of frames that are lost'))

    expect(await journal.snapshot(aSession())).toEqual({ seq: 5, bytes: bytesOf('of frames that are lost') })
  })

  claim('truncating forgets the front only: the head stays, and so does the numbering', async () => {
    const first = await open()
    await appendAll(first.journal, ['a', 'b', 'c'])

    await first.journal.truncate(aSession(), 3)
    const { journal } = await reopen(first)

    expect(shown(await journal.read(aSession(), 1))).toEqual(['3:c'])
    expect((await journal.head(aSession()))?.seq).toBe(3)
    expect(await journal.append(aSession(), 3, bytesOf('d'), awake)).toEqual({ outcome: 'ok' })
    expect(shown(await journal.read(aSession(), 1))).toEqual(['3:c', '4:d'])
  })

  claim('however far one truncates, the last frame stays', async () => {
    const first = await open()
    await appendAll(first.journal, ['a', 'b'])

    await first.journal.truncate(aSession(), 99)
    const { journal } = await reopen(first)

    expect(shown(await journal.read(aSession(), 1))).toEqual(['2:b'])
    expect(await journal.last(aSession())).toEqual({ seq: 2, bytes: bytesOf('b') })
    expect(await journal.append(aSession(), 2, bytesOf('c'), awake)).toEqual({ outcome: 'ok' })
    expect(shown(await journal.read(aSession(), 1))).toEqual(['2:b', '3:c'])
  })

  claim('a removed root is gone with everything, and may begin again', async () => {
    const { journal } = await open()
    await journal.append(aSession(), 0, bytesOf('a'), { wakeAt: 0, at: 1 })
    await journal.saveSnapshot(aSession(), 1, bytesOf('snapshot'))

    await journal.remove(aSession())
    await journal.remove(aSession('never was'))

    expect([await journal.head(aSession()), await journal.snapshot(aSession()), await journal.last(aSession())]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(await journal.due(10, 10)).toEqual([])
    expect(await journal.append(aSession(), 0, bytesOf('again'), awake)).toEqual({ outcome: 'ok' })
    expect(await journal.snapshot(aSession())).toBeUndefined()
  })

  claim('a frame above the limit is refused before it is written', async () => {
    const { journal } = await open()

    const refused = journal.append(aSession(), 0, new Uint8Array(16 * 1024 * 1024 + 1), awake)

    await expect(refused).rejects.toMatchObject({ code: 'too_large', data: { sizeBytesMax: 16 * 1024 * 1024 } })
    expect(await journal.head(aSession())).toBeUndefined()
  })

  claim('a frame of the largest size comes back as it was', async () => {
    const { journal } = await open()
    const bytes = new Uint8Array(16 * 1024 * 1024).fill(1).fill(2, 5_000_000, 6_000_000)

    await journal.append(aSession(), 0, bytes, awake)

    expect(Buffer.compare((await journal.last(aSession()))!.bytes, bytes)).toBe(0)
  })

  claim('at K02 the append is on its way and its answer can be held back', async () => {
    const hits: string[] = []
    const held = aSignal()
    const { journal } = await open({
      environment: anEnvironment({
        hit: (name) => {
          hits.push(name)
          return held.promise
        },
      }),
    })
    let answered = false

    const appending = journal.append(aSession(), 0, bytesOf('a'), awake).finally(() => (answered = true))
    while ((await journal.head(aSession())) === undefined) await new Promise(setImmediate)
    const answeredEarly = answered
    held.give()

    expect(await appending).toEqual({ outcome: 'ok' })
    expect(answeredEarly).toBe(false)
    expect(hits).toEqual(['K02'])
  })

  claim('an acknowledgement that is lost at K02 leaves the outcome unknown and the frame written', async () => {
    const lost = new Error('the link is gone')
    const { journal } = await open({ environment: anEnvironment({ hit: (name) => (name === 'K02' ? Promise.reject(lost) : undefined) }) })

    const answer = await journal.append(aSession(), 0, bytesOf('a'), awake)

    expect(answer.outcome).toBe('unknown')
    expect(await journal.last(aSession())).toEqual({ seq: 1, bytes: bytesOf('a') })
  })

  claim('a wake time is found though the acknowledgement of its append was lost at K02', async () => {
    const { journal } = await open({
      environment: anEnvironment({ hit: (name) => (name === 'K02' ? Promise.reject(new Error('the link is gone')) : undefined) }),
    })

    expect(await journal.append(aSession(), 0, bytesOf('a'), { wakeAt: 50, at: 1 })).toMatchObject({ outcome: 'unknown' })
    expect(await journal.due(100, 10)).toMatchObject([{ seq: 1, wakeAt: 50 }])
    await journal.append(aSession(), 1, bytesOf('b'), { wakeAt: 5, at: 2 })
    expect(await journal.due(10, 10)).toMatchObject([{ seq: 2, wakeAt: 5 }])
  })

  claim('a crash at K16 leaves the older snapshot', async () => {
    const environment = anEnvironment()
    const { journal } = await open({ environment })
    await appendAll(journal, ['a', 'b'])
    await journal.saveSnapshot(aSession(), 1, bytesOf('older'))

    environment.failPoints.hit = (name) => {
      if (name === 'K16') throw new Error('crash')
    }

    await expect(journal.saveSnapshot(aSession(), 2, bytesOf('newer'))).rejects.toThrow('crash')
    expect(await journal.snapshot(aSession())).toEqual({ seq: 1, bytes: bytesOf('older') })
  })
}
