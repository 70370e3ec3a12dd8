/** What the log says of turns: enough to tell what happened to whom, and no word of what was said. */
import { expect, test } from 'vitest'
import { story, work, worker } from './harness.ts'

type Told = Awaited<ReturnType<typeof story>>
/** Level and message of what was logged of the conversation, from the first turn on. */
const lines = ({ log }: Told): string[] =>
  log.filter(({ fields }) => 'actor' in fields && fields.actor === 'session/main').map(({ level, message }) => `${level} ${message}`)
const facts = ({ log }: Told, message: string) => log.find((line) => line.message === message)?.fields

test('a turn that ends well is one line with its model, its steps, its tokens and its time', async () => {
  await using told = await story([{ text: 'a secret answer' }])

  await told.clock.until((await told.say('a secret question', { idempotencyKey: 'a' })).result())

  expect(lines(told)).toEqual(['debug a turn started', 'info a turn ended'])
  expect(facts(told, 'a turn ended')).toMatchObject({
    actor: 'session/main',
    runId: 'a',
    status: 'completed',
    model: 'test/model',
    steps: 1,
    usage: { outputTokens: expect.any(Number) },
  })
  expect(JSON.stringify(told.log)).not.toContain('secret')
})

test('a turn that a provider refuses says so at warn, with the code, the reason and what to do', async () => {
  const statuses = [503, 503, 401]
  await using told = await story(() => ({ error: { status: statuses.shift() ?? 500 } }), { modelAttemptMax: 2 })

  for (const id of ['a', 'b']) await told.clock.until((await told.say(id, { idempotencyKey: id })).result().catch(() => undefined))

  expect(lines(told).filter((line) => line.startsWith('warn'))).toEqual([
    'warn a model call failed and will be retried',
    'warn a turn failed',
    'warn a turn failed',
  ])
  expect(told.log.findLast(({ message }) => message === 'a turn failed')?.fields).toMatchObject({
    runId: 'b',
    error: { code: 'provider_auth', hint: expect.any(String) },
  })
})

test('a process that comes back says which conversations it took over, from whom, and what was unfinished', async () => {
  await using told = await story([{ calls: [work('w', 1000)] }, { text: 'done' }], {
    tools: (world) => [worker()(world)],
  })
  const run = await told.say('go')
  run.result().catch(() => undefined)
  await told.clock.advance(500)
  await told.crash()
  await told.restart()
  await told.quiet()

  expect(lines(told)).toContain('info this host took over an actor')
  expect(facts(told, 'this host took over an actor')).toMatchObject({ actor: 'session/main', epoch: 2, unfinished: 1, from: expect.any(String) })
  expect(lines(told).at(-1)).toBe('info a turn ended')
})
