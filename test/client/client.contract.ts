/** What every client does, however it reaches the runtime; run for each of them by `*.client*.test.ts` beside this file. */
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type Client, follow, followRun } from '../../src/client/index.ts'
import { agent, createRuntime, type RunEvent, type Runtime, type RuntimeOptions, tool } from '../../src/index.ts'
import type { OutEvent, SessionView } from '../../src/runtime/index.ts'

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** A node whose agent says back what it hears, word by word; `danger` waits for a person, `break` fails, `hang` goes on until it is stopped. */
export const aNode = (options: RuntimeOptions): Promise<Runtime> =>
  createRuntime({
    ...options,
    environment: { log: silent },
    agents: [
      agent({
        name: 'main',
        model: 'test/echo',
        tools: [tool({ name: 'danger', description: 'needs a person', input: z.object({}), approval: true, execute: () => 'it is done' })],
      }),
    ],
    models: {
      'test/echo': ({ messages }) => {
        const last = messages.at(-1)
        if (last?.role !== 'user') return { text: 'so it is done' }
        if (last.text === 'danger') return { text: 'may I?', calls: [{ name: 'danger' }] }
        if (last.text === 'break') return { error: { code: 'provider_rejected', message: 'it does not want to' } }
        if (last.text === 'hang') return { text: 'so far', hang: true }
        return { text: `echo ${last.text}`, chunkSize: 5 }
      },
    },
  })

type Opened = { client: Client; close(): Promise<void> }

