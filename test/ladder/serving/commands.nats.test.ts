/** Runs over plain NATS: what any client in any language can ask, on a real server. */
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime, type Runtime } from '../../../src/index.ts'
import { agent, batch, ladder, workflow } from '../../../src/ladder/index.ts'
import { natsForAll } from '../../support/nats.ts'

const server = natsForAll()
let runtime: Runtime
let nc: NatsConnection
let ran = 0
const count = workflow({
  name: 'count',
  steps: [
    { name: 'count', run: () => ++ran },
    { name: 'say', run: ({ input }) => input },
  ],
})
const grow = workflow({
  name: 'grow',
  input: z.object({ times: z.number() }),
  steps: [{ name: 'grow', run: ({ input }) => 'x'.repeat(input.times) }],
})
const echo = agent({ name: 'echo', model: 'test/a' })

beforeAll(async () => {
  runtime = await createRuntime({
    transport: server.url,
    extensions: [ladder({ executables: [count, grow, echo, batch(count)], serve: true })],
    models: { 'test/a': () => ({ text: 'hello' }) },
  })
  nc = await connect({ servers: server.url })
})
afterAll(async () => {
  await nc.close()
  await runtime.close()
})

const ask = async (command: string, body: object = {}): Promise<any> =>
  (await nc.request(`statecast.api.${command}`, JSON.stringify(body), { timeout: 60_000 })).json()

test('[WL-136] a run is begun by a request and answered once; what it says stands on its subject', async () => {
  const heard: string[] = []
  const words = nc.subscribe('statecast.out.count.r.>')
  const listening = (async () => {
    for await (const message of words) {
      const { type } = message.json<{ type: string }>()
      heard.push(type)
      if (type === 'workflow.completed') break
    }
  })()
  await nc.flush()

  const run = { name: 'count', input: { text: 'hi' }, runId: 'r', wait: true }
  const answers = await Promise.all([ask('ladder.execute', run), ask('ladder.execute', run)])
  for (const answer of answers) expect(answer).toMatchObject({ runId: 'r', status: 'completed', data: { text: 'hi' }, report: { type: 'workflow' } })
  expect(ran).toBe(1)
  await listening
  expect(heard).toEqual(expect.arrayContaining(['workflow.starting', 'workflow.step.completed', 'workflow.completed']))
  expect(await ask('ladder.execute', { name: 'echo', input: 'hi', wait: true })).toMatchObject({ data: 'hello' })
  expect(await ask('ladder.execute', { name: 'count-batch', input: [1, 2], wait: true })).toMatchObject({ data: [1, 2] })
})

test('[WL-136] what is wrong with a request is said, and the tools of NATS find the commands', async () => {
  expect(await ask('ladder.execute', { name: 'nobody' })).toMatchObject({ error: { code: 'not_found' } })
  expect(await ask('ladder.execute', { input: 1 })).toMatchObject({ error: { code: 'bad_request', field: 'name' } })
  const info = (await nc.request('$SRV.INFO.statecast', '', { timeout: 5_000 })).json<{
    endpoints: { name: string; subject: string; metadata: { description: string } }[]
  }>()
  expect(info.endpoints).toContainEqual(
    expect.objectContaining({ subject: 'statecast.api.ladder.execute', metadata: { description: expect.stringContaining('begins a run') } }),
  )
})

test('[WL-136] a run may say more than a message holds: its trace comes in pages, and a result that is too large says where it can be had', async () => {
  const begun = await ask('ladder.execute', { name: 'count', input: { text: 'x'.repeat(550_000) }, runId: 'large', wait: true })
  const entries: { seq: number }[] = []
  let pages = 0
  for (let from: number | null = 1; from !== null; pages++) {
    const page: any = await ask('trace.read', { kind: 'count', id: 'large', from })
    expect(page.error).toBeUndefined()
    entries.push(...page.entries)
    from = page.next
  }

  expect(begun).toMatchObject({ status: 'completed', data: { text: expect.any(String) } })
  expect(pages).toBeGreaterThan(1)
  expect(JSON.stringify(entries).length).toBeGreaterThan(1_048_576)
  expect(new Set(entries.map(({ seq }) => seq))).toEqual(new Set(Array.from({ length: entries.at(-1)?.seq ?? 0 }, (_, index) => index + 1)))

  const large = await ask('ladder.execute', { name: 'grow', input: { times: 1_200_000 }, runId: 'grown', wait: true })
  expect(large).toMatchObject({ error: { code: 'too_large', hint: expect.stringContaining('over HTTP') } })
  await expect(grow.resume('grown')).resolves.toMatchObject({ data: 'x'.repeat(1_200_000) })
})
