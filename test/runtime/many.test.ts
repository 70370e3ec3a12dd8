/** Many sessions in one process, and what is left of them. */

import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent, createRuntime, tool } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { expectPaired, story, work, worker } from './harness.ts'

test('fifty sessions at once, one of which misbehaves: the others are answered as if alone [INV-10]', async () => {
  const evil = tool({
    name: 'evil',
    description: 'is evil',
    input: z.object({}),
    timeoutMs: 2000,
    execute: () => new Promise(() => process.nextTick(() => undefined)),
  })
  await using told = await story(
    ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'user' && last.text === 'evil') return { text: 'x'.repeat(5000), calls: [{ name: 'evil' }, { name: 'evil' }] }
      return last?.role === 'user' ? { calls: [work(last.text, 100)] } : { text: `done ${last?.role}` }
    },
    { tools: (world) => [worker()(world), evil] },
  )
  const runs = await told.clock.until(
    Promise.all(Array.from({ length: 50 }, (_, n) => told.session(`s${n}`).send(n === 7 ? 'evil' : `w${n}`, { idempotencyKey: 'same' }))),
  )

  const answers = await told.clock.until(Promise.all(runs.map((run) => run.result())))

  expect(answers.map(({ text }) => text)).toEqual(Array(50).fill('done tool'))
  for (const n of [0, 7, 49]) expectPaired(await told.session(`s${n}`).history())
  expect(await told.commits('s1')).toBe(4)
  await told.clock.advance(200_000)
  expect(partsOf(told.runtime).host.liveCount).toBe(0)
})

test('on disk: a turn with tools is there again after the process has closed its folder [INV-16]', async () => {
  const { mkdtemp, rm } = await import('node:fs/promises')
  const { tmpdir } = await import('node:os')
  const { join } = await import('node:path')
  const folder = await mkdtemp(join(tmpdir(), 'statecast-session-'))
  const add = tool({ name: 'add', description: 'adds', input: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
  const open = () =>
    createRuntime({
      transport: `embedded:${folder}`,
      agents: [agent({ name: 'main', model: 'test/model', tools: [add] })],
      models: { 'test/model': [{ calls: [{ name: 'add', input: { a: 2, b: 40 } }] }, { text: '42' }, { text: 'you are welcome' }] },
    })
  const first = await open()
  expect((await (await first.session('s').send('2 + 40?', { idempotencyKey: 'q' })).result()).text).toBe('42')
  await first.close()

  const second = await open()
  try {
    expect((await second.session('s').history()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect((await (await second.session('s').send('2 + 40?', { idempotencyKey: 'q' })).result()).text).toBe('42')
    expect((await (await second.session('s').send('thanks')).result()).text).toBe('you are welcome')
    expect((await second.replay({ kind: 'session', id: 's' })).difference).toBeUndefined()
  } finally {
    await second.close()
    await rm(folder, { recursive: true })
  }
})
