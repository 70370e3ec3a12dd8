import { context, trace } from '@opentelemetry/api'
import { expect, onTestFinished, test } from 'vitest'
import { createRuntime } from '../../src/index.ts'

test('where OpenTelemetry is set up, a run that has ended is told to it: one span, and one below it for each stage', async () => {
  const told: { name: string; startTime: Date; endTime?: Date; below: boolean; attributes: Record<string, unknown> }[] = []
  trace.setGlobalTracerProvider({
    getTracer: () =>
      ({
        startSpan: (name: string, options: { startTime: Date; attributes: object }, within = context.active()) => {
          const one = { name, below: within !== context.active(), ...options } as (typeof told)[number]
          told.push(one)
          return { end: (time: Date) => void (one.endTime = time), isRecording: () => true, setStatus: () => undefined }
        },
      }) as never,
  })
  onTestFinished(() => trace.disable())
  await using runtime = await createRuntime({ transport: 'memory:', models: { 'test/model': () => ({ text: 'yes' }) }, agents: [] })
  const run = await runtime.session('main').send('hi', { model: 'test/model', idempotencyKey: 'k1' })
  await run.result()

  await expect.poll(() => told.find(({ name }) => name === 'invoke_agent')?.endTime).toBeInstanceOf(Date)
  expect(told[0]).toMatchObject({ name: 'invoke_agent', attributes: { 'gen_ai.conversation.id': 'main', 'statecast.run.id': 'k1' } })
  const below = told.slice(1)
  expect(below.every(({ startTime, endTime }) => startTime <= (endTime as Date))).toBe(true)
  expect(below.map(({ name }) => name)).toEqual(expect.arrayContaining(['directives', 'session', 'model', 'run', 'call']))
})
