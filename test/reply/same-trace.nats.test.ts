/** The same conversation in a folder and on a NATS server leaves the same trace, but for ids and times. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { chat } from '../../src/chat.ts'
import { agent, createRuntime, type Runtime, type Session, tool } from '../../src/index.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { testChannel } from '../../src/testing/index.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()

const pay = tool({ name: 'pay', description: 'pays', input: z.object({}), onCrash: 'retry', execute: () => 'paid' })

const open = async (transport: string) => {
  const channel = testChannel(systemEnvironment().clock)
  const runtime = await createRuntime({
    transport,
    prefix: 'same-trace',
    extensions: [chat({ channels: [channel], agents: { main: { delivery: { streaming: true, min: 20, max: 80 } } } })],
    agents: [agent({ name: 'main', model: 'test/a', fallbacks: ['test/b'], tools: [pay], queue: { debounceMs: 50 } })],
    models: {
      'test/a': ({ messages }) => {
        const last = messages.at(-1)
        const text = last?.role === 'user' ? last.text : ''
        if (last?.role === 'tool') return { text: 'that is paid', usage: { inputTokens: 20, outputTokens: 5 } }
        if (text.includes('pay')) return { calls: [{ name: 'pay' }], usage: { inputTokens: 10, outputTokens: 5 } }
        if (text.includes('limit')) return { error: { status: 429 } }
        if (text.includes('slow')) return { text: 'slowly does it', delayMs: 400 }
        return { text: `you said ${text.length}` }
      },
      'test/b': () => ({ text: 'from elsewhere' }),
    },
  })
  return { runtime, channel }
}

const origin = { channel: 'test', to: 'ann' }

/** One thing after the other, so that nothing but the transport could make a difference. */
const talk = async (main: Session): Promise<void> => {
  const idle = () => vi.waitFor(async () => expect(await main.view()).toMatchObject({ state: 'awaiting-input', queued: [] }))
  const answered = async (text: string, id: string) => {
    await (await main.send(text, { idempotencyKey: id, origin: { ...origin, messageId: id } })).result()
    await idle()
  }
  await answered('hello', '1')
  await answered('/usage tokens', '2')
  await answered('please pay', '3')
  await answered('over the limit', '4')
  await main.send('slow', { idempotencyKey: '5', origin })
  await main.send('later', { idempotencyKey: '6', origin, queueMode: 'followup' })
  await idle()
  await answered('/new hello again', '7')
}

const traceOf = async (runtime: Runtime, channel: ReturnType<typeof testChannel>) => {
  const byActor = new Map<string, string[]>()
  for await (const { actor, event } of runtime.trace({ kind: 'session', id: 'main' })) byActor.set(actor, [...(byActor.get(actor) ?? []), event])
  const { record } = await runtime.session('main').view()
  return {
    actors: Object.fromEntries([...byActor].sort(([a], [b]) => (a < b ? -1 : 1))),
    transcript: (await runtime.session('main').history()).map(
      ({ role, ...rest }) => `${role}: ${'text' in rest ? rest.text : 'output' in rest ? JSON.stringify(rest.output) : ''}`,
    ),
    spent: record.spent,
    toggles: record.toggles,
    sent: channel.texts,
  }
}

test('the same conversation leaves the same trace, but for ids and times', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-trace-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const traces: Awaited<ReturnType<typeof traceOf>>[] = []
  for (const transport of [`embedded:${folder}`, server.url]) {
    const { runtime, channel } = await open(transport)
    await using _ = runtime
    await talk(runtime.session('main'))
    traces.push(await traceOf(runtime, channel))
  }
  const [embedded, nats] = traces

  expect(embedded?.sent.length).toBeGreaterThan(6)
  expect(nats).toEqual(embedded)
})