/** @param open a client of a node that was just started, and what ends both */
export const clientContract = (open: () => Promise<Opened>): void => {
  const opened: Opened[] = []
  afterEach(async () => {
    for (const { close } of opened.splice(0)) await close()
  })
  const aClient = async (): Promise<Client> => {
    const one = await open()
    opened.push(one)
    return one.client
  }
  let count = 0
  const aKey = () => `session-${process.pid}-${++count}`
  const read = async <T extends { type: string }>(events: AsyncIterable<T>, until: (event: T) => boolean): Promise<T[]> => {
    const all: T[] = []
    for await (const event of events) {
      all.push(event)
      if (until(event)) return all
    }
    return all
  }
  const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error,
    )
  const isFinal = ({ type }: { type: string }): boolean => type === 'final'
  /** Durable ones alone: live ones may be lost. */
  const durable = (events: OutEvent[]) => events.filter(({ seq }) => seq !== undefined)

  test('a command answers with plain JSON', async () => {
    const client = await aClient()
    const sessionKey = aKey()

    const sent = await client.command<{ status: string; runId: string }>('chat.send', { sessionKey, message: 'hi', idempotencyKey: 'k' })
    const outcome = await client.command<{ text: string }>('agent.wait', { sessionKey, runId: sent.runId })

    expect(sent).toMatchObject({ id: 'k', status: 'started' })
    expect(outcome).toMatchObject({ text: 'echo hi', status: 'completed' })
  })

  test.each([
    ['a session that is not there', 'sessions.get', { sessionKey: 'nobody' }, { code: 'not_found', retryable: false }],
    ['a field that is missing', 'chat.send', { sessionKey: 'x' }, { code: 'bad_request', field: 'message' }],
  ])('%s is refused with the same error everywhere', async (_, name, input, error) => {
    const client = await aClient()

    expect(await failureOf(client.command(name as 'sessions.get', input))).toMatchObject(error)
  })

  test('nothing is missed from the moment that the subscription resolves', async () => {
    const client = await aClient()
    const sessionKey = aKey()
    const { events, stop } = await client.events(sessionKey)

    await client.command('chat.send', { sessionKey, message: 'hi', idempotencyKey: 'k' })
    const heard = await read(events, isFinal)
    stop()

    const types = heard.map(({ type }) => type)
    expect(types.filter((type) => type !== 'delta')).toEqual(expect.arrayContaining(['accepted', 'started', 'final']))
    expect(types.indexOf('accepted')).toBeLessThan(types.indexOf('final'))
    expect(heard.at(-1)).toMatchObject({ text: 'echo hi', seq: expect.any(Number), part: expect.any(Number) })
  })

  test('from a place on the events since then come first, each once', async () => {
    const client = await aClient()
    const sessionKey = aKey()
    const first = await client.events(sessionKey)
    await client.command('chat.send', { sessionKey, message: 'one', idempotencyKey: 'k1' })
    const before = durable(await read(first.events, isFinal))
    first.stop()
    await client.command('chat.send', { sessionKey, message: 'two', idempotencyKey: 'k2' })
    await client.command('agent.wait', { sessionKey, runId: 'k2' })

    const { seq, part } = before[0] as OutEvent
    const { events, stop } = await client.events(sessionKey, `${seq}.${part}`)
    const since = durable(await read(events, (event) => isFinal(event) && (event as { text?: string }).text === 'echo two'))
    stop()

    const places = since.map((event) => `${event.seq}.${event.part}`)
    expect(new Set(places).size).toBe(places.length)
    expect(places.slice(0, before.length - 1)).toEqual(before.slice(1).map((event) => `${event.seq}.${event.part}`))
  })

  test('a reader that stays hears the finals of a session that is deleted and begun again, after restart', async () => {
    const client = await aClient()
    const sessionKey = aKey()
    const { events, stop } = await client.events(sessionKey)
    const heard: unknown[] = []
    const listening = (async () => {
      for await (const { type, text } of events) if (type === 'final' || type === 'restart') heard.push(text ?? type)
    })()
    const say = async (message: string) => {
      const { runId } = await client.command<{ runId: string }>('chat.send', { sessionKey, message })
      await client.command('agent.wait', { sessionKey, runId })
    }
    await say('old')
    await say('older')
    await expect.poll(() => heard).toEqual(['echo old', 'echo older'])
    await client.command('sessions.delete', { sessionKey })
    await say('anew')
    await expect.poll(() => heard.at(-1)).toBe('echo anew')
    stop()
    await listening

    expect(heard).toEqual(['echo old', 'echo older', 'restart', 'echo anew'])
  })

  test('a subscription that is stopped ends', async () => {
    const client = await aClient()
    const { events, stop } = await client.events(aKey())

    stop()

    expect(await read(events, () => false)).toEqual([])
  })

  test('a message is followed from its acceptance to its outcome, and told once', async () => {
    const client = await aClient()

    const followed = await follow(client, { sessionKey: aKey(), message: 'what is it?' })
    const heard = await read(followed.events, () => false)

    expect(await followed.outcome).toMatchObject({ text: 'echo what is it?', status: 'completed' })
    expect(heard.filter(isFinal)).toHaveLength(1)
    const deltas = heard.filter((event): event is Extract<RunEvent, { type: 'delta' }> => event.type === 'delta')
    expect(deltas.map(({ text }) => text).join('')).toBe('echo what is it?')
  })

  test('a message that is said twice under one id is answered once', async () => {
    const client = await aClient()
    const message = { sessionKey: aKey(), message: 'hi', idempotencyKey: 'once' }

    const [first, again] = [await follow(client, message), await follow(client, message)]

    expect(await again.outcome).toMatchObject({ text: (await first.outcome).text, runId: 'once' })
    const { messages } = await client.command<{ messages: unknown[] }>('chat.history', { sessionKey: message.sessionKey })
    expect(messages).toHaveLength(2)
  })

  test('a turn that failed or was stopped is an error with its code, and with what had been said', async () => {
    const client = await aClient()
    const failed = await follow(client, { sessionKey: aKey(), message: 'break' })
    const sessionKey = aKey()
    const hanging = await follow(client, { sessionKey, message: 'hang' })
    for await (const event of hanging.events) if (event.type === 'delta') break
    await client.command('chat.abort', { sessionKey })

    expect(await failureOf(failed.outcome)).toMatchObject({ code: 'provider_rejected' })
    expect(await failureOf(hanging.outcome)).toMatchObject({ code: 'cancelled', data: { text: 'so far' } })
  })

  test('a call that waits for a person is told, and followed from the decision to the answer', async () => {
    const client = await aClient()
    const sessionKey = aKey()
    const asked = await follow(client, { sessionKey, message: 'danger' })
    for await (const event of asked.events) if (event.type === 'approval') break
    asked.stop()
    const { approvals } = await client.command<SessionView>('sessions.get', { sessionKey })
    const [{ runId, callId, inputHash, attempt }] = approvals as [SessionView['approvals'][number]]

    const resume = () => client.command('approvals.resolve', { sessionKey, callId, inputHash, attempt, decision: 'approve' })
    const decided = await followRun(client, { sessionKey, runId, resume })

    const output = await decided.outcome
    expect(output).toMatchObject({ text: 'so it is done' })
    expect(await decided.texts(output)).toEqual(['may I?', 'so it is done'])
    expect(await failureOf(asked.outcome)).toMatchObject({ code: 'cancelled' })
  })

  test('a client that is closed leaves no reader waiting', async () => {
    const { client, close } = await open()
    const { events } = await client.events(aKey())
    const ended = read(events, () => false)

    await close()

    expect(await ended).toEqual([])
  })
}
