/** Steps that sleep, and steps that wait for an event. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { workflow } from '../../../src/ladder/index.ts'
import { aLadder, comesTo } from '../a-ladder.ts'

const day = 24 * 60 * 60_000

test('a step sleeps for two days, and one until a moment that is reckoned, over a crash', async () => {
  const ran: string[] = []
  const reminder = workflow({
    name: 'reminder',
    input: z.object({ due: z.number() }),
    steps: [
      { name: 'order', run: () => ran.push('order') },
      { name: 'pause', sleep: '2d' },
      { name: 'remind', run: () => ran.push('remind') },
      { name: 'due', sleepUntil: ({ input }) => new Date(input.due) },
      { name: 'late', run: () => ran.push('late') },
    ],
  })
  await using kit = await aLadder(reminder)
  const began = kit.clock.now()
  const first = reminder.stream({ due: began + 40 * day }, { runId: 'r' })
  await kit.clock.until(comesTo(first, 'pause'))
  // While no process is there no time is lost.
  await kit.crash()
  await kit.clock.advance(2 * day - 5_000)
  await kit.restart()
  expect(ran).toEqual(['order'])
  await kit.clock.advance(10_000)
  expect(ran).toEqual(['order', 'remind'])
  await kit.crash()
  await kit.clock.advance(38 * day - 60_000)
  await kit.restart()
  expect(ran).toEqual(['order', 'remind'])

  const { report } = await kit.clock.until(reminder.execute({ due: began + 40 * day }, { runId: 'r' }))

  expect(ran).toEqual(['order', 'remind', 'late'])
  const at = (name: string) => report.children.find((one) => one.name === name)
  expect(at('pause')?.duration).toBe(2 * day)
  expect(at('late')?.startedAt).toBe(began + 40 * day)
})

test('a step waits for an event, which is its output; what nobody waits for, or does not fit, is refused to its sender, and the run waits on', async () => {
  const payment = workflow({
    name: 'payment',
    steps: [
      { name: 'invoice', run: () => 'sent' },
      { name: 'paid', waitFor: 'paid', schema: z.object({ amount: z.number() }) },
      { name: 'thank', run: ({ steps }) => steps.paid?.output },
    ],
  })
  await using kit = await aLadder(payment)

  const running = payment.stream(undefined, { runId: 'p' })
  await kit.clock.until(comesTo(running, 'paid'))
  const misspelt = payment.send('p', { type: 'payed', amount: 5 })
  await expect(kit.clock.until(misspelt)).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED', hint: 'steps wait for paid' })
  const odd = payment.send('p', { type: 'paid', amount: 'much' })
  await expect(kit.clock.until(odd)).rejects.toMatchObject({
    code: 'SCHEMA_VALIDATION_FAILED',
    context: { step: 'paid' },
    hint: expect.stringContaining('waits on'),
  })
  await kit.clock.until(payment.send('p', { type: 'paid', amount: 5 }, { id: 'bank-1' }))
  const { data } = await kit.clock.until(running.result)

  expect(data).toEqual({ amount: 5 })
  await expect(kit.clock.until(payment.send('p', { type: 'paid', amount: 5 }))).rejects.toMatchObject({ code: 'closed' })
})

test('what does not fit and comes by another door fails the step, and resume() lets it wait anew', async () => {
  const payment = workflow({ name: 'payment', steps: [{ name: 'paid', waitFor: 'paid', schema: z.object({ amount: z.number() }) }] })
  await using kit = await aLadder(payment)
  const running = payment.stream(undefined, { runId: 'p' })
  await kit.clock.until(comesTo(running, 'paid'))

  await kit.clock.until(kit.runtime.actor('payment', 'p').send({ type: 'paid', amount: 'much' }))
  const failed = await kit.clock.until(running.result)
  const resumed = payment.resume('p')
  await kit.clock.until(kit.runtime.actor('payment', 'p').waitFor((at) => at.matches({ steps: { paid: 'resting' } })))
  await kit.clock.until(payment.send('p', { type: 'paid', amount: 5 }))

  expect(failed).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED', context: { step: 'paid' } } })
  expect((await kit.clock.until(resumed)).data).toEqual({ amount: 5 })
})

test('whoever tells, cancels or asks for a run that is not there is told so, and none is there afterwards', async () => {
  const payment = workflow({ name: 'payment', steps: [{ name: 'paid', waitFor: 'paid' }] })
  await using kit = await aLadder(payment)

  const missing = { code: 'not_found', message: "'payment' has no run 'p'", hint: expect.stringContaining('execute()') }
  await expect(kit.clock.until(payment.send('p', { type: 'paid' }))).rejects.toMatchObject(missing)
  await expect(kit.clock.until(payment.cancel('p'))).rejects.toMatchObject(missing)
  await expect(kit.clock.until(payment.pending('p'))).rejects.toMatchObject(missing)
  await expect(kit.clock.until(payment.decide('p', { callId: 'c', decision: 'approve' }))).rejects.toMatchObject(missing)
  await expect(kit.clock.until(payment.resume('p'))).rejects.toMatchObject(missing)
  await expect(kit.clock.until(payment.look('p'))).rejects.toMatchObject(missing)
})

test('where the event has not come in time the step fails, and may lead elsewhere; cancelled while it waits, it can wait again', async () => {
  const patient = workflow({
    name: 'patient',
    steps: [
      { name: 'answer', waitFor: 'answer', timeoutMs: 5_000, onFailure: (_, error) => (error.code === 'STEP_TIMEOUT' ? { goto: 'ask' } : undefined) },
      { name: 'done', run: () => 'done', nextStep: () => ({ end: true }) },
      { name: 'ask', run: () => 'asked a person' },
    ],
  })
  await using kit = await aLadder(patient)

  const late = await kit.clock.until(patient.execute(undefined, { runId: 'a' }))
  const stop = new AbortController()
  const waiting = patient.stream(undefined, { runId: 'b', signal: stop.signal })
  await kit.clock.until(comesTo(waiting, 'answer'))
  stop.abort(new Error('no more'))
  const cancelled = await kit.clock.until(waiting.result)
  const resumed = patient.resume('b')
  await kit.clock.until(kit.runtime.actor('patient', 'b').waitFor((at) => at.matches({ steps: { answer: 'resting' } })))
  await kit.clock.until(patient.send('b', { type: 'answer', text: 'yes' }))

  expect(late).toMatchObject({
    data: 'asked a person',
    report: { children: [{ name: 'answer', status: 'failed', duration: 5_000 }, { name: 'ask' }] },
  })
  expect(cancelled).toMatchObject({ error: { code: 'WORKFLOW_CANCELLED', context: { cancelledAt: 'answer', reason: 'no more' } } })
  expect((await kit.clock.until(resumed)).data).toBe('done')
})

test.each<[string, object, RegExp]>([
  ['a word as a time', { sleep: 'long' }, /sleep of the step/],
  ['a time before now', { sleep: -1 }, /sleep of the step/],
  ['a moment that is not reckoned', { sleepUntil: 5 }, /sleepUntil of the step/],
  ['an event of the run itself', { waitFor: 'cancel' }, /cannot wait for 'cancel'/],
  ['an event of XState', { waitFor: 'xstate.done' }, /cannot wait for/],
  ['any event', { waitFor: '*' }, /cannot wait for/],
  ['no patience that there is', { waitFor: 'paid', timeoutMs: Number.NaN }, /timeoutMs/],
  ['two at once', { waitFor: 'paid', sleep: 5 }, /has sleep and waitFor/],
])('%s is refused where it is written', (_, step, message) => {
  expect(() => workflow({ name: 'x', steps: [{ name: 'a', ...step } as never] })).toThrow(
    expect.objectContaining({ code: 'WORKFLOW_ERROR', message: expect.stringMatching(message) }),
  )
})

test('what cannot rest in another step, and a moment that is none', async () => {
  expect(() => workflow({ name: 'x', steps: [{ name: 'a', parallel: [{ name: 'b', sleep: 5 } as never] }] })).toThrow(/cannot stand in another one/)
  const lost = workflow({ name: 'lost', steps: [{ name: 'a', sleepUntil: ({ input }) => input as Date }] })
  await using kit = await aLadder(lost)

  for (const moment of [Number.NaN, 1e300, null, undefined, '', 'tomorrow', [], true, new Date('never')])
    expect(await kit.clock.until(lost.execute(moment)), String(moment)).toMatchObject({
      error: { code: 'STEP_FAILED', message: expect.stringContaining('no moment'), hint: expect.stringContaining('Date') },
    })
})

test('[WL-110] where code cannot say until when it sleeps, its step has failed, which may lead elsewhere', async () => {
  const nap = workflow({
    name: 'nap',
    steps: [
      {
        name: 'due',
        sleepUntil: () => {
          throw new Error('no calendar')
        },
        onFailure: (_, { message }) => (message.includes('no calendar') ? { goto: 'now' } : undefined),
      },
      { name: 'never', run: () => 'never' },
      { name: 'now', run: () => 'at once' },
    ],
  })
  await using kit = await aLadder(nap)
  expect(await kit.clock.until(nap.execute(undefined))).toMatchObject({
    data: 'at once',
    report: { children: [{ name: 'due', status: 'failed' }, { name: 'now' }] },
  })
})

test.each([
  ['the last moment that a Date can name', 8.64e15],
  ['a moment beyond the timers of a machine', Date.parse('2400-01-01')],
])('who sleeps until %s is there after a crash, and can be cancelled', async (_, due) => {
  const nap = workflow({ name: 'nap', steps: [{ name: 'due', sleepUntil: () => due }] })
  await using kit = await aLadder(nap)
  const asleep = () => kit.clock.until(kit.runtime.actor('nap', 'r').waitFor((at) => at.matches({ steps: { due: 'resting' } })))
  await kit.clock.until(nap.start(undefined, { runId: 'r' }))
  await asleep()
  await kit.crash()
  await kit.restart()
  await asleep()
  await kit.clock.until(nap.cancel('r'))
  expect(await kit.clock.until(nap.outcome('r'))).toMatchObject({ error: { code: 'WORKFLOW_CANCELLED' } })
})
