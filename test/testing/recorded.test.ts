/** Models that are recorded once, and played again without them. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Model, tool } from '../../src/index.ts'
import { agent, type LadderEvent, ladder } from '../../src/ladder/index.ts'
import { type Cassette, recorded, scriptedModel, testRuntime } from '../../src/testing/index.ts'

const add = tool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  onCrash: 'retry',
  execute: ({ a, b }) => a + b,
})
const usage = { inputTokens: 10, outputTokens: 5 }

/** A model that counts its calls. */
const counted = (calls: string[]): Model => {
  const model = scriptedModel([
    { calls: [{ name: 'add', input: { a: 1, b: 2 } }], usage },
    { reasoning: 'hm', chunks: ['th', 'ree'], usage },
  ])
  return { ref: 'counted', call: (request, options) => (calls.push(String(request.messages.length)), model.call(request, options)) }
}

const played = async (model: Model, runId: string, task = '1 + 2?') => {
  const sums = agent({ name: 'sums', model: 'test/a', tools: [add] })
  await using kit = await testRuntime({ extensions: [ladder({ executables: [sums] })], models: { 'test/a': model } })
  // At another time: what tells requests apart does not hang on it.
  await kit.clock.advance(runId.length * 1000)
  const events: LadderEvent[] = []
  const result = await kit.clock.until(sums.execute(task, { runId, on: { '*': (event) => void events.push(event) } }))
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(/"(?:startedAt|endedAt|duration)":\d+/g, '"t":0')
        .replaceAll(runId, 'r'),
    )
  return { events: plain(events), result: plain(result), error: result.error }
}

test('[WL-135] what was recorded is played again, event for event, in another run and without a call of the model', async () => {
  const calls: string[] = []
  const cassette: Cassette = { version: 1, recordings: [] }
  const first = await played(await recorded(counted(calls), { cassette, mode: 'record' }), 'run-1')
  expect(calls).toEqual(['1', '3'])
  expect(cassette.recordings.map(({ chunks }) => chunks.map(({ text }) => text))).toEqual([[], ['hm', 'th', 'ree']])
  expect(JSON.parse(JSON.stringify(cassette))).toEqual(cassette)

  const again = await played(await recorded(counted(calls), { cassette, mode: 'replay' }), 'run-number-2')
  expect(again.events).toEqual(first.events)
  expect(again.result).toEqual(first.result)
  expect(JSON.stringify(first.events)).toContain('"delta":"ree"')
  expect(calls).toHaveLength(2)
})

test('[WL-135] what was not recorded is an error in replay, and no call; with auto it is recorded', async () => {
  const calls: string[] = []
  const file = join(await mkdtemp(join(tmpdir(), 'cassette-')), 'sums', 'a.json')
  await expect(recorded(counted(calls), { cassette: file, mode: 'replay' })).rejects.toMatchObject({ code: 'not_found' })
  const auto = await played(await recorded(counted(calls), { cassette: file }), 'r')
  expect(auto.error).toBeUndefined()
  expect(calls).toHaveLength(2)

  const missed = await played(await recorded(counted(calls), { cassette: file, mode: 'replay' }), 's', 'something else')
  expect(missed.error).toMatchObject({ code: 'PROVIDER_INVALID_REQUEST', message: expect.stringContaining('something else') })
  expect(calls).toHaveLength(2)
  await played(await recorded(counted(calls), { cassette: file }), 't', 'something else')
  expect(calls).toHaveLength(4)
  await played(await recorded(counted(calls), { cassette: file }), 'u', 'something else')
  expect(calls).toHaveLength(4)
  const stored = JSON.parse(await readFile(file, 'utf8')) as Cassette
  expect(stored.recordings).toHaveLength(4)

  const loose = await recorded(counted(calls), { cassette: file, mode: 'replay', hash: () => 1 })
  expect((await played(loose, 'v')).error).toMatchObject({ code: 'PROVIDER_INVALID_REQUEST' })
  await writeFile(file, '{"version":2}')
  await expect(recorded(counted(calls), { cassette: file })).rejects.toMatchObject({ code: 'bad_request' })
})

test('[WL-135] what is asked of the model besides tells requests apart: its settings, and the tools that it may call', async () => {
  const cassette: Cassette = { version: 1, recordings: [] }
  const answered = async (mode: 'record' | 'replay', more: object) => {
    const one = agent({ name: 'one', model: 'test/a', instructions: 'Be short.', settings: { temperature: 0 }, ...more })
    await using kit = await testRuntime({
      extensions: [ladder({ executables: [one] })],
      models: { 'test/a': await recorded([{ text: 'three' }], { cassette, mode }) },
    })
    const { data, error } = await kit.clock.until(one.execute('1 + 2?'))
    return data ?? error?.code
  }
  expect(await answered('record', {})).toBe('three')
  expect(await answered('replay', {})).toBe('three')
  for (const more of [{ settings: { temperature: 1 } }, { instructions: 'Be long.' }, { tools: [add] }])
    expect(await answered('replay', more), JSON.stringify(more)).toBe('PROVIDER_INVALID_REQUEST')
})

test('[WL-135] an error of the provider is played again, and the next recording of the same request after it', async () => {
  const cassette: Cassette = { version: 1, recordings: [] }
  const source = [{ errors: [{ code: 'provider_rate_limit' as const, retryAfterMs: 10 }], text: 'three' }]
  const first = await played(await recorded(source, { cassette }), 'run-1')
  expect(cassette.recordings.map(({ error }) => error?.code)).toEqual(['provider_rate_limit', undefined])
  const again = await played(await recorded('nobody/there', { cassette, mode: 'replay' }), 'run-2')
  expect(again.result).toEqual(first.result)
  expect(again.result).toMatchObject({ data: 'three' })
})
