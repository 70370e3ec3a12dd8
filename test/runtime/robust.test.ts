import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { agent, createRuntime } from '../../src/index.ts'
import { testRuntime } from '../../src/testing/index.ts'

test('[INV-1, INV-11] a thousand refused messages cost those that were accepted nothing, over a restart', async () => {
  await using kit = await testRuntime({
    agents: [agent({ name: 'main', model: 't/m', queueMode: 'followup' })],
    models: { 't/m': () => ({ text: 'yes', delayMs: 10 }) },
  })
  const sent = await kit.clock.until(
    Promise.allSettled(Array.from({ length: 1300 }, (_, index) => kit.session('s').send(`m${index}`, { idempotencyKey: `m${index}` }))),
  )
  const accepted = sent.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(accepted.length).toBeGreaterThan(50)
  expect(sent.length - accepted.length).toBeGreaterThan(1000)
  await kit.crash()
  await kit.restart()

  const answers = await kit.clock.until(Promise.all(accepted.map(({ id }) => kit.session('s').wait(id))))

  expect(answers.map(({ status }) => status)).toEqual(accepted.map(() => 'completed'))
  expect(await kit.clock.until(kit.session('s').history())).toHaveLength(2 * accepted.length)
})

test('a runtime that closes ends whatever waits for it, with the reason', async () => {
  const runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', model: 't/m' })],
    models: { 't/m': [{ text: 'never', delayMs: 60_000 }] },
  })
  const run = await runtime.session('s').send('hi')
  const waiting = [run.result(), runtime.session('s').wait(run.id)].map((one) => one.catch((error: unknown) => error))
  const events = (async () => {
    const heard: unknown[] = []
    for await (const event of runtime.session('s').events()) heard.push(event)
    return heard
  })()

  await runtime.close()

  expect(await Promise.all(waiting)).toMatchObject([
    { code: 'closed', retryable: true },
    { code: 'closed', retryable: true },
  ])
  expect(await events).toEqual([])
})

test('[INV-13] a machine that changes its event in place fails on it, instead of being in a state that no replay arrives at', async () => {
  const machine = setup({ types: { context: {} as { seen: number[] }, events: {} as { type: 'add'; items: number[] } } }).createMachine({
    context: { seen: [] },
    on: { add: { actions: assign({ seen: ({ event }) => event.items.reverse() }) } },
  })
  await using kit = await testRuntime({ machines: { list: machine } })
  const list = kit.runtime.actor('list', 'x')

  await expect(kit.clock.until(list.send({ type: 'add', items: [1, 2] }))).rejects.toMatchObject({ code: 'bad_request' })

  expect((await kit.clock.until(kit.runtime.replay(list.address).catch(() => ({ verdict: 'none' })))).verdict).not.toBe('different')
})

test.each(['crash', 'close'] as const)(
  'an action that failed and was to run again does so in the next life, after a %s in between [INV-1]',
  async (end) => {
    const ran: number[] = []
    let life = 1
    const machine = setup({
      actions: {
        act: () => {
          ran.push(life)
          if (life === 1) throw new Error('not yet')
        },
      },
    }).createMachine({ on: { go: { actions: 'act' } } })
    await using kit = await testRuntime({ machines: { doer: machine } })
    await kit.clock.until(kit.runtime.actor('doer', 'x').send({ type: 'go' }))
    await kit.clock.settle()
    if (end === 'crash') await kit.crash()
    else await kit.clock.until(kit.runtime.close())
    life = 2

    await kit.restart()
    await kit.clock.advance(5000)

    expect(ran.at(0)).toBe(1)
    expect(ran.at(-1)).toBe(2)
  },
)

test('[INV-10] a model of somebody’s own that answers with nonsense fails its turn, not its session', async () => {
  const broken = { ref: 't/broken', call: async () => ({ text: 12 }) as never }
  await using kit = await testRuntime({
    agents: [agent({ name: 'main', model: 't/broken', modelAttemptMax: 1 })],
    models: { 't/broken': broken, 't/fine': [{ text: 'fine' }] },
  })

  const run = await kit.clock.until(kit.session('s').send('hi'))
  await expect(kit.clock.until(run.result())).rejects.toMatchObject({ code: 'provider_malformed', message: expect.stringContaining('text') })

  const next = await kit.clock.until(kit.session('s').send('hi', { model: 't/fine' }))
  expect(await kit.clock.until(next.result())).toMatchObject({ text: 'fine' })
})
