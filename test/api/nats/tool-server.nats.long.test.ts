/** Tools that a process of its own offers with `serveTools`, used by an agent of a node. */

import { connect, headers, type Msg } from '@nats-io/transport-node'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agent, createRuntime, type Runtime, type Tool, tool } from '../../../src/index.ts'
import { serveTools, type ToolServer } from '../../../src/nats.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { closedAfterEach } from '../../support/kept.ts'
import { natsForAll } from '../../support/nats.ts'
import { obedientModel } from '../../support/obedient-model.ts'
import { anEnvironment } from '../../transport/harness.ts'

const server = natsForAll()

const kept = closedAfterEach()

let count = 0
/** A node that has found these tools. */
const withTools = async (...tools: Tool[]): Promise<{ runtime: Runtime; served: ToolServer }> => {
  const prefix = `served-${++count}`
  const runtime = kept(
    await createRuntime({
      transport: server.url,
      prefix,
      agents: [agent({ name: 'main', model: 'test/model', services: true })],
      models: { 'test/model': obedientModel },
    }),
  )
  const served = kept(await serveTools(server.url, { name: `service-${count}`, tools, prefix, environment: { log: anEnvironment().log } }))
  await vi.waitFor(() => expect(partsOf(runtime).agents.get('main')!.tools.names).toEqual(expect.arrayContaining(tools.map(({ name }) => name))))
  return { runtime, served }
}

const add = tool({
  name: 'add',
  description: 'adds two numbers',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
  onCrash: 'retry',
})

test('a tool is found, called with checked input, told whose call it is, and heard while it works', async () => {
  const calls: unknown[] = []
  const slow = tool({
    name: 'slow',
    description: 'takes its time',
    input: z.object({ what: z.string() }),
    execute: ({ what }, { progress, session, callId, attempt, runId }) => {
      calls.push({ session, attempt, named: callId !== '' && runId !== '' })
      progress(`half of\n${what}`)
      return { done: what }
    },
  })
  const { runtime } = await withTools(add, slow)

  const sum = await runtime.session('a b/ü').send('add {"a":2,"b":40}')
  expect((await sum.result()).text).toBe('42')
  const run = await runtime.session('a b/ü').send('slow {"what":"it"}')
  const heard: string[] = []
  for await (const event of run.events()) if (event.type === 'tool' && event.phase === 'progress') heard.push(String(event.message))

  expect((await run.result()).text).toBe('{"done":"it"}')
  expect(calls).toEqual([{ session: 'a b/ü', attempt: 1, named: true }])
  expect(heard).toEqual(['half of it'])
})

test('what fails, is refused or says too much is an error for the model, and the service lives on', async () => {
  const failing = tool({
    name: 'failing',
    description: 'fails',
    input: z.object({ how: z.string() }),
    execute: ({ how }) => {
      if (how === 'giant') return 'x'.repeat(1_100_000)
      throw new Error('no luck today')
    },
    outputBytesMax: 2_000_000,
    onCrash: 'retry',
  })
  const { runtime } = await withTools(add, failing)
  const ask = async (text: string): Promise<string> => (await (await runtime.session('s').send(text)).result()).text

  expect(await ask('failing {"how":"throw"}')).toContain('no luck today')
  expect(await ask('failing {"how":"giant"}')).toContain('too_large')
  expect(await ask('add {"a":"two","b":1}')).toContain('a')
  expect(await ask('add {"a":2,"b":1}')).toBe('3')
})

test('a call that names no subject to be cancelled on is answered so', async () => {
  await withTools(add)
  const nc = await connect({ servers: server.url })
  for (const subject of ['a b', '>', 'a.*']) {
    const made = headers()
    made.set('Statecast-Cancel', subject)
    const answers: Msg[] = []
    const asked = await nc.requestMany(`served-${count}.tools.service-${count}.add`, '{"a":1,"b":2}', {
      headers: made,
      maxWait: 5_000,
      maxMessages: 2,
    })
    for await (const answer of asked) answers.push(answer)
    expect(answers.at(-1)?.headers?.get('Nats-Service-Error')).toContain('bad_request')
  }
  await nc.close()
})

test('a cancelled call is stopped where it runs', async () => {
  let stopped = false
  const begun = Promise.withResolvers<void>()
  const endless = tool({
    name: 'endless',
    description: 'never ends',
    input: z.object({}),
    execute: (_, { signal }) => {
      begun.resolve()
      signal.addEventListener('abort', () => (stopped = true))
      return new Promise(() => undefined)
    },
    onCrash: 'retry',
  })
  const { runtime } = await withTools(endless)
  const run = await runtime.session('s').send('endless {}')
  await begun.promise

  await runtime.session('s').cancel()

  await expect(run.result()).rejects.toMatchObject({ code: 'cancelled' })
  await vi.waitFor(() => expect(stopped).toBe(true))
})

test('a server that closes answers what it has begun', async () => {
  const release = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const held = tool({
    name: 'held',
    description: 'waits',
    input: z.object({}),
    execute: async () => {
      begun.resolve()
      await release.promise
      return 'in the end'
    },
  })
  const { runtime, served } = await withTools(held)
  const run = await runtime.session('s').send('held {}')
  await begun.promise

  const closing = served.close()
  release.resolve()
  await closing

  expect((await run.result()).text).toBe('"in the end"')
})

test('what cannot be served says why', async () => {
  for (const [options, code] of [
    [{ name: 'a b', tools: [add] }, 'bad_request'],
    [{ name: 'a', tools: [] }, 'bad_request'],
    [{ name: 'a', tools: [add, add] }, 'bad_request'],
  ] as const)
    await expect(serveTools(server.url, options)).rejects.toMatchObject({ code })
  await expect(serveTools('nats://127.0.0.1:1', { name: 'a', tools: [add] })).rejects.toMatchObject({ code: 'log_unavailable' })
})
