import fc from 'fast-check'
import { expect, vi } from 'vitest'
import type { Bus, BusMessage } from '../../src/contracts/transport.ts'
import { casesOf } from '../support/property.ts'
import { anEnvironment, bytesOf, textOf } from './harness.ts'
import type { Suite } from './transport.contract.ts'

const nothing = new Uint8Array()
/** Says something after everything before it, and waits until that was heard: only then is silence a fact. */
const heardAll = async (bus: Bus): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = bus.subscribe('marker', () => resolve())
  bus.publish('marker', nothing)
  await promise
  stop()
}

export const busContract = ({ claim, open }: Suite): void => {
  claim('wildcards match whole tokens: * one, a final > one or more', async () => {
    const { bus } = await open()
    const heard: Record<string, string[]> = {}
    for (const pattern of ['a.b.c', 'a.*.c', 'a.>', '*.b.*', '>', 'a.b', 'a.b.c.>', '*'])
      bus.subscribe(pattern, ({ subject }) => void (heard[pattern] ??= []).push(subject))

    for (const subject of ['a.b.c', 'a.x.c', 'a', 'a.b']) bus.publish(subject, nothing)
    await heardAll(bus)

    delete heard['>']
    expect(heard).toEqual({
      'a.b.c': ['a.b.c'],
      'a.*.c': ['a.b.c', 'a.x.c'],
      'a.>': ['a.b.c', 'a.x.c', 'a.b'],
      '*.b.*': ['a.b.c'],
      'a.b': ['a.b'],
      '*': ['a', 'marker'],
    })
  })

  claim('any set of patterns hears exactly what a token by token comparison says', async () => {
    const { bus } = await open()
    const token = fc.constantFrom('a', 'b', 'c')
    const subject = fc.array(token, { minLength: 1, maxLength: 4 })
    const pattern = fc
      .tuple(fc.array(fc.oneof(token, fc.constant('*')), { minLength: 1, maxLength: 3 }), fc.boolean())
      .map(([tokens, open]) => (open ? [...tokens, '>'] : tokens))
    const fits = (wanted: string[], tokens: string[]): boolean =>
      wanted.at(-1) === '>'
        ? tokens.length >= wanted.length && wanted.slice(0, -1).every((want, index) => want === '*' || want === tokens[index])
        : tokens.length === wanted.length && wanted.every((want, index) => want === '*' || want === tokens[index])

    await fc.assert(
      fc.asyncProperty(fc.array(pattern, { maxLength: 6 }), fc.array(subject, { maxLength: 6 }), async (patterns, subjects) => {
        const heard = patterns.map((): string[] => [])
        const stops = patterns.map((tokens, index) => bus.subscribe(tokens.join('.'), (message) => void heard[index]!.push(message.subject)))
        for (const tokens of subjects) bus.publish(tokens.join('.'), nothing)
        await heardAll(bus)
        for (const stop of stops) stop()

        const marker = ['marker']
        expect(heard).toEqual(
          patterns.map((wanted) => [...subjects, marker].filter((tokens) => fits(wanted, tokens)).map((tokens) => tokens.join('.'))),
        )
      }),
      casesOf(import.meta.url),
    )
  })

  claim('who publishes can know whether somebody was there to get it', async () => {
    const { bus } = await open()
    const heard: string[] = []
    expect(await bus.reaches('news.one', bytesOf('unheard'))).toBe(false)
    const stop = bus.subscribe('news.*', ({ data }) => void heard.push(textOf(data)))

    expect(
      await Promise.all([bus.reaches('news.one', bytesOf('a')), bus.reaches('other.one', bytesOf('b')), bus.reaches('news.two', bytesOf('c'))]),
    ).toEqual([true, false, true])
    await heardAll(bus)
    stop()
    await heardAll(bus)

    expect(await bus.reaches('news.one', bytesOf('too late'))).toBe(false)
    expect(heard).toEqual(['a', 'c'])
  })

  claim('data and headers arrive as they were sent', async () => {
    const { bus } = await open()
    const heard: BusMessage[] = []
    bus.subscribe('greeting', (message) => void heard.push(message))

    bus.publish('greeting', bytesOf('hello'), { 'Content-Type': 'text/plain' })
    bus.publish('greeting', bytesOf('bare'))
    await heardAll(bus)

    expect(heard.map(({ data, headers }) => [textOf(data), headers])).toEqual([
      ['hello', { 'Content-Type': 'text/plain' }],
      ['bare', undefined],
    ])
  })

  claim('each message reaches one member of a queue, and the members share the work', async () => {
    const { bus } = await open()
    const counts = { first: 0, second: 0, everybody: 0 }
    bus.subscribe('work.*', () => void (counts.first += 1), { queue: 'crew' })
    bus.subscribe('work.*', () => void (counts.second += 1), { queue: 'crew' })
    bus.subscribe('work.>', () => void (counts.everybody += 1))

    for (let index = 0; index < 100; index += 1) bus.publish('work.item', nothing)
    await heardAll(bus)

    expect(counts.first + counts.second).toBe(100)
    expect(Math.min(counts.first, counts.second)).toBeGreaterThan(10)
    expect(counts.everybody).toBe(100)
  })

  claim('a listener that throws or rejects is logged and disturbs nobody', async () => {
    const environment = anEnvironment()
    const { bus } = await open({ environment })
    const heard: string[] = []
    bus.subscribe('news', () => {
      throw new Error('thrown')
    })
    const rejecting: () => unknown = () => Promise.reject(new Error('rejected'))
    bus.subscribe('news', rejecting)
    bus.subscribe('news', ({ data }) => void heard.push(textOf(data)))

    bus.publish('news', bytesOf('1'))
    bus.publish('news', bytesOf('2'))
    await heardAll(bus)

    expect(heard).toEqual(['1', '2'])
    expect(environment.lines.filter(({ level }) => level === 'error')).toHaveLength(4)
  })

  claim('everybody hears messages in one order, also those that listeners publish while they listen', async () => {
    const { bus } = await open()
    const heard: string[][] = [[], []]
    bus.subscribe('talk', ({ data }) => {
      heard[0]!.push(textOf(data))
      if (textOf(data) === 'question') bus.publish('talk', bytesOf('answer'))
    })
    bus.subscribe('talk', ({ data }) => void heard[1]!.push(textOf(data)))

    bus.publish('talk', bytesOf('question'))
    bus.publish('talk', bytesOf('next'))
    await vi.waitFor(() => expect(heard.map(({ length }) => length)).toEqual([3, 3]))

    expect(heard[0]).toEqual(heard[1])
    expect(heard[0]!.toSorted()).toEqual(['answer', 'next', 'question'])
  })

  claim('listeners that answer each other for ever do not stop the process', async () => {
    const { bus } = await open()
    let count = 0
    const stop = bus.subscribe('echo', () => {
      count += 1
      bus.publish('echo', nothing)
    })

    bus.publish('echo', nothing)
    await vi.waitFor(() => expect(count).toBeGreaterThan(0))
    stop()
  })

  claim('who has unsubscribed hears nothing more, and may say so twice', async () => {
    const { bus } = await open()
    const heard: string[] = []
    const stop = bus.subscribe('news', ({ data }) => void heard.push(textOf(data)))

    bus.publish('news', bytesOf('1'))
    await heardAll(bus)
    stop()
    stop()
    bus.publish('news', bytesOf('2'))
    await heardAll(bus)

    expect(heard).toEqual(['1'])
  })

  claim('a subject is wanted as long as somebody listens to it', async () => {
    const { bus } = await open()
    const before = bus.wanted('news.today')
    const stop = bus.subscribe('news.*', () => undefined)
    const during = bus.wanted('news.today')
    stop()

    expect([before, during, bus.wanted('news.today')]).toEqual([false, true, false])
  })

  claim('a request gets the first answer', async () => {
    const { bus } = await open()
    bus.subscribe('double', ({ data, reply }) => bus.publish(reply!, bytesOf(String(2 * Number(textOf(data)))), { served: 'yes' }))

    const answers = await Promise.all([21, 4].map((number) => bus.request('double', bytesOf(String(number)), { timeoutMs: 5_000 })))

    expect(answers.map(({ data }) => textOf(data))).toEqual(['42', '8'])
    expect(answers[0]?.headers).toEqual({ served: 'yes' })
  })

  claim('a request that nobody listens to fails at once with not_found', async () => {
    const { bus } = await open()

    await expect(bus.request('nobody', nothing, { timeoutMs: 60_000 })).rejects.toMatchObject({ code: 'not_found', retryable: true })
  })

  claim('a request without an answer ends with timeout', async () => {
    const { bus } = await open()
    bus.subscribe('silent', () => undefined)

    await expect(bus.request('silent', nothing, { timeoutMs: 5 })).rejects.toMatchObject({ code: 'timeout', retryable: true })
  })

  claim('a question to many gets every answer of everybody, in order', async () => {
    const { bus } = await open()
    for (const name of ['ann', 'bob'])
      bus.subscribe('roll-call', ({ reply, data, headers }) => {
        bus.publish(reply!, bytesOf(`${name} 1`), { heard: `${textOf(data)} ${headers?.why}` })
        bus.publish(reply!, bytesOf(`${name} 2`))
      })

    const answers: BusMessage[] = []
    for await (const answer of bus.requestMany('roll-call', bytesOf('who?'), { timeoutMs: 60_000, headers: { why: 'test' } }))
      if (answers.push(answer) === 4) break

    const texts = answers.map(({ data }) => textOf(data))
    expect(texts.toSorted()).toEqual(['ann 1', 'ann 2', 'bob 1', 'bob 2'])
    expect(texts.indexOf('ann 1')).toBeLessThan(texts.indexOf('ann 2'))
    expect(texts.indexOf('bob 1')).toBeLessThan(texts.indexOf('bob 2'))
    expect(answers.flatMap(({ headers }) => headers?.heard ?? [])).toEqual(['who? test', 'who? test'])
  })

  claim('a question to many ends quietly when its time is up', async () => {
    const { bus } = await open()
    bus.subscribe('silent', () => undefined)

    const answers: BusMessage[] = []
    for await (const answer of bus.requestMany('silent', nothing, { timeoutMs: 5 })) answers.push(answer)

    expect(answers).toEqual([])
  })

  claim('who has left a question to many, or aborted it, is told nothing more', async () => {
    const { bus } = await open()
    const replies: string[] = []
    bus.subscribe('news-of', ({ reply }) => {
      replies.push(reply!)
      bus.publish(reply!, bytesOf('first'))
    })
    const abort = new AbortController()
    const heard: string[] = []

    for await (const { data } of bus.requestMany('news-of', nothing, { timeoutMs: 60_000 })) {
      heard.push(textOf(data))
      break
    }
    for await (const { data } of bus.requestMany('news-of', nothing, { timeoutMs: 60_000, signal: abort.signal })) {
      heard.push(textOf(data))
      abort.abort()
      bus.publish(replies.at(-1)!, bytesOf('late'))
    }
    for await (const { data } of bus.requestMany('news-of', nothing, { timeoutMs: 60_000, signal: abort.signal })) heard.push(textOf(data))

    expect(heard).toEqual(['first', 'first'])
    expect(replies).toHaveLength(2)
  })

  claim('a question to many that nobody listens to fails at once with not_found', async () => {
    const { bus } = await open()
    const asked = bus.requestMany('nobody', nothing, { timeoutMs: 60_000 })[Symbol.asyncIterator]()

    await expect(asked.next()).rejects.toMatchObject({ code: 'not_found', retryable: true })
  })

  claim('where the answers to many go cannot be guessed', async () => {
    const { bus } = await open()
    const replies: string[] = []
    bus.subscribe('ask', ({ reply }) => {
      replies.push(reply!)
      bus.publish(reply!, nothing)
    })

    for (let index = 0; index < 20; index += 1) for await (const _ of bus.requestMany('ask', nothing, { timeoutMs: 60_000 })) break

    const tails = replies.map((reply) => reply.slice(-32))
    expect(tails.every((tail) => /^[0-9a-f]{32}$/.test(tail))).toBe(true)
    expect(new Set(tails.map((tail) => tail.slice(0, 8))).size).toBe(20)
  })

  claim('what is no subject cannot be published, requested or subscribed to', async () => {
    const { bus } = await open()
    const bad = ['', '.', 'a.', '.a', 'a..b', 'a b', 'a\tb', 'a\u0000', 'a\r\nPUB x 0', 'a'.repeat(5_000)]

    for (const subject of [...bad, 'a.*', 'a.>', '*', '>', 'a*b'])
      expect(() => bus.publish(subject, nothing), JSON.stringify(subject)).toThrow(expect.objectContaining({ code: 'bad_request' }))
    for (const pattern of [...bad, 'a.>.b', '>.a', 'a*'])
      expect(() => bus.subscribe(pattern, () => undefined), JSON.stringify(pattern)).toThrow(expect.objectContaining({ code: 'bad_request' }))
    await expect(bus.request('a.*', nothing, { timeoutMs: 5 })).rejects.toMatchObject({ code: 'bad_request' })
    const asked = bus.requestMany('a.*', nothing, { timeoutMs: 5 })[Symbol.asyncIterator]()
    await expect(asked.next()).rejects.toMatchObject({ code: 'bad_request' })
  })
}
