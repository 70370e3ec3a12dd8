import { expect, vi } from 'vitest'
import type { Delivery, Transport } from '../../src/contracts/transport.ts'
import { aHastyClock, aManualClock, anEnvironment, aSignal, bytesOf, textOf } from './harness.ts'
import type { Suite } from './transport.contract.ts'

/** Consumes everything and acknowledges it. */
const drain = (transport: Transport, heard: string[]) =>
  transport.inbox.consume('statecast.in.>', async (delivery) => {
    heard.push(`${delivery.subject} ${textOf(delivery.data)}`)
    await delivery.ack()
  })

export const inboxContract = ({ claim, open, reopen }: Suite): void => {
  const earlyAndLate = async (heard: Pick<Delivery, 'subject' | 'id' | 'data' | 'attempt'>[]): Promise<void> => {
    const { inbox } = await open()
    await inbox.put('statecast.in.session.a', 'm1', bytesOf('early'))
    inbox.consume('statecast.in.>', async (delivery) => {
      heard.push(delivery)
      await delivery.ack()
    })
    await inbox.put('statecast.in.session.b', 'm2', bytesOf('late'))
  }

  claim('what was put is delivered with its subject, id and data, before or after somebody consumes', async () => {
    const heard: Pick<Delivery, 'subject' | 'id' | 'data' | 'attempt'>[] = []

    await earlyAndLate(heard)

    await vi.waitFor(() => expect(heard.map(({ id }) => id)).toEqual(expect.arrayContaining(['m1', 'm2'])))
    for (const { subject, id, data } of heard)
      expect([subject, textOf(data)]).toEqual(id === 'm1' ? ['statecast.in.session.a', 'early'] : ['statecast.in.session.b', 'late'])
  })

  claim('what was put is delivered once, in the order in which it was put, as its first attempt, when nothing fails', async () => {
    const heard: Pick<Delivery, 'subject' | 'id' | 'data' | 'attempt'>[] = []

    await earlyAndLate(heard)

    await vi.waitFor(() => expect(heard).toHaveLength(2))
    expect(heard.map(({ id, attempt }) => [id, attempt])).toEqual([
      ['m1', 1],
      ['m2', 1],
    ])
  })

  claim('one subject is delivered in order, one at a time, while others go on', async () => {
    const { inbox } = await open()
    const heard: string[] = []
    const release = aSignal()
    let inFlight = 0
    let most = 0
    for (let index = 0; index < 10; index += 1) await inbox.put('statecast.in.k.slow', `${index}`, bytesOf(`slow ${index}`))
    await inbox.put('statecast.in.k.quick', '0', bytesOf('quick'))

    inbox.consume('statecast.in.>', async (delivery) => {
      if (delivery.subject === 'statecast.in.k.slow') {
        most = Math.max(most, (inFlight += 1))
        await release.promise
        inFlight -= 1
      }
      heard.push(textOf(delivery.data))
      await delivery.ack()
    })
    await vi.waitFor(() => expect(heard).toEqual(['quick']))
    release.give()

    await vi.waitFor(() => expect(heard).toHaveLength(11))
    expect(heard.slice(1)).toEqual(Array.from({ length: 10 }, (_, index) => `slow ${index}`))
    expect(most).toBe(1)
  })

  claim('a consumer gets only what its pattern takes', async () => {
    const { inbox } = await open()
    const heard: string[] = []

    await inbox.put('statecast.in.other.a', '1', bytesOf('not mine'))
    await inbox.put('statecast.in.k.a', '1', bytesOf('mine'))
    inbox.consume('statecast.in.k.*', async (delivery) => {
      heard.push(textOf(delivery.data))
      await delivery.ack()
    })
    await inbox.put('statecast.in.other.b', '1', bytesOf('not mine either'))
    await inbox.put('statecast.in.k.z', '1', bytesOf('last'))

    await vi.waitFor(() => expect(heard).toEqual(['mine', 'last']))
  })

  claim('an id that was seen before is dropped: while it waits, and after it is done, also after a reopen', async () => {
    const first = await open()
    const heard: string[] = []
    await first.inbox.put('statecast.in.k.a', 'm1', bytesOf('first'))

    const whileWaiting = await first.inbox.put('statecast.in.k.a', 'm1', bytesOf('again'))
    drain(first, heard)
    await vi.waitFor(() => expect(heard).toHaveLength(1))
    const second = await reopen(first)
    const afterDone = await second.inbox.put('statecast.in.k.a', 'm1', bytesOf('and again'))
    const elsewhere = await second.inbox.put('statecast.in.k.b', 'm1', bytesOf('another subject'))
    drain(second, heard)

    expect([whileWaiting, afterDone, elsewhere]).toEqual([{ duplicate: true }, { duplicate: true }, { duplicate: false }])
    await vi.waitFor(() => expect(heard).toEqual(['statecast.in.k.a first', 'statecast.in.k.b another subject']))
  })

  claim('an id is remembered for two minutes after its message is done, and not for ever', async () => {
    const clock = aManualClock()
    const { inbox } = await open({ environment: anEnvironment({ clock }) })
    let count = 0
    inbox.consume('statecast.in.>', (delivery) => {
      count += 1
      return delivery.ack()
    })
    await inbox.put('statecast.in.k.a', 'm1', bytesOf('first'))
    await vi.waitFor(() => expect(count).toBe(1))

    clock.advance(120_000)
    const soon = await inbox.put('statecast.in.k.a', 'm1', bytesOf('again'))
    clock.advance(600_000)
    const late = await inbox.put('statecast.in.k.a', 'm1', bytesOf('much later'))

    expect([soon, late]).toEqual([{ duplicate: true }, { duplicate: false }])
  })

  claim('a message that stops its process over and over shows by its attempt that it has been tried', async () => {
    let transport = await open()
    const attempts: number[] = []
    await transport.inbox.put('statecast.in.k.a', '1', bytesOf('poison'))

    for (let round = 0; round < 4; round += 1) {
      const reached = aSignal()
      transport.inbox.consume('statecast.in.>', async (delivery) => {
        attempts.push(delivery.attempt)
        reached.give()
        await new Promise(() => undefined)
      })
      await reached.promise
      transport = await reopen(transport)
    }

    expect(attempts[0]).toBe(1)
    expect(attempts.at(-1)).toBeGreaterThan(2)
  })

  claim('what was not acknowledged is delivered again after a reopen, in the old order', async () => {
    const first = await open()
    for (const id of ['1', '2', '3']) await first.inbox.put('statecast.in.k.a', id, bytesOf(id))
    const reached = aSignal()
    first.inbox.consume('statecast.in.>', async (delivery) => {
      if (delivery.id === '1') return delivery.ack()
      reached.give()
      await new Promise(() => undefined)
    })
    await reached.promise

    const second = await reopen(first)
    const heard: string[] = []
    drain(second, heard)

    await vi.waitFor(() => expect(heard).toEqual(['statecast.in.k.a 2', 'statecast.in.k.a 3']))
  })

  claim('a retry comes again after its pause, counts the attempt, and holds back what is behind it', async () => {
    const { inbox } = await open()
    const heard: string[] = []
    await inbox.put('statecast.in.k.a', '1', bytesOf('one'))
    await inbox.put('statecast.in.k.a', '2', bytesOf('two'))

    inbox.consume('statecast.in.>', async (delivery) => {
      heard.push(`${delivery.id} attempt ${delivery.attempt}`)
      await (delivery.attempt < 3 && delivery.id === '1' ? delivery.retry(5) : delivery.ack())
    })

    await vi.waitFor(() => expect(heard).toEqual(['1 attempt 1', '1 attempt 2', '1 attempt 3', '2 attempt 1']))
  })

  claim('a buried message is kept with its reason and frees its subject', async () => {
    const first = await open()
    const heard: string[] = []
    await first.inbox.put('statecast.in.k.a', 'bad', bytesOf('poison'))
    await first.inbox.put('statecast.in.k.a', 'good', bytesOf('food'))

    first.inbox.consume('statecast.in.>', async (delivery) => {
      heard.push(delivery.id)
      await (delivery.id === 'bad' ? delivery.bury('cannot be read') : delivery.ack())
    })
    await vi.waitFor(() => expect(heard).toEqual(['bad', 'good']))
    const second = await reopen(first)

    const [letter, ...others] = await second.inbox.deadLetters()
    expect(letter).toMatchObject({ subject: 'statecast.in.k.a', id: 'bad', reason: 'cannot be read', at: expect.any(Number) })
    expect(textOf(letter?.data)).toBe('poison')
    expect(others).toEqual([])
    expect(await second.inbox.deadLetters({ limit: 0 })).toEqual([])
  })

  claim('a handler that throws is tried again, and after ten failures the message is buried with the error', async () => {
    const { inbox } = await open({ environment: anEnvironment({ clock: aHastyClock() }) })
    const attempts: number[] = []
    const heard: string[] = []
    await inbox.put('statecast.in.k.a', 'bad', bytesOf('poison'))
    await inbox.put('statecast.in.k.a', 'good', bytesOf('food'))

    inbox.consume('statecast.in.>', async (delivery) => {
      if (delivery.id === 'good') {
        heard.push(delivery.id)
        return delivery.ack()
      }
      attempts.push(delivery.attempt)
      throw new Error('cannot digest this')
    })

    await vi.waitFor(() => expect(heard).toEqual(['good']))
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await inbox.deadLetters()).toMatchObject([{ id: 'bad', reason: expect.stringContaining('cannot digest this') }])
  })

  claim('a handler that ends without a word has failed', async () => {
    const { inbox } = await open({ environment: anEnvironment({ clock: aHastyClock() }) })
    const attempts: number[] = []
    await inbox.put('statecast.in.k.a', '1', bytesOf('x'))

    inbox.consume('statecast.in.>', async (delivery) => {
      attempts.push(delivery.attempt)
      if (delivery.attempt === 2) await delivery.ack()
    })

    await vi.waitFor(() => expect(attempts).toEqual([1, 2]))
  })

  claim('of several words about one delivery the first counts', async () => {
    const { inbox } = await open()
    let count = 0
    await inbox.put('statecast.in.k.a', '1', bytesOf('x'))

    const stop = inbox.consume('statecast.in.>', async (delivery) => {
      count += 1
      await Promise.all([delivery.ack(), delivery.bury('no'), delivery.retry(0)])
    })
    await vi.waitFor(() => expect(count).toBe(1))
    await stop()

    expect(await inbox.deadLetters()).toEqual([])
    expect(await inbox.put('statecast.in.k.a', '1', bytesOf('x'))).toEqual({ duplicate: true })
    expect(count).toBe(1)
  })

  claim('there is one consumer at a time; stopping waits for its handlers and leaves the rest for the next', async () => {
    const { inbox } = await open()
    const release = aSignal()
    const started = aSignal()
    const heard: string[] = []
    const stop = inbox.consume('statecast.in.>', async (delivery) => {
      started.give()
      await release.promise
      heard.push(`first ${delivery.id}`)
      await delivery.ack()
    })
    await inbox.put('statecast.in.k.a', '1', bytesOf('x'))
    await inbox.put('statecast.in.k.a', '2', bytesOf('x'))
    await started.promise

    expect(() => inbox.consume('statecast.in.>', async () => undefined)).toThrow(expect.objectContaining({ code: 'conflict' }))
    const stopped = stop()
    release.give()
    await stopped
    const heardByFirst = [...heard]
    inbox.consume('statecast.in.>', async (delivery) => {
      heard.push(`second ${delivery.id}`)
      await delivery.ack()
    })

    expect(heardByFirst).toEqual(['first 1'])
    await vi.waitFor(() => expect(heard).toEqual(['first 1', 'second 2']))
  })

  claim('a pause goes on for the next consumer when the first has stopped', async () => {
    const clock = aManualClock()
    const { inbox } = await open({ environment: anEnvironment({ clock }) })
    const retried = aSignal()
    await inbox.put('statecast.in.k.a', '1', bytesOf('x'))
    const stop = inbox.consume('statecast.in.>', async (delivery) => {
      await delivery.retry(1_000)
      retried.give()
    })
    await retried.promise
    await stop()
    const heard: number[] = []

    inbox.consume('statecast.in.>', async (delivery) => {
      heard.push(delivery.attempt)
      await delivery.ack()
    })
    clock.advance(999)
    const early = [...heard]
    clock.advance(1)

    await vi.waitFor(() => expect(heard).toEqual([2]))
    expect(early).toEqual([])
  })

  claim('[INV-11] a full inbox answers overloaded, and takes more when something is done', async () => {
    const { inbox } = await open({ inboxMax: 3 })
    for (const id of ['1', '2', '3']) await inbox.put('statecast.in.k.a', id, bytesOf('x'))

    await expect(inbox.put('statecast.in.k.b', '4', bytesOf('x'))).rejects.toMatchObject({ code: 'overloaded', retryable: true })
    let count = 0
    inbox.consume('statecast.in.>', (delivery) => {
      count += 1
      return delivery.ack()
    })
    await vi.waitFor(() => expect(count).toBe(3))

    await vi.waitFor(async () => expect(await inbox.put('statecast.in.k.b', '4', bytesOf('x'))).toEqual({ duplicate: false }))
  })

  claim('many subjects and messages are each delivered exactly once when nothing fails', async () => {
    const { inbox } = await open()
    const attempts = new Map<string, number[]>()
    inbox.consume('statecast.in.>', async (delivery) => {
      const key = `${delivery.subject} ${delivery.id}`
      attempts.set(key, [...(attempts.get(key) ?? []), delivery.attempt])
      await delivery.ack()
    })
    const begun = performance.now()

    // Some at a time: a machine with other work needs longer for all of them than the client waits for one.
    for (let sent = 0; sent < 3_000; sent += 200)
      await Promise.all(
        Array.from({ length: 200 }, (_, index) => sent + index).map((index) =>
          inbox.put(`statecast.in.k.${index % 1_500}`, `${index}`, bytesOf('x')),
        ),
      )

    await vi.waitFor(() => expect(attempts.size).toBe(3_000))
    // A server that hears nothing of a message for four seconds, as on a machine that is kept from its work, gives it again.
    const wasKept = performance.now() - begun >= 4_000
    if (!wasKept) for (const given of attempts.values()) expect(given).toEqual([1])
  })

  claim('what is no subject, or no id, is refused', async () => {
    const { inbox } = await open()

    for (const subject of ['', 'statecast.in.k.*', 'statecast.in.>', 'statecast.in..a', 'statecast.in.k.a b'])
      await expect(inbox.put(subject, '1', bytesOf('x'))).rejects.toMatchObject({ code: 'bad_request' })
    for (const id of ['', 'a\r\nb', 'x'.repeat(2_000)])
      await expect(inbox.put('statecast.in.k.a', id, bytesOf('x'))).rejects.toMatchObject({ code: 'bad_request' })
  })
}
